#include "cli/task_views.h"

#include <utility>

#include "base/text.h"
#include "client/endpoint.h"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kViewRetry{500};
constexpr std::chrono::seconds kPatience{60};

}  // namespace

TaskViews::TaskViews(const ClientOptions& client, const std::string& task)
    : console_(client.json),
      access_(client.access),
      base_(client::endpoint_url(client.card_url(), client.agent)) {
  while (base_.ends_with('/')) base_.pop_back();
  base_ += "/tasks/" + base::percent_encoded(task);
}

std::optional<json::Document> TaskViews::get(const std::string& view, bool patient) {
  const std::string url = base_ + view;
  std::optional<SlowNotice> notice;
  if (!met_at_) notice.emplace("waiting for " + url);
  while (true) {
    auto fetched = client::http_get(url, access_, "", interrupt_.fd());
    notice.reset();
    if (interrupt_.pending()) {
      code_ = kExitInterrupted;
      return std::nullopt;
    }
    if (fetched) {
      met_at_ = Clock::now();
      auto document = json::Document::parse(std::move(fetched->text));
      if (document && document->root().is_object()) return std::move(*document);
      console_.error("the server's answer is invalid; is it a Baton server?");
      code_ = kExitNoAnswer;
      return std::nullopt;
    }
    const bool again = patient && fetched.error().lost && met_at_ && Clock::now() < *met_at_ + kPatience;
    if (!again) {
      report(fetched.error(), url);
      return std::nullopt;
    }
    if (!wait(kViewRetry)) return std::nullopt;
  }
}

bool TaskViews::wait(milliseconds time) {
  if (!interrupt_.wait(time)) return true;
  code_ = kExitInterrupted;
  return false;
}

void TaskViews::report(const client::CallError& error, const std::string& url) {
  std::string line = describe(error, url);
  if (error.status == 404) line += "; `baton list` shows your tasks, and --agent names the agent of a task";
  console_.error(line);
  code_ = kExitNoAnswer;
}

}  // namespace baton::cli

#include "cli/ops_session.h"

#include <chrono>
#include <utility>

#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/printable.h"

namespace baton::cli {
namespace {

constexpr int kTriesMax = 5;
constexpr std::chrono::seconds kRetryAfter{1};  // as the server says in Retry-After, which is not read

}  // namespace

// Retries 429: the server runs one exact count at a time.
std::optional<json::Document> OpsSession::get(const std::string& path) {
  SlowNotice notice("waiting for " + api_.url_of(path));
  auto answer = api_.get(path);
  for (int tries = 1; !answer && answer.error().status == 429 && tries < kTriesMax; ++tries) {
    if (interrupt_.wait(kRetryAfter)) break;
    answer = api_.get(path);
  }
  return take(std::move(answer), path);
}

std::optional<json::Document> OpsSession::post(const std::string& path, std::string body) {
  SlowNotice notice("waiting for " + api_.url_of(path));
  return take(api_.post(path, std::move(body)), path);
}

std::optional<json::Document> OpsSession::remove(const std::string& path, std::string body) {
  SlowNotice notice("waiting for " + api_.url_of(path));
  return take(api_.remove(path, std::move(body)), path);
}

void OpsSession::complain(const client::CallError& error, const std::string& path) {
  code_ = interrupt_.pending() ? kExitInterrupted : kExitNoAnswer;
  if (code_ == kExitInterrupted) return;
  std::string line = printable_line(api_.url_of(path)) + ": " + printable_line(error.text);
  if (error.status == 401) line += "; BATON_TOKEN is to be the token of a viewer or an operator";
  console_.error(line);
}

std::optional<json::Document> OpsSession::take(client::OperatorApi::Answer answer, const std::string& path) {
  if (!answer) {
    complain(answer.error(), path);
    return std::nullopt;
  }
  auto document = json::Document::parse(std::move(*answer));
  if (document && document->root().is_object()) return std::move(*document);
  code_ = kExitNoAnswer;
  console_.error("the server's answer makes no sense; is there an operator API at " +
                 printable_line(api_.url_of("")) + "?");
  return std::nullopt;
}

std::string with_query(std::string path, const OpsFilter& parameters) {
  char mark = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    path += mark + name + "=" + base::percent_encoded(value);
    mark = '&';
  }
  return path;
}

}  // namespace baton::cli

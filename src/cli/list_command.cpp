// `list`: the caller's tasks at an agent, page by page.
#include <algorithm>

#include "cli/call_errors.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "cli/remote.h"
#include "wire/a2a/v1_objects.h"
#include "wire/json/document.h"
#include "wire/rfc3339.h"

namespace baton::cli {
namespace {

using wire::a2a::ListPage;
using wire::a2a::ListQuery;

constexpr std::chrono::seconds kTimeout{30};
constexpr int kPageMax = 100;
// As wide as the longest name of a state.
constexpr std::size_t kStateWidth = 14;

base::Result<ListQuery> query_of(const ListOptions& options) {
  using base::ErrorCode;
  ListQuery query;
  query.context.value = options.context;
  query.history_length = options.history.value_or(0);
  if (!options.state.empty()) {
    query.state = task::state_named(options.state);
    if (!query.state) query.state = wire::v1::state_named(options.state);
    if (!query.state)
      return base::fail(ErrorCode::invalid_argument, "--state: there is no state " + options.state);
  }
  if (!options.since.empty()) {
    query.status_since = wire::parse_rfc3339(options.since);
    if (!query.status_since) {
      return base::fail(ErrorCode::invalid_argument, "--since: must be a time such as 2026-01-31T10:00:00Z");
    }
  }
  return query;
}

std::string line_of(const task::Task& task) {
  std::string line(task::name_of(task.status.state));
  line.append(kStateWidth - std::min(line.size(), kStateWidth), ' ');
  line += "  " + base::to_rfc3339(task.status.at) + "  " + printable_line(task.id.value);
  if (!task.context.empty()) line += "  context " + printable_line(task.context.value);
  const std::string said = task.status.message ? task::text_of(*task.status.message) : std::string();
  if (!said.empty()) line += "  " + printable_line(said);
  return line + "\n";
}

class Listing {
 public:
  Listing(const ListOptions& options, Endpoint endpoint, ListQuery query, Console& console)
      : options_(options), endpoint_(std::move(endpoint)), query_(std::move(query)), console_(console) {}

  int run() {
    for (;;) {
      if (!options_.all) query_.page_size = std::min(options_.limit - shown_, kPageMax);
      if (options_.all) query_.page_size = kPageMax;
      const auto request = endpoint_.dialect().write_list(query_);
      if (!request) return failed(request.error().for_caller);
      const auto result = endpoint_.call(*request, kTimeout);
      if (!result) return failed(describe(result.error(), endpoint_.remote().url));
      const auto document = wire::Document::parse_view(result->text);
      const auto page =
          document ? endpoint_.dialect().read_list(document->root()) : base::fail(document.error());
      if (!page)
        return failed("the server's answer makes no sense: " + printable_line(page.error().for_caller));
      show(document->root()["tasks"], *page);
      if (page->next_page_token.empty()) return kExitDone;
      if (!options_.all && shown_ >= options_.limit) return say_more(*page);
      // A token that stays is a circle.
      if (page->next_page_token == query_.page_token || page->tasks.empty()) {
        return failed("the server's list does not come to an end");
      }
      query_.page_token = page->next_page_token;
    }
  }

 private:
  void show(wire::Value raw, const ListPage& page) {
    auto item = raw.begin();
    for (const task::Task& task : page.tasks) {
      if (!options_.all && shown_ == options_.limit) return;
      if (console_.for_people()) {
        console_.text(line_of(task));
      } else {
        console_.json((*item).raw());
      }
      ++item;
      ++shown_;
    }
  }

  int say_more(const ListPage& page) {
    const std::string total = page.total > shown_ ? " of " + std::to_string(page.total) : std::string();
    console_.note(std::to_string(shown_) + total + " tasks; --all shows every one");
    return kExitDone;
  }

  int failed(const std::string& text) {
    console_.error(text);
    return kExitNoAnswer;
  }

  const ListOptions& options_;
  const Endpoint endpoint_;
  ListQuery query_;
  Console& console_;
  int shown_ = 0;
};

}  // namespace

int list_command(const ListOptions& options) {
  Console console(options.client.json);
  auto query = query_of(options);
  if (!query) {
    console.error(printable_line(query.error().for_caller));
    return kExitUsage;
  }
  const auto remotes = find_remotes(options.client, Purpose::lists);
  if (!remotes) {
    console.error(describe(remotes.error(), endpoint_url(options.client.url, options.client.agent)));
    return kExitNoAnswer;
  }
  return Listing(options, {remotes->front(), options.client.token}, std::move(*query), console).run();
}

}  // namespace baton::cli

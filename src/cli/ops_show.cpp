// `ops show`: one task, its log, and with --follow its new events.
#include <algorithm>

#include "base/text.h"
#include "cli/event_line.h"
#include "cli/exit_code.h"
#include "cli/ops_session.h"
#include "cli/ops_table.h"
#include "cli/printable.h"
#include "task/state.h"

namespace baton::cli {
namespace {

void show_member(std::string& text, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  text.append(name).append(std::string(12 - std::min<std::size_t>(name.size(), 11), ' '));
  text.append(printable_line(value)).append("\n");
}

void show_task(Console& console, json::Value view) {
  const json::Value task = view["task"];
  std::string text;
  for (const char* member : {"key", "id", "agent", "caller", "context", "parent", "schedule", "protocol"})
    show_member(text, member, text_in(task, member));
  show_member(text, "state", text_in(task, "state") + " for " + age_text(task["statusAt"]));
  show_member(text, "turn", text_in(task, "turnState") + ", attempt " + text_in(task, "attempt"));
  show_member(text, "tokens", text_in(task, "tokens"));
  show_member(text, "retried", task["retriedAs"].absent() ? "" : "as task " + text_in(task, "retriedAs"));
  show_member(text, "words", text_in(task, "text"));
  if (!view["question"].absent()) show_member(text, "asks", text_in(view["question"], "text"));
  for (const json::Value child : view["children"])
    show_member(text, "child",
                text_in(child, "key") + " " + text_in(child, "agent") + " " + text_in(child, "state"));
  for (const json::Value one : view["deliveries"]) {
    show_member(text, "delivery",
                text_in(one, "key") + " " + text_in(one, "state") + " after " + text_in(one, "attempts") +
                    " tries to " + text_in(one, "url") + " " + text_in(one, "error"));
  }
  console.text(text + "\n");
}

class OpsShow {
 public:
  explicit OpsShow(const OpsShowOptions& options) : options_(options), session_(options.target) {}

  int run() {
    const auto key = session_.find_task(options_.key);
    if (!key) return session_.code();
    const std::string path = "/tasks/" + base::percent_encoded(*key);
    const auto view = session_.get(path);
    if (!view) return session_.code();
    if (session_.console().for_people()) {
      show_task(session_.console(), view->root());
    } else {
      session_.console().json(view->root().raw());
    }
    if (const auto state = task::state_named(view->root()["task"]["state"].string())) state_ = *state;
    const std::int64_t last = view->root()["task"]["lastEvent"].integer().value_or(0);
    const std::string after = std::to_string(std::max<std::int64_t>(0, last - options_.events));
    const std::string events = path + "/events?after=" + after;
    return options_.follow ? follow(events) : window(events);
  }

 private:
  int window(const std::string& path) {
    if (options_.events == 0) return kExitDone;
    const auto page = session_.get(path);
    if (!page) return session_.code();
    for (const json::Value event : page->root()["events"]) show(event);
    return kExitDone;
  }

  int follow(const std::string& path) {
    const auto over = session_.api().follow(path, [this](std::string_view data) {
      const json::Document event = json::Document::view_of(data);
      show(event.root());
      if (const auto state = task::state_named(event.root()["state"].string())) state_ = *state;
      return !session_.interrupt().pending();
    });
    if (session_.interrupt().pending()) return kExitInterrupted;
    if (over) return exit_code_for(state_);
    session_.complain(over.error(), path);
    return session_.code();
  }

  void show(json::Value event) {
    Console& console = session_.console();
    if (console.for_people()) return console.text(event_line(event, console.columns()));
    console.json(event.raw());
  }

  const OpsShowOptions& options_;
  OpsSession session_;
  task::State state_ = task::State::working;
};

}  // namespace

int ops_show(const OpsShowOptions& options) {
  return OpsShow(options).run();
}

}  // namespace baton::cli

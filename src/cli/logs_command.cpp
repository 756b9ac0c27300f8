// `logs`: a task's log, once or until the task ends.
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "cli/commands.h"
#include "cli/event_line.h"
#include "cli/exit_code.h"
#include "cli/task_views.h"

namespace baton::cli {
namespace {

constexpr std::chrono::milliseconds kLookAgain{250};

void print_event(Console& console, json::Value event) {
  if (console.for_people()) return console.text(event_line(event, console.columns()));
  console.json(event.raw());
}

}  // namespace

int logs_command(ViewOptions options) {
  if (!complete_task_id(options.client, options.task)) return kExitUsage;
  TaskViews views(options.client, options.task);
  std::int64_t seen = 0;
  while (true) {
    const auto piece = views.get("/log?after=" + std::to_string(seen), options.follow);
    if (!piece) return views.code();
    const json::Value log = piece->root();
    for (const json::Value event : log["events"]) print_event(views.console(), event);
    const auto through = log["through"].integer(), last = log["last"].integer();
    const auto state = task::state_named(log["state"].string());
    if (!through || !last || !state) {
      views.console().error("the server's answer is invalid: it is not a task's log");
      return kExitNoAnswer;
    }
    const bool is_all = *through <= seen || *through >= *last;
    seen = std::max(seen, *through);
    if (!is_all) continue;
    if (!options.follow) return kExitDone;
    if (task::is_terminal(*state)) return exit_code_for(*state);
    if (!views.wait(kLookAgain)) return views.code();
  }
}

}  // namespace baton::cli

// `ops delete`: deletes a task, a context or all data of a caller for good.
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/ops_session.h"
#include "cli/ops_table.h"
#include "cli/printable.h"
#include "json/writer.h"

namespace baton::cli {
namespace {

std::string path_of(const OpsDeleteOptions& options) {
  if (!options.task.empty()) return "/tasks/" + base::percent_encoded(options.task);
  if (options.context.empty()) return "/callers/" + base::percent_encoded(options.caller);
  return with_query("/contexts",
                    {{"agent", options.agent}, {"caller", options.caller}, {"context", options.context}});
}

// Prints what would be deleted.
int show_what_goes(OpsSession& session, const OpsDeleteOptions& options) {
  std::string what;
  if (!options.task.empty()) {
    const auto view = session.get(path_of(options));
    if (!view) return session.code();
    const json::Value task = view->root()["task"];
    what = "task " + text_in(task, "key") + " of " + text_in(task, "caller") + " at " +
           text_in(task, "agent") + " (" + text_in(task, "state") + "), with all below it,";
  } else {
    const auto page = session.get(with_query("/tasks", {{"caller", options.caller},
                                                        {"agent", options.agent},
                                                        {"context", options.context},
                                                        {"limit", "1"}}));
    if (!page) return session.code();
    const json::Value count = page->root()["count"];
    what = (options.context.empty() ? "everything" : "context " + options.context) + " of " + options.caller +
           ", " + (count["exact"].boolean() ? "" : "at least ") + task_count(text_in(count, "tasks")) + ",";
  }
  session.console().print_note(printable_line(what) +
                               " would be deleted permanently; repeat with --yes to delete");
  return kExitUsage;
}

}  // namespace

int ops_delete(OpsDeleteOptions options) {
  OpsSession session(options.target);
  if (options.task.empty() && options.caller.empty()) {
    session.console().error("a task's key or --caller is required");
    return kExitUsage;
  }
  if (!options.task.empty()) {
    auto key = session.find_task(options.task);
    if (!key) return session.code();
    options.task = std::move(*key);
  }
  if (!options.yes) return show_what_goes(session, options);
  std::string body;
  json::Writer out(body);
  out.object([&] { out.member("reason", options.reason); });
  const auto gone = session.remove(path_of(options), std::move(body));
  if (!gone) return session.code();
  Console& console = session.console();
  if (!console.for_people()) return console.json(gone->root().raw()), kExitDone;
  const std::string keys = text_in(gone->root(), "keys");
  const std::string left = text_in(gone->root(), "left");
  console.text("permanently deleted: " + task_count(text_in(gone->root(), "tasks")) +
               (keys.empty()  ? ""
                : keys == "1" ? " and 1 API key"
                              : " and " + keys + " API keys") +
               (left == "0" ? "" : "; " + left + " restarted meanwhile and were kept") + "\n");
  return kExitDone;
}

}  // namespace baton::cli

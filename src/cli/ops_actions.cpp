// `ops cancel`, `retry`, `answer` and so on: an action with its reason, on one task or on all tasks that
// match a filter.
#include <algorithm>
#include <array>

#include "app/files.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/ops_session.h"
#include "cli/ops_table.h"
#include "cli/printable.h"
#include "json/writer.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::cli {
namespace {

constexpr std::chrono::milliseconds kLook{300};

constexpr std::size_t kMessageFileMax = 1 << 20;  // the API's limit

// Writes the message of an answer with a text, data as JSON, or both.
std::string answer_message(const std::string& text, const std::string& data) {
  std::string json;
  json::Writer out(json);
  out.object([&] {
    out.member("role", "ROLE_USER").key("parts").array([&] {
      if (!text.empty()) out.object([&] { out.member("text", text); });
      if (!data.empty()) out.object([&] { out.key("data").raw(data); });
    });
  });
  return json;
}

// Returns why the options do not make a valid answer; empty if they do.
std::string wrong_in_answer(const OpsActOptions& options) {
  if (options.text.empty() && options.data.empty()) return "no answer was given: give a text or --data";
  if (options.data.empty()) return {};
  const auto data = json::Document::parse_view(options.data);
  return data ? std::string() : "--data is not JSON: " + data.error().for_caller;
}

// Returns the message that a retry sends instead of the task's own, as JSON; empty to send the task's own.
base::Result<std::string> retry_message(const OpsActOptions& options) {
  const OutgoingParts& parts = options.parts;
  if (!options.message.empty()) {
    auto text = options.message.starts_with('@') ? app::read_file(options.message.substr(1), kMessageFileMax)
                                                 : base::Result<std::string>(options.message);
    if (!text) return text;
    const auto message = json::Document::parse_view(*text);
    if (!message || !message->root().is_object())
      return base::fail(
          base::ErrorCode::invalid_argument,
          "--message is not a JSON object" + (message ? std::string() : ": " + message.error().for_caller));
    return message->root().json().text;
  }
  if (parts.text.empty() && parts.data.empty() && parts.files.empty()) return std::string();
  auto message = make_message(parts);
  if (!message) return base::fail(std::move(message.error()));
  message->role = task::Role::user;
  std::string json;
  json::Writer out(json);
  protocol::v1::write_message(out, *message);
  return json;
}

std::string body_of(const OpsActOptions& options, const std::string& message) {
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("reason", options.reason).optional("ask", options.ask);
    if (!message.empty()) out.key("message").raw(message);
    const bool answers = options.action == "answer";
    if (answers && options.data.empty()) out.member("text", options.text);
    if (answers && !options.data.empty()) out.key("message").raw(answer_message(options.text, options.data));
    if (options.workers) out.member("workers", *options.workers);
    if (options.concurrency) out.member("concurrency", *options.concurrency);
  });
  return body;
}

std::string action_path(const OpsActOptions& options) {
  return "/" + options.what + "/" + base::percent_encoded(options.place) + "/" + options.action;
}

// Prints an action's result: the task, delivery, agent or node after the action.
void show_result(Console& console, json::Value answer) {
  if (!console.for_people()) return console.json(answer.raw());
  for (const char* kind : {"task", "delivery", "agent", "node"}) {
    const json::Value row = answer[kind];
    if (row.absent()) continue;
    const std::string name = row["key"].absent() ? text_in(row, "name") : text_in(row, "key");
    std::string line = std::string(kind) + " " + name;
    if (!row["state"].absent()) line += ": " + text_in(row, "state");
    if (!row["workers"].absent()) line += ": " + text_in(row, "workers") + " processes";
    if (!row["concurrency"].absent()) line += ": " + text_in(row, "concurrency") + " turns at once";
    if (row["paused"].boolean()) line += ": paused, " + text_in(row, "running") + " running";
    console.text(printable_line(line) + "\n");
  }
}

// Returns the number of running turns of an agent; nullopt after an error, which has been printed.
std::optional<std::int64_t> running_turns(OpsSession& session, const std::string& agent) {
  const auto answer = session.get("/agents");
  if (!answer) return std::nullopt;
  for (const json::Value row : answer->root()["agents"]) {
    if (row["name"].string() == agent) return row["running"].integer();
  }
  return 0;
}

// Returns whether the node still exists; nullopt after an error, which has been printed.
std::optional<bool> is_node(OpsSession& session, const std::string& key) {
  const auto answer = session.get("/nodes");
  if (!answer) return std::nullopt;
  for (const json::Value row : answer->root()["nodes"]) {
    if (row["key"].string() == key) return true;
  }
  return false;
}

// Writes the filter as the API expects it. All values may be strings.
void write_filter(json::Writer& out, const OpsFilter& filter) {
  out.object([&] {
    for (const auto& [name, value] : filter) {
      if (!value.empty()) out.member(name, value);
    }
  });
}

bool is_over(std::string_view state) {
  return state != "preparing" && state != "counted" && state != "running";
}

// Prints a job, and each of its tasks that was refused.
int show_job(OpsSession& session, const std::string& key) {
  Console& console = session.console();
  std::string cursor;
  bool first = true;
  do {
    const auto page = session.get(
        with_query("/bulk/" + base::percent_encoded(key), {{"limit", "200"}, {"cursor", cursor}}));
    if (!page) return session.code();
    const json::Value job = page->root();
    if (first && console.for_people()) {
      console.text(printable_line("job " + text_in(job, "job") + ": " + text_in(job, "action") + ", " +
                                  text_in(job, "state") + ": " + text_in(job, "done") + " of " +
                                  text_in(job, "tasks") + " done, " + text_in(job, "refused") + " refused") +
                   "\n");
    }
    first = false;
    for (const json::Value item : job["items"]) {
      const std::string outcome = text_in(item, "outcome");
      if (!console.for_people()) {
        console.json(item.raw());
      } else if (!outcome.empty() && outcome != "done") {
        console.text(printable_line("task " + text_in(item, "task") + ": " + outcome) + "\n");
      }
    }
    cursor = job["next"].str();
  } while (!cursor.empty() && !session.interrupt().pending());
  return kExitDone;
}

// Waits until the job is over, and prints it.
int await_job(OpsSession& session, const std::string& key) {
  while (true) {
    const auto job = session.get("/bulk/" + base::percent_encoded(key) + "?limit=1");
    if (!job) return session.code();
    if (is_over(job->root()["state"].string())) break;
    if (session.interrupt().wait(kLook)) {
      session.console().print_note("the job continues; `baton ops job " + key + "` shows it");
      return kExitInterrupted;
    }
  }
  return show_job(session, key);
}

// Waits until the job's tasks are counted, and prints the command that confirms the job.
int await_count(OpsSession& session, const std::string& key) {
  while (true) {
    const auto page = session.get("/bulk/" + base::percent_encoded(key) + "?limit=1");
    if (!page) return session.code();
    const json::Value job = page->root();
    const std::string_view state = job["state"].string();
    const std::string tasks = text_in(job, "tasks");
    if (state == "counted") {
      session.console().print_note("job " + key + " has " + task_count(tasks) +
                                   "; nothing is done before `baton ops confirm " + key + " --expected " +
                                   tasks + "`");
      return kExitUsage;
    }
    if (state == "done") {
      session.console().print_note("no task matches the filter; there is nothing to do");
      return kExitDone;
    }
    if (state != "preparing") {
      session.console().error("the job was abandoned; for the reason, see the server's log");
      return kExitFailed;
    }
    if (session.interrupt().wait(kLook)) {
      session.console().print_note("the tasks are still being counted; `baton ops job " + key + "` shows it");
      return kExitInterrupted;
    }
  }
}

}  // namespace

int ops_act(OpsActOptions options) {
  OpsSession session(options.target);
  const std::string wrong = options.action == "answer" ? wrong_in_answer(options) : std::string();
  const auto message = retry_message(options);
  if (!wrong.empty() || !message) {
    session.console().error(wrong.empty() ? message.error().for_caller : wrong);
    return kExitUsage;
  }
  if (options.what == "tasks") {
    auto key = session.find_task(options.place);
    if (!key) return session.code();
    options.place = std::move(*key);
  }
  const auto answer = session.post(action_path(options), body_of(options, *message));
  if (!answer) return session.code();
  show_result(session.console(), answer->root());
  return kExitDone;
}

int ops_drain(OpsActOptions options) {
  OpsSession session(options.target);
  const auto paused = session.post(action_path(options), body_of(options, {}));
  if (!paused) return session.code();
  while (true) {
    const auto running = running_turns(session, options.place);
    if (!running) return session.code();
    if (*running == 0) break;
    if (session.interrupt().wait(kLook)) return kExitInterrupted;
  }
  session.console().print_note(
      options.place + " is paused, and none of its turns is running; `baton ops resume` continues it");
  return kExitDone;
}

int ops_drain_node(OpsActOptions options) {
  OpsSession session(options.target);
  const auto asked = session.post(action_path(options), body_of(options, {}));
  if (!asked) return session.code();
  show_result(session.console(), asked->root());
  if (asked->root()["node"]["self"].boolean()) {
    session.console().print_note(
        "this is the node that answers, so this command cannot wait until it is gone");
    return kExitDone;
  }
  while (true) {
    const auto present = is_node(session, options.place);
    if (!present) return session.code();
    if (!*present) break;
    if (session.interrupt().wait(kLook)) return kExitInterrupted;
  }
  session.console().print_note("node " + options.place + " is gone");
  return kExitDone;
}

int ops_bulk(OpsBulkOptions options) {
  OpsSession session(options.target);
  // It would choose all tasks. Its value may come from a variable that is not set.
  const auto empty = std::ranges::find_if(options.filter, [](const auto& one) { return one.second.empty(); });
  if (empty != options.filter.end()) {
    session.console().error("the filter's " + empty->first + " must not be empty");
    return kExitUsage;
  }
  if (!session.find_tasks_in(options.filter)) return session.code();
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("action", options.action);
    if (options.expected) out.member("expected", *options.expected);
    out.member("reason", options.reason).key("filter");
    write_filter(out, options.filter);
  });
  const auto begun = session.post("/bulk", std::move(body));
  if (!begun) return session.code();
  const std::string key = begun->root()["job"].str();
  return options.expected ? await_job(session, key) : await_count(session, key);
}

int ops_confirm(const OpsJobOptions& options) {
  OpsSession session(options.target);
  const std::string body = "{\"expected\":" + std::to_string(options.expected) + "}";
  if (!session.post("/bulk/" + base::percent_encoded(options.key) + "/confirm", body)) return session.code();
  return await_job(session, options.key);
}

int ops_abandon(const OpsJobOptions& options) {
  OpsSession session(options.target);
  if (!session.post("/bulk/" + base::percent_encoded(options.key) + "/abandon", "{}")) return session.code();
  return show_job(session, options.key);
}

int ops_job(const OpsTarget& target, const std::string& key) {
  OpsSession session(target);
  return show_job(session, key);
}

}  // namespace baton::cli

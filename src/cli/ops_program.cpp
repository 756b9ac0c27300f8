// The command line of `baton ops`.
#include <CLI/CLI.hpp>
#include <deque>
#include <memory>

#include "cli/client_options.h"
#include "cli/ops_commands.h"

namespace baton::cli {
namespace {

// One parameter of a list: its flag and its name in the API.
struct Parameter {
  const char* flag;
  const char* name;
  const char* help;
};
const std::vector<Parameter> kTaskFilter{
    {"--state", "state", "In these states, separated by commas; unfinished: with a turn that runs or waits"},
    {"--turn", "turn", "With a turn that is queued, running or waiting, separated by commas; none: at rest"},
    {"--id", "id", "With this id, or one that begins with it or has this short form"},
    {"--agent", "agent", "Of this agent"},
    {"--caller", "caller", "Of this caller, with all tenants"},
    {"--tenant", "tenant", "Of this tenant of the caller"},
    {"--context", "context", "Of this context"},
    {"--parent", "parent", "Below the task with this key or id"},
    {"--schedule", "schedule", "Made by this schedule"},
    {"--age", "age_min_s", "In their state for at least so many seconds"},
    {"--attempts", "attempts_min", "With at least so many attempts"},
    {"--error", "error", "With these words in their last status"}};
const std::vector<Parameter> kDeliveryFilter{{"--state", "state", "waiting or given-up"},
                                             {"--task", "task", "Of the task with this key or id"},
                                             {"--agent", "agent", "Of this agent"},
                                             {"--caller", "caller", "Of this caller"}};
const std::vector<Parameter> kAuditFilter{
    {"--actor", "actor", "What this one has done"},
    {"--action", "action", "cancel, retry, answer, ..."},
    {"--task", "task", "What was done to the task with this key or id"}};

// The parsed options of the commands. Lives as long as the command line.
struct Options {
  OpsTarget target;
  std::deque<OpsListOptions> lists;
  std::deque<OpsActOptions> acts;
  OpsShowOptions show;
  OpsDeleteOptions erase;
  OpsBulkOptions bulk;
  std::string job;
  OpsJobOptions confirm, abandon;
};

class OpsProgram {
 public:
  OpsProgram(CLI::App& app, std::function<void(int)> ran)
      : ops_(
            *app.add_subcommand("ops", "See and act as whoever runs the server (needs an operator's token)")),
        ran_(std::move(ran)) {
    ops_.require_subcommand(1);
    add_lists();
    add_show();
    add_actions();
    add_delete();
    add_bulk();
  }

 private:
  CLI::App* add(const std::string& name, const std::string& help) {
    CLI::App* command = ops_.add_subcommand(name, help);
    OpsTarget& target = options_->target;
    add_url(*command, target.url, "The server, or its operators' listener");
    command
        ->add_option("--token", target.access.token,
                     "An operator's or a viewer's; better given as BATON_TOKEN")
        ->envname("BATON_TOKEN");
    command->add_flag("--json", target.json, "JSON lines in place of text");
    return command;
  }
  // `run` is called once the command line has been read.
  template <class Run>
  void on_run(CLI::App* command, Run run) {
    command->callback([options = options_, ran = ran_, run] { ran(run(*options)); });
  }

  static void add_filter(CLI::App* command, const std::vector<Parameter>& parameters, OpsFilter& filter) {
    for (const Parameter& parameter : parameters) {
      command->add_option_function<std::string>(
          parameter.flag,
          [&filter, name = parameter.name](const std::string& value) { filter.emplace_back(name, value); },
          parameter.help);
    }
  }
  static void add_switch(CLI::App* command, const std::string& flag, const std::string& help,
                         OpsFilter& filter, const std::string& name, const std::string& value) {
    command->add_flag_callback(
        flag, [&filter, name, value] { filter.emplace_back(name, value); }, help);
  }
  static void add_task_filter(CLI::App* command, OpsFilter& filter) {
    add_filter(command, kTaskFilter, filter);
    add_switch(command, "--roots", "That no other task has begun", filter, "roots", "1");
    add_switch(command, "--undelivered", "With webhooks that wait or were given up", filter, "undelivered",
               "1");
    add_switch(command, "--not-retried", "That nobody has retried", filter, "retried", "0");
  }

  OpsListOptions& add_list(const std::string& name, const std::string& help,
                           int (*run)(const OpsListOptions&), CLI::App*& command) {
    OpsListOptions& list = options_->lists.emplace_back();
    command = add(name, help);
    command->add_option("--limit", list.limit, "At most so many (50)")->check(CLI::PositiveNumber);
    command->add_flag("--all", list.all, "Every one of them");
    on_run(command, [&list, run](const Options& options) {
      list.target = options.target;
      return run(list);
    });
    return list;
  }

  void add_lists() {
    CLI::App* command =
        add("overview", "What runs, waits, fails and is stuck, and the commands that list it");
    on_run(command, [](const Options& options) { return ops_overview(options.target); });
    OpsListOptions& tasks =
        add_list("tasks", "Tasks of all callers, newest status first", ops_tasks, command);
    add_task_filter(command, tasks.filter);
    add_switch(command, "--oldest", "Those first that have been in their state longest", tasks.filter,
               "order", "oldest");
    OpsListOptions& deliveries =
        add_list("deliveries", "Webhooks that wait or were given up", ops_deliveries, command);
    add_filter(command, kDeliveryFilter, deliveries.filter);
    OpsListOptions& audit = add_list("audit", "Who did what, newest first", ops_audit, command);
    add_filter(command, kAuditFilter, audit.filter);
    command = add("agents", "The agents and how they are");
    on_run(command, [](const Options& options) { return ops_agents(options.target); });
    command = add("nodes", "The programs that share the database, and where their agents differ");
    on_run(command, [](const Options& options) { return ops_nodes(options.target); });
  }

  void add_show() {
    CLI::App* command = add("show", "One task with its log");
    OpsShowOptions& show = options_->show;
    command->add_option("key", show.key, "The task's key, its id, or the beginning or short form of its id")
        ->required();
    command->add_option("--events", show.events, "So many of its last events (20)")
        ->check(CLI::Range(0, 500));
    command->add_flag("--follow", show.follow, "Go on until the task ends");
    on_run(command, [&show](const Options& options) {
      show.target = options.target;
      return ops_show(show);
    });
  }

  // An action on one task, delivery or agent.
  CLI::App* add_action(const std::string& name, const std::string& what, const std::string& action,
                       const std::string& help, int (*run)(OpsActOptions)) {
    OpsActOptions& act = options_->acts.emplace_back();
    act.what = what;
    act.action = action;
    CLI::App* command = add(name, help);
    command
        ->add_option(what == "agents"  ? "agent"
                     : what == "nodes" ? "node"
                                       : "key",
                     act.place,
                     what == "tasks" ? "The task: its key, or its id or a part of it" : "What it is done to")
        ->required();
    command->add_option("--reason", act.reason, "Why; the audit keeps it")->required();
    on_run(command, [&act, run](const Options& options) {
      act.target = options.target;
      return run(act);
    });
    return command;
  }

  void add_actions() {
    add_action("cancel", "tasks", "cancel", "Cancel a task", ops_act);
    CLI::App* retry =
        add_action("retry", "tasks", "retry", "Send a task's message again, as a new task", ops_act);
    OpsActOptions& again = options_->acts.back();
    CLI::Option* message = retry->add_option(
        "--message", again.message, "Send this instead: a message of A2A 1.0 in JSON, or @FILE with one");
    const auto add_part = [&](const char* flag, std::vector<std::string>& parts, const char* help) {
      retry->add_option(flag, parts, help)->excludes(message)->allow_extra_args(false);
    };
    add_part("--text", again.parts.text, "Send this text instead, with what --data and --file give");
    add_part("--data", again.parts.data, "Send this JSON instead; may be repeated");
    add_part("--file", again.parts.files, "Send this file instead, NAME or NAME:TYPE; may be repeated");
    CLI::App* answer =
        add_action("answer", "tasks", "answer", "Answer the question that a task waits with", ops_act);
    answer->add_option("text", options_->acts.back().text, "The answer in words");
    answer->add_option("--data", options_->acts.back().data,
                       "The answer as JSON, which must fit the question's schema");
    answer->add_option("--ask", options_->acts.back().ask, "The question's id; else the one it waits with");
    add_action("requeue", "tasks", "requeue", "Break a task's turn off, and have it begin again", ops_act);
    add_action("resend", "deliveries", "resend", "Send a webhook again, now", ops_act);
    add_action("skip", "deliveries", "skip", "Give a webhook up, so that the next one is sent", ops_act);
    add_action("pause", "agents", "pause", "Begin no more turns of an agent", ops_act);
    add_action("resume", "agents", "resume", "Begin turns of an agent again", ops_act);
    CLI::App* scale = add_action("scale", "agents", "scale",
                                 "Change how many processes an agent keeps, and turns it runs", ops_act);
    scale->add_option("workers", options_->acts.back().workers,
                      "So many processes, of an agent that keeps some; 0: as its card says");
    scale->add_option("--concurrency", options_->acts.back().concurrency,
                      "So many turns at once; 0: as its card says");
    add_action("drain", "agents", "pause", "Pause an agent, and wait until none of its turns runs",
               ops_drain);
    add_action("drain-node", "nodes", "drain",
               "Have a node begin no more turns, end, and leave its tasks to the others", ops_drain_node);
  }

  void add_delete() {
    CLI::App* command = add("delete", "Delete a task, a context or all of a caller's tasks, for good");
    OpsDeleteOptions& erase = options_->erase;
    CLI::Option* key =
        command->add_option("key", erase.task, "The task's key or id; all tasks below it go, too");
    CLI::Option* caller = command->add_option("--caller", erase.caller, "Everything of this caller");
    CLI::Option* agent = command->add_option("--agent", erase.agent, "The agent of --context");
    command->add_option("--context", erase.context, "This context of --caller at --agent alone")
        ->needs(caller)
        ->needs(agent);
    key->excludes(caller);
    agent->needs("--context");
    command->add_option("--reason", erase.reason, "Why; the audit keeps it")->required();
    command->add_flag("--yes", erase.yes,
                      "Do it; without it it is said what would be deleted, and nothing is done");
    on_run(command, [&erase](const Options& options) {
      erase.target = options.target;
      return ops_delete(erase);
    });
  }

  void add_bulk() {
    CLI::App* command = add("bulk", "An action on every task that a filter finds, as a job");
    OpsBulkOptions& bulk = options_->bulk;
    command->add_option("action", bulk.action, "cancel, retry, requeue, resend, skip or delete")
        ->required()
        ->check(CLI::IsMember({"cancel", "retry", "requeue", "resend", "skip", "delete"}));
    command->add_option("--reason", bulk.reason, "Why; the audit keeps it")->required();
    command
        ->add_option("--expected", bulk.expected,
                     "How many tasks it finds; without it they are written down and counted, and `confirm` "
                     "acts on them")
        ->check(CLI::NonNegativeNumber);
    add_task_filter(command, bulk.filter);
    on_run(command, [&bulk](const Options& options) {
      bulk.target = options.target;
      return ops_bulk(bulk);
    });
    CLI::App* job = add("job", "What has come of a bulk job");
    job->add_option("key", options_->job, "The job's key")->required();
    on_run(job, [](const Options& options) { return ops_job(options.target, options.job); });
    OpsJobOptions& confirm = options_->confirm;
    CLI::App* confirms = add("confirm", "Act on the tasks of a bulk job that was counted");
    confirms->add_option("key", confirm.key, "The job's key")->required();
    confirms->add_option("--expected", confirm.expected, "How many tasks it has")
        ->required()
        ->check(CLI::NonNegativeNumber);
    on_run(confirms, [&confirm](const Options& options) {
      confirm.target = options.target;
      return ops_confirm(confirm);
    });
    OpsJobOptions& abandon = options_->abandon;
    CLI::App* abandons = add("abandon", "Give up a bulk job that is being counted, or was");
    abandons->add_option("key", abandon.key, "The job's key")->required();
    on_run(abandons, [&abandon](const Options& options) {
      abandon.target = options.target;
      return ops_abandon(abandon);
    });
  }

  CLI::App& ops_;
  const std::function<void(int)> ran_;
  const std::shared_ptr<Options> options_ = std::make_shared<Options>();  // shared with the callbacks
};

}  // namespace

void add_ops(CLI::App& app, std::function<void(int)> ran) {
  OpsProgram(app, std::move(ran));
}

}  // namespace baton::cli

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
    {"--state", "state",
     "Only tasks in these states, separated by commas; unfinished: tasks with a running or waiting turn"},
    {"--turn", "turn",
     "Only tasks whose turn is queued, running or waiting, separated by commas; none: without a turn"},
    {"--id", "id", "Only tasks whose id is this, begins with it or has this short form"},
    {"--agent", "agent", "Only tasks of this agent"},
    {"--caller", "caller", "Only those of this caller, with all its tenants"},
    {"--tenant", "tenant", "Only those of this tenant of the caller"},
    {"--context", "context", "Only tasks of this context"},
    {"--parent", "parent", "Only tasks below the task with this key or id"},
    {"--schedule", "schedule", "Only tasks created by this schedule"},
    {"--age", "age_min_s", "Only tasks in their state for at least this many seconds"},
    {"--attempts", "attempts_min", "Only tasks with at least this many attempts"},
    {"--error", "error", "Only tasks whose last status contains this text"}};
const std::vector<Parameter> kDeliveryFilter{{"--state", "state", "waiting or given-up"},
                                             {"--task", "task", "Only those of the task with this key or id"},
                                             {"--agent", "agent", "Only tasks of this agent"},
                                             {"--caller", "caller", "Only tasks of this caller"}};
const std::vector<Parameter> kAuditFilter{{"--actor", "actor", "Only actions of this operator"},
                                          {"--action", "action", "cancel, retry, answer, ..."},
                                          {"--task", "task", "Only actions on the task with this key or id"}};
const std::vector<Parameter> kKeyFilter{{"--caller", "caller", "Only keys of this caller"},
                                        {"--state", "state", "valid, expired or revoked"}};

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
  OpsListOptions keys;
  OpsKeyOptions create_key, rotate_key, revoke_key;
};

class OpsProgram {
 public:
  OpsProgram(CLI::App& app, std::function<void(int)> ran)
      : ops_(*app.add_subcommand(
            "ops", "Operate a server: see and control all tasks and agents (needs an operator's token)")),
        ran_(std::move(ran)) {
    ops_.require_subcommand(1);
    add_lists();
    add_show();
    add_actions();
    add_delete();
    add_bulk();
    add_keys();
  }

 private:
  CLI::App* add(const std::string& name, const std::string& help) { return add(ops_, name, help); }
  CLI::App* add(CLI::App& above, const std::string& name, const std::string& help) {
    CLI::App* command = above.add_subcommand(name, help);
    OpsTarget& target = options_->target;
    add_url(*command, target.url, "The server's address, or that of its operator port");
    command
        ->add_option("--token", target.access.token, "An operator's or viewer's token; BATON_TOKEN is safer")
        ->envname("BATON_TOKEN");
    command->add_flag("--json", target.json, "Print JSON lines instead of text");
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
    add_switch(command, "--roots", "Only tasks that no other task created", filter, "roots", "1");
    add_switch(command, "--undelivered", "Only tasks with waiting or abandoned webhooks", filter,
               "undelivered", "1");
    add_switch(command, "--not-retried", "Only tasks that were not retried", filter, "retried", "0");
  }

  OpsListOptions& add_list(const std::string& name, const std::string& help,
                           int (*run)(const OpsListOptions&), CLI::App*& command) {
    OpsListOptions& list = options_->lists.emplace_back();
    command = add(name, help);
    command->add_option("--limit", list.limit, "Maximum number shown (50)")->check(CLI::PositiveNumber);
    command->add_flag("--all", list.all, "Show all");
    on_run(command, [&list, run](const Options& options) {
      list.target = options.target;
      return run(list);
    });
    return list;
  }

  void add_lists() {
    CLI::App* command =
        add("overview", "Count what is running, waiting, failed and stuck, with the command that lists each");
    on_run(command, [](const Options& options) { return ops_overview(options.target); });
    OpsListOptions& tasks =
        add_list("tasks", "Tasks of all callers, newest status first", ops_tasks, command);
    add_task_filter(command, tasks.filter);
    add_switch(command, "--oldest", "Show those first that have been in their state longest", tasks.filter,
               "order", "oldest");
    OpsListOptions& deliveries =
        add_list("deliveries", "Webhooks that are waiting or were abandoned", ops_deliveries, command);
    add_filter(command, kDeliveryFilter, deliveries.filter);
    OpsListOptions& audit = add_list("audit", "What operators did, newest first", ops_audit, command);
    add_filter(command, kAuditFilter, audit.filter);
    command = add("agents", "All agents and their state");
    on_run(command, [](const Options& options) { return ops_agents(options.target); });
    command = add("nodes", "The servers that share the database, and where their agents differ");
    on_run(command, [](const Options& options) { return ops_nodes(options.target); });
  }

  void add_show() {
    CLI::App* command = add("show", "One task with its log");
    OpsShowOptions& show = options_->show;
    command->add_option("key", show.key, "The task's key, its id, or the beginning or short form of its id")
        ->required();
    command->add_option("--events", show.events, "Number of its last events to show (20)")
        ->check(CLI::Range(0, 500));
    command->add_flag("--follow", show.follow, "Follow the task until it ends");
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
        ->add_option(
            what == "agents"  ? "agent"
            : what == "nodes" ? "node"
                              : "key",
            act.place,
            what == "tasks" ? "The task's key, or its id or part of it" : "The key or name of what to act on")
        ->required();
    command->add_option("--reason", act.reason, "The reason, which the audit records")->required();
    on_run(command, [&act, run](const Options& options) {
      act.target = options.target;
      return run(act);
    });
    return command;
  }

  void add_actions() {
    add_action("cancel", "tasks", "cancel", "Cancel a task", ops_act);
    CLI::App* retry =
        add_action("retry", "tasks", "retry", "Send a task's message again as a new task", ops_act);
    OpsActOptions& again = options_->acts.back();
    CLI::Option* message =
        retry->add_option("--message", again.message,
                          "Send this A2A 1.0 message instead: JSON, or @FILE to read it from a file");
    const auto add_part = [&](const char* flag, std::vector<std::string>& parts, const char* help) {
      retry->add_option(flag, parts, help)->excludes(message)->allow_extra_args(false);
    };
    add_part("--text", again.parts.text, "Send this text instead; combines with --data and --file");
    add_part("--data", again.parts.data, "Send this JSON instead; may be repeated");
    add_part("--file", again.parts.files, "Send this file instead, NAME or NAME:TYPE; may be repeated");
    CLI::App* answer = add_action("answer", "tasks", "answer", "Answer a task's open question", ops_act);
    answer->add_option("text", options_->acts.back().text, "The answer as text");
    answer->add_option("--data", options_->acts.back().data,
                       "The answer as JSON, which must fit the question's schema");
    answer->add_option("--ask", options_->acts.back().ask, "The question's id; the default is the open one");
    add_action("requeue", "tasks", "requeue", "Stop a task's turn and start it again", ops_act);
    add_action("resend", "deliveries", "resend", "Resend a webhook now", ops_act);
    add_action("skip", "deliveries", "skip", "Abandon a webhook, so that the next one is sent", ops_act);
    add_action("pause", "agents", "pause", "Start no more turns of an agent", ops_act);
    add_action("resume", "agents", "resume", "Start turns of a paused agent again", ops_act);
    CLI::App* scale = add_action("scale", "agents", "scale",
                                 "Change an agent's number of processes and concurrent turns", ops_act);
    scale->add_option("workers", options_->acts.back().workers,
                      "Number of worker processes, for an agent that has some; 0: as in its card");
    scale->add_option("--concurrency", options_->acts.back().concurrency,
                      "Number of turns at the same time; 0: as in its card");
    add_action("drain", "agents", "pause", "Pause an agent and wait until none of its turns is running",
               ops_drain);
    add_action("drain-node", "nodes", "drain", "Stop a node gracefully and hand its tasks to the other nodes",
               ops_drain_node);
  }

  void add_delete() {
    CLI::App* command = add("delete", "Permanently delete a task, a context or all of a caller's tasks");
    OpsDeleteOptions& erase = options_->erase;
    CLI::Option* key =
        command->add_option("key", erase.task, "The task's key or id; all tasks below it are deleted too");
    CLI::Option* caller = command->add_option("--caller", erase.caller, "All tasks of this caller");
    CLI::Option* agent = command->add_option("--agent", erase.agent, "The agent of --context");
    // An empty context, from a variable that is not set, must not stand for all of the caller's tasks.
    command->add_option("--context", erase.context, "Only this context of --caller at --agent")
        ->needs(caller)
        ->needs(agent)
        ->check([](const std::string& value) { return value.empty() ? "must not be empty" : std::string(); });
    key->excludes(caller);
    agent->needs("--context");
    command->add_option("--reason", erase.reason, "The reason, which the audit records")->required();
    command->add_flag("--yes", erase.yes, "Delete; without this option, only show what would be deleted");
    on_run(command, [&erase](const Options& options) {
      erase.target = options.target;
      return ops_delete(erase);
    });
  }

  void add_bulk() {
    CLI::App* command = add("bulk", "Apply an action to every task that matches a filter, as a job");
    OpsBulkOptions& bulk = options_->bulk;
    command->add_option("action", bulk.action, "cancel, retry, requeue, resend, skip or delete")
        ->required()
        ->check(CLI::IsMember({"cancel", "retry", "requeue", "resend", "skip", "delete"}));
    command->add_option("--reason", bulk.reason, "The reason, which the audit records")->required();
    command
        ->add_option("--expected", bulk.expected,
                     "Number of tasks that the filter finds; without it the tasks are only counted, and "
                     "`confirm` acts on them")
        ->check(CLI::NonNegativeNumber);
    add_task_filter(command, bulk.filter);
    on_run(command, [&bulk](const Options& options) {
      bulk.target = options.target;
      return ops_bulk(bulk);
    });
    CLI::App* job = add("job", "Show the progress and result of a bulk job");
    job->add_option("key", options_->job, "The job's key")->required();
    on_run(job, [](const Options& options) { return ops_job(options.target, options.job); });
    OpsJobOptions& confirm = options_->confirm;
    CLI::App* confirms = add("confirm", "Start a bulk job that was counted");
    confirms->add_option("key", confirm.key, "The job's key")->required();
    confirms->add_option("--expected", confirm.expected, "Number of tasks that it has")
        ->required()
        ->check(CLI::NonNegativeNumber);
    on_run(confirms, [&confirm](const Options& options) {
      confirm.target = options.target;
      return ops_confirm(confirm);
    });
    OpsJobOptions& abandon = options_->abandon;
    CLI::App* abandons = add("abandon", "Abandon a bulk job that was not confirmed");
    abandons->add_option("key", abandon.key, "The job's key")->required();
    on_run(abandons, [&abandon](const Options& options) {
      abandon.target = options.target;
      return ops_abandon(abandon);
    });
  }

  void add_keys() {
    CLI::App* keys = add("keys", "List API keys; create, rotate or revoke one");
    keys->require_subcommand(0, 1);
    add_filter(keys, kKeyFilter, options_->keys.filter);
    keys->callback([options = options_, ran = ran_, keys] {
      if (!keys->get_subcommands().empty()) return;
      options->keys.target = options->target;
      ran(ops_keys(options->keys));
    });
    OpsKeyOptions& made = options_->create_key;
    CLI::App* create =
        add_key_command(*keys, "create", "Create a key, which is shown once", made, ops_create_key);
    create->add_option("caller", made.caller, "The caller whose key it is")->required();
    create->add_option("--role", made.role, "caller (default), viewer or operator")
        ->check(CLI::IsMember({"caller", "viewer", "operator"}));
    create
        ->add_option("--scopes", made.scopes,
                     "send, read, cancel, operate, separated by commas; default: all that its role can use")
        ->delimiter(',')
        ->allow_extra_args(false);
    create->add_option("--agents", made.agents, "Agents it is valid for, separated by commas; default: all")
        ->delimiter(',')
        ->allow_extra_args(false);
    create->add_flag("--own-children", made.own_children, "Its tasks may only delegate to these agents");
    create->add_option("--seconds", made.seconds, "Seconds until it expires; default: never")
        ->check(CLI::PositiveNumber);
    OpsKeyOptions& next = options_->rotate_key;
    CLI::App* rotate = add_key_command(*keys, "rotate", "Create a key in place of another, which expires",
                                       next, ops_rotate_key);
    rotate->add_option("id", next.id, "The old key's id, or the whole key")->required();
    rotate
        ->add_option("--seconds", next.seconds, "Seconds until the new one expires; default: as the old one")
        ->check(CLI::PositiveNumber);
    rotate->add_option("--overlap", next.overlap, "Seconds that the old one stays valid (86400)")
        ->check(CLI::NonNegativeNumber);
    OpsKeyOptions& old = options_->revoke_key;
    CLI::App* revoke = add_key_command(*keys, "revoke", "End a key at once", old, ops_revoke_key);
    revoke->add_option("id", old.id, "The key's id, or the whole key")->required();
  }
  CLI::App* add_key_command(CLI::App& keys, const std::string& name, const std::string& help,
                            OpsKeyOptions& key, int (*run)(const OpsKeyOptions&)) {
    CLI::App* command = add(keys, name, help);
    command->add_option("--reason", key.reason, "The reason, which the audit records")->required();
    on_run(command, [&key, run](const Options& options) {
      key.target = options.target;
      return run(key);
    });
    return command;
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

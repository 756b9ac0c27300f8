// The commands of agents' authors, as options of the command line.
#include "base/text.h"
#include "cli/agent_commands.h"
#include "cli/client_options.h"

namespace baton::cli {
namespace {

class AgentProgram {
 public:
  AgentProgram(CLI::App& app, std::function<void(int)> ran) : app_(app), ran_(std::move(ran)) {
    add_init();
    add_check();
    add_test();
    add_run();
    add_chat();
    add_replay();
  }

 private:
  struct Options {
    InitOptions init;
    CheckOptions check;
    TestOptions test;
    RunOptions run;
    ChatOptions chat;
    ReplayOptions replay;
  };

  template <class Command>
  void on_run(CLI::App* command, Command run_it) {
    command->callback([options = options_, ran = ran_, run_it] { ran(run_it(*options)); });
  }

  void add_init() {
    CLI::App* command = app_.add_subcommand("init", "Make an agent's folder");
    command
        ->add_option("folder", options_->init.folder,
                     "A new one, such as agent-cards/mine; its name is the agent's")
        ->required();
    command
        ->add_option("--lang", options_->init.language, base::comma_separated(init_languages()) + " (python)")
        ->check(CLI::IsMember(init_languages()));
    command->add_option("--kind", options_->init.kind, base::comma_separated(init_kinds()) + " (echo)")
        ->check(CLI::IsMember(init_kinds()));
    command->add_option("--description", options_->init.description,
                        "What the agent does, for its card; without it, you are asked at a terminal");
    on_run(command, [](const Options& options) { return init_command(options.init); });
  }

  void add_check() {
    CLI::App* command = app_.add_subcommand("check", "Check agents' cards, plans and programs");
    command->add_option("folder", options_->check.folder,
                        "A folder of agents, or an agent's own (" + options_->check.folder + ")");
    command->add_option("--turn", options_->check.turn, "Then run one turn of the agent with this message");
    command->add_flag("--allow-missing", options_->check.allow_missing,
                      "Only warn of agents that plans and models name and that are not in the folder");
    command->add_flag("--json", options_->check.json, "JSON lines: a finding each, then the turn's events");
    command->footer(
        "Exit codes: 0 all is right, 1 a card is wrong or the turn failed, 2 there are no cards;\n"
        "others as those of `send`. Without --turn nothing is started.\n");
    on_run(command, [](const Options& options) { return check_command(options.check); });
  }

  void add_test() {
    CLI::App* command = app_.add_subcommand("test", "Try agents by the conversations in their folders");
    command->add_option("folder", options_->test.folder, "A folder of agents, or an agent's own")->required();
    command->add_option("--conversations", options_->test.file,
                        "The file; without it, conversations.json in the folder");
    command->add_option("--junit", options_->test.junit, "Write the outcome as JUnit XML, too");
    command->footer(
        "Exit codes: 0 all went as expected, 1 one did not, 2 there is nothing to run, or it is wrong.\n");
    on_run(command, [](const Options& options) { return test_command(options.test); });
  }

  void add_chat() {
    CLI::App* command = app_.add_subcommand("chat", "Talk with an agent");
    command->add_option("--context,--session", options_->chat.context, "Go on with this context");
    add_save(*command, options_->chat.save);
    add_client(*command, options_->chat.client);
    on_run(command, [](const Options& options) { return chat_command(options.chat); });
  }

  void add_replay() {
    CLI::App* command = app_.add_subcommand(
        "replay", "Run a turn of a task again, with the agent as it is now; nothing is kept");
    ReplayOptions& replay = options_->replay;
    command->add_option("task", replay.task, "The task's id, or the beginning or short form of it")
        ->required();
    command->add_option("--turn", replay.turn, "Which one: its first is 1; without it, the last")
        ->check(CLI::PositiveNumber);
    command->add_option("--agent", replay.agent, "Whose task it is, if several agents have one of this id");
    command
        ->add_option("--db", replay.database, "The SQLite database, which a server may be using (baton.db)")
        ->envname("BATON_DB");
    command->add_option("--agents", replay.agents, "Folder with one folder for each agent (agent-cards)");
    command->add_flag("--json", replay.json, "JSON lines in place of text");
    command->footer(
        "Children that it delegates to are made anew, and webhooks are not called. What a client sent "
        "along of its\nown history is not there any more: the turn gets Baton's record.\n" +
        std::string(kExitCodes));
    on_run(command, [](const Options& options) { return replay_command(options.replay); });
  }

  void add_run() {
    CLI::App* command = app_.add_subcommand("run", "Serve a program as an agent, and talk with it");
    command
        ->add_option("command", options_->run.command, "A program's file, or -- and a command with arguments")
        ->required();
    command
        ->add_option("--io", options_->run.io,
                     "text or lines, as in a card; without it, as the first turn shows")
        ->check(CLI::IsMember({"text", "lines"}));
    command->add_option("--save", options_->run.save,
                        "New folder for the agent with a card, to serve it later");
    command->add_flag("--json", options_->run.json, "JSON lines in place of text");
    command->footer("Nothing is kept. " + std::string(kExitCodes));
    on_run(command, [](const Options& options) { return run_command(options.run); });
  }

  CLI::App& app_;
  const std::function<void(int)> ran_;
  const std::shared_ptr<Options> options_ = std::make_shared<Options>();  // shared with the callbacks
};

}  // namespace

void add_agent_commands(CLI::App& app, std::function<void(int)> ran) {
  AgentProgram(app, std::move(ran));
}

}  // namespace baton::cli

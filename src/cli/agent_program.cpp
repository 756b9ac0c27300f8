// The commands of agents' authors, as options of the command line.
#include "base/text.h"
#include "cli/agent_commands.h"
#include "cli/client_options.h"
#include "cli/dev_folder.h"

namespace baton::cli {
namespace {

constexpr const char* kTestedFolder = "A folder of agents, or an agent's own (agent-cards, or else agents)";

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

  // A command that is not told which agents it is about is about the author's own, like `dev`.
  static void choose_own(std::string& folder) {
    if (folder.empty()) folder = own_agents_folder();
  }

  void add_init() {
    CLI::App* command = app_.add_subcommand("init", "Create an agent in a new folder");
    command
        ->add_option("folder", options_->init.folder,
                     "A new folder, such as agent-cards/mine; its name becomes the agent's name")
        ->required();
    command
        ->add_option("--lang", options_->init.language, base::comma_separated(init_languages()) + " (python)")
        ->check(CLI::IsMember(init_languages()));
    command->add_option("--kind", options_->init.kind, base::comma_separated(init_kinds()) + " (echo)")
        ->check(CLI::IsMember(init_kinds()));
    command->add_option("--description", options_->init.description,
                        "What the agent does, for its card; without it, you are asked in a terminal");
    on_run(command, [](const Options& options) { return init_command(options.init); });
  }

  void add_check() {
    CLI::App* command = app_.add_subcommand("check", "Check agents' cards, plans and programs");
    command->add_option("folder", options_->check.folder, kTestedFolder);
    command->add_option("--turn", options_->check.turn, "Also run one turn of the agent with this message");
    command->add_flag("--allow-missing", options_->check.allow_missing,
                      "Only warn about agents that plans and models name but the folder does not contain");
    command->add_flag("--json", options_->check.json,
                      "Print JSON lines: one per finding, then the turn's events");
    command->footer(
        "Exit codes: 0 everything is valid, 1 a card is invalid or the turn failed, 2 there are no "
        "cards;\nothers as for `send`. Without --turn nothing is started.\n");
    on_run(command, [](Options& options) {
      choose_own(options.check.folder);
      return check_command(options.check);
    });
  }

  void add_test() {
    CLI::App* command = app_.add_subcommand("test", "Test agents with the conversations in their folders");
    command->add_option("folder", options_->test.folder, kTestedFolder);
    command->add_option("--conversations", options_->test.file,
                        "The file; without it, conversations.json in the folder");
    command->add_option("--junit", options_->test.junit, "Also write the result as JUnit XML");
    command->footer(
        "Exit codes: 0 all tests passed, 1 a test failed, 2 there is nothing to run, or it is invalid.\n");
    on_run(command, [](Options& options) {
      choose_own(options.test.folder);
      return test_command(options.test);
    });
  }

  void add_chat() {
    CLI::App* command = app_.add_subcommand("chat", "Talk to an agent");
    command->add_option("--context,--session", options_->chat.context, "Continue this context");
    add_save(*command, options_->chat.save);
    add_client(*command, options_->chat.client);
    on_run(command, [](const Options& options) { return chat_command(options.chat); });
  }

  void add_replay() {
    CLI::App* command =
        app_.add_subcommand("replay", "Run a turn of a task again with the current agent; nothing is stored");
    ReplayOptions& replay = options_->replay;
    command->add_option("task", replay.task, "The task's id, or the beginning or short form of it")
        ->required();
    command->add_option("--turn", replay.turn, "Which turn, from 1; the default is the last")
        ->check(CLI::PositiveNumber);
    command->add_option("--agent", replay.agent,
                        "The task's agent, if several agents have a task with this id");
    command
        ->add_option("--db", replay.database, "The SQLite database, which a server may be using (baton.db)")
        ->envname("BATON_DB");
    command->add_option("--agents", replay.agents,
                        "Folder that contains one folder for each agent (agent-cards, or else agents)");
    command->add_flag("--json", replay.json, "Print JSON lines instead of text");
    command->footer(
        "Child tasks are created again, and webhooks are not called. History that a client sent along is no "
        "longer\navailable: the turn gets Baton's record.\n" +
        std::string(kExitCodes));
    on_run(command, [](Options& options) {
      choose_own(options.replay.agents);
      return replay_command(options.replay);
    });
  }

  void add_run() {
    CLI::App* command = app_.add_subcommand("run", "Run a program as an agent and talk to it");
    add_words(*command, "command", options_->run.command,
              "A program's file, or -- and a command with arguments")
        ->required();
    command
        ->add_option("--io", options_->run.io,
                     "text or lines, as in a card; the default is detected in the first turn")
        ->check(CLI::IsMember({"text", "lines"}));
    command->add_option("--save", options_->run.save,
                        "Save the agent with a card to this new folder, to serve it later");
    command->add_flag("--json", options_->run.json, "Print JSON lines instead of text");
    command->footer("Nothing is stored. " + std::string(kExitCodes));
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

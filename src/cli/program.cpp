#include "cli/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <vector>

#include "app/files.h"
#include "app/load_config.h"
#include "app/serve.h"
#include "app/settings.h"
#include "app/version.h"
#include "base/text.h"
#include "cli/agent_commands.h"
#include "cli/client_options.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/db_commands.h"
#include "cli/dev_folder.h"
#include "cli/exit_code.h"
#include "cli/ops_commands.h"
#include "cli/shell_words.h"

namespace baton::cli {
namespace {

constexpr std::size_t kConfigFileMax = 4 << 20;

// The settings that the short help of `serve` and `dev` shows. The long help has all of them.
constexpr std::array<std::string_view, 7> kMainSettings{"host",       "port",      "db",       "agents",
                                                        "public_url", "grpc.port", "log.level"};
constexpr const char* kAllSettings = "Show all options, including the server's settings";

constexpr const char* kServeHelp =
    "Every setting can be in the configuration file (JSON with comments, sections as objects), in "
    "the\nenvironment and on the command line; the later of these wins. Sizes can end with KiB, MiB or "
    "GiB.\nCallers' tokens are in the file, or as the same JSON in BATON_TOKENS:\n  {\"tokens\": "
    "[{\"caller\": \"ann\", \"token_file\": \"ann.token\", \"agents\": [\"echo\"]}]}\nA token_file without a "
    "leading slash is relative to the configuration file; in BATON_TOKENS, to the folder in which\nthe "
    "program "
    "was started. A yes-or-no flag can have a value: --strict, --strict=false.\nbaton serve --help-all shows "
    "every setting.\n";

// What `baton` alone shows.
constexpr const char* kOverview =
    "Baton puts any agent behind standard protocols, and keeps its tasks on disk.\n"
    "\n"
    "Write an agent\n"
    "  init FOLDER         create an agent: a folder with a card, a program and a test\n"
    "  dev [FOLDER]        serve agents while you write them\n"
    "  test [FOLDER]       test agents with the conversations in their folders\n"
    "  check [FOLDER]      find mistakes in cards, plans and programs\n"
    "  run PROGRAM         talk to a program that has no card yet\n"
    "\n"
    "Use agents\n"
    "  chat                talk to an agent\n"
    "  send TEXT           send a message, and follow the answer\n"
    "  list                list your tasks\n"
    "  logs TASK           show what happened in a task\n"
    "\n"
    "Run a server\n"
    "  serve               serve agents, with their tasks in a database\n"
    "\n"
    "baton COMMAND --help explains a command, and baton --help lists all of them.\n";

// Help that leaves out the server's settings, except the main ones, unless all help was asked for.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    shows_all_ = mode == CLI::AppFormatMode::All;
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    // Groups that were left out leave their empty lines.
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
    return text;
  }
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    const bool is_section = group.starts_with(kSection);
    if (is_section && !shows_all_) return {};
    if (is_section) group = "Settings: " + group.substr(kSection.size());
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options));
  }

  // Marks the group of a section of settings.
  static constexpr std::string_view kSection = "section ";

 private:
  mutable bool shows_all_ = false;
};

struct ServeOptions {
  std::vector<std::pair<std::string, std::string>> defaults;  // those that differ from `serve`'s
  std::string folder;                                         // of agents; empty: as the settings say
  bool finds_folder = false;                                  // without a folder and a setting, looks for one
  std::string config_file;
  std::map<std::string, std::string> given;  // by path; entries whose flag was not given are ignored
  bool print_schema = false;
};

// Adds the flag for a setting of `serve`.
void add_setting(CLI::App& command, const app::Setting& setting, std::string& value) {
  const std::size_t dot = setting.path.find('.');
  const std::string section(dot == std::string_view::npos ? "general" : setting.path.substr(0, dot));
  const bool is_main = std::ranges::count(kMainSettings, setting.path) > 0;
  std::string help(setting.help);
  const std::string normal = app::default_text(setting);
  help += (normal.empty() ? " (" : " (" + normal + "; ") + app::variable_of(setting.path) + ")";
  std::string names = app::flag_of(setting);
  if (!setting.flag.empty()) names += "," + app::flag_of(setting.path);
  CLI::Option* option = command.add_option(names, value, help);
  if (!is_main) option->group(std::string(HelpFormatter::kSection) + section);
  if (app::is_switch(setting)) option->expected(0, 1)->default_str("true")->type_name("[true|false]");
}

int serve_command(const CLI::App& command, const ServeOptions& options) {
  if (options.print_schema) {
    std::fputs(app::config_schema().c_str(), stdout);
    return written(kExitDone);
  }
  app::Sources sources;
  sources.defaults = options.defaults;
  if (!options.folder.empty()) sources.flags.emplace_back("agents", options.folder);
  const DevFolder found = options.finds_folder && options.folder.empty() ? find_dev_folder() : DevFolder{};
  if (!found.folder.empty()) sources.defaults.emplace_back("agents", found.folder);
  sources.environment = app::process_environment();
  for (const app::Setting& setting : app::settings()) {
    if (command.count(app::flag_of(setting)) == 0) continue;
    sources.flags.emplace_back(setting.path, options.given.at(std::string(setting.path)));
  }
  const auto load = [&options, &sources]() -> app::LoadedConfig {
    if (!options.config_file.empty()) {
      auto text = app::read_text_file(options.config_file, kConfigFileMax);
      if (!text) return {{}, {text.error().for_caller}, {}};
      sources.file_name = options.config_file;
      sources.file_text = std::move(*text);
    }
    return app::load_config(sources);
  };
  const app::LoadedConfig loaded = load();
  for (const std::string& warning : loaded.warnings)
    std::fprintf(stderr, "baton: warning: %s\n", warning.c_str());
  for (const std::string& problem : loaded.problems) std::fprintf(stderr, "baton: %s\n", problem.c_str());
  if (!found.about.empty() && (found.folder.empty() || loaded.config.agents_folder == found.folder))
    std::fprintf(stderr, "%s\n", found.about.c_str());
  return loaded.problems.empty() ? app::serve(loaded.config, load) : kExitUsage;
}

// Adds an option that may be repeated. Each use takes one value, so that other words may follow it.
void add_repeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                  const std::string& help) {
  command.add_option(name, values, help + "; may be repeated")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_give_up(CLI::App& command, std::optional<int>& seconds) {
  command
      .add_option(
          "--give-up-after", seconds,
          "Give up after this many seconds without contact (60; at once if the server was never reached)")
      ->check(CLI::Range(0, 86'400));
}

// All commands with their options. The command that was run sets `exit_code_`.
class Program {
 public:
  Program() : app_("Baton puts any agent behind standard protocols, and keeps its tasks on disk.", "baton") {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.require_subcommand(1);
    app_.failure_message([this](const CLI::App*, const CLI::Error& error) {
      return "baton: " + std::string(error.what()) + "; see " + chosen_words() + " --help\n";
    });
    app_.set_version_flag("--version", app::version_text());
    add_serve();
    add_dev();
    add_send();
    add_watch();
    add_get_and_cancel();
    add_views();
    add_list();
    add_health();
    add_agents();
    add_card();
    add_discover();
    add_agent_commands(app_, [this](int code) { exit_code_ = code; });
    add_ops(app_, [this](int code) { exit_code_ = code; });
    add_db();
    add_shell_words();
  }

  int run(int argc, char** argv) {
    if (argc < 2) return print(kOverview);
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ExtrasError&) {
      return report_unknown();
    } catch (const CLI::RequiredError& error) {
      const bool no_command = chosen().get_subcommands().empty();
      if (no_command && app_.remaining(true).empty()) return print(app_.help());
      return no_command ? report_unknown() : (app_.exit(error), kExitUsage);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? written(kExitDone) : kExitUsage;
    }
    // A server's exit code tells how the server ended, also if nobody reads its output.
    const bool is_server = app_.got_subcommand("serve") || app_.got_subcommand("dev");
    return is_server ? exit_code_ : written(exit_code_);
  }

 private:
  // Returns the chosen command that has subcommands, such as `db`, or the program itself.
  const CLI::App& chosen() const {
    const auto all = [](const CLI::App*) { return true; };
    const CLI::App* chosen = &app_;
    for (const CLI::App* command : app_.get_subcommands()) {
      if (!command->get_subcommands(all).empty()) chosen = command;
    }
    return *chosen;
  }

  // Returns the words of the chosen command, such as "baton db backup".
  std::string chosen_words() const {
    std::string words = app_.get_name();
    for (const CLI::App* command = &app_; !command->get_subcommands().empty();) {
      command = command->get_subcommands().front();
      words += " " + command->get_name();
    }
    return words;
  }

  // Reports unknown words, with the nearest known name.
  int report_unknown() const {
    std::vector<std::string> known;
    for (const CLI::App* command : chosen().get_subcommands()) {
      for (const CLI::Option* option : command->get_options()) known.push_back(option->get_name());
    }
    // Without a command, the first word was meant as one, and the words after it were meant for that command.
    const bool no_command = chosen().get_subcommands().empty();
    if (no_command) {
      for (const CLI::App* command : chosen().get_subcommands([](const CLI::App*) { return true; }))
        known.push_back(command->get_name());
    }
    for (const std::string& word : app_.remaining(true)) {
      const std::string near = base::nearest_name(word.substr(0, word.find('=')), known);
      const std::string hint = near.empty() ? "see --help" : "did you mean " + near + "?";
      std::fprintf(stderr, "baton: unknown: %s; %s\n", word.c_str(), hint.c_str());
      if (no_command) break;
    }
    return kExitUsage;
  }

  template <class Command>
  void on_run(CLI::App* command, Command run_it) {
    command->callback([this, run_it] { exit_code_ = run_it(); });
  }

  void add_serve() {
    CLI::App* command = app_.add_subcommand("serve", "Serve agents until SIGTERM or Ctrl-C");
    command->add_flag("--config-schema", serve_.print_schema,
                      "Print the JSON Schema of the configuration file");
    add_settings(command, serve_);
    command->footer(kServeHelp);
  }

  void add_dev() {
    CLI::App* command = app_.add_subcommand(
        "dev", "Serve agents while you write them: reload them when they change, and show what happens");
    command->add_option("folder", dev_.folder,
                        "Folder that contains one folder for each agent (agent-cards or agents, or else the "
                        "agents that come with Baton)");
    dev_.finds_folder = true;
    dev_.defaults = {{"dev", "true"}, {"db", ":memory:"}, {"log.format", "terminal"}};
    add_settings(command, dev_);
    command->footer(
        "Like `serve --dev --db :memory: --log-format terminal`; with --db FILE tasks are kept after it "
        "stops.\n"
        "An agent is reloaded when a file in its folder changes; its running turns finish with the old "
        "version.\n"
        "Webhooks and models may be at loopback addresses of this machine.\n"
        "baton dev --help-all shows every setting of the server.\n");
  }

  void add_settings(CLI::App* command, ServeOptions& options) {
    command->set_help_all_flag("--help-all", kAllSettings);
    command->add_option("--config", options.config_file, "Configuration file (BATON_CONFIG)")
        ->envname("BATON_CONFIG");
    for (const app::Setting& setting : app::settings())
      add_setting(*command, setting, options.given[std::string(setting.path)]);
    on_run(command, [command, &options] { return serve_command(*command, options); });
  }

  void add_send() {
    CLI::App* command = app_.add_subcommand("send", "Send a message and follow the answer");
    add_words(*command, "text", send_.parts.text,
              "The message, before or after the options; - reads standard input");
    add_repeated(*command, "--file", send_.parts.files,
                 "File to send with its bytes, report.pdf or report.pdf:application/pdf");
    add_repeated(*command, "--file-uri", send_.parts.file_uris, "URI of a file that the agent is to fetch");
    add_repeated(*command, "--data", send_.parts.data, "JSON to send");
    command->add_option("--task", send_.task, "Task to answer or continue; without it, a new one");
    command->add_option("--context,--session", send_.context, "Context (session) of a new task");
    command->add_flag("--no-stream", send_.no_stream, "Wait until the task ends and print it");
    command->add_option("--push", send_.push_url, "URL of a webhook that receives the task's updates")
        ->check(url_problem);
    command->add_option("--push-token", send_.push_token, "Token sent to the webhook")->needs("--push");
    command
        ->add_option("--push-key", send_.push_key,
                     "Key that signs the calls to the webhook (X-Baton-Signature)")
        ->envname("BATON_PUSH_KEY");
    add_give_up(*command, send_.give_up_after_s);
    add_save(*command, send_.save);
    add_client(*command, send_.client);
    on_run(command, [this] { return send_command(send_); });
  }

  void add_watch() {
    CLI::App* command = app_.add_subcommand("watch", "Follow a task until it ends");
    command->add_option("id", watch_.task, "The task")->required();
    command
        ->add_option("--from", watch_.from,
                     "Number of the last event seen; 0: all. Without it, only new events")
        ->check(CLI::NonNegativeNumber);
    add_give_up(*command, watch_.give_up_after_s);
    add_save(*command, watch_.save);
    add_client(*command, watch_.client);
    on_run(command, [this] { return watch_command(watch_); });
  }

  void add_get_and_cancel() {
    CLI::App* get = app_.add_subcommand("get", "Show a task");
    get->add_option("id", get_.task, "The task")->required();
    get->add_option("--history", get_.history, "Number of its last messages to show")
        ->check(CLI::NonNegativeNumber);
    add_client(*get, get_.client);
    on_run(get, [this] { return get_command(get_); });

    CLI::App* cancel = app_.add_subcommand("cancel", "Cancel a task");
    cancel->add_option("id", cancel_.task, "The task")->required();
    add_client(*cancel, cancel_.client);
    on_run(cancel, [this] { return cancel_command(cancel_); });
  }

  void add_view(const std::string& name, const std::string& help, ViewOptions& view,
                int (*run_it)(ViewOptions)) {
    CLI::App* command = app_.add_subcommand(name, help + " (Baton only)");
    command->add_option("id", view.task, "The task")->required();
    command->add_flag("--follow", view.follow, "Follow the task until it ends");
    add_client(*command, view.client);
    on_run(command, [&view, run_it] { return run_it(view); });
  }

  void add_views() {
    add_view("tree", "Show a task and its child tasks: states, times, attempts, tokens", tree_, tree_command);
    add_view("logs", "Show a task's log, event by event: messages, states, tools, results, children", logs_,
             logs_command);
  }

  void add_list() {
    CLI::App* command =
        app_.add_subcommand("list", "List your tasks, newest first, of all agents or of one (A2A 1.0)");
    command->add_option("--context", list_.context, "Only tasks of this context");
    command->add_option("--state", list_.state, "Only tasks in this state, such as input-required");
    command->add_option("--since", list_.since,
                        "Only tasks whose status is not older than this, such as 2026-01-31T10:00:00Z");
    command->add_option("--limit", list_.limit, "Maximum number shown (50)")->check(CLI::PositiveNumber);
    command->add_flag("--all", list_.all, "Show all tasks");
    command->add_option("--history", list_.history, "Number of last messages to show with each task")
        ->check(CLI::NonNegativeNumber);
    add_client(*command, list_.client);
    on_run(command, [this] { return list_command(list_); });
  }

  void add_health() {
    CLI::App* command = app_.add_subcommand("health", "Check whether a server accepts requests");
    add_url(*command, health_url_, "The server");
    on_run(command, [this] { return health_command(health_url_); });
  }

  void add_agents() {
    CLI::App* command = app_.add_subcommand("agents", "List the agents that you may use (Baton only)");
    add_client(*command, agents_);
    on_run(command, [this] { return agents_command(agents_); });
  }

  void add_card() {
    CLI::App* command = app_.add_subcommand("card", "Show and check an agent's card");
    command->add_option("target", card_.target, "URL of an agent, or the name of one of the server's")
        ->check([](const std::string& target) {
          return target.find_first_of(":/") == std::string::npos ? std::string() : url_problem(target);
        });
    command
        ->add_option("--verify", card_.verify,
                     "Which cards are accepted: off, if-present (all but those with a wrong signature) or "
                     "require (only those with a good one)")
        ->check(CLI::IsMember({"off", "if-present", "require"}));
    command->add_option("--key", card_.key, "File with the key of the card's signature: JWK set, JWK or PEM");
    add_client(*command, card_.client);
    on_run(command, [this] { return card_command(card_); });
  }

  void add_discover() {
    CLI::App* command =
        app_.add_subcommand("discover", "Check how clients and registries find a server's agents");
    command->add_option("--check", discover_url_, "URL of the server, as it is published")
        ->required()
        ->check(url_problem);
    on_run(command, [this] { return discover_command(discover_url_); });
  }

  // Adds commands for the program's installation: shell completion and the manual page.
  void add_shell_words() {
    CLI::App* words = app_.add_subcommand("completion", "Print a completion script for a shell");
    words->add_option("shell", shell_, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    on_run(words, [this] { return print(completion_for(app_, shell_)); });
    CLI::App* manual = app_.add_subcommand("manual", "Print the manual page");
    on_run(manual, [this] { return print(manual_of(app_, std::string(app::kVersion))); });
  }

  static int print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    return written(kExitDone);
  }

  // Adds a command of `db`.
  CLI::App* db_command(CLI::App& db, const std::string& name, const std::string& help,
                       int (*run_it)(const DbOptions&)) {
    CLI::App* command = db.add_subcommand(name, help);
    command->add_option("--db", db_.database, "The database (" + db_.database + ")")->envname("BATON_DB");
    on_run(command, [this, run_it] { return run_it(db_); });
    return command;
  }

  void add_db() {
    CLI::App* db = app_.add_subcommand("db", "Copy, check and move a server's database, also while it runs");
    db->require_subcommand(1);
    db_command(*db, "backup", "Copy the database, as it is at one moment, to a new file", db_backup_command)
        ->add_option("file", db_.file, "The copy")
        ->required();
    db_command(*db, "check", "Check the database for faults; exit code 0: none, 1: some", db_check_command)
        ->add_option("file", db_.file, "A database, such as a backup; the default is --db");
    db_command(*db, "stats", "Count what the database contains", db_stats_command)
        ->add_flag("--json", db_.json, "Print a JSON object");
    CLI::App* out = db_command(
        *db, "export",
        "Write finished and waiting tasks as JSON lines, with their logs and their webhooks' credentials",
        db_export_command);
    out->add_option("--task", db_.choice.task, "Only this task and those below it");
    out->add_option("--agent", db_.choice.agent, "Only tasks of this agent");
    out->add_option("--caller", db_.choice.caller, "Only tasks of this caller");
    out->add_option("--context", db_.choice.context, "Only tasks of this context");
    out->add_option("--out", db_.file, "A new file; the default is standard output");
    db_command(*db, "import", "Import exported tasks into a database that no server is using; all or none",
               db_import_command)
        ->add_option("file", db_.file, "The export; - reads standard input")
        ->required();
    add_db_copy(*db);
  }

  void add_db_copy(CLI::App& db) {
    CLI::App* command = db.add_subcommand(
        "copy", "Copy a database that no server is using from SQLite to PostgreSQL, or back");
    command->add_option("FROM", db_copy_.first, "A SQLite file or postgresql://user@host/database");
    command->add_option(
        "TO", db_copy_.second,
        "A database of the other kind, new or empty; or an unfinished copy of FROM, which continues");
    command->add_option("--from-file", db_copy_.from_file,
                        "File that contains FROM, such as a URL with a password");
    command->add_option("--to-file", db_copy_.to_file, "File that contains TO");
    command
        ->add_option("--postgres-allow", db_copy_.postgres_allows,
                     "Unsafe settings of TO's server to accept, such as fsync=off")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->envname("BATON_POSTGRES_ALLOW");
    command->footer("At the end each table is compared; exit code 0: all are equal, 1: they differ.");
    command->add_flag("--json", db_copy_.json, "Print JSON lines instead of text");
    on_run(command, [this] { return db_copy_command(db_copy_); });
  }

  CLI::App app_;
  DbOptions db_;
  DbCopyOptions db_copy_;
  ServeOptions serve_, dev_;
  SendOptions send_;
  WatchOptions watch_;
  TaskOptions get_;
  TaskOptions cancel_;
  ViewOptions tree_;
  ViewOptions logs_;
  ListOptions list_;
  std::string health_url_ = ClientOptions().url;
  std::string discover_url_;
  ClientOptions agents_;
  CardOptions card_;
  std::string shell_;
  int exit_code_ = kExitDone;
};

// A file that gets the number of a closed standard stream, such as the database, would receive what is
// written to that stream. So each closed one is opened, but reading from it and writing to it still fail.
void occupy_closed_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int run(int argc, char** argv) {
  occupy_closed_streams();
  // A peer that closes its end must fail one call, not end the program.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return Program().run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "baton: unexpected: %s\n", error.what());
    return kExitFailed;
  }
}

}  // namespace baton::cli

// `init`: a folder with an agent that works, and a test of it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "app/check_cards.h"
#include "base/embedded.h"
#include "base/text.h"
#include "cli/agent_commands.h"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "json/document.h"
#include "json/pretty_json.h"
#include "json/writer.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;

struct Language {
  std::string_view name;
  std::string_view folder;  // of its templates
  std::string_view ending;
  std::vector<std::string> command;
};

const std::array<Language, 4>& languages() {
  static const std::array<Language, 4> all{{{"python", "python", ".py", {"python3", "agent.py"}},
                                            {"node", "node", ".js", {"node", "agent.js"}},
                                            {"bash", "bash", ".sh", {"bash", "agent.sh"}},
                                            {"c++", "cpp", ".cpp", {"sh", "run.sh"}}}};
  return all;
}

struct Kind {
  std::string_view name, description, example;
  bool has_program = true;
};
constexpr std::array<Kind, 7> kKinds{{
    {"echo", "Repeats the message.", "Hello"},
    {"ask", "Asks before it acts.", "delete the old backups"},
    {"tools", "Adds the numbers of a message with a tool, and makes a file of them.", "What is 2 and 40?"},
    {"delegate", "Has each line of a message upper-cased by a child task.", "one\ntwo"},
    {"worker", "Numbers the words of a message.", "ready steady go"},
    {"workflow", "Adds the numbers of a message and numbers its words, by two agents.", "2 and 40", false},
    {"openai", "Answers with a language model.", "What can you do?", false},
}};

const Kind& kind_named(std::string_view name) {
  return *std::ranges::find(kKinds, name, &Kind::name);
}

// The agents of kind "workflow", which get folders beside the plan's.
struct Helper {
  std::string_view ending, kind;  // its name is the plan's with the ending
};
constexpr std::array<Helper, 2> kHelpers{{{"-sum", "tools"}, {"-words", "worker"}}};

void write_plan(json::Writer& out, const std::string& name) {
  out.object([&] {
    out.key("parallel").array([&] {
      for (const Helper& helper : kHelpers) {
        out.object([&] {
          out.member("id", helper.ending.substr(1)).member("agent", name + std::string(helper.ending));
        });
      }
    });
    out.member("output", "{{/steps/sum/text}}\n{{/steps/words/text}}");
  });
}

constexpr std::string_view kAuth = R"({"type": "bearer", "secret_env": "MODEL_KEY", "optional": true})";
constexpr std::string_view kModel =
    R"({"name": "default", "name_env": "MODEL_NAME", "system_file": "system.md"})";

void write_work(json::Writer& out, const std::string& name, const Kind& kind, const Language& language) {
  if (kind.name == "workflow") {
    write_plan(out.member("executor", "workflow").key("plan"), name);
  } else if (kind.name == "openai") {
    out.member("executor", "openai").member("url_env", "MODEL_URL");
    out.key("auth").raw(kAuth).key("model").raw(kModel);
  } else {
    const bool is_worker = kind.name == "worker";
    out.member("executor", "command").key("command").strings(language.command);
    out.member("mode", is_worker ? "worker" : "turn").member("io", "lines");
    if (is_worker) out.member("concurrency", language.name == "bash" ? 1 : 16);
  }
}

std::string card_of(const std::string& name, const std::string& description, const Kind& kind,
                    const Language& language) {
  std::string card;
  json::Writer out(card);
  out.object([&] {
    out.member("name", name).member("description", description).member("version", "0.1.0");
    out.key("defaultInputModes").strings({"text/plain"});
    out.key("defaultOutputModes").strings({"text/plain"});
    out.key("skills").array([&] {
      out.object([&] {
        out.member("id", name).member("name", name).member("description", description);
        out.key("tags").strings({name});
        out.key("examples").strings({std::string(kind.example)});
      });
    });
    out.key("baton").object([&] { write_work(out, name, kind, language); });
  });
  const auto document = json::Document::parse(std::move(card));
  return json::pretty_json(document->root()) + "\n";
}

// An agent to be made.
struct NewAgent {
  fs::path folder;
  std::string description;
  const Kind& kind;
};

// Returns the names and contents of the folder's files.
std::vector<std::pair<std::string, std::string>> files_of(const NewAgent& agent, const Language& language) {
  const Kind& kind = agent.kind;
  std::vector<std::pair<std::string, std::string>> files{
      {"card.json", card_of(agent.folder.filename().string(), agent.description, kind, language)}};
  const auto add = [&](const std::string& file, const std::string& from) {
    const std::string_view text = base::embedded_file("templates/" + from);
    if (!text.empty()) files.emplace_back(file, text);
  };
  add("conversations.json", "conversations/" + std::string(kind.name) + ".json");
  if (kind.name == "openai") files.emplace_back("system.md", "You answer in one sentence.\n");
  if (!kind.has_program) return files;
  const std::string folder(language.folder), ending(language.ending);
  add("agent" + ending, folder + "/" + std::string(kind.name) + ending);
  if (language.name == "c++") {
    add("lines.h", folder + "/lines.h");
    add("run.sh", folder + "/run.sh");
  }
  return files;
}

// Returns the agent, and for a plan the agents that it uses.
std::vector<NewAgent> agents_of(const fs::path& folder, const std::string& description, const Kind& kind) {
  std::vector<NewAgent> agents{{folder, description, kind}};
  if (kind.name != "workflow") return agents;
  for (const Helper& helper : kHelpers) {
    const Kind& its = kind_named(helper.kind);
    agents.push_back({folder.string() + std::string(helper.ending), std::string(its.description), its});
  }
  return agents;
}

// Asks at a terminal what the agent does. Returns the kind's description otherwise, and for an empty line.
std::string description_for(const std::string& name, const Kind& kind) {
  std::string line;
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1) {
    std::fprintf(stderr, "What does %s do? One sentence for its card (%s) ", name.c_str(),
                 std::string(kind.description).c_str());
    std::getline(std::cin, line);
  }
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return std::string(kind.description);
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

// Creates the folder with its files. Returns false after an error message.
bool make(const NewAgent& agent, const Language& language) {
  std::error_code error;
  fs::create_directories(agent.folder, error);
  for (const auto& [file, text] : files_of(agent, language)) {
    if (std::ofstream out(agent.folder / file, std::ios::binary); out << text && out.flush()) continue;
    const std::string reason = error ? error.message() : std::strerror(errno);
    const fs::path what = error ? agent.folder : agent.folder / file;
    std::fprintf(stderr, "baton: %s: cannot be written: %s\n", printable(what.string()).c_str(),
                 reason.c_str());
    return false;
  }
  return true;
}

int not_made(const std::string& what) {
  std::fprintf(stderr, "baton: %s\n", printable(what).c_str());
  return kExitUsage;
}

}  // namespace

std::vector<std::string> init_languages() {
  std::vector<std::string> names;
  for (const Language& language : languages()) names.emplace_back(language.name);
  return names;
}

std::vector<std::string> init_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

int init_command(const InitOptions& options) {
  const auto language = std::ranges::find(languages(), options.language, &Language::name);
  const Kind& kind = kind_named(options.kind);
  const fs::path given = options.folder, folder = given.has_filename() ? given : given.parent_path();
  const std::string name = folder.filename().string();
  if (!app::is_agent_name(name))
    return not_made(options.folder +
                    ": an agent's name may contain only a-z 0-9 - _ . and must begin with a letter or digit");
  auto agents = agents_of(folder, options.description, kind);
  for (const NewAgent& agent : agents) {
    if (fs::exists(agent.folder)) return not_made(agent.folder.string() + " already exists");
  }
  if (options.description.empty()) agents.front().description = description_for(name, kind);
  if (!base::is_utf8(agents.front().description)) return not_made("the description is not UTF-8");
  std::string made;
  for (const NewAgent& agent : agents) {
    if (!make(agent, *language)) return kExitNotSaved;
    made += (made.empty() ? "" : ", ") + agent.folder.string();
  }
  const std::string shown = shell_word(options.folder);
  const std::string parent = shell_word(folder.has_parent_path() ? folder.parent_path().string() : ".");
  std::printf("created %s. Next:\n", printable(made).c_str());
  if (kind.name != "openai") std::printf("  baton test %s\n", shown.c_str());
  if (kind.name == "openai")
    std::printf("  MODEL_URL=http://127.0.0.1:11434/v1 MODEL_NAME=... baton check %s --turn Hello\n",
                shown.c_str());
  std::printf("  baton dev %s\n", parent.c_str());
  return kExitDone;
}

}  // namespace baton::cli

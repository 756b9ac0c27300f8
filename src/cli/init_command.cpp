// `init`: a folder with an agent that works, and a test of it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
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
  std::string_view name, description;
  bool has_program = true;
};
constexpr std::array<Kind, 7> kKinds{{
    {"echo", "Returns what it is told."},
    {"ask", "Asks before it acts."},
    {"tools", "Adds the numbers of a message with a tool."},
    {"delegate", "Has each line of a message done by a child task."},
    {"worker", "Numbers the words of a message, many messages at a time."},
    {"workflow", "Asks where to and how long, by a plan.", false},
    {"openai", "Answers by a language model.", false},
}};

constexpr std::string_view kPlan = R"({"sequence": [
  {"id": "where", "ask": "Where to?"},
  {"id": "long", "ask": "How long in {{/steps/where/text}}?"}]})";
constexpr std::string_view kAuth = R"({"type": "bearer", "secret_env": "MODEL_KEY", "optional": true})";
constexpr std::string_view kModel =
    R"({"name": "default", "name_env": "MODEL_NAME", "system_file": "system.md"})";

void write_work(json::Writer& out, const Kind& kind, const Language& language) {
  if (kind.name == "workflow") {
    out.member("executor", "workflow").key("plan").raw(kPlan);
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

std::string card_of(const std::string& name, const Kind& kind, const Language& language) {
  std::string card;
  json::Writer out(card);
  const std::string description(kind.description);
  out.object([&] {
    out.member("name", name).member("description", description).member("version", "0.1.0");
    out.key("defaultInputModes").strings({"text/plain"});
    out.key("defaultOutputModes").strings({"text/plain"});
    out.key("skills").array([&] {
      out.object([&] {
        out.member("id", name).member("name", name).member("description", description);
        out.key("tags").strings({name});
      });
    });
    out.key("baton").object([&] { write_work(out, kind, language); });
  });
  const auto document = json::Document::parse(std::move(card));
  return json::pretty_json(document->root()) + "\n";
}

// Returns the names and contents of the folder's files.
std::vector<std::pair<std::string, std::string>> files_of(const std::string& name, const Kind& kind,
                                                          const Language& language) {
  std::vector<std::pair<std::string, std::string>> files{{"card.json", card_of(name, kind, language)}};
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
  const auto kind = std::ranges::find(kKinds, options.kind, &Kind::name);
  const fs::path folder = options.folder;
  const std::string name = folder.filename().string();
  if (!app::is_agent_name(name))
    return not_made(options.folder +
                    ": an agent's name is of a-z 0-9 - _ . and begins with a letter or digit");
  std::error_code error;
  if (fs::exists(folder)) return not_made(options.folder + " is there already");
  fs::create_directories(folder, error);
  for (const auto& [file, text] : files_of(name, *kind, *language)) {
    if (std::ofstream out(folder / file, std::ios::binary); out << text && out.flush()) continue;
    std::fprintf(stderr, "baton: %s: cannot be written\n", (folder / file).c_str());
    return kExitNotSaved;
  }
  const std::string shown = shell_word(options.folder);
  const std::string agents = shell_word(folder.has_parent_path() ? folder.parent_path().string() : ".");
  std::printf("%s: made. Next:\n", printable(options.folder).c_str());
  if (kind->name != "openai") std::printf("  baton test %s\n", shown.c_str());
  if (kind->name == "openai")
    std::printf("  MODEL_URL=http://127.0.0.1:11434/v1 MODEL_NAME=... baton check %s --turn Hello\n",
                shown.c_str());
  std::printf("  baton dev %s\n", agents.c_str());
  return kExitDone;
}

}  // namespace baton::cli

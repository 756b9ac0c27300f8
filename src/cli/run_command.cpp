// `run`: an agent without a card, served for a conversation in the terminal.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <utility>

#include "base/id.h"
#include "cli/agent_commands.h"
#include "cli/exit_code.h"
#include "cli/local_server.h"
#include "cli/printable.h"
#include "cli/scratch_folder.h"
#include "json/document.h"
#include "json/pretty_json.h"
#include "json/writer.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

// What runs a file that does not run by itself.
std::optional<std::string> interpreter_of(const fs::path& file) {
  const std::string kind = file.extension().string();
  if (kind == ".py") return "python3";
  if (kind == ".js" || kind == ".mjs" || kind == ".cjs") return "node";
  if (kind == ".sh") return "bash";
  return std::nullopt;
}

bool is_executable(const fs::path& file) {
  return (fs::status(file).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

struct Script {
  std::vector<std::string> command;  // file names are as in the folder
  fs::path file;                     // its source; empty: none of the words is a file
};

// The first of the words that is a file is the program's source.
Result<Script> read_program(const std::vector<std::string>& words) {
  Script program{words, {}};
  for (std::string& word : program.command) {
    if (!fs::is_regular_file(word)) continue;
    program.file = fs::absolute(word).lexically_normal();
    word = program.file.filename().string();
    break;
  }
  if (program.file.empty() || program.command.front() != program.file.filename()) return program;
  if (is_executable(program.file)) {
    program.command.front() = "./" + program.command.front();
    return program;
  }
  const auto interpreter = interpreter_of(program.file);
  if (!interpreter)
    return fail(ErrorCode::invalid_argument,
                words.front() +
                    " cannot be run: make it executable, or name what runs it, as in "
                    "baton run -- perl agent.pl");
  program.command.insert(program.command.begin(), *interpreter);
  return program;
}

// Whether the source writes a line that ends a turn of the line protocol, {"type": "done"} in whatever
// language, or has a library write it. Other programs have "type" and "text" in their JSON, too.
bool knows_lines(const fs::path& file) {
  static const std::regex kSign(
      "type[\"'\\\\]*\\s*(:|=|=>|,)\\s*[\"'\\\\]+(done|fail|reject|ask|auth)\\b|"
      "(import|from) baton\\b|require\\([\"']baton[\"']\\)|from [\"']baton[\"']|baton/index");
  std::ifstream stream(file, std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(stream), {}};
  return std::regex_search(source, kSign);
}

std::string name_of(const Script& program) {
  std::string name;
  for (const char c : program.file.empty() ? program.command.front() : program.file.stem().string()) {
    const bool is_fit = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && !name.empty());
    const char low = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    name += is_fit || low != c ? low : name.empty() ? 'a' : '-';
  }
  return name;
}

std::string card_of(const Script& program, const std::string& name, const std::string& io) {
  std::string card;
  json::Writer out(card);
  out.object([&] {
    out.member("name", name).member("description", "What " + name + " does.").member("version", "0.1.0");
    out.key("defaultInputModes").strings({"text/plain"});
    out.key("defaultOutputModes").strings({"text/plain"});
    out.key("skills").array([&] {
      out.object([&] {
        out.member("id", name).member("name", name).member("description", "What " + name + " does.");
        out.key("tags").strings({name});
      });
    });
    out.key("baton").object([&] {
      out.member("executor", "command").key("command").strings(program.command);
      out.member("mode", "turn").member("io", io);
    });
  });
  const auto document = json::Document::parse(std::move(card));
  return json::pretty_json(document->root()) + "\n";
}

// The agent's folder has all that is beside its source, and a card.
Result<void> make_folder(const fs::path& folder, const Script& program, const std::string& card,
                         bool copies) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!program.file.empty() && copies) {
    fs::copy_file(program.file, folder / program.file.filename(), error);
  } else if (!program.file.empty()) {
    for (const auto& entry : fs::directory_iterator(program.file.parent_path(), error)) {
      if (entry.path().filename() != "card.json")
        fs::create_symlink(entry.path(), folder / entry.path().filename(), error);
    }
  }
  if (std::ofstream file(folder / "card.json"); !error && file << card && file.flush()) return {};
  return fail(ErrorCode::unavailable, folder.string() + ": cannot be written");
}

int failed(const base::Error& error, int exit_code) {
  std::fprintf(stderr, "baton: %s\n", printable(error.for_caller).c_str());
  return exit_code;
}

}  // namespace

int run_command(const RunOptions& options) {
  const auto program = read_program(options.command);
  if (!program) return failed(program.error(), kExitUsage);
  const bool guesses = options.io.empty();
  const bool is_lines = guesses ? knows_lines(program->file) : options.io == "lines";
  const std::string io = is_lines ? "lines" : "text", name = name_of(*program);
  const std::string card = card_of(*program, name, io);
  if (!options.save.empty()) {
    if (fs::exists(options.save))
      return failed({ErrorCode::already_exists, options.save + " is there already", {}}, kExitUsage);
    if (const auto saved = make_folder(options.save, *program, card, true); !saved)
      return failed(saved.error(), kExitNotSaved);
    std::fprintf(stderr, "%s: saved; baton check %s says what is wrong with it\n", options.save.c_str(),
                 shell_word(options.save).c_str());
  }
  const auto scratch = ScratchFolder::make();
  if (!scratch) return failed(scratch.error(), kExitFailed);
  if (const auto made = make_folder(scratch->path() / name, *program, card, false); !made)
    return failed(made.error(), kExitFailed);
  if (guesses)
    std::fprintf(stderr, "taken to %s; --io %s if that is wrong\n",
                 is_lines ? "speak the line protocol" : "read and write plain text",
                 is_lines ? "text" : "lines");
  auto server = LocalServer::start(scratch->path());
  if (!server) return failed(server.error(), kExitFailed);
  ChatOptions chat;
  (*server)->let_in(chat.client);
  chat.client.json = options.json;
  chat.server_ends = true;
  return chat_command(chat);
}

}  // namespace baton::cli

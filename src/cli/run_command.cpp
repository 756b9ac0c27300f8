// `run`: serves a program without a card as an agent for a conversation in the terminal.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

#include "app/check_cards.h"
#include "base/id.h"
#include "base/text.h"
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

// Returns the interpreter for a source file that is not executable.
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

// Looks where a shell would: at the path, or for a name without a slash in the folders of PATH.
bool can_be_found(const std::string& program) {
  if (program.find('/') != std::string::npos) return fs::exists(program) && !fs::is_directory(program);
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / program;
    if (::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file)) return true;
  }
  return false;
}

struct Script {
  std::vector<std::string> command;  // its source is named relative to the agent's folder
  fs::path file;                     // its source; empty: no word of the command is a file
  std::size_t place = 0;             // of the source among the words
};

std::string why_not_found(const std::string& program) {
  if (!fs::is_directory(program)) return program + ": file not found, and no program with this name in PATH";
  return program + " is a folder; baton dev and baton test serve and test the agents in a folder";
}

// Treats the first word that is a file as the program's source.
Result<Script> read_program(const std::vector<std::string>& words) {
  Script program{words, {}};
  const auto source = std::ranges::find_if(words, [](const auto& word) { return fs::is_regular_file(word); });
  if (source != words.end()) {
    program.file = fs::absolute(*source).lexically_normal();
    program.place = static_cast<std::size_t>(source - words.begin());
    program.command[program.place] = program.file.filename().string();
  }
  if (program.file.empty() || program.command.front() != program.file.filename()) {
    if (can_be_found(words.front())) return program;
    return fail(ErrorCode::invalid_argument, why_not_found(words.front()));
  }
  if (is_executable(program.file)) {
    program.command.front() = "./" + program.command.front();
    return program;
  }
  const auto interpreter = interpreter_of(program.file);
  if (!interpreter)
    return fail(
        ErrorCode::invalid_argument,
        words.front() +
            " cannot be run: make it executable, or name its interpreter, as in baton run -- perl agent.pl");
  if (!can_be_found(*interpreter))
    return fail(ErrorCode::invalid_argument,
                words.front() + " needs " + *interpreter + ", and no program with this name is in PATH");
  program.command.insert(program.command.begin(), *interpreter);
  ++program.place;
  return program;
}

// Returns the program with the whole path of its source, so that a traceback names the file that the author
// edits and not a link in a folder that is removed. A path that no card can name stays short.
Script with_whole_path(Script program) {
  const std::string path = program.file.string();
  if (!path.empty() && base::is_utf8(path)) program.command[program.place] = path;
  return program;
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
  std::string description = "Runs";
  for (const std::string& word : program.command) description += " " + shell_word(word);
  description += '.';
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

// Creates the agent's folder with a card. With `copies`, the source is copied into it; otherwise all files
// beside the source are linked there.
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
  const std::string reason = error ? error.message() : std::strerror(errno);
  return fail(ErrorCode::unavailable, folder.string() + ": cannot be written: " + reason);
}

int failed(const base::Error& error, int exit_code) {
  std::fprintf(stderr, "baton: %s\n", printable(error.for_caller).c_str());
  return exit_code;
}

// Returns the "io" that the server guessed from the program's first line (agents::GuessTurn); empty if the
// update has none.
std::string io_shown_in(const protocol::a2a::Update& update) {
  const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&update);
  if (status == nullptr || status->metadata.empty()) return {};
  return json::Document::view_of(status->metadata.text).root()["io"].str();
}

void say_guess(const std::string& io) {
  const bool is_lines = io == "lines";
  std::fprintf(stderr, "detected from its first line of output: it %s; use --io %s if that is wrong\n",
               is_lines ? "uses the line protocol" : "reads and writes plain text",
               is_lines ? "text" : "lines");
}

}  // namespace

int run_command(const RunOptions& options) {
  const auto program = read_program(options.command);
  if (!program) return failed(program.error(), kExitUsage);
  for (const std::string& word : program->command) {
    if (!base::is_utf8(word))
      return failed({ErrorCode::invalid_argument, word + " is not UTF-8, so no card can name it", {}},
                    kExitUsage);
  }
  if (!options.save.empty() && fs::exists(options.save))
    return failed({ErrorCode::already_exists, options.save + " already exists", {}}, kExitUsage);
  const std::string name = name_of(*program), io = options.io.empty() ? "guess" : options.io;
  const auto scratch = ScratchFolder::make();
  if (!scratch) return failed(scratch.error(), kExitFailed);
  const std::string card = card_of(with_whole_path(*program), name, io);
  if (const auto made = make_folder(scratch->path() / name, *program, card, false); !made)
    return failed(made.error(), kExitFailed);
  auto server = LocalServer::start(scratch->path());
  if (!server) return failed(server.error(), kExitFailed);
  std::string spoken = io;
  ChatOptions chat;
  (*server)->let_in(chat.client);
  chat.client.json = options.json;
  chat.server_ends = true;
  chat.on_update = [&spoken](const protocol::a2a::Update& update) {
    if (const std::string shown = io_shown_in(update); !shown.empty()) say_guess(spoken = shown);
  };
  const int exit_code = chat_command(chat);
  if (options.save.empty()) return exit_code;
  const std::string own_name = fs::path(options.save).filename().string();
  const std::string kept = card_of(*program, app::is_agent_name(own_name) ? own_name : name, spoken);
  if (const auto saved = make_folder(options.save, *program, kept, true); !saved)
    return failed(saved.error(), kExitNotSaved);
  std::fprintf(stderr, "%s: saved with \"io\": \"%s\"; baton check %s shows what is wrong with it\n",
               options.save.c_str(), spoken.c_str(), shell_word(options.save).c_str());
  return exit_code;
}

}  // namespace baton::cli

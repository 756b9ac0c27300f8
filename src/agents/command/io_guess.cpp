#include "agents/command/io_guess.h"

#include <algorithm>
#include <fstream>

#include "agents/command/from_agent.h"
#include "json/pattern.h"

namespace baton::agents {
namespace {

namespace fs = std::filesystem;
using Io = AgentSettings::Io;

constexpr std::size_t kSourceMax = 1 << 20;

// Reads the program's source, the first word of the command that is a file.
std::string source_of(const std::vector<std::string>& command, const fs::path& folder) {
  for (const std::string& word : command) {
    std::error_code ignored;
    if (!fs::is_regular_file(folder / word, ignored)) continue;
    std::string source(kSourceMax, '\0');
    std::ifstream stream(folder / word, std::ios::binary);
    stream.read(source.data(), static_cast<std::streamsize>(source.size()));
    source.resize(static_cast<std::size_t>(stream.gcount()));
    return source;
  }
  return {};
}

// Whether the source writes a line that ends a turn of the line protocol, {"type": "done"} in any
// language, or uses a library that writes it. "type" and "text" alone are no sign: other programs have
// them in their JSON, too.
bool knows_lines(const std::string& source) {
  // Not by the library's own regular expressions, which recurse for each character.
  static const json::Pattern kSign =
      json::Pattern::compile(
          "type[\"'\\\\]*\\s*(:|=|=>|,)\\s*[\"'\\\\]+(done|fail|reject|ask|auth)\\b|"
          "(import|from) baton\\b|require\\([\"']baton[\"']\\)|from [\"']baton[\"']|baton/index")
          .value();
  return kSign.matches(source);
}

}  // namespace

IoGuess::IoGuess(const std::vector<std::string>& command, const fs::path& folder)
    : io_(knows_lines(source_of(command, folder)) ? Io::lines : Io::text) {}

bool IoGuess::learn(Io io) {
  if (!is_open_) return false;
  io_ = io;
  is_open_ = false;
  return true;
}

std::optional<Io> spoken_in(std::string_view output, bool is_all) {
  const std::size_t begin = output.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return std::nullopt;
  output.remove_prefix(begin);
  if (output.front() != '{') return Io::text;
  const std::size_t end = output.find('\n');
  if (end == std::string_view::npos && !is_all) return std::nullopt;
  return line::decode(output.substr(0, end)) ? Io::lines : Io::text;
}

}  // namespace baton::agents

#include "cli/console.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/printable.h"

namespace baton::cli {
namespace {

// What a shell says of a program that wrote to a closed pipe.
constexpr int kExitPipe = 141;

bool colours_wanted() {
  const char* term = std::getenv("TERM");
  return !std::getenv("NO_COLOR") && term && std::string_view(term) != "dumb";
}

}  // namespace

Console::Console(bool json) : for_people_(!json && isatty(STDOUT_FILENO) == 1), view_(colours_wanted()) {}

void Console::event(std::string_view result, const wire::a2a::Update& update) {
  if (for_people_) {
    put(view_.show(update));
  } else {
    json(result);
  }
}

void Console::json(std::string_view value) {
  put(json_line(value) + "\n");
}

void Console::text(std::string_view text) {
  put(view_.end() + std::string(text));
}

void Console::note(std::string_view line) {
  if (for_people_) return put(view_.note(line));
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void Console::error(std::string_view line) {
  end();
  std::fprintf(stderr, "baton: %.*s\n", static_cast<int>(line.size()), line.data());
}

void Console::end() {
  if (for_people_) put(view_.end());
}

void Console::put(std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  // Nobody reads any more: `baton watch ... | head`. The task itself goes on.
  if (!written) std::_Exit(kExitPipe);
}

}  // namespace baton::cli

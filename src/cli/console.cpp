#include "cli/console.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "app/logging.h"
#include "cli/exit_code.h"
#include "cli/printable.h"

namespace baton::cli {
namespace {

// The exit code that a shell reports for a program killed by SIGPIPE.
constexpr int kExitPipe = 141;

constexpr std::chrono::milliseconds kSlow{250};

std::size_t output_columns() {
  constexpr std::size_t kUsual = 80, kLeast = 40, kNoTerminal = 1000;
  if (isatty(STDOUT_FILENO) == 0) return kNoTerminal;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return std::max<std::size_t>(size.ws_col, kLeast);
}

// `error`: errno; 0: not known.
[[noreturn]] void end_unwritten(int error) {
  // The task itself keeps running. A reader that is gone, as in `baton watch ... | head`, is no fault.
  if (error == EPIPE) std::_Exit(kExitPipe);
  const std::string why = error == 0 ? std::string() : std::string(": ") + std::strerror(error);
  std::fprintf(stderr, "baton: standard output cannot be written%s\n", why.c_str());
  std::_Exit(kExitNotSaved);
}

}  // namespace

int written(int exit_code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  const int error = errno;  // 0 if an earlier write has failed
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  const bool is_reader_gone = ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
  end_unwritten(is_reader_gone ? EPIPE : error);
}

SlowNotice::SlowNotice(std::string text)
    : thread_([text = std::move(text)](const std::stop_token& over) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any changed;
        changed.wait_for(lock, over, kSlow, [] { return false; });
        if (!over.stop_requested()) std::fprintf(stderr, "baton: %s\n", printable_line(text).c_str());
      }) {}

Console::Console(bool json)
    : for_people_(!json),
      on_terminal_(isatty(STDOUT_FILENO) == 1),
      columns_(output_columns()),
      colours_(app::shows_colours(STDOUT_FILENO)),
      view_(colours_, columns_, on_terminal_) {}

std::size_t Console::rows() const {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

void Console::event(std::string_view result, const protocol::a2a::Update& update) {
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

void Console::print_note(std::string_view line) {
  const std::string text = printable_line(line);
  if (for_people_) return put(view_.note_line(text));
  std::fprintf(stderr, "%s\n", text.c_str());
}

void Console::error(std::string_view line) {
  end();
  std::fprintf(stderr, "baton: %s\n", printable_line(line).c_str());
}

void Console::end() {
  if (for_people_) put(view_.end());
}

void Console::put(std::string_view text) {
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!is_written) end_unwritten(errno);
}

}  // namespace baton::cli

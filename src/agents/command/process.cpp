#include "agents/command/process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "agents/command/process_host.h"

namespace baton::agents {
namespace {

// How much input may wait for a process that does not read. A single write may be larger: a line is not cut.
constexpr std::size_t kWaitingMax = 16u << 20;
// Reads after a process's exit: more than a pipe holds, but bounded, because an escaped descendant could
// write forever.
constexpr int kLastReadsMax = 32;

}  // namespace

std::string ProcessExit::text() const {
  const char* name = signal != 0 ? sigabbrev_np(signal) : nullptr;
  if (name != nullptr) return std::string("signal ") + name;
  return signal != 0 ? "signal " + std::to_string(signal) : "exit code " + std::to_string(code);
}

Process::Process(ProcessHost& host, Child child, base::LogMembers members,
                 std::shared_ptr<ProcessHandler> handler, std::shared_ptr<RecentLines> errors)
    : host_(host),
      child_(std::move(child)),
      log_members_(std::move(members)),
      handler_(std::move(handler)),
      errors_(log_members_, std::move(errors)) {}

Process::~Process() = default;

// Callbacks hold a plain pointer: the host owns this until finish_if_over, when no descriptor is watched.
void Process::watch() {
  base::EventLoop& loop = host_.loop_;
  loop.watch(child_.pidfd.get(), EPOLLIN, ended_ready_);
  loop.watch(child_.output.get(), EPOLLIN, output_ready_);
  loop.watch(child_.errors.get(), EPOLLIN, errors_ready_);
}

bool Process::write(std::string bytes) {
  const std::size_t waiting = waiting_.size() - written_;
  if (waiting > 0 && waiting + bytes.size() > kWaitingMax) return false;
  queued_ += bytes.size();
  if (!child_.input.valid()) return true;
  if (written_ == waiting_.size()) {
    waiting_ = std::move(bytes);
    written_ = 0;
  } else {
    // Not at each call: what a slow reader has left to read would be moved again for every few bytes.
    if (written_ > waiting_.size() / 2) waiting_.erase(0, std::exchange(written_, 0));
    waiting_ += bytes;
  }
  on_input_ready();
  return true;
}

void Process::close_input() {
  closing_input_ = true;
  if (written_ == waiting_.size()) drop_input();
}

void Process::on_input_ready() {
  while (child_.input.valid() && written_ < waiting_.size()) {
    const ssize_t count = ::write(child_.input.get(), waiting_.data() + written_, waiting_.size() - written_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      if (!std::exchange(input_watched_, true)) {
        host_.loop_.watch(child_.input.get(), EPOLLOUT, input_ready_);
      }
      return;
    }
    if (count < 0) return drop_input();
    written_ += static_cast<std::size_t>(count);
    taken_ += static_cast<std::uint64_t>(count);
  }
  waiting_.clear();
  written_ = 0;
  if (std::exchange(input_watched_, false)) host_.loop_.forget(child_.input.get(), input_ready_);
  if (closing_input_) drop_input();
}

void Process::drop_input() {
  if (!child_.input.valid()) return;
  if (std::exchange(input_watched_, false)) host_.loop_.forget(child_.input.get(), input_ready_);
  child_.input.reset();
  waiting_.clear();
  written_ = 0;
}

void Process::pause_output() {
  const bool did_read = reads_output();
  paused_ = !ignoring_;
  watch_output(did_read);
}

void Process::resume_output() {
  const bool did_read = reads_output();
  paused_ = false;
  watch_output(did_read);
}

void Process::hold_output() {
  const bool did_read = reads_output();
  ++held_;
  watch_output(did_read);
}

void Process::release_output() {
  const auto self = shared_from_this();
  const bool did_read = reads_output();
  --held_;
  watch_output(did_read);
  finish_if_over();
}

void Process::watch_output(bool did_read) {
  if (did_read == reads_output() || !child_.output.valid()) return;
  // Clearing EPOLLIN is not enough: a closed pipe would keep reporting EPOLLHUP.
  if (did_read) {
    host_.loop_.forget(child_.output.get(), output_ready_);
  } else {
    host_.loop_.watch(child_.output.get(), EPOLLIN, output_ready_);
  }
}

void Process::ignore_output() {
  ignoring_ = true;
  resume_output();
}

void Process::terminate() {
  if (!ended_) ::kill(-child_.pid, SIGTERM);
}

void Process::kill() {
  ignore_output();
  if (!ended_) ::kill(-child_.pid, SIGKILL);
}

// Returns whether there may be more right now.
bool Process::read_output() {
  const ssize_t count = ::read(child_.output.get(), host_.buffer_.data(), host_.buffer_.size());
  if (count < 0) return errno == EINTR;
  if (count == 0) {
    end_output();
    return false;
  }
  if (ignoring_) {
    ignored_ += static_cast<std::uint64_t>(count);
  } else {
    handler_->on_output({host_.buffer_.data(), static_cast<std::size_t>(count)});
  }
  return true;
}

void Process::on_output_ready() {
  const auto self = shared_from_this();
  read_output();
  // A process may have ended while paused. Then nothing else reads the rest.
  if (ended_) {
    for (int i = 0; i < kLastReadsMax && child_.output.valid() && reads_output() && read_output(); ++i) {
    }
    if (reads_output()) end_output();
  }
  finish_if_over();
}

void Process::end_output() {
  if (!child_.output.valid()) return;
  if (reads_output()) host_.loop_.forget(child_.output.get(), output_ready_);
  child_.output.reset();
  handler_->on_output_end();
}

void Process::on_errors_ready() {
  read_errors();
}

// Returns whether there may be more right now. Not in host_.buffer_, which may hold output that is being
// taken.
bool Process::read_errors() {
  std::array<char, 16 << 10> buffer;
  const ssize_t count = ::read(child_.errors.get(), buffer.data(), buffer.size());
  if (count > 0) errors_.feed({buffer.data(), static_cast<std::size_t>(count)});
  if (count == 0) end_errors();
  return count > 0;
}

std::string Process::errors() {
  for (int i = 0; i < kLastReadsMax && child_.errors.valid() && read_errors(); ++i) {
  }
  return errors_.text();
}

void Process::end_errors() {
  if (!child_.errors.valid()) return;
  host_.loop_.forget(child_.errors.get(), errors_ready_);
  child_.errors.reset();
  errors_.finish();
}

void Process::on_ended() {
  const auto self = shared_from_this();
  siginfo_t info{};
  // Looks first and reaps later: while the leader is not reaped, the group's number cannot be reused.
  if (waitid(P_PIDFD, static_cast<id_t>(child_.pidfd.get()), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return;
  }
  ::kill(-child_.pid, SIGKILL);
  waitid(P_PIDFD, static_cast<id_t>(child_.pidfd.get()), &info, WEXITED | WNOHANG);
  ended_ = true;
  (info.si_code == CLD_EXITED ? exit_.code : exit_.signal) = info.si_status;
  host_.loop_.forget(child_.pidfd.get(), ended_ready_);
  child_.pidfd.reset();
  drop_input();
  for (int i = 0; i < kLastReadsMax && child_.errors.valid(); ++i) read_errors();
  end_errors();
  if (child_.output.valid() && reads_output()) on_output_ready();
  finish_if_over();
}

void Process::finish_if_over() {
  if (!ended_ || child_.output.valid() || held_ > 0 || handler_ == nullptr) return;
  if (ignored_ > 0) base::log_warn(log_members_, "agent-output ignored_bytes={}", ignored_);
  exit_.last_words = errors_.last_words();
  exit_.errors = errors_.text();
  const auto handler = std::move(handler_);
  handler_ = nullptr;
  handler->on_exit(exit_);
  host_.release(*this);
}

}  // namespace baton::agents

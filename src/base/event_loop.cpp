#include "base/event_loop.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/busy_time.h"

namespace baton::base {

thread_local const EventLoop* EventLoop::running_ = nullptr;

EventLoop::Sleeper::Sleeper() : fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd.valid()) throw std::system_error(errno, std::generic_category(), "no descriptor for a loop");
}

void EventLoop::Sleeper::wake() {
  if (awake.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd.get(), &one, sizeof one);
}

EventLoop::EventLoop(std::string name) : name_(std::move(name)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_.valid()) throw std::system_error(errno, std::generic_category(), "no descriptor for a loop");
  // Edge-triggered: each write is an event of its own, so the eventfd is never read.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, sleeper_->fd.get(), &event);
}

EventLoop::~EventLoop() {
  stop();
}

void EventLoop::start() {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), name_.c_str());
}

void EventLoop::stop() {
  stopping_ = true;
  sleeper_->wake();
  if (thread_.joinable()) thread_.join();
  // Destroyed outside the lock: they may own something with a destructor of its own.
  std::vector<Callback> dropped;
  decltype(Inbox::timers) timers;
  inbox_.with([&](Inbox& inbox) {
    inbox.closed = true;
    dropped.swap(inbox.posted);
    timers.swap(inbox.timers);
    inbox.deadlines.clear();
  });
}

void EventLoop::wake_if_asleep() {
  if (!sleeper_->awake) Burst::wake(sleeper_);
}

void EventLoop::post(Callback callback) {
  const bool taken = inbox_.with([&](Inbox& inbox) {
    if (!inbox.closed) inbox.posted.push_back(std::move(callback));
    return !inbox.closed;
  });
  if (taken) wake_if_asleep();
}

EventLoop::TimerId EventLoop::after(std::chrono::milliseconds delay, Callback callback) {
  const TimePoint at = std::chrono::steady_clock::now() + delay;
  const auto [id, is_first] = inbox_.with([&](Inbox& inbox) {
    const TimerId timer = inbox.next_timer++;
    if (inbox.closed) return std::make_pair(timer, false);
    inbox.deadlines[timer] = at;
    const auto entry = inbox.timers.emplace(std::make_pair(at, timer), std::move(callback)).first;
    return std::make_pair(timer, entry == inbox.timers.begin());
  });
  if (is_first) wake_if_asleep();
  return id;
}

void EventLoop::cancel(TimerId timer) {
  Callback dropped;  // destroyed outside the lock
  inbox_.with([&](Inbox& inbox) {
    const auto found = inbox.deadlines.find(timer);
    if (found == inbox.deadlines.end()) return;
    const auto entry = inbox.timers.find({found->second, timer});
    dropped = std::move(entry->second);
    inbox.timers.erase(entry);
    inbox.deadlines.erase(found);
  });
}

void EventLoop::watch(int fd, std::uint32_t events, const Ready& ready) {
  epoll_event event{.events = events, .data = {.ptr = const_cast<Ready*>(&ready)}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

// Removes the descriptor explicitly. Closing it is not enough: while a child process that is being started
// still holds a copy, the descriptor would stay in the epoll set with a dangling pointer.
void EventLoop::forget(int fd, const Ready& ready) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  for (epoll_event& event : pending_) {
    if (event.data.ptr == &ready) event.data.ptr = nullptr;
  }
}

int EventLoop::milliseconds_to_wait() {
  TimePoint until = next_round_;
  const bool has_work = inbox_.with([&](Inbox& inbox) {
    if (!inbox.posted.empty()) return true;
    sleeper_->awake = false;  // from here on a poster must wake the loop
    if (!inbox.timers.empty()) until = std::min(until, inbox.timers.begin()->first.first);
    return false;
  });
  if (has_work || stopping_) return 0;
  if (until == TimePoint::max()) return -1;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, 60'000));
}

void EventLoop::run_posted() {
  std::vector<Callback> batch;
  inbox_.with([&](Inbox& inbox) { batch.swap(inbox.posted); });
  for (Callback& callback : batch) {
    if (stopping_) return;
    callback();
    callback = nullptr;
  }
}

void EventLoop::run_timers() {
  while (!stopping_) {
    Callback due;
    inbox_.with([&](Inbox& inbox) {
      if (inbox.timers.empty() || inbox.timers.begin()->first.first > now_) return;
      const auto first = inbox.timers.begin();
      due = std::move(first->second);
      inbox.deadlines.erase(first->first.second);
      inbox.timers.erase(first);
    });
    if (!due) return;
    due();
  }
}

void EventLoop::wait() {
  const int count = epoll_wait(epoll_.get(), events_.data(), events_.size(), milliseconds_to_wait());
  sleeper_->awake = true;
  now_ = std::chrono::steady_clock::now();
  pending_ = std::span(events_).first(static_cast<std::size_t>(std::max(count, 0)));
}

void EventLoop::run_callbacks() {
  while (!pending_.empty() && !stopping_) {
    const epoll_event event = pending_.front();
    pending_ = pending_.subspan(1);
    if (event.data.ptr != nullptr) (*static_cast<const Ready*>(event.data.ptr))(event.events);
  }
  run_posted();
  run_timers();
  if (end_round_) next_round_ = end_round_();
}

void EventLoop::run() {
  running_ = this;
  BusyTime busy(name_);
  while (!stopping_) {
    wait();
    const Burst together;
    run_callbacks();
    busy.note(now_.time_since_epoch(), std::chrono::steady_clock::now().time_since_epoch());
  }
}

void EventLoop::run_here(const std::function<bool()>& is_over) {
  const EventLoop* const outer = std::exchange(running_, this);
  while (!is_over()) {
    wait();
    run_callbacks();
  }
  running_ = outer;
}

}  // namespace baton::base

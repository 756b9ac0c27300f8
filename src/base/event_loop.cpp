#include "base/event_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace baton::base {

EventLoop::EventLoop(std::string name)
    : name_(std::move(name)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_.valid() || !wakeup_.valid()) std::abort();  // no descriptors at start-up: nothing can run
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wakeup_.get();
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event);
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
  wake();
  if (thread_.joinable()) thread_.join();
}

void EventLoop::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &one, sizeof one);
}

void EventLoop::post(Callback callback) {
  const bool must_wake = inbox_.with([&](Inbox& inbox) {
    inbox.posted.push_back(std::move(callback));
    return !std::exchange(inbox.awake, true);
  });
  if (must_wake) wake();
}

EventLoop::TimerId EventLoop::after(std::chrono::milliseconds delay, Callback callback) {
  const TimePoint at = std::chrono::steady_clock::now() + delay;
  const auto [id, must_wake] = inbox_.with([&](Inbox& inbox) {
    const TimerId timer = inbox.next_timer++;
    inbox.deadlines[timer] = at;
    const bool earliest = inbox.timers.empty() || at < inbox.timers.begin()->first.first;
    inbox.timers.emplace(std::make_pair(at, timer), std::move(callback));
    return std::make_pair(timer, earliest && !std::exchange(inbox.awake, true));
  });
  if (must_wake) wake();
  return id;
}

void EventLoop::cancel(TimerId timer) {
  // The callback is destroyed outside the lock: it may own something with a destructor of its own.
  Callback dropped;
  inbox_.with([&](Inbox& inbox) {
    const auto found = inbox.deadlines.find(timer);
    if (found == inbox.deadlines.end()) return;
    const auto entry = inbox.timers.find({found->second, timer});
    dropped = std::move(entry->second);
    inbox.timers.erase(entry);
    inbox.deadlines.erase(found);
  });
}

void EventLoop::watch(int fd, std::uint32_t events, ReadyCallback callback) {
  ready_[fd] = std::make_shared<ReadyCallback>(std::move(callback));
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void EventLoop::change(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::forget(int fd) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  ready_.erase(fd);
}

int EventLoop::milliseconds_to_next_timer() {
  return inbox_.with([](Inbox& inbox) {
    if (!inbox.posted.empty()) return 0;
    // The loop is about to wait: from here on a poster must wake it.
    inbox.awake = false;
    if (inbox.timers.empty()) return -1;
    const auto wait = inbox.timers.begin()->first.first - std::chrono::steady_clock::now();
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 60'000));
  });
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
  const TimePoint now = std::chrono::steady_clock::now();
  while (!stopping_) {
    Callback due;
    inbox_.with([&](Inbox& inbox) {
      if (inbox.timers.empty() || inbox.timers.begin()->first.first > now) return;
      const auto first = inbox.timers.begin();
      due = std::move(first->second);
      inbox.deadlines.erase(first->first.second);
      inbox.timers.erase(first);
    });
    if (!due) return;
    due();
  }
}

void EventLoop::run() {
  std::array<epoll_event, 256> events;
  while (!stopping_) {
    const int count = epoll_wait(epoll_.get(), events.data(), events.size(), milliseconds_to_next_timer());
    inbox_.with([](Inbox& inbox) { inbox.awake = true; });
    for (int i = 0; i < count && !stopping_; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == wakeup_.get()) {
        std::uint64_t drained;
        [[maybe_unused]] const ssize_t got = ::read(fd, &drained, sizeof drained);
        continue;
      }
      // The callback is held while it runs: it may forget its own descriptor.
      const auto found = ready_.find(fd);
      if (found == ready_.end()) continue;
      const std::shared_ptr<ReadyCallback> callback = found->second;
      (*callback)(events[static_cast<std::size_t>(i)].events);
    }
    run_timers();
    run_posted();
  }
}

}  // namespace baton::base

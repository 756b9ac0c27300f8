#include "engine/waits.h"

#include <utility>
#include <vector>

namespace baton::engine {

struct Waits::Wait {
  // What is released when the wait is over, which may be before both are set.
  struct Handles {
    LiveTasks::Subscription subscription;
    base::EventLoop::TimerId timer = 0;
    bool over = false;
  };
  Done done;
  std::uint64_t number = 0;  // in the registry
  base::Guarded<Handles> handles;
};

void Waits::begin(task::TaskKey task, task::EventNumber after, std::chrono::milliseconds bound, Done done) {
  const auto wait = std::make_shared<Wait>();
  wait->done = std::move(done);
  const bool closed = registry_.with([&](Registry& registry) {
    wait->number = ++registry.last;
    if (!registry.closed) registry.waits[wait->number] = wait;
    return registry.closed;
  });
  if (closed) return wait->done(std::nullopt);
  // The registry owns the wait. The callbacks of the live task and the timer only point at it.
  const std::weak_ptr<Wait> weak = wait;
  const auto on_stop = [this, weak](std::optional<Stop> stop) {
    if (const auto alive = weak.lock()) end(alive, stop);
  };
  // `otherwise`: a later stop, for when the store cannot be read.
  const auto ask_store = [this, task, after, on_stop](std::optional<Stop> otherwise) {
    background_.run([this, task, after, on_stop, otherwise] {
      const auto stop = reader_.stop_after(task, after);
      const auto first = stop && *stop ? *stop : otherwise;
      if (first) on_stop(first);
    });
  };
  auto awaited = live_.await_stop(task, after, [on_stop, ask_store](const Stop& stop, bool knows_past) {
    knows_past ? on_stop(stop) : ask_store(stop);
  });
  if (wait->handles.with([](const Wait::Handles& handles) { return handles.over; })) return;
  const auto timer = background_.timers().after(bound, [on_stop] { on_stop(std::nullopt); });
  const bool over = wait->handles.with([&](Wait::Handles& handles) {
    handles.timer = timer;
    if (!handles.over) handles.subscription = std::move(awaited.subscription);
    return handles.over;
  });
  if (over) return background_.timers().cancel(timer);
  if (!awaited.knows_past) ask_store(std::nullopt);
}

void Waits::end(const WaitPtr& wait, std::optional<Stop> stop) {
  LiveTasks::Subscription subscription;  // destroyed outside the lock
  base::EventLoop::TimerId timer = 0;
  const bool was_over = wait->handles.with([&](Wait::Handles& handles) {
    subscription = std::move(handles.subscription);
    timer = handles.timer;
    return std::exchange(handles.over, true);
  });
  if (was_over) return;
  background_.timers().cancel(timer);
  registry_.with([&](Registry& registry) { registry.waits.erase(wait->number); });
  wait->done(stop);
}

void Waits::end_all() {
  std::vector<WaitPtr> left;
  registry_.with([&](Registry& registry) {
    registry.closed = true;
    for (const auto& [number, wait] : registry.waits) left.push_back(wait);
  });
  for (const auto& wait : left) end(wait, std::nullopt);
}

}  // namespace baton::engine

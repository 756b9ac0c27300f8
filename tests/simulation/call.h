// call: a client's request to the process. See process.h.
#pragma once

#include <string>

#include "world.h"

namespace baton::simulation {

template <class T>
struct CallFor : Call {
  std::optional<T> answer;
};

// Longer than any wait of an engine.
constexpr Time kAnswered = std::chrono::hours(2);

template <class T>
std::optional<T> call(World& world, const char* what,
                      std::function<void(Process&, std::function<void(T)>)> body,
                      std::optional<Time> patience, const std::function<void()>& leave) {
  Fibers& fibers = world.fibers;
  Process* process = world.up();
  if (process == nullptr) return std::nullopt;
  auto waiting = std::make_shared<CallFor<T>>();
  waiting->what = what;
  process->expect(waiting);
  fibers.spawn(
      [process, waiting, body = std::move(body)] {
        body(*process, [waiting](T answer) {
          if (waiting->answer) simulation::fibers().fail("a call was answered twice");
          waiting->answer.emplace(std::move(answer));
          waiting->answered = true;
          simulation::fibers().wake_all(waiting->over);
        });
      },
      process->id());
  const Time until = fibers.now() + kAnswered, leaves = fibers.now() + patience.value_or(kAnswered);
  bool left = false;
  while (!waiting->answer && !waiting->lost) {
    fibers.wait(waiting->over, left ? until : std::min(until, leaves));
    if (!left && leave && fibers.now() >= leaves) {
      left = true;
      leave();
    }
    if (fibers.now() >= until) fibers.fail(std::string("a call was not answered: ") + what);
  }
  return std::move(waiting->answer);
}

}  // namespace baton::simulation

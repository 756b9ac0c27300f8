#include "engine/engine.h"

namespace baton::engine {

Engine::Engine(store::TaskStore& store, const agents::Catalogue& catalogue, const base::Clock& clock,
               EngineOptions options, std::function<void()> deliveries_written)
    : options_(options),
      store_(store),
      ledger_(store, feed_, std::move(deliveries_written)),
      turns_(store, ledger_, catalogue, background_, clock, options_),
      tasks_(store, ledger_, feed_, turns_, catalogue, background_, clock, options_),
      delegation_(store, tasks_, background_, options_),
      recovery_(store, ledger_, turns_.scheduler(), catalogue, clock) {
  turns_.set_hooks({[this](std::shared_ptr<TurnRun> run, agents::DelegateRequest request) {
                      delegation_.start(std::move(run), std::move(request));
                    },
                    [this](const task::TaskHead& head) { delegation_.parent_turn_ended(head); }});
}

Engine::~Engine() {
  drain();
}

base::Result<int> Engine::start() {
  const auto found = recovery_.run();
  if (!found) return base::fail(found.error());
  // Clients that followed a run before the program stopped have to come back, as after any lost connection.
  for (const task::TaskHead& head : *found) {
    if (head.origin != task::Generation::none || head.parent) continue;
    const auto before = store_.last_stop(head.key, head.last_event);
    if (before) tasks_.client_left(head.key, head.agent, *before);
  }
  return static_cast<int>(found->size());
}

void Engine::drain() {
  if (std::exchange(drained_, true)) return;
  turns_.drain(options_.drain_grace);
  tasks_.release_waits();
  background_.stop();
  ledger_.settle();
}

Engine::Counts Engine::counts() const {
  using task::State;
  return {turns_.counts(),
          feed_.counts(),
          ledger_.count(State::submitted),
          ledger_.count(State::completed),
          ledger_.count(State::failed),
          ledger_.count(State::canceled),
          ledger_.count(State::rejected)};
}

}  // namespace baton::engine

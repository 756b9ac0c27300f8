// EngineWiring: the parts of the program that an engine works with, other than its stores, catalogue and
// clock. The program sets them; no setting does.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "base/id.h"
#include "base/span.h"
#include "store/peers.h"
#include "store/task_store.h"
#include "task/task.h"

namespace baton::engine {

struct EngineWiring {
  // This server's name in hop lists (Submission::hops). Only a name that stays the same over a restart lets
  // circles be found across it.
  std::string node = base::random_hex(8);
  base::SpanQueue* spans = nullptr;  // of turns and children; outlives the engine; null: none
  // The other nodes that share the store; outlives the engine; null: the store is not shared.
  store::Peers* peers = nullptr;
  // Refuses a push config whose URL is forbidden. It makes no DNS lookup, so it may accept some that are.
  std::function<base::Result<void>(const task::PushConfig&)> check_push;
  // Called when an operator wants this node to drain; must not block.
  std::function<void()> on_asked_to_drain = [] {};
  // Called when deliveries were written; must not block.
  std::function<void()> on_deliveries_written = [] {};
  // Called with each change of a task once it is durable, in order; must not block for long. May be empty.
  std::function<void(const store::Committed&)> on_stored;
  // Called with the error when a flush has failed, before the program ends.
  std::function<void(const base::Error&)> on_flush_failed = [](const base::Error&) {};
};

}  // namespace baton::engine

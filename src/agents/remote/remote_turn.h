// One turn of a remote agent.
//
// A turn is one task there, or the next message of one. Before any output is passed on, the log keeps
// which task that is (task::ExecutorState), so that another attempt can resume it: it subscribes, and gets
// all events again if the other side numbers them. A lost connection never ends a turn. A message that may
// have arrived is sent again only where that is safe. It has the same id in every attempt: a Baton there
// recognises it by that id, and agents of 0.1 by the task's id. Elsewhere the card's `on_unknown` decides.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/loop_turn.h"
#include "agents/remote/remote_interfaces.h"
#include "agents/settings.h"
#include "base/worker_pool.h"

namespace baton::agents {

// What all turns of remote agents share, and outlives them.
struct RemoteServices {
  LoopServices turns;
  // Threads for what blocks longer: a call over gRPC has one while it is under way, so a turn over gRPC holds
  // one as long as its stream; a fetch of a card; a cancel that nobody waits for.
  base::WorkerPool& threads;
};

// Begins a turn.
std::unique_ptr<Execution> start_remote_turn(const RemoteServices& services,
                                             std::shared_ptr<const RemoteInterfaces> interfaces,
                                             std::shared_ptr<const AgentSettings> settings, Turn turn,
                                             std::shared_ptr<TurnSink> sink);

// Cancels the task there and ignores the answer. Blocks for at most that long, or until `stop_fd` is
// readable.
void cancel_blocking(client::Remote remote, const task::TaskId& task, std::chrono::milliseconds at_most,
                     int stop_fd = -1);

}  // namespace baton::agents

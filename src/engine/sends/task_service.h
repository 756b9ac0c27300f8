// TaskService: accepts messages from callers and delegating agents, and decides what happens to a run whose
// client has left.
//
// A TaskRef or Submission names its caller; another caller's task is task_not_found. A TaskKey is not
// checked.
// Threads: any. Methods that read the store may block on the disk. Callbacks run on the calling thread, the
// engine's flushing thread or a background thread, and must not block.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "agents/cards/catalogue.h"
#include "engine/decide/kinds/send.h"
#include "engine/sends/cancels.h"
#include "engine/sends/push_configs.h"
#include "engine/shared/options.h"
#include "engine/shared/wiring.h"

namespace baton::engine {

// A stored submission. `before` is the log position before its own events: wait or read from there.
struct Accepted {
  task::TaskKey key;
  task::TaskId id;
  task::ContextId context;
  task::EventNumber before;
  task::EventNumber after;  // the last of its own events
  // The send repeats an earlier one: nothing was stored, and the task may have stopped already.
  bool repeated = false;
  // Callers do not see the task yet. If it completes while hidden, its last message is the whole answer.
  bool hidden = false;
  // The task's turn waits for Submission::start_at.
  bool delayed = false;
};

class TaskService {
 public:
  TaskService(const store::TaskStore& store, const TaskReader& reader, Inbox& inbox, LiveTasks& live,
              TurnRunner& turns, const PushConfigs& push, Cancels& cancels,
              const agents::Catalogue& catalogue, Background& background, const base::Clock& clock,
              const EngineOptions& options, const EngineWiring& wiring);

  // Stores the message and queues its turn. A repeated send (send_digest.h) stores nothing and returns the
  // earlier task, as long as the store remembers it (README, promise 6). A message with neither an id nor a
  // name (task::Submission::name) is never a repetition. Fails with: not_found (no such agent),
  // invalid_argument, too_large, task_not_found, unsupported (the task has ended), conflict (the question is
  // no longer open), content_type_not_supported, push_not_supported, overloaded, unavailable.
  using Submitted = std::function<void(base::Result<Accepted>)>;
  void submit(task::Submission submission, Submitted done);
  // Like `submit`, for an agent: a new task becomes a child of `parent`. A send with an earlier send's digest
  // is its repetition.
  void submit_child(ForChild terms, task::Submission submission, task::SendDigest digest, Submitted done);

  // Fails if the submission answers a question but does not fit its schema (agents/questions.h). `submit`
  // checks this too; callers with several submissions check all of them first. May block.
  base::Result<void> check_answer(const task::Submission& submission) const;

  // Returns the earlier submission of this name (task::Submission::name), or not_found.
  base::Result<Accepted> earlier(const task::Caller& caller, const task::AgentName& agent,
                                 const task::ContextId& context, const std::string& name) const;
  // Returns what happens to the run that begins after `before` once its client has left.
  base::Result<task::Leaving> leaving(task::TaskKey key, task::EventNumber before) const;
  // Call when the client of the run that begins after `before` has left. A run with Leaving::cancels, on a
  // task that no A2A client made, is canceled with a reason after the grace, unless by then it has stopped or
  // the task is followed (is_followed). `grace`: unset: the agent's, or else the server's.
  void client_left(task::TaskKey key, const task::AgentName& agent, task::EventNumber before,
                   std::optional<std::chrono::milliseconds> grace = {});
  // Returns true if the task has a stream or a waiting reply on any node. If it has none here, blocks for a
  // moment.
  bool is_followed(task::TaskKey key) const;
  // Calls Peers::claim; without other nodes, the claim succeeds.
  base::Result<store::Peers::Claim> claim_from_others(const task::Caller& caller,
                                                      const std::string& name) const;

 private:
  struct Sending;
  using SendingPtr = std::shared_ptr<Sending>;

  base::Result<void> check(const task::Submission& submission) const;
  void submit(ForChild terms, task::Submission submission, std::optional<task::SendDigest> digest,
              Submitted done);
  void route(const SendingPtr& sending);
  // Unset for a new task.
  using Target = std::optional<task::TaskHead>;
  base::Result<Target> target_of(const task::Submission& submission) const;
  base::Result<Target> waiting_in_context(const task::Submission& submission) const;
  base::Result<void> fit(const task::TaskHead& target, task::Message& answer) const;
  base::Result<void> fit(Sending& sending, const Target& target) const;
  void begin_turn(Sending& sending, const store::Committed& committed);
  void stored(const SendingPtr& sending, base::Result<Written> result);
  void forget_learned(const Sending& sending);
  void refuse(const SendingPtr& sending, base::Error error);
  base::Result<Accepted> earlier_send(const task::SendDigest& digest) const;
  bool is_abandoned(task::TaskKey key, task::EventNumber before) const;

  const store::TaskStore& store_;
  const TaskReader& reader_;
  Inbox& inbox_;
  LiveTasks& live_;
  TurnRunner& turns_;
  const agents::Catalogue& catalogue_;
  Background& background_;
  const base::Clock& clock_;
  const EngineOptions& options_;
  const EngineWiring& wiring_;
  const SendRules rules_;
  const PushConfigs& push_;
  Cancels& cancels_;
};

}  // namespace baton::engine

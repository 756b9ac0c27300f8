// OperatorActions: an operator's actions on tasks, deliveries and agents of all callers, and on nodes.
//
// Each action is a decision on the engine's thread, so it cannot lose a race: it is refused if the task has
// changed in the meantime. An accepted action is stored with an audit row and an Intervention in the task's
// log; a refused one leaves a row with the error. An actor and a reason of 1 to kReasonMax bytes are
// required: without them it fails with invalid_argument and leaves no row.
// Threads: any. Nothing blocks; `done` is called once, on any thread, and must not block.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/decide/inbox.h"
#include "engine/sends/task_service.h"
#include "engine/turns/turn_runner.h"
#include "store/operator_store.h"
#include "store/peers.h"

namespace baton::engine {

inline constexpr std::size_t kReasonMax = 500;

// Who acts, and why.
struct Actor {
  std::string name;
  std::string reason;
  // The bulk job that acts for them, if any. A job retries what the store or a full queue has refused for the
  // moment, so such a refusal leaves no row.
  task::BulkJobKey job = {};
};

class OperatorActions {
 public:
  // Gets the task as it is after the action; for a retry, the new task.
  using Done = std::function<void(base::Result<task::TaskHead>)>;
  using Switched = std::function<void(base::Result<void>)>;

  OperatorActions(store::OperatorStore& store, const TaskReader& reader, Inbox& inbox, TaskService& tasks,
                  Cancels& cancels, TurnRunner& turns, const agents::Catalogue& catalogue,
                  Background& background, store::Peers* peers);

  // Pauses and scales the agents as in an earlier run. Call it before any turn begins.
  base::Result<void> start();

  // Applies what other nodes have switched since the last call. Blocks.
  void look();

  // As Cancels::cancel. `done` is called once the cancel is stored, which a running turn may outlive. Fails
  // with not_cancelable if the task has ended, and with conflict if it is already being canceled.
  void cancel(task::TaskKey key, Actor actor, Done done);
  // A message to send in place of a task's request.
  struct Edited {
    Edited(task::Message sent) : message(std::move(sent)) {}  // NOLINT(google-explicit-constructor)
    task::Message message;
    // Parts that are taken from the request's message: their index in `message` and in the request, from 0.
    std::vector<std::pair<std::size_t, std::size_t>> kept;
  };
  // Sends the task's request again, or `edited` in its place, as a new task of the same caller, agent and
  // metadata in a context of its own. The request is the whole message that began the work: the task's first
  // one, or the one that last reopened it, never an answer. Fails as TaskService::submit does; with
  // invalid_argument if a part to be kept does not exist; for a job, with conflict if the task was already
  // retried.
  void retry(task::TaskKey key, std::optional<Edited> edited, Actor actor, Done done);
  // Answers the task's question, as its caller would. `ask`: as Submission::ask. Fails with conflict if the
  // task asks nothing.
  void answer(task::TaskKey key, task::Message message, std::string ask, Actor actor, Done done);
  // Runs the task's turn again. A running turn is interrupted, its output is withdrawn, and it begins again
  // as another attempt. A queued turn gets back its place, should it have lost it. A turn that waits for a
  // time, or is quarantined, begins now. The turn is no longer suspected of crashing the program.
  // Fails with conflict if the task has no turn, if its turn waits for children alone, or if its agent is not
  // served, so that nothing could run it.
  void requeue(task::TaskKey key, Actor actor, Done done);

  // See task::DeliveryOrder. Fails with not_found if there is nothing to resend or to skip.
  void resend(task::TaskKey key, Actor actor, Done done);
  void resend(store::DeliveryKey delivery, Actor actor, Done done);
  void skip(task::TaskKey key, Actor actor, Done done);
  void skip(store::DeliveryKey delivery, Actor actor, Done done);

  // A paused agent begins no turn. Running turns continue, and new sends wait. A pause survives restarts.
  void pause(const task::AgentName& agent, Actor actor, Switched done);
  void resume(const task::AgentName& agent, Actor actor, Switched done);
  // Sets how many processes an agent keeps, and how many turns it runs at once. If that is fewer than now,
  // running turns finish first. The scale survives restarts and changes of the agent's card. At least one
  // number is needed; kWorkersMax and kConcurrencyMax bound them. Fails with conflict if `workers` is set and
  // the agent keeps no processes.
  static constexpr int kWorkersMax = 256, kConcurrencyMax = 10'000;
  struct Scale {
    std::optional<int> workers, concurrency;  // unset: as it is; 0: as the agent's card says
  };
  void scale(const task::AgentName& agent, Scale scale, Actor actor, Switched done);
  // Makes a node begin no more turns, end, and leave its tasks to the others. Fails with not_found if there
  // is no such node, and with conflict if the store is not shared.
  void drain(store::NodeId node, Actor actor, Switched done);

  // The number of the message that `retry` sends again: the task's first one, or the one that last reopened
  // it. Fails with unsupported if the task has none. Blocks.
  base::Result<task::EventNumber> request_event(const task::TaskHead& head) const;

 private:
  struct Act;
  using ActPtr = std::shared_ptr<Act>;

  static base::Result<void> check(const Actor& actor);
  ActPtr make_act(const char* action, task::TaskKey key, Actor actor, Done done) const;
  void read_first(const ActPtr& act, std::function<void()> read);
  void post(const ActPtr& act, Decision decision);
  void refuse(const ActPtr& act, base::Error error);
  void send(const ActPtr& act, const task::TaskHead& head, task::Submission submission);
  void send_again(const ActPtr& act, std::optional<Edited> edited);
  base::Result<task::Event> find_request(const task::TaskHead& head) const;
  void pass_on(const ActPtr& act, task::Message message, std::string ask);
  void forget_deaths(task::TaskKey task);
  void begin_again(const task::TaskHead& head);
  void revive(const task::TaskHead& lost);
  void order(const char* action, store::DeliveryKey delivery, task::DeliveryOrder::Kind kind, Actor actor,
             Done done);
  void order(const ActPtr& act, task::DeliveryOrder what);
  void set_paused(const task::AgentName& agent, bool paused, const Actor& actor, Switched done);
  void write_switch(store::OperatorWrite what, task::AuditEntry entry, std::function<void()> then,
                    Switched done);
  base::Result<void> ask_to_drain(store::NodeId node, std::string& shown);
  void note_retry(const ActPtr& act, task::TaskKey made);

  store::OperatorStore& store_;
  const TaskReader& reader_;
  Inbox& inbox_;
  TaskService& tasks_;
  Cancels& cancels_;
  TurnRunner& turns_;
  const agents::Catalogue& catalogue_;
  Background& background_;
  store::Peers* const peers_;                                      // null: the store is not shared
  std::unordered_map<task::AgentName, store::AgentControl> seen_;  // as last read from the store
  std::atomic<std::int64_t> own_switches_{0};                      // that this node has applied
  std::int64_t looked_after_ = 0;                                  // `own_switches_` at the last look
};

}  // namespace baton::engine

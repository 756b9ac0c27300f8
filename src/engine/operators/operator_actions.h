// OperatorActions: what whoever runs this server does to tasks, deliveries and agents of all callers, and to
// nodes.
//
// Each action is a decision on the engine's thread, so it loses no race: it is refused if the task has moved
// on. An action that is taken is stored with a row of the audit and an Intervention in the task's log; one
// that is refused leaves a row with the error. An actor and a reason of 1 to kReasonMax bytes are required:
// invalid_argument without, which leaves no row.
// Threads: any. Nothing blocks; `done` is called once, on any thread, and must not block.
#pragma once

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
  // The bulk job that acts for them. It tries again what the store or a full queue has refused for the
  // moment, so that leaves no row.
  task::BulkJobKey job = {};
};

class OperatorActions {
 public:
  // With the task as it is after the action; of a retry, the new one.
  using Done = std::function<void(base::Result<task::TaskHead>)>;
  using Switched = std::function<void(base::Result<void>)>;

  OperatorActions(store::OperatorStore& store, const TaskReader& reader, Inbox& inbox, TaskService& tasks,
                  Cancels& cancels, TurnRunner& turns, const agents::Catalogue& catalogue,
                  Background& background, store::Peers* peers);

  // Pauses and scales the agents as an earlier run did, before any turn begins.
  base::Result<void> start();

  // Takes over what other nodes have switched since. Blocks.
  void look();

  // As Cancels::cancel; `done` comes once the cancel is stored, which a running turn may outlive. Fails
  // with not_cancelable if the task has ended, and with conflict if it is being canceled.
  void cancel(task::TaskKey key, Actor actor, Done done);
  // What is sent in place of a task's request.
  struct Edited {
    Edited(task::Message sent) : message(std::move(sent)) {}  // NOLINT(google-explicit-constructor)
    task::Message message;
    // Parts of it that are taken from the request's message: the place here, and there, from 0.
    std::vector<std::pair<std::size_t, std::size_t>> kept;
  };
  // Sends the task's request again, or `edited` in its place, as a new task of the same caller, agent and
  // metadata in a context of its own. The request is the whole message that began the work: the task's first
  // one, or the one that last reopened it, never an answer. A job leaves out what was retried already. Fails
  // as TaskService::submit does, and with invalid_argument if a part to be kept is not there.
  void retry(task::TaskKey key, std::optional<Edited> edited, Actor actor, Done done);
  // Answers what the task asks, as its caller would. `ask`: as Submission::ask. Fails with conflict if it
  // waits for nobody.
  void answer(task::TaskKey key, task::Message message, std::string ask, Actor actor, Done done);
  // A running turn is broken off, what it has shown is withdrawn, and it begins again as another attempt. A
  // queued turn gets back its place, should it have lost that; one that waits for a time, or is quarantined,
  // begins now. What it was suspected of is forgotten.
  // Fails with conflict if the task has no turn, if that waits for children alone, or if its agent is not
  // served: nothing could run it.
  void requeue(task::TaskKey key, Actor actor, Done done);

  // See task::DeliveryOrder. Fails with not_found if there is nothing to resend or to skip.
  void resend(task::TaskKey key, Actor actor, Done done);
  void resend(store::DeliveryKey delivery, Actor actor, Done done);
  void skip(task::TaskKey key, Actor actor, Done done);
  void skip(store::DeliveryKey delivery, Actor actor, Done done);

  // A paused agent begins no turn; those that run go on, and what is sent to it waits. Outlives restarts.
  void pause(const task::AgentName& agent, Actor actor, Switched done);
  void resume(const task::AgentName& agent, Actor actor, Switched done);
  // Has an agent keep so many processes, and run so many turns at once. Running turns finish first where
  // there are fewer. Outlives restarts, and changes of its card. At least one is needed; kWorkersMax and
  // kConcurrencyMax bound them. Fails with conflict if it keeps no processes.
  static constexpr int kWorkersMax = 256, kConcurrencyMax = 10'000;
  struct Scale {
    std::optional<int> workers, concurrency;  // unset: as it is; 0: as the agent's card says
  };
  void scale(const task::AgentName& agent, Scale scale, Actor actor, Switched done);
  // Has a node begin no more turns, end, and leave its tasks to the others. Fails with not_found if there is
  // no such node, and with conflict if the store is not shared.
  void drain(store::NodeId node, Actor actor, Switched done);

  // The number of the message that `retry` sends again: the task's first one, or the one that last reopened
  // it. Fails with unsupported if the task has none. Blocks.
  base::Result<task::EventNumber> request_event(const task::TaskHead& head) const;

 private:
  struct Act;
  using ActPtr = std::shared_ptr<Act>;

  static base::Result<void> check(const Actor& actor);
  ActPtr begin(const char* action, task::TaskKey key, Actor actor, Done done) const;
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
  std::unordered_map<task::AgentName, store::AgentControl> seen_;  // in the store, when it was last read
};

}  // namespace baton::engine

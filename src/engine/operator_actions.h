// OperatorActions: what whoever runs this server does to tasks, deliveries and agents of all callers.
//
// Each action is a decision on the engine's thread, so it loses no race: it is refused if the task has moved
// on. An action that is taken is stored with a row of the audit and an Intervention in the task's log; one
// that is refused leaves a row with the error. An actor and a reason of 1 to kReasonMax bytes are required:
// invalid_argument without, which leaves no row.
// Threads: any. Calls may block on the disk; `done` is called once, on any thread, and must not block.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/delegation.h"
#include "engine/inbox.h"
#include "engine/task_service.h"
#include "engine/turn_runner.h"
#include "store/operator_store.h"

namespace baton::engine {

inline constexpr std::size_t kReasonMax = 500;

// Who acts, and why.
struct Actor {
  std::string name;
  std::string reason;
  task::BulkJobKey job = {};  // the bulk job that acts for them
};

class OperatorActions {
 public:
  // With the task as it is after the action; of a retry, the new one.
  using Done = std::function<void(base::Result<task::TaskHead>)>;
  using Switched = std::function<void(base::Result<void>)>;

  OperatorActions(store::OperatorStore& store, const TaskReader& reader, Inbox& inbox, TaskService& tasks,
                  TurnRunner& turns, Delegation& delegation, const agents::Catalogue& catalogue,
                  Background& background, const base::Clock& clock);

  // Has the paused agents pause, before any turn begins. Fails with unavailable and internal.
  base::Result<void> start();

  // As TaskService::cancel; `done` comes once the cancel is stored, which a running turn may outlive.
  void cancel(task::TaskKey key, Actor actor, Done done);
  // Sends the task's first message again, or `edited` in its place, as a new task of the same caller, agent
  // and metadata in a context of its own. Fails with not_found if the agent is not served, overloaded.
  void retry(task::TaskKey key, std::optional<task::Message> edited, Actor actor, Done done);
  // Answers what the task asks, as its caller would. `ask`: as Submission::ask. Fails with conflict if it
  // waits for nobody.
  void answer(task::TaskKey key, task::Message message, std::string ask, Actor actor, Done done);
  // A running turn is broken off, what it has shown is withdrawn, and it begins again as another attempt. A
  // queued turn gets back its place, should it have lost that; one that waits for a time begins now; one that
  // waits for children looks for them again. Fails with conflict if the task has no turn.
  void requeue(task::TaskKey key, Actor actor, Done done);

  // See task::DeliveryOrder. Fails with not_found if there is nothing to resend or to skip.
  void resend(task::TaskKey key, Actor actor, Done done);
  void resend(store::DeliveryKey delivery, Actor actor, Done done);
  void skip(store::DeliveryKey delivery, Actor actor, Done done);

  // A paused agent begins no turn; those that run go on, and what is sent to it waits. Outlives restarts.
  void pause(const task::AgentName& agent, Actor actor, Switched done);
  void resume(const task::AgentName& agent, Actor actor, Switched done);

 private:
  struct Act;
  using ActPtr = std::shared_ptr<Act>;

  ActPtr act(const char* action, task::TaskKey key, Actor actor, Done done);
  void decide(const ActPtr& act, std::function<base::Result<void>(const task::TaskHead&, task::Change&)> how,
              std::function<void(const task::TaskHead&)> then);
  void refuse(const ActPtr& act, base::Error error);
  void send(const ActPtr& act, task::Submission submission);
  void order(const char* action, store::DeliveryKey delivery, task::DeliveryOrder::Kind kind, Actor actor,
             Done done);
  void begin_again(const task::TaskHead& head);
  void set_paused(const task::AgentName& agent, bool paused, Actor actor, Switched done);

  store::OperatorStore& store_;
  const TaskReader& reader_;
  Inbox& inbox_;
  TaskService& tasks_;
  TurnRunner& turns_;
  Delegation& delegation_;
  const agents::Catalogue& catalogue_;
  Background& background_;
  const base::Clock& clock_;
};

}  // namespace baton::engine

// Cancels: cancels tasks and their children. Stores the request first, then tells the running turn.
//
// Threads: any. Calls may block on the disk; `done` runs where TaskService's callbacks do.
#pragma once

#include <functional>
#include <memory>

#include "engine/decide/inbox.h"
#include "engine/decide/kinds/cancel_request.h"
#include "engine/shared/options.h"
#include "engine/turns/turn_runner.h"

namespace baton::engine {

class Cancels {
 public:
  using Done = std::function<void(base::Result<task::TaskKey>)>;

  Cancels(const store::TaskStore& store, const TaskReader& reader, Inbox& inbox, TurnRunner& turns,
          const agents::Catalogue& catalogue, Background& background, const base::Clock& clock,
          const EngineOptions& options)
      : store_(store),
        reader_(reader),
        inbox_(inbox),
        turns_(turns),
        catalogue_(catalogue),
        background_(background),
        clock_(clock),
        options_(options) {}

  // Calls `done` when the task has ended as canceled. Fails with not_cancelable if it ended otherwise, and
  // with unavailable if it does not end in time.
  void cancel(const task::TaskRef& ref, Done done);
  // `reason`: the text of the canceled status; empty: no text.
  void cancel(task::TaskKey key, Done done, const std::string& reason = {});
  // A cancel by an operator. `heard` is called once the request is stored or refused, with the task as it is
  // then; its running turn may take a while to end.
  using Heard = std::function<void(base::Result<task::TaskHead>)>;
  void cancel(task::TaskKey key, std::shared_ptr<const task::AuditEntry> audit, Heard heard);
  // A cancel whose caller does not wait for the end of the task. `heard` is called as above; it fails with
  // not_cancelable if the task has ended, and with conflict if it is being canceled already.
  void begin(const task::TaskRef& ref, Heard heard);
  // Cancels a child that its parent does not need any more. Retries a cancel that the store refuses until the
  // store accepts it, because no caller asks again.
  void cancel_child(task::TaskKey child, const std::string& reason = {});
  // Cancels the open children of an ended task.
  void cancel_children(task::TaskKey parent);
  // Cancels the open children of all tasks that have ended.
  void cancel_orphans();

 private:
  struct Canceling;
  using CancelingPtr = std::shared_ptr<Canceling>;

  CancelingPtr request(task::TaskKey task, std::string reason, Done done) const;
  void post(const CancelingPtr& request);
  void cancel_all(store::TaskStore::Open which, task::TaskKey parent);
  void await_cancel(const CancelingPtr& request, task::EventNumber after);
  void stored(const CancelingPtr& request, const task::TaskHead& head);
  void end_lost_turn(const CancelRequest& request, const task::TaskHead& lost);

  const store::TaskStore& store_;
  const TaskReader& reader_;
  Inbox& inbox_;
  TurnRunner& turns_;
  const agents::Catalogue& catalogue_;
  Background& background_;
  const base::Clock& clock_;
  const EngineOptions& options_;
};

}  // namespace baton::engine

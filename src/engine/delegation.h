// Delegation: an agent's turn has another agent do a task. The child is a task like any other, linked to its
// parent; its result goes back to the turn when the child has ended or waits for input.
//
// A child belongs to the parent's caller. When the parent's turn ends in an end of the parent, its open
// children are canceled. The parent's log shows a child as a subagent from when it is stored until it has
// ended; one that a later turn of the parent goes on with is a subagent of its own there.
// Threads: any.
#pragma once

#include "engine/task_service.h"

namespace baton::engine {

class Delegation {
 public:
  Delegation(store::TaskStore& store, TaskService& service, Background& background,
             const EngineOptions& options)
      : store_(store), service_(service), background_(background), options_(options) {}

  // Never fails: what goes wrong is delivered to the turn as the result's error.
  void start(std::shared_ptr<TurnRun> run, agents::DelegateRequest request);

  void parent_turn_ended(const task::TaskHead& head);

 private:
  struct Delegated;
  using DelegatedPtr = std::shared_ptr<Delegated>;

  bool too_deep(const task::TaskHead& head) const;
  void stored(const DelegatedPtr& delegated, const Accepted& child);
  void cancel_late(task::TaskKey child);
  void follow(const DelegatedPtr& delegated, const Accepted& child);

  store::TaskStore& store_;
  TaskService& service_;
  Background& background_;
  const EngineOptions& options_;
};

}  // namespace baton::engine

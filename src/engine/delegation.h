// Delegation: runs tasks that an agent's turn delegates to other agents. A child is an ordinary task linked
// to its parent. The turn gets the result when the child has ended or waits for input.
//
// A child belongs to the parent's caller. When the parent task ends, or its turn is broken off, its open
// children are canceled. The parent's log shows a child as a subagent from when it is stored until it ends.
// A later turn of the parent that continues a child logs it as a new subagent.
// Threads: any.
#pragma once

#include "engine/task_service.h"

namespace baton::engine {

class Delegation {
 public:
  Delegation(const TaskReader& reader, TaskService& service, Background& background,
             const EngineOptions& options)
      : reader_(reader), service_(service), background_(background), options_(options) {}

  // Never fails: errors are delivered to the turn in the result.
  void start(std::shared_ptr<TurnRun> run, agents::DelegateRequest request);

  void parent_turn_ended(const task::TaskHead& head);

 private:
  struct Delegated;
  using DelegatedPtr = std::shared_ptr<Delegated>;

  bool too_deep(const task::TaskHead& head) const;
  void stored(const DelegatedPtr& delegated, const Accepted& child);
  void cancel_late(task::TaskKey child);
  void follow(const DelegatedPtr& delegated, const Accepted& child);

  const TaskReader& reader_;
  TaskService& service_;
  Background& background_;
  const EngineOptions& options_;
};

}  // namespace baton::engine

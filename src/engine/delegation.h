// Delegation: runs tasks that an agent's turn delegates to other agents. A child is an ordinary task linked
// to its parent. The turn gets the result when the child has ended or waits for input.
//
// A child belongs to the parent's caller. The parent's log shows it as a subagent from when it is stored
// until it ends; that is also what is known of it after a restart. If the turn is gone by then, because it
// waits or was broken off, its task waits for all its children, and the next turn is told what they have
// answered. When the parent task ends, its open children are canceled. A later turn of the parent that
// continues a child logs it as a new subagent. Threads: any.
#pragma once

#include "engine/task_service.h"

namespace baton::engine {

class Delegation final : public Children {
 public:
  Delegation(const TaskReader& reader, TaskService& service, TurnRunner& turns, Background& background,
             const EngineOptions& options)
      : reader_(reader), service_(service), turns_(turns), background_(background), options_(options) {}

  void start(std::shared_ptr<RunningTurn> run, agents::DelegateRequest request, int nth) override;
  void turn_over(const task::TaskHead& head) override;

  // Goes on waiting for the children of a task that waits, after a restart. Blocks on the disk.
  base::Result<void> resume(const task::TaskHead& waiting);

 private:
  struct Delegated;
  using DelegatedPtr = std::shared_ptr<Delegated>;

  bool too_deep(const task::TaskHead& head) const;
  void stored(const DelegatedPtr& delegated, const Accepted& child);
  void cancel_late(task::TaskKey child);
  void follow(const DelegatedPtr& delegated);
  void settle(const DelegatedPtr& delegated);

  const TaskReader& reader_;
  TaskService& service_;
  TurnRunner& turns_;
  Background& background_;
  const EngineOptions& options_;
};

}  // namespace baton::engine

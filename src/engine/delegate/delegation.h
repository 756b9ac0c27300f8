// Delegation: runs tasks that an agent's turn delegates to other agents. A child is an ordinary task linked
// to its parent. The turn gets the result when the child has ended or waits for input.
//
// A child belongs to the parent's caller. The parent's log shows it as a subagent from when it is stored
// until it ends; that is also what is known of it after a restart. If the turn is gone by then, because it
// waits or was broken off, its task waits for all its children, and the next turn is told what they have
// answered. When the parent task ends, its open children are canceled. A later turn of the parent that
// continues a child logs it as a new subagent.
//
// A child that asks is a result only for a turn that takes its questions. Otherwise the question becomes the
// parent's own (ChildQuestions), so that it climbs to whoever has sent the first message, and the answer is
// passed on level by level: it is in the parent's log before it is sent to the child, which takes one answer
// to a question. A question that somebody else has answered is withdrawn.
//
// What a turn may reach: a task that it continues, and those that its message refers to, must be below its
// own task; the latter may also be those that its own message referred to. A caller's other tasks are not an
// agent's.
//
// A detached child is no longer the parent's once it is stored: that is its result. Threads: any.
#pragma once

#include <atomic>
#include <unordered_map>
#include <unordered_set>

#include "engine/sends/task_service.h"

namespace baton::engine {

class Delegation {
 public:
  // Listens to `turns` from then on.
  Delegation(const TaskReader& reader, LiveTasks& live, TaskService& tasks, Cancels& cancels,
             TurnRunner& turns, Background& background, const EngineOptions& options);

  // Follows the children that a task awaits, and passes on answers that they may not have got, before its
  // turn goes on: after a restart, or where another node had the turn. Blocks on the disk.
  base::Result<void> resume(const task::TaskHead& waiting);
  // Another node has changed the task. As TurnRunner says; and an answer to a child's question is passed on,
  // as that node may be gone.
  void changed_elsewhere(const store::TaskEnd& now);

 private:
  // A child, who waits for it, and the request's id. Shared by the callbacks of one delegation, which run one
  // at a time but for `look`.
  struct Delegated {
    std::shared_ptr<RunningTurn> run;  // null after a restart
    task::TaskKey parent;
    task::EventNumber message;  // that the parent's turn is about
    bool goes_on = false;       // continues a child that was there before
    bool is_new = true;         // the child is not there yet, as far as the log says
    int times = 0;              // its parent had been resumed, when it was asked for
    bool is_known = false;      // the log had it, and its stop, when the turn began
    // As it goes into the parent's log.
    task::Subagent subagent;
    // While its question waits for the parent's caller: that question's number, else 0; and news of the
    // child.
    std::atomic<std::int64_t> question{0};
    LiveTasks::Subscription news;
  };
  using DelegatedPtr = std::shared_ptr<Delegated>;

  void take(ChildWanted wanted);
  void take(ChildUnneeded unneeded);
  void take(TurnOver over);
  void take(TurnTakenOver taken);
  void take(QuestionAnswered answered);
  void start(std::shared_ptr<RunningTurn> run, agents::DelegateRequest request, int nth);
  void pass_on_logged(task::TaskKey parent, const ChildQuestion& question);

  std::string refusal(const task::TaskHead& head, bool is_bounded) const;
  bool is_below(const task::TaskHead& parent, const task::TaskRef& other) const;
  std::string keep_to_own_tasks(const task::TaskHead& parent, const std::vector<task::TaskId>& named,
                                task::Submission& submission) const;
  void stored(const DelegatedPtr& delegated, const Accepted& child);
  void follow(const DelegatedPtr& delegated);
  void follow_on(const DelegatedPtr& delegated);
  int times_resumed(task::TaskKey parent) const;
  // Another one follows the child by now.
  bool is_out_of_date(const Delegated& delegated) const;
  // Whether there is nothing to follow any more.
  static bool is_gone(const base::Error& error) { return error.code == base::ErrorCode::task_not_found; }
  void settle(const DelegatedPtr& delegated, task::EventNumber stop);
  void hand_over(const DelegatedPtr& delegated);
  void try_again(const base::Error& error, std::function<void()> what);
  // Questions of children.
  void relay(const DelegatedPtr& delegated, const task::TaskHead& child);
  void look(const DelegatedPtr& delegated);
  void forget_questions(const Delegated& delegated, task::EventNumber last);
  void question_over(const DelegatedPtr& delegated, task::EventNumber question);
  void submit_answer(const task::TaskHead& parent, const ChildQuestion& question,
                     const task::Message& answer);
  base::Result<void> pass_on(const task::TaskHead& parent, ChildQuestion question,
                             const PassedAnswer& passed);
  base::Result<void> read_and_pass_on(task::TaskKey parent, const ChildQuestion& question);
  base::Result<void> resume_question(const task::TaskHead& parent, const task::Subagent& subagent,
                                     const std::vector<PassedAnswer>& passed);

  const TaskReader& reader_;
  LiveTasks& live_;
  TaskService& tasks_;
  Cancels& cancels_;
  TurnRunner& turns_;
  Background& background_;
  const EngineOptions& options_;
  // Children whose questions wait for their parents' callers.
  base::Guarded<std::unordered_set<DelegatedPtr>> asking_;
  base::Guarded<std::unordered_map<task::TaskKey, int>> resumed_;  // how often, tasks that have not ended
};

}  // namespace baton::engine

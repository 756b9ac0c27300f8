// Delegation: runs tasks that an agent's turn delegates to other agents. A child is an ordinary task linked
// to its parent. The turn gets the result when the child has ended or waits for input.
//
// A child belongs to the parent's caller. The parent's log shows it as a subagent from when it is stored
// until it ends; after a restart, that entry is all that is known of the child. If the turn is gone when the
// child ends, because it waits or was interrupted, the task waits for all its children, and its next turn
// receives their results. When the parent task ends, its open children are canceled. A later turn of the
// parent that continues a child logs it as a new subagent.
//
// A child's question is a result only for a turn that accepts questions. Otherwise the question becomes the
// parent's own (ChildQuestions) and so climbs to the caller that sent the first message. The answer is passed
// down level by level: it is in the parent's log before it is sent to the child, which accepts one answer to
// a question. A question that somebody else has answered is withdrawn.
//
// A turn may continue a task only if that task is below its own. Its message may refer to tasks below its
// own, and to those that its own input message referred to. An agent has no access to the caller's other
// tasks.
//
// A detached child no longer belongs to its parent once it is stored; being stored is its result. Threads:
// any.
#pragma once

#include <atomic>
#include <unordered_map>
#include <unordered_set>

#include "base/span.h"
#include "engine/delegate/child_replies.h"
#include "engine/sends/task_service.h"

namespace baton::engine {

class Delegation {
 public:
  // Listens to `turns` from then on.
  Delegation(const TaskReader& reader, LiveTasks& live, TaskService& tasks, Cancels& cancels,
             TurnRunner& turns, Inbox& inbox, Background& background, const EngineOptions& options,
             base::SpanQueue* spans);

  // Follows the children that a task awaits, and passes on answers that they may not have received. Call it
  // before the task's turn continues, after a restart or after taking it over from another node. Blocks on
  // the disk.
  base::Result<void> resume(const task::TaskHead& waiting);
  // Handles a change of the task by another node, as TurnRunner::changed_elsewhere does. Also passes on an
  // answer to a child's question, because that node may be gone.
  void changed_elsewhere(const store::TaskEnd& now);

 private:
  // A child, the turn that waits for it, and the request's id. Shared by the callbacks of one delegation,
  // which run one at a time except `look`.
  struct Delegated {
    std::shared_ptr<RunningTurn> run;  // null after a restart
    task::TaskKey parent;
    task::EventNumber message;  // the message that the parent's turn handles
    bool goes_on = false;       // continues a child that was there before
    bool is_new = true;         // the log does not show the child yet
    int times = 0;              // how often the parent had been resumed at the request
    bool is_known = false;      // the log had the child and its stop when the turn began
    // The subagent as the parent's log shows it.
    task::Subagent subagent;
    // While the child's question waits for the parent's caller: the question's number (else 0), and the
    // subscription to the child's log.
    std::atomic<std::int64_t> question{0};
    LiveTasks::Subscription news;
  };
  using DelegatedPtr = std::shared_ptr<Delegated>;

  void handle(ChildWanted wanted);
  void handle(ChildUnneeded unneeded);
  void handle(TurnOver over);
  void handle(TurnTakenOver taken);
  void handle(QuestionAnswered answered);
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
  // Whether this delegation was superseded: another node took the turn, or the parent was resumed again, so a
  // newer delegation follows the child.
  bool is_out_of_date(const Delegated& delegated) const;
  // Whether the error means that the task was deleted, so that there is nothing left to follow.
  static bool is_gone(const base::Error& error) { return error.code == base::ErrorCode::task_not_found; }
  void child_stopped(const DelegatedPtr& delegated, task::EventNumber stop);
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
  base::SpanQueue* const spans_;  // null: none are recorded
  ChildReplies replies_;
  // Children whose questions wait for their parents' callers.
  base::Guarded<std::unordered_set<DelegatedPtr>> asking_;
  base::Guarded<std::unordered_map<task::TaskKey, int>> resumed_;  // how often each unfinished task was
};

}  // namespace baton::engine

// ChildQuestions: children's questions to their parents' callers.
//
// A task shows one of them at a time as its own question: in its state, with the id `ask`. The task's head
// says which one; the others are known only here, and are found again from the children after a restart.
// Decisions about a task ask here which question its status must show. If a task works and its head has the
// id of a question, the question has been answered, perhaps through another node.
//
// Threads: any.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "task/change.h"

namespace baton::engine {

struct ChildQuestion {
  std::string ask;  // its id in the parent's log: see ask_of
  task::TaskKey child;
  task::TaskId child_id;
  task::AgentName agent;     // the child's
  task::EventNumber number;  // of the child's status that asks
  task::EventNumber about;   // the message that the parent's turn is about
  task::Status status;       // the child's
  bool answered = false;     // the answer is on its way to the child
  std::string trace = {};    // of the answer: see task::Submission
};

// Returns the id of the question that a subagent asks with its event `number`.
std::string ask_of(const std::string& subagent, task::EventNumber number);
struct AskParts {
  std::string subagent;
  task::EventNumber number;
};
AskParts parts_of_ask(const std::string& ask);

class ChildQuestions {
 public:
  // Adds the parent's newest question; no-op if it is known, answered or not.
  void add(task::TaskKey parent, ChildQuestion question);
  // Returns the question and marks it as answered; unset if it is not open.
  std::optional<ChildQuestion> answer(task::TaskKey parent, const std::string& ask);
  // Marks the question as open again, because its answer was not stored.
  void reopen(task::TaskKey parent, const std::string& ask);
  // Removes the questions that the subagent asked with events before this one. Returns true if there were
  // any.
  bool forget(task::TaskKey parent, const std::string& subagent, task::EventNumber before);

  bool empty() const { return tasks_ == 0; }
  // Returns the tasks whose callers are asked.
  std::vector<task::TaskKey> tasks() const;
  bool are_asked_of(task::TaskKey parent) const { return !asking(parent).empty(); }
  // Returns the children whose questions wait for this task's caller.
  std::vector<task::TaskKey> asking(task::TaskKey parent) const;

  // The change to the question that a task shows: whether the shown one is withdrawn, and which one is shown
  // next. If another node has received the answer, this stays empty until `answer` is called here.
  struct Turnover {
    explicit operator bool() const { return withdraws || next; }
    bool withdraws = false;
    std::optional<ChildQuestion> next;
  };
  Turnover turnover(const task::TaskHead& parent) const;

 private:
  using All = std::unordered_map<task::TaskKey, std::vector<ChildQuestion>>;
  static ChildQuestion* find(All& all, task::TaskKey parent, const std::string& ask);

  base::Guarded<All> all_;
  std::atomic<int> tasks_{0};  // in `all_`
};

// Each adds a status to `change`: that of a task whose question is over, that of a task that asks `question`,
// and both as `turnover` requires.
void withdraw_question(task::Change& change, base::Timestamp now);
void show_question(task::Change& change, const ChildQuestion& question, base::Timestamp now);
void turn_over(task::Change& change, const ChildQuestions::Turnover& turnover, base::Timestamp now);

}  // namespace baton::engine

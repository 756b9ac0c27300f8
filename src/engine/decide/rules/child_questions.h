// ChildQuestions: the questions of children that wait for their parents' callers.
//
// A task shows one of them at a time, as its own question: its state, with the id `ask`. Which one it shows
// is in its head; the others are known here alone, and found again from the children after a restart. A
// decision about a task asks here what its status is to be, so nobody has to tell it. A task that works, and
// whose head has the id of a question, has its answer, which may have come by another node.
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

// The id of the question that a subagent asks with its event `number`.
std::string ask_of(const std::string& subagent, task::EventNumber number);
struct AskParts {
  std::string subagent;
  task::EventNumber number;
};
AskParts parts_of_ask(const std::string& ask);

class ChildQuestions {
 public:
  // As the parent's newest question; no-op if it is there, answered or not.
  void add(task::TaskKey parent, ChildQuestion question);
  // Returns the question and marks it as answered; nothing if it is not open.
  std::optional<ChildQuestion> answer(task::TaskKey parent, const std::string& ask);
  // The answer was not stored.
  void reopen(task::TaskKey parent, const std::string& ask);
  // The subagent no longer asks what it has asked with events before this one. Returns whether it did.
  bool forget(task::TaskKey parent, const std::string& subagent, task::EventNumber before);

  bool empty() const { return tasks_ == 0; }
  // Those whose callers are asked.
  std::vector<task::TaskKey> tasks() const;
  bool are_asked_of(task::TaskKey parent) const { return !asking(parent).empty(); }
  // The children whose questions wait for this task's caller.
  std::vector<task::TaskKey> asking(task::TaskKey parent) const;

  // What has to change about what a task shows: the question that it shows is over, and this one is next.
  // None is as long as `answer` was not told of one that another node has the answer to.
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

// The status of a task whose question is over, and the one that asks. Each adds it to `change`.
void withdraw_question(task::Change& change, base::Timestamp now);
void show_question(task::Change& change, const ChildQuestion& question, base::Timestamp now);
void turn_over(task::Change& change, const ChildQuestions::Turnover& turnover, base::Timestamp now);

}  // namespace baton::engine

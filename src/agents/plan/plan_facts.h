// PlanFacts: the state of a run of a plan, folded from the records that its turns have left in the task's
// log. A record is never changed; a run is resumed by folding its records.
//
// A step's place in a run is a path: the ids of the steps around it and its own, with the index of each
// iteration ("plan/each[3]/fetch"). A child's name is its step's path and the attempt ("plan/fetch#2").
//
// Threads: not thread-safe; a run's turn has its own.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "task/budget.h"
#include "task/json.h"

namespace baton::agents {

struct PlanRecord {
  // began: the run, with the plan's text. begin and end: an attempt at a step. choose: a route's branch, the
  // iteration that a loop begins, the number of a map's items. due: when a wait is over. settle: a step with
  // others in it has ended. undo: the run has failed, and what it has done is undone. cancel: a child is
  // canceled whose attempt has ended for the run. gone: that child has stopped; with the text "done" if it
  // had done its work by then. lose: a branch is not needed, as others of its step have done enough; what was
  // done in it is undone.
  enum class What { began, begin, end, choose, due, settle, undo, cancel, gone, lose };
  What what = What::begin;
  std::string path = {};
  int number = 0;  // of the attempt, or what was chosen
  base::Timestamp at{};
  std::string failure = {};  // its kind; empty: none
  std::string text = {};     // the failure's, or the plan's
  // Used by the attempt, including its children. For undo: used by the task until then.
  std::int64_t tokens = 0;
  std::int64_t children = 0;
};

struct PlanEnd {
  std::string failure;  // its kind; empty: it is done
  std::string text;
};

// The name of an attempt's child, and the path and number in one.
std::string name_of_call(const std::string& path, int attempt);
struct PlanCall {
  std::string path;
  int attempt = 0;
};
PlanCall parse_call(const std::string& name);

inline constexpr char kDoneLate[] = "done";  // the text of such a `gone`
// The failure of a step whose input could not be made; it is not tried again, and its state is "failed".
inline constexpr char kBadInput[] = "input";
// The text of an attempt that the run ends as "canceled". If the attempt has a child, the child is canceled.
inline constexpr char kNotNeeded[] = "it was no longer needed";

class PlanFacts {
 public:
  struct Attempts {
    int number = 0;  // of the last one
    bool open = false;
    base::Timestamp begun{}, ended{};
    PlanEnd end;
    base::Timestamp first{};  // when the first one began
    std::int64_t tokens = 0;  // of all of them
    bool called_off = false;  // the run has ended the last one, which had neither failed nor completed
  };

  void add(const PlanRecord& record);

  const std::string& plan() const { return plan_; }
  base::Timestamp begun() const { return begun_; }
  const Attempts* attempts(const std::string& path) const;
  std::optional<int> chosen(const std::string& path) const;
  std::optional<base::Timestamp> due(const std::string& path) const;
  const PlanEnd* settled(const std::string& path) const;
  // Paths of steps that are done, in the order of their ends, including those that were canceled too late.
  const std::vector<std::string>& done() const { return done_; }
  // Paths of steps that have failed, in the order of their ends; one for each failed attempt.
  const std::vector<std::string>& failed() const { return failed_; }
  // Paths of steps with an attempt under way, sorted.
  const std::set<std::string>& open() const { return open_; }
  // The paths in `open` of the step at `path` and of the steps in it.
  std::vector<std::string> open_below(const std::string& path) const;
  // The number of children that have not stopped, to the run's knowledge, including those that it has
  // canceled.
  int unstopped() const { return static_cast<int>(open_.size() + canceled_.size()); }
  // The names of unstopped children that the run has canceled.
  const std::set<std::string>& canceled() const { return canceled_; }
  const std::optional<PlanEnd>& undoing() const { return undoing_; }
  // When undoing began, and what the task had used until then.
  base::Timestamp undone_from() const { return undone_from_; }
  const task::Taken& taken_before_undoing() const { return taken_before_undoing_; }
  // Whether the branch at `path` has lost.
  bool has_lost(const std::string& path) const { return lost_.contains(path); }
  bool has_losers() const { return !lost_.empty(); }
  // The outermost branch that has lost and contains this path; empty if there is none.
  std::string lost_around(const std::string& path) const;
  std::int64_t tokens() const { return tokens_; }
  std::int64_t children() const { return children_; }
  // The memory this takes, approximately.
  std::size_t bytes() const;

 private:
  void take_late(const PlanCall& late);

  std::string plan_;
  base::Timestamp begun_{};
  std::unordered_map<std::string, Attempts> attempts_;
  std::unordered_map<std::string, int> chosen_;
  std::unordered_map<std::string, base::Timestamp> due_;
  std::unordered_map<std::string, PlanEnd> settled_;
  std::vector<std::string> done_, failed_;
  std::vector<PlanCall> late_;  // done although canceled
  std::set<std::string> open_;
  std::set<std::string> canceled_;  // names of children
  std::unordered_set<std::string> lost_;
  std::optional<PlanEnd> undoing_;
  base::Timestamp undone_from_{};
  task::Taken taken_before_undoing_;
  std::int64_t tokens_ = 0, children_ = 0;
  std::size_t failures_bytes_ = 0;  // of the texts of failures
};

task::Json write_records(const std::vector<PlanRecord>& records);
// Skips records that it does not understand.
std::vector<PlanRecord> read_records(const task::Json& text);

}  // namespace baton::agents

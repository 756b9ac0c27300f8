// Worker: a long-lived process that takes one turn after another, or several at once; and the turns it takes.
//
// A worker with a turn that does not stop is retired: its group replaces it, it gets no new turns, and it
// is killed once its other turns are over, or after `worker_drain`. The turns that it still has then are
// not to blame: they are broken off and run again, or fail if the card says so.
//
// A turn that waits for results of its children gives its place to another turn after `wait_keep`, at most
// once: it is broken off, and begins again when its children have stopped.
//
// Threads: the host's only.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "agents/command/agent_output.h"
#include "agents/command/command_turn.h"
#include "agents/command/launch_facts.h"
#include "agents/command/line_splitter.h"
#include "base/log.h"

namespace baton::agents {

class Worker;
class WorkerGroup;

class WorkerTurn final : public CommandTurn, public std::enable_shared_from_this<WorkerTurn> {
 public:
  WorkerTurn(const std::shared_ptr<WorkerGroup>& group, const Turn& turn, std::shared_ptr<SinkGate> gate);

  void begin() override;
  void cancel() override;
  void deliver(const DelegateResult& result) override;
  void abandon() override;

 private:
  friend class Worker;
  friend class WorkerGroup;

  const std::weak_ptr<WorkerGroup> group_;  // gone with the executor
  const task::TaskId task_;
  const std::string id_;
  const base::LogMembers log_members_;
  std::string lines_;  // the turn's input for a worker; empty once a worker has begun to answer
  AgentOutput output_;
  std::weak_ptr<Worker> worker_;  // the worker that has the turn; none while it waits or after its end
  std::uint64_t taken_at_ = 0;    // once its process has taken this many bytes, it has all of `lines_`
  int children_ = 0;              // delegated, without a result
  std::chrono::steady_clock::time_point waits_since_{};  // set while `children_` > 0
  const bool begins_again_;                              // see Turn::again
  int lost_ = 0;                                         // workers that died before they had all of `lines_`
  bool abandoned_ = false;
  std::string errors_;  // of the worker that has ended
  std::chrono::steady_clock::time_point cancelled_at_{};
};

class Worker final : public ProcessHandler, public std::enable_shared_from_this<Worker> {
 public:
  Worker(const std::shared_ptr<WorkerGroup>& group, std::size_t slot);

  // Fails as ProcessHost::launch does.
  base::Result<void> launch();

  bool usable() const { return process_ != nullptr && !dying_; }
  // Whether it takes further turns. It does not while a turn that was let go may still cause it to be
  // retired.
  bool accepting() const { return usable() && leaving_.empty() && !retired_; }
  // Whether a turn was asked to stop and has not: the worker may be stuck.
  bool suspect() const { return canceling_ > 0; }
  std::size_t load() const { return turns_.size(); }
  bool has(const std::string& turn) const { return turns_.contains(turn); }
  bool proved() const { return proved_; }
  std::size_t slot() const { return slot_; }

  void give(std::shared_ptr<WorkerTurn> turn);
  void cancel(WorkerTurn& turn);
  void deliver(WorkerTurn& turn, const DelegateResult& result);
  // Call when the result of this turn no longer counts. Cancels the turn; if it does not end within the
  // grace time, the worker is retired.
  void let_go(const std::shared_ptr<WorkerTurn>& turn);
  // Returns the process's standard error during this turn; empty if it has had other turns meanwhile.
  std::string errors_of(const WorkerTurn& turn);
  // Breaks off the turn that has waited longest for its children, if it has waited for `wait_keep`.
  // Returns when it will have waited that long; empty if no turn has to leave, or one is leaving.
  std::optional<std::chrono::steady_clock::time_point> make_room();
  // Kills the process; its turns fail with this reason.
  void kill(std::string why);
  // Kills the process because of one turn; the others are broken off.
  void kill_for_one(std::string why);

  void on_output(std::string_view bytes) override;
  void on_output_end() override;
  void on_exit(const ProcessExit& exit) override;

 private:
  struct EndedTurn {
    std::string id;
    bool was_late = false;  // has printed a line since, which was logged
  };

  void after_output();
  bool take_line(std::string_view line);
  bool take(std::string_view text, line::Decoded any);
  bool count(WorkerTurn& turn, std::string_view text);
  bool refuse_line(std::string_view text, const line::Decoded& decoded);
  bool stray_line(const std::string& turn);
  void write(WorkerTurn& turn, std::string line);
  void expect_output(const std::shared_ptr<WorkerTurn>& turn);
  void retire();
  void end_if_drained();
  // Whether the turns that are lost with the process are not to blame, because another turn is the reason
  // for its end.
  bool blameless() const { return for_one_ || retired_; }
  void lose(WorkerTurn& turn, std::string why);
  void attribute_errors(const WorkerTurn& turn);
  void release_touched();
  void ask_ready(const std::shared_ptr<WorkerTurn>& turn);
  void end_turn(const std::string& id);
  void pump_soon();
  EndedTurn* find_ended(const std::string& turn);
  base::LogMembers members() const;

  const std::weak_ptr<WorkerGroup> group_;          // gone with the executor
  const std::shared_ptr<const LaunchFacts> facts_;  // shared with the group and its turns
  const std::size_t slot_;
  LineSplitter lines_;
  std::shared_ptr<Process> process_;  // shared with the host
  std::unordered_map<std::string, std::shared_ptr<WorkerTurn>> turns_;
  std::set<std::string> leaving_;  // the turns of turns_ that were let go
  std::deque<EndedTurn> ended_;    // the last turns that ended here: a late line of theirs is no fault
  std::uint64_t unclaimed_ = 0;    // bytes of output since the last line of a turn that it has
  std::set<std::shared_ptr<WorkerTurn>> touched_;    // spoke in the current piece of output
  std::set<std::shared_ptr<WorkerTurn>> not_ready_;  // their sinks have no room: output is paused
  std::string why_;                                  // why it is being killed
  int canceling_ = 0;                                // how many of turns_ were asked to stop
  const WorkerTurn* alone_ = nullptr;  // the turn that all text on standard error belongs to; not owned
  bool dying_ = false;
  bool retired_ = false;
  bool for_one_ = false;  // only one of its turns is to blame for its end
  bool proved_ = false;   // has ended a turn, so it does not die at its start
};

}  // namespace baton::agents

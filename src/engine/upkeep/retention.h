// Retention: removes tasks whose time is over, and cancels those that have waited too long for people.
//
// It looks through the tasks that are old enough, in the order of their making, in rounds: there is no index
// of what is due, as the tasks that are older than they are kept for are few. A tree of tasks goes as a
// whole, when its root's time is over; not while anything in it has not ended or has a webhook to send.
// Threads: `start` once; the rest on the engine's background threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "agents/cards/catalogue.h"
#include "engine/sends/cancels.h"
#include "engine/shared/options.h"
#include "engine/upkeep/removals.h"

namespace baton::engine {

// How long tasks of this agent are kept once they have ended in this state or, for a waiting one, may wait;
// 0: for ever.
std::chrono::milliseconds kept_for(const RetentionOptions& options, const agents::Agent* agent,
                                   task::State state);
// The shortest time after which anything of this agent goes or is canceled; the longest there is if nothing
// does.
std::chrono::milliseconds kept_at_least(const RetentionOptions& options, const agents::Agent* agent);

class Retention {
 public:
  // `peers`: the one node that leads has the rounds; null: the store is not shared.
  Retention(store::RetentionStore& store, Removals& removals, Cancels& cancels,
            const agents::Catalogue& catalogue, Background& background, const base::Clock& clock,
            const RetentionOptions& options, const store::Peers* peers)
      : store_(store),
        removals_(removals),
        cancels_(cancels),
        catalogue_(catalogue),
        background_(background),
        clock_(clock),
        options_(options),
        peers_(peers) {}

  // Begins the rounds. For a database from before there was retention, as long as none is configured, only
  // says in the log what would go.
  void start();

  struct Counts {
    std::int64_t removed = 0, expired = 0;  // since start
  };
  Counts counts() const { return {removed_, expired_}; }

 private:
  struct Round;
  using RoundPtr = std::shared_ptr<Round>;

  std::chrono::milliseconds shortest() const;
  void begin_later(std::chrono::milliseconds after);
  void begin(bool only_counts);
  void look(const RoundPtr& round);
  void go_on(const RoundPtr& round, std::int64_t gone);
  void end(const RoundPtr& round);
  bool is_over(const task::TaskHead& head, base::Timestamp now) const;
  std::vector<store::Removal::One> tree_to_go(const task::TaskHead& root) const;
  void cancel_waiting(const task::TaskHead& head);

  store::RetentionStore& store_;
  Removals& removals_;
  Cancels& cancels_;
  const agents::Catalogue& catalogue_;
  Background& background_;
  const base::Clock& clock_;
  const RetentionOptions& options_;
  const store::Peers* const peers_;
  std::atomic<std::int64_t> removed_{0}, expired_{0};
};

}  // namespace baton::engine

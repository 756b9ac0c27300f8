// Retention: removes tasks whose time is over, and cancels those that have waited too long for people.
//
// It scans the tasks that are old enough, in the order of their keys, in rounds. There is no index of expired
// tasks, because few tasks are older than the time they are kept for. A tree of tasks is removed as a whole
// once its root's time is over, but not while any of its tasks is unfinished or has a webhook to send.
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
// The shortest time after which any task of this agent is removed or canceled; milliseconds::max() if none
// ever is.
std::chrono::milliseconds kept_at_least(const RetentionOptions& options, const agents::Agent* agent);

class Retention {
 public:
  // `peers`: only the node that leads runs the rounds; null: the store is not shared.
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

  // Begins the rounds. For a database that is older than retention, as long as none is configured, it only
  // logs what would be removed.
  void start();

  struct Counts {
    std::int64_t removed = 0, expired = 0;  // since start
  };
  Counts counts() const { return {removed_, expired_}; }

 private:
  struct Round;
  using RoundPtr = std::shared_ptr<Round>;

  std::chrono::milliseconds shortest() const;
  void begin_round_later(std::chrono::milliseconds after);
  void begin_round(bool only_counts);
  void look(const RoundPtr& round);
  void end_page(const RoundPtr& round, std::int64_t gone);
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

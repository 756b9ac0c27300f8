// Process: one run of the program, from its start to its end: an engine, a notifier and their agents on the
// store. One of the nodes, if several share the store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "fibers.h"
#include "node_peers.h"
#include "notify/notifier.h"
#include "support/faulty_store.h"
#include "watched_store.h"

namespace baton::simulation {

class World;

// A client's request that waits for its answer.
struct Call {
  Fibers::WaitList over;
  bool lost = false;  // the process has ended
  bool answered = false;
  const char* what = "";
};

class Process {
 public:
  // `place`: the index of the node, from 0.
  Process(World& world, int id, int place);

  // Builds, recovers, serves until `stop`, drains. Runs on a fiber of its own.
  void run();
  void stop();
  void lose_calls();

  int id() const { return id_; }
  int place() const { return place_; }
  // True if this is a node that the others have declared dead.
  bool is_dead() const;
  NodePeers* peers() { return peers_ ? &*peers_ : nullptr; }
  const base::Clock& clock() const { return clock_; }
  void set_clock(base::Duration ahead) { clock_.ahead = ahead; }
  bool serves() const { return serves_; }
  bool recovers() const { return recovers_; }
  engine::Engine& engine() { return *engine_; }
  engine::TaskService& tasks() { return engine_->tasks(); }
  const engine::TaskReader& reader() const { return engine_->reader(); }
  const agents::Agent* skilled(const std::string& skill, const std::string& tag) const {
    return catalogue_->find_skilled(skill, tag);
  }
  void expect(const std::shared_ptr<Call>& call) { calls_.push_back(call); }
  // Whether the process is stopping. Streams that follow a task poll it.
  bool stopping() const { return stopping_; }

 private:
  store::FaultPlan plan();
  void enter();
  void build();
  void announce();
  std::string open_calls();

  World& world_;
  const int id_, place_;
  bool serves_ = false, recovers_ = false, stopping_ = false;
  Fibers::WaitList orders_;
  std::vector<std::weak_ptr<Call>> calls_;
  struct OwnClock final : base::Clock {
    explicit OwnClock(const base::Clock& right) : right_clock(right) {}
    base::Timestamp now() const override { return right_clock.now() + ahead; }
    const base::Clock& right_clock;
    base::Duration ahead{};
  } clock_;
  WatchedStore watched_;
  std::optional<NodeView> view_;
  std::optional<NodePeers> peers_;
  std::optional<store::FaultyStore> store_;
  std::optional<agents::Catalogue> catalogue_;
  std::optional<engine::Engine> engine_;
  std::optional<notify::Notifier> notifier_;
};

// Runs `body` on a fiber of the process, with a function that takes the answer. Returns the answer, or
// nullopt if there is no process or it ended first. Call it from a client's fiber. An answer that never comes
// is a violation. `leave`, if given, is called when `patience` is over.
template <class T>
std::optional<T> call(World& world, const char* what,
                      std::function<void(Process&, std::function<void(T)>)> body,
                      std::optional<Time> patience = {}, const std::function<void()>& leave = {});

}  // namespace baton::simulation

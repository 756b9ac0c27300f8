// Several nodes on one PostgreSQL database, each with its own gate to it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "contract/postgres_bench.h"
#include "contract/store_bench.h"
#include "support/patience.h"

namespace baton::test {

// `eventually`, for conditions that ask the database.
template <class F>
bool comes(F&& condition) {
  return eventually(condition, std::chrono::milliseconds(5));
}

class Ear final : public store::Peers::Listener {
 public:
  void heard(const std::vector<store::Grown>& tasks) override {
    std::lock_guard lock(mutex_);
    for (const store::Grown& grown : tasks) heard_[grown.task] = std::max(heard_[grown.task], grown.last);
  }
  void missed() override { ++misses; }
  void adopted(const std::vector<task::TaskKey>& tasks) override {
    std::lock_guard lock(mutex_);
    adopted_.insert(tasks.begin(), tasks.end());
  }
  void asked_to_drain() override { ++drains; }
  bool follows(task::TaskKey task) override { return task == followed; }

  void others_follow(const std::vector<store::Grown>& tasks) override {
    std::lock_guard lock(mutex_);
    followed_elsewhere_.insert(followed_elsewhere_.end(), tasks.begin(), tasks.end());
  }

  void has_newcomer() override { ++newcomers; }

  std::vector<store::Grown> followed_elsewhere() {
    std::lock_guard lock(mutex_);
    return followed_elsewhere_;
  }
  std::int64_t last_of(task::TaskKey task) {
    std::lock_guard lock(mutex_);
    return heard_[task].value;
  }
  std::size_t heard() {
    std::lock_guard lock(mutex_);
    return heard_.size();
  }
  std::multiset<task::TaskKey> adopted() {
    std::lock_guard lock(mutex_);
    return adopted_;
  }

  std::atomic<int> misses = 0, drains = 0, newcomers = 0;
  std::atomic<task::TaskKey> followed{};

 private:
  std::mutex mutex_;
  std::map<task::TaskKey, task::EventNumber> heard_;
  std::multiset<task::TaskKey> adopted_;
  std::vector<store::Grown> followed_elsewhere_;
};

// A node that connects to the database through a gate.
class NodeBench : public GatedBench {
 public:
  explicit NodeBench(std::shared_ptr<const Schema> in, std::chrono::milliseconds lease = long_lease())
      : GatedBench(std::move(in), lease) {
    peers().listen(&ear);
    peers().announce({{{"echo"}, ""}, {{"another"}, ""}}, nullptr);
  }
  ~NodeBench() override {
    gate.freeze(false);
    if (store) peers().listen(nullptr);
  }

  store::Peers& peers() const { return store->peers(); }
  std::int64_t number() const { return peers().self().value; }
  std::int64_t owner_of(const task::TaskHead& head) const { return tasks->row(head.key).value().owner.value; }
  // Creates a task with a turn.
  task::TaskHead create_busy(const std::string& id, task::TurnState state = task::TurnState::queued,
                             const std::string& agent = "echo") {
    task::Change change = creation(id, {status(task::State::submitted), user("m-" + id)}, "c-" + id);
    change.create->agent = {agent};
    change.turn.emplace();
    change.turn->turn = task::TurnNumber{1};
    change.turn->state = state;
    change.turn->attempt = 1;
    change.turn->message_is_new = true;
    return must(std::move(change)).head;
  }
  // Acts like a killed program: its sessions end, and it sends no more data.
  void kill() {
    gate.shut(true);
    gate.cut_all();
  }
  void end() {
    peers().listen(nullptr);
    store.reset();
  }

  Ear ear;
};

inline std::shared_ptr<const Schema> made_schema() {
  return std::make_shared<Schema>();
}

inline std::multiset<task::TaskKey> keys_of(const std::vector<task::TaskHead>& heads) {
  std::multiset<task::TaskKey> keys;
  for (const task::TaskHead& head : heads) keys.insert(head.key);
  return keys;
}

inline std::vector<task::TaskHead> some_busy(NodeBench& bench, int count, const std::string& prefix = "t") {
  std::vector<task::TaskHead> heads;
  for (int i = 0; i < count; ++i) heads.push_back(bench.create_busy(prefix + std::to_string(i)));
  return heads;
}

inline void end_all_sessions(const Schema& schema) {
  schema.ask(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
      "WHERE application_name = 'baton' AND pid <> pg_backend_pid()");
}

}  // namespace baton::test

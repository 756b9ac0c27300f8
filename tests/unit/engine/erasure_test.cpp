// Deletions by operators, on an engine with scripted agents.
#include <doctest/doctest.h>

#include <cstdint>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "support/engine_bench.h"

namespace erasure_test {

using namespace baton;
using base::ErrorCode;
using test::EngineBench;

namespace {

const engine::Actor kOlga{"olga", "asked for by ann"};

using Outcome = base::Result<engine::Erasure::Erased>;

class Bench : public EngineBench {
 public:
  explicit Bench(Options options = with_retention()) : EngineBench(std::move(options)) {}

  template <class Erase>
  Outcome outcome_of(Erase&& erase) {
    std::promise<Outcome> promise;
    erase(*engine().erasure(), [&](Outcome outcome) { promise.set_value(std::move(outcome)); });
    return promise.get_future().get();
  }
  Outcome erase_task(task::TaskKey key, const engine::Actor& actor = kOlga) {
    return outcome_of([&](engine::Erasure& erasure, auto done) { erasure.erase_task(key, actor, done); });
  }
  Outcome erase_caller(const std::string& name) {
    return outcome_of([&](engine::Erasure& erasure, auto done) { erasure.erase_caller(name, kOlga, done); });
  }
  Outcome erase_context(const task::TaskHead& head) {
    return outcome_of([&](engine::Erasure& erasure, auto done) {
      erasure.erase_context({head.caller, head.agent, head.context}, kOlga, done);
    });
  }

  task::TaskHead begun(const std::string& caller, const std::string& context = {}) {
    task::Submission submission = message("work");
    submission.caller = {caller};
    submission.context = {context};
    const auto accepted = submit(std::move(submission));
    REQUIRE(accepted);
    return engine().reader().head(accepted->key).value();
  }
  task::TaskHead ended(const std::string& caller, const std::string& context = {}) {
    const task::TaskHead head = begun(caller, context);
    scripted().next()->sink->finish(agents::Done{});
    REQUIRE(wait(head.key));
    return head;
  }
  bool is_there(const task::TaskHead& head) { return engine().reader().head(head.key).has_value(); }
  std::vector<store::AuditLine> audit() { return store().audit({}, 0, 100)->lines; }
};

// Fails to remove anything, like a store whose disk is full.
class BusyStore final : public store::RetentionStore {
 public:
  explicit BusyStore(store::RetentionStore& inner) : inner_(inner) {}

  base::Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey after, int limit) const override {
    return inner_.all_tasks(after, limit);
  }
  base::Result<task::TaskKey> last_made(base::Timestamp time) const override {
    return inner_.last_made(time);
  }
  base::Result<std::vector<store::TreeMember>> tree(task::TaskKey root, int most) const override {
    return inner_.tree(root, most);
  }
  base::Result<std::vector<task::TaskHead>> in_context(const task::ContextRef& context) const override {
    return inner_.in_context(context);
  }
  bool kept_before() const override { return inner_.kept_before(); }
  base::Result<std::vector<store::Removed>> remove(const store::Removal&) override {
    if (!std::exchange(was_asked_, true)) asked.set_value();
    return base::fail(ErrorCode::unavailable, "not now");
  }
  base::Result<bool> tidy(std::int64_t) override { return false; }

  std::promise<void> asked;  // set at the first call

 private:
  store::RetentionStore& inner_;
  bool was_asked_ = false;  // used on the engine's thread only
};

// Two ended tasks of ann. The child has the lower key, as when another node has created it.
class YoungParentStore final : public store::RetentionStore {
 public:
  YoungParentStore() {
    for (const std::int64_t key : {1, 2}) {
      task::TaskHead& head = heads_.emplace_back();
      head.key = {key};
      head.id = {"t" + std::to_string(key)};
      head.agent = {"scripted"};
      head.caller = {"ann"};
      head.state = task::State::completed;
    }
    heads_[0].parent = heads_[1].key;
  }

  base::Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey after, int) const override {
    std::vector<task::TaskHead> found;
    for (const task::TaskHead& head : heads_) {
      if (head.key > after) found.push_back(head);
    }
    return found;
  }
  base::Result<task::TaskKey> last_made(base::Timestamp) const override { return heads_[1].key; }
  base::Result<std::vector<store::TreeMember>> tree(task::TaskKey, int) const override {
    return std::vector<store::TreeMember>{{heads_[1], false}, {heads_[0], false}};
  }
  base::Result<std::vector<task::TaskHead>> in_context(const task::ContextRef&) const override {
    return heads_;
  }
  bool kept_before() const override { return false; }
  base::Result<std::vector<store::Removed>> remove(const store::Removal& removal) override {
    std::vector<store::Removed> gone;
    for (const store::Removal::One& one : removal.tasks) {
      removed.push_back(one.task.value);
      gone.push_back({one.task, {"ann"}, 0});
    }
    return gone;
  }
  base::Result<bool> tidy(std::int64_t) override { return false; }

  std::vector<std::int64_t> removed;  // in this order; written on the engine's thread

 private:
  std::vector<task::TaskHead> heads_;
};

}  // namespace

TEST_CASE("Erasure: an ended task is removed at once, and a row of the audit stays") {
  Bench bench;
  const task::TaskHead head = bench.ended("ann");
  const task::TaskHead other = bench.ended("ann");
  const auto erased = bench.erase_task(head.key);
  REQUIRE(erased);
  CHECK(erased->tasks == 1);
  CHECK(erased->left == 0);
  CHECK(!bench.is_there(head));
  CHECK(bench.is_there(other));
  CHECK(bench.engine().reader().head(task::TaskRef{head.caller, head.agent, head.id}).error().code ==
        ErrorCode::task_not_found);
  const auto rows = bench.audit();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].entry.actor == "olga");
  CHECK(rows[0].entry.action == "delete");
  CHECK(rows[0].entry.id == head.id);
  CHECK(rows[0].entry.outcome == task::kDone);
}

TEST_CASE("Erasure: unfinished and unknown tasks are refused, and both leave a row of the audit") {
  Bench bench;
  const task::TaskHead head = bench.begun("ann");
  CHECK(bench.erase_task(head.key).error().code == ErrorCode::conflict);
  CHECK(bench.erase_caller("ann").error().code == ErrorCode::conflict);
  CHECK(bench.is_there(head));
  CHECK(bench.erase_task({4711}).error().code == ErrorCode::task_not_found);
  CHECK(bench.erase_caller("nobody").error().code == ErrorCode::not_found);
  const auto rows = bench.audit();
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].entry.outcome == "not_found");
  CHECK(rows[3].entry.outcome == "conflict");
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(head.key));
  CHECK(bench.erase_task(head.key).has_value());
}

TEST_CASE("Erasure: without a name or a reason nothing is done and nothing written") {
  Bench bench;
  const task::TaskHead head = bench.ended("ann");
  CHECK(bench.erase_task(head.key, {"olga", ""}).error().code == ErrorCode::invalid_argument);
  CHECK(bench.erase_task(head.key, {"", "because"}).error().code == ErrorCode::invalid_argument);
  CHECK(bench.is_there(head));
  CHECK(bench.audit().empty());
}

TEST_CASE("Erasure: deleting a context or a caller removes all its tasks and no others") {
  Bench bench;
  const task::TaskHead one = bench.ended("ann", "shared"), two = bench.ended("ann", "shared");
  const task::TaskHead alone = bench.ended("ann"), tenant = bench.ended(
                                                       "t1\x1f"
                                                       "ann");
  const task::TaskHead ben = bench.ended("ben", "shared");
  CHECK(bench.erase_context(one)->tasks == 2);
  CHECK(!bench.is_there(two));
  CHECK(bench.is_there(alone));
  CHECK(bench.is_there(ben));
  CHECK(bench.erase_caller("ann")->tasks == 2);
  CHECK(!bench.is_there(alone));
  CHECK(!bench.is_there(tenant));
  CHECK(bench.is_there(ben));
}

TEST_CASE("Erasure: children are removed before their parent, even if their keys are lower") {
  for (const bool is_of_caller : {true, false}) {
    YoungParentStore family;
    Bench bench{EngineBench::Options()};
    bench.engine().set_retention(family);
    const auto erased = is_of_caller ? bench.erase_caller("ann") : bench.erase_task({2});
    REQUIRE(erased);
    CHECK(erased->tasks == 2);
    CHECK(erased->left == 0);
    CHECK(family.removed == std::vector<std::int64_t>{1, 2});
  }
}

TEST_CASE("Erasure: a deletion unfinished at the drain fails as unavailable, as does one requested later") {
  EngineBench bench;
  BusyStore busy(bench.store());
  bench.engine().set_retention(busy);
  const auto accepted = bench.submit(EngineBench::message("work"));
  REQUIRE(accepted);
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  std::promise<Outcome> during, after;
  bench.engine().erasure()->erase_task(accepted->key, kOlga,
                                       [&](Outcome outcome) { during.set_value(outcome); });
  busy.asked.get_future().wait();
  bench.engine().drain();
  bench.engine().erasure()->erase_task(accepted->key, kOlga,
                                       [&](Outcome outcome) { after.set_value(outcome); });
  for (std::promise<Outcome>* one : {&during, &after}) {
    auto answer = one->get_future();
    REQUIRE(answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
    const Outcome outcome = answer.get();
    REQUIRE(!outcome);
    CHECK(outcome.error().code == ErrorCode::unavailable);
  }
}

}  // namespace erasure_test

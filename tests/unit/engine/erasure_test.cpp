// What operators delete, over an engine with scripted agents.
#include <doctest/doctest.h>

#include <future>

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
  Bench() : EngineBench(with_retention()) {}

  static Options with_retention() {
    Options options;
    options.retention = true;
    return options;
  }
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
      erasure.erase_context(head.agent, head.caller, head.context, kOlga, done);
    });
  }

  task::TaskHead begun(const std::string& caller, const std::string& context = {}) {
    task::Submission submission = message("work");
    submission.caller = {caller};
    submission.context = {context};
    const auto accepted = submit(std::move(submission));
    REQUIRE(accepted);
    return engine().tasks().find(accepted->key).value();
  }
  task::TaskHead ended(const std::string& caller, const std::string& context = {}) {
    const task::TaskHead head = begun(caller, context);
    scripted().next()->sink->finish(agents::Done{});
    REQUIRE(wait(head.key));
    return head;
  }
  bool is_there(const task::TaskHead& head) { return engine().tasks().find(head.key).has_value(); }
  std::vector<store::AuditLine> audit() { return store().audit({}, 0, 100)->lines; }
};

}  // namespace

TEST_CASE("Erasure: a task that has ended is gone at once, and a row of the audit stays") {
  Bench bench;
  const task::TaskHead head = bench.ended("ann");
  const task::TaskHead other = bench.ended("ann");
  const auto erased = bench.erase_task(head.key);
  REQUIRE(erased);
  CHECK(erased->tasks == 1);
  CHECK(erased->left == 0);
  CHECK(!bench.is_there(head));
  CHECK(bench.is_there(other));
  CHECK(bench.engine().tasks().find(task::TaskRef{head.caller, head.agent, head.id}).error().code ==
        ErrorCode::task_not_found);
  const auto rows = bench.audit();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].entry.actor == "olga");
  CHECK(rows[0].entry.action == "delete");
  CHECK(rows[0].entry.id == head.id);
  CHECK(rows[0].entry.outcome == task::kDone);
}

TEST_CASE("Erasure: what has not ended is refused, and so is what is not there; both leave a row") {
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

TEST_CASE("Erasure: of a context and of a caller all tasks go, and nobody else's") {
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

}  // namespace erasure_test

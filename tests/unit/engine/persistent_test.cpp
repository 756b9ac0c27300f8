#include "engine/decide/persistent.h"

#include "base/error_names.h"
#include "unit/engine/inbox_bench.h"

namespace persistent_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using engine::Decision;
using engine::Persistent;

namespace {

// Refuses with each of these in turn, and then with not_found.
struct Refuses {
  task::TaskKey task;
  std::shared_ptr<std::vector<ErrorCode>> errors;

  base::Result<task::Change> decide(const store::TaskRow&) const {
    const ErrorCode code = errors->empty() ? ErrorCode::not_found : errors->back();
    if (!errors->empty()) errors->pop_back();
    return base::fail(code, "no");
  }
};

struct PersistentBench : InboxBench {
  PersistentBench() { start(); }
  ~PersistentBench() { background.stop(); }

  // Posts it, and returns its result.
  std::string post(Decision decision, Persistent::IsNeedless is_needless = {}) {
    std::promise<std::string> result;
    decision.done = [&](const base::Result<engine::Written>& written) {
      result.set_value(written ? "done" : std::string(base::name_of(written.error().code)));
    };
    Persistent persistent(*inbox, background);
    persistent.post(std::move(decision), "a test's decision is refused", std::move(is_needless));
    std::string heard = result.get_future().get();
    inbox->settle();
    return heard;
  }

  engine::Background background{std::chrono::milliseconds(1)};
};

}  // namespace

TEST_CASE("Persistent: a decision that is refused temporarily is posted again until it is stored") {
  PersistentBench bench;
  const Keys keys = bench.make_tasks(1);
  int times = 0;
  Decision decision = bench.add_text("x", keys[0]);
  decision.decide = [&, decide = decision.decide](const store::TaskRow& now) -> base::Result<task::Change> {
    if (++times == 1) return base::fail(ErrorCode::overloaded, "full");
    if (times == 2) return base::fail(ErrorCode::conflict, "too early");
    return decide(now);
  };
  CHECK(bench.post(std::move(decision)) == "done");
  CHECK(times == 3);
}

TEST_CASE("Persistent: posting ends when the decision has nothing left to do, or its task is gone") {
  PersistentBench bench;
  const Keys keys = bench.make_tasks(1);
  const auto errors = std::make_shared<std::vector<ErrorCode>>(2, ErrorCode::unavailable);
  CHECK(bench.post(Decision(Refuses{keys[0], errors})) == "not_found");
  CHECK(errors->empty());
  CHECK(bench.post(Decision(Refuses{{99}, errors})) == "task_not_found");
}

TEST_CASE("Persistent: a needless decision is not posted, nor posted again after a conflict") {
  PersistentBench bench;
  const Keys keys = bench.make_tasks(1);
  Persistent persistent(*bench.inbox, bench.background);
  const auto errors = std::make_shared<std::vector<ErrorCode>>(3, ErrorCode::conflict);
  std::atomic<int> asked = 0;
  persistent.post(Decision(Refuses{keys[0], errors}), "", [&] { return ++asked == 1; });
  bench.inbox->settle();
  CHECK(errors->size() == 3);
  persistent.post(Decision(Refuses{keys[0], errors}), "", [&] { return ++asked == 3; });
  bench.inbox->settle();
  CHECK(errors->size() == 2);
  CHECK(asked == 3);
}

}  // namespace persistent_test

// The rounds of retention, on an engine with scripted agents.
#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "support/engine_bench.h"
#include "support/patience.h"

namespace retention_test {

using namespace baton;
using test::EngineBench;

namespace {

// Has no tasks, but the rest of a long log that an earlier run did not finish to delete.
class LeftLogStore final : public store::RetentionStore {
 public:
  base::Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey, int) const override {
    return std::vector<task::TaskHead>();
  }
  base::Result<task::TaskKey> last_made(base::Timestamp) const override { return task::TaskKey(); }
  base::Result<std::vector<store::TreeMember>> tree(task::TaskKey, int) const override {
    return std::vector<store::TreeMember>();
  }
  base::Result<std::vector<task::TaskHead>> in_context(const task::ContextRef&) const override {
    return std::vector<task::TaskHead>();
  }
  bool kept_before() const override { return kept; }
  base::Result<std::vector<store::Removed>> remove(const store::Removal&) override {
    return std::vector<store::Removed>();
  }
  base::Result<bool> tidy(std::int64_t) override {
    if (std::exchange(is_tidy_, true)) return false;
    tidied.set_value();
    return true;
  }

  bool kept = false;
  std::promise<void> tidied;  // set at the first call

 private:
  bool is_tidy_ = false;  // used on the engine's thread only
};

}  // namespace

TEST_CASE("Retention: a round finishes what an earlier run has left, even if no task is old enough") {
  for (const bool kept_before : {false, true}) {
    CAPTURE(kept_before);
    LeftLogStore store;
    store.kept = kept_before;
    EngineBench::Options options;
    options.engine.retention.completed = std::chrono::milliseconds(100);
    options.removes_from = &store;
    EngineBench bench(std::move(options));
    CHECK(store.tidied.get_future().wait_for(test::patience()) == std::future_status::ready);
  }
}

}  // namespace retention_test

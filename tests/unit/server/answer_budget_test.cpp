#include "server/shared/answer_budget.h"

#include <doctest/doctest.h>

#include <future>

#include "support/lack_of_memory.h"
#include "support/patience.h"

namespace answer_budget_test {

using namespace baton;
using server::AnswerBudget;
using SharePtr = AnswerBudget::SharePtr;
using std::chrono::milliseconds;

namespace {

struct Bench {
  explicit Bench(milliseconds wait_max = std::chrono::minutes(1))
      : budget(100, 10, wait_max, pool, (timers.start(), timers)) {}

  std::future<SharePtr> enter(const std::string& caller, std::size_t bytes) {
    auto promise = std::make_shared<std::promise<SharePtr>>();
    budget.enter(caller, bytes, [promise](SharePtr share) { promise->set_value(std::move(share)); });
    return promise->get_future();
  }

  base::EventLoop timers{"test-time"};
  base::WorkerPool pool{"test", 1, 100};
  AnswerBudget budget;
};

bool is_ready(const std::future<SharePtr>& share) {
  return share.wait_for(milliseconds(0)) == std::future_status::ready;
}

}  // namespace

TEST_CASE("AnswerBudget: an answer without room waits until enough is released") {
  Bench bench;
  SharePtr first = bench.enter("a", 50).get(), second = bench.enter("b", 50).get();
  auto third = bench.enter("c", 40);
  CHECK_FALSE(is_ready(third));
  first->shrink(20);
  CHECK_FALSE(is_ready(third));
  second.reset();
  CHECK(third.get() != nullptr);
}

TEST_CASE("AnswerBudget: one caller gets half, and others do not wait behind it") {
  Bench bench;
  const SharePtr first = bench.enter("a", 45).get();
  std::size_t bytes = 10;
  SUBCASE("of what has room in the budget") {}
  SUBCASE("of what has none there either") {
    bytes = 60;
  }
  auto second = bench.enter("a", bytes);
  CHECK_FALSE(is_ready(second));
  CHECK(bench.enter("b", 50).get() != nullptr);
  CHECK_FALSE(is_ready(second));
}

TEST_CASE("AnswerBudget: it lacks room while an answer waits, unless that waits for its caller's share") {
  Bench bench;
  SharePtr first = bench.enter("a", 45).get();
  auto own = bench.enter("a", 10);
  CHECK_FALSE(bench.budget.lacks_room());
  auto other = bench.enter("b", 60);
  CHECK(bench.budget.lacks_room());
  first.reset();
  CHECK(own.get() != nullptr);
  CHECK(other.get() != nullptr);
  CHECK_FALSE(bench.budget.lacks_room());
}

TEST_CASE("AnswerBudget: an answer larger than the budget is admitted alone, and later ones wait") {
  Bench bench;
  SharePtr first = bench.enter("a", 10).get();
  auto huge = bench.enter("b", 500);
  auto after = bench.enter("c", 10);
  CHECK_FALSE(is_ready(huge));
  first.reset();
  SharePtr alone = huge.get();
  CHECK(alone != nullptr);
  alone.reset();
  CHECK(after.get() != nullptr);
}

TEST_CASE("AnswerBudget: an answer that waits too long gets null") {
  Bench bench(milliseconds(1));
  const SharePtr all = bench.enter("a", 100).get();
  CHECK(bench.enter("b", 10).get() == nullptr);
}

TEST_CASE("AnswerBudget: when one gives up, later answers get the room, and the next large one its own") {
  Bench bench(test::patience() / 60);  // the other answers must not give up, too
  SharePtr first = bench.enter("a", 50).get();
  auto too_large = bench.enter("b", 90);
  auto behind = bench.enter("c", 10);
  CHECK(too_large.get() == nullptr);
  SharePtr small = behind.get();
  CHECK(small != nullptr);
  auto next = bench.enter("d", 90);
  CHECK_FALSE(is_ready(next));
  first.reset();
  small.reset();
  SharePtr large = next.get();
  CHECK(large != nullptr);
  CHECK_FALSE(is_ready(bench.enter("e", 20)));
  large.reset();
  CHECK(bench.enter("f", 100).get() != nullptr);
}

TEST_CASE("AnswerBudget: an answer that cannot be admitted for lack of memory keeps waiting") {
  Bench bench;
  SharePtr first = bench.enter("a", 60).get(), second = bench.enter("b", 40).get();
  auto third = bench.enter("c", 50);
  {
    const test::LackOfMemory none;
    first.reset();
  }
  CHECK_FALSE(is_ready(third));
  second.reset();
  CHECK(third.get() != nullptr);
}

TEST_CASE("AnswerBudget: an answer delayed by lack of memory is admitted before later ones") {
  Bench bench;
  SharePtr first = bench.enter("a", 60).get(), second = bench.enter("b", 40).get();
  auto third = bench.enter("c", 50);
  {
    const test::LackOfMemory none;
    first.reset();
  }
  auto fourth = bench.enter("d", 10);
  CHECK(third.get() != nullptr);
  CHECK(fourth.get() != nullptr);
}

TEST_CASE("AnswerBudget: shares may outlive it") {
  SharePtr share;
  {
    Bench bench;
    share = bench.enter("a", 100).get();
  }
  share.reset();
}

}  // namespace answer_budget_test

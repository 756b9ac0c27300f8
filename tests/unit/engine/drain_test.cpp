#include <doctest/doctest.h>

#include <future>
#include <memory>

#include "support/engine_bench.h"
#include "support/patience.h"

namespace drain_test {

using namespace baton;
using test::EngineBench;

TEST_CASE("Engine: a send after the drain is refused") {
  EngineBench bench;
  bench.engine().drain();
  task::Submission submission = EngineBench::message("hello");
  submission.message.id = {"m-1"};
  const auto answer = std::make_shared<std::promise<base::Result<engine::Accepted>>>();
  auto told = answer->get_future();
  bench.engine().tasks().submit(std::move(submission), [answer](base::Result<engine::Accepted> accepted) {
    answer->set_value(std::move(accepted));
  });
  REQUIRE(told.wait_for(test::patience()) == std::future_status::ready);
  const auto refused = told.get();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::unavailable);
}

TEST_CASE("Engine: a wait that begins after the drain ends at once") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("hello"));
  REQUIRE(accepted);
  bench.engine().drain();
  auto told = bench.wait_later(*accepted);
  REQUIRE(told.wait_for(test::patience()) == std::future_status::ready);
  CHECK_FALSE(told.get());
}

}  // namespace drain_test

#include "agents/plan/plan_failures.h"

#include <doctest/doctest.h>

namespace plan_failures_test {

using namespace baton;
using agents::PlanStep;

TEST_CASE("named_failure: a question, and a child without a reason, repeat no words") {
  PlanStep root;
  root.id = "plan";
  PlanStep step;
  step.parent = &root;
  step.id = "sign";
  step.kind = PlanStep::Kind::ask;
  const agents::PlanPlace at{"plan/sign", {}};
  CHECK(agents::named_failure(step, at, {"timeout", agents::timeout_words(std::chrono::seconds(2))}).text ==
        "step sign failed: it took more than 2 seconds");
  step.kind = PlanStep::Kind::agent;
  step.agent = "signer";
  CHECK(agents::named_failure(step, at, {"failed", "failed"}).text == "step sign (agent signer) failed");
  const agents::PlanEnd canceled = agents::named_failure(step, at, {"canceled", "canceled"});
  CHECK(canceled.failure == "canceled");
  CHECK(canceled.text == "step sign (agent signer) was canceled");
}

TEST_CASE("label_of: a root that repeats keeps its id") {
  PlanStep root;
  root.id = "each";
  CHECK(agents::label_of(root, {"each", {}}) == "each");
  CHECK(agents::label_of(root, {"each[2]/find", {}}) == "each[2]/find");
}

}  // namespace plan_failures_test

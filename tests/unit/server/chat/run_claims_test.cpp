#include "server/chat/run_claims.h"

#include <doctest/doctest.h>

namespace run_claims_test {

using baton::server::chat::RunClaims;

TEST_CASE("RunClaims: a conversation has one claim at a time, until all its copies are released") {
  RunClaims runs;
  auto claim = runs.claim("a", "");
  REQUIRE(claim);
  CHECK_FALSE(runs.claim("a", ""));
  CHECK(runs.claim("b", ""));
  const auto copy = claim;
  claim.reset();
  CHECK_FALSE(runs.claim("a", ""));
}

TEST_CASE("RunClaims: a released claim can be acquired again, and a claim may outlive RunClaims") {
  RunClaims::Claim last;
  {
    RunClaims runs;
    CHECK(runs.claim("a", ""));
    last = runs.claim("a", "");
    REQUIRE(last);
  }
  last.reset();
}

TEST_CASE("RunClaims: the same run may be claimed several times, another run may not") {
  RunClaims runs;
  const auto first = runs.claim("a", "r1");
  CHECK(runs.claim("a", "r1"));
  CHECK_FALSE(runs.claim("a", "r2"));
  CHECK_FALSE(runs.claim("a", ""));
}

}  // namespace run_claims_test

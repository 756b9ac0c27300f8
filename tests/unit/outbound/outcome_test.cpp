#include "outbound/outcome.h"

#include <doctest/doctest.h>

namespace baton::outbound::outcome_test {

TEST_CASE("outcome_of: bad moments of servers and proxies are never final, and decisions are") {
  for (const int status : {200, 202, 204}) CHECK(outcome_of(status) == Outcome::done);
  for (const int status : {425, 429, 503, 529}) CHECK(outcome_of(status) == Outcome::busy);
  for (const int status : {408, 500, 501, 502, 504, 520, 524, 530, 599})
    CHECK(outcome_of(status) == Outcome::lost);
  for (const int status : {301, 307, 400, 401, 403, 404, 409, 410, 413, 422})
    CHECK(outcome_of(status) == Outcome::final);
}

}  // namespace baton::outbound::outcome_test

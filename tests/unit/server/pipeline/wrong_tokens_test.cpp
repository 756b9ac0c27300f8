#include "server/admission/wrong_tokens.h"

#include <doctest/doctest.h>

#include "server/shared/caller_shares.h"

namespace wrong_tokens_test {

using namespace baton;
using server::CallerShares;
using server::WrongTokens;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("WrongTokens: an address with many wrong tokens is blocked for a minute, others are not") {
  WrongTokens tokens;
  const WrongTokens::Time start = WrongTokens::Time() + std::chrono::hours(1);
  for (int i = 0; i < WrongTokens::kQuickOnes; ++i)
    CHECK(tokens.noted("192.0.2.1", "", start) == milliseconds(0));
  CHECK(tokens.noted("192.0.2.1", "", start + seconds(59)) == WrongTokens::kWait);
  CHECK(tokens.noted("192.0.2.2", "", start) == milliseconds(0));
  CHECK(tokens.noted("192.0.2.1", "", start + seconds(60)) == milliseconds(0));
}

TEST_CASE("WrongTokens: addresses of one IPv6 network count as one") {
  WrongTokens tokens;
  const WrongTokens::Time now = WrongTokens::Time() + std::chrono::hours(1);
  for (int i = 0; i < WrongTokens::kQuickOnes; ++i)
    CHECK(tokens.noted("2001:db8::" + std::to_string(i), "", now) == milliseconds(0));
  CHECK(tokens.noted("2001:db8:0:0:ffff::1", "", now) == WrongTokens::kWait);
  CHECK(tokens.noted("2001:db8:0:1::1", "", now) == milliseconds(0));
}

TEST_CASE("CallerShares: a caller's share is bounded across all its tenants") {
  CallerShares shares;
  const task::Caller ann{"ann"}, ann_elsewhere{std::string("tenant") + task::kTenantEnd + "ann"}, bob{"bob"};
  const auto unbounded = shares.acquire(ann);
  CHECK(unbounded);
  shares.set_max(2);
  auto first = shares.acquire(ann);
  const auto second = shares.acquire(ann_elsewhere);
  CHECK(first);
  CHECK(second);
  CHECK_FALSE(shares.acquire(ann));
  CHECK(shares.acquire(bob));
  const auto copy = first;
  first.reset();
  CHECK_FALSE(shares.acquire(ann));
}

TEST_CASE("CallerShares: a hold ends with its stream") {
  struct Source final : http::StreamSource {
    Next pull(std::string& out, std::size_t) override {
      out += "x";
      return Next::end;
    }
  };
  CallerShares shares;
  shares.set_max(1);
  const task::Caller ann{"ann"};
  auto opener =
      shares.kept(shares.acquire(ann), [](const http::Waker&) { return std::make_unique<Source>(); });
  CHECK_FALSE(shares.acquire(ann));
  auto source = opener([] {});
  opener = nullptr;
  CHECK_FALSE(shares.acquire(ann));
  std::string out;
  CHECK(source->pull(out, 1) == http::StreamSource::Next::end);
  CHECK(out == "x");
  source.reset();
  CHECK(shares.acquire(ann));
}

}  // namespace wrong_tokens_test

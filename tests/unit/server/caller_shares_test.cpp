#include "server/shared/caller_shares.h"

#include <doctest/doctest.h>

namespace caller_shares_test {

using namespace baton;
using http::StreamSource;
using server::CallerShares;

namespace {

const task::Caller kAnn{"ann"}, kBob{"bob"};

struct Source final : StreamSource {
  Next pull(std::string& out, std::size_t) override {
    out += "data: x\n\n";
    return Next::wait;
  }
  bool has_ids() const override { return true; }
  std::size_t held() const override { return 77; }
};

}  // namespace

TEST_CASE("CallerShares: a caller gets no more than its share until it releases something") {
  CallerShares shares;
  shares.set_max(2);
  CallerShares::Hold first = shares.acquire(kAnn), second = shares.acquire(kAnn);
  CHECK(first);
  CHECK(second);
  CHECK_FALSE(shares.acquire(kAnn));
  CHECK(shares.acquire(kBob));
  first.reset();
  CHECK(shares.acquire(kAnn));
}

TEST_CASE("CallerShares: a stream that keeps a hold reports the values of its source") {
  CallerShares shares;
  shares.set_max(1);
  const auto opener = shares.kept(shares.acquire(kAnn), [](auto) { return std::make_unique<Source>(); });
  auto stream = opener([] {});
  std::string out;
  CHECK(stream->pull(out, 100) == StreamSource::Next::wait);
  CHECK(out == "data: x\n\n");
  CHECK(stream->has_ids());
  CHECK(stream->held() == 77);
}

TEST_CASE("CallerShares: a stream's place is released with the stream and its opener") {
  CallerShares shares;
  shares.set_max(1);
  auto opener = shares.kept(shares.acquire(kAnn), [](auto) { return std::make_unique<Source>(); });
  auto stream = opener([] {});
  opener = nullptr;
  CHECK_FALSE(shares.acquire(kAnn));
  stream.reset();
  CHECK(shares.acquire(kAnn));
}

}  // namespace caller_shares_test

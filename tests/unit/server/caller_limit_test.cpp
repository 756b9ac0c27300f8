#include "server/shared/caller_limit.h"

#include <doctest/doctest.h>

namespace caller_limit_test {

using namespace baton;
using http::StreamSource;
using server::CallerLimit;

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

TEST_CASE("CallerLimit: a caller gets no more than its limit until it releases something") {
  CallerLimit limit;
  limit.set_max(2);
  CallerLimit::Hold first = limit.acquire(kAnn), second = limit.acquire(kAnn);
  CHECK(first);
  CHECK(second);
  CHECK_FALSE(limit.acquire(kAnn));
  CHECK(limit.acquire(kBob));
  first.reset();
  CHECK(limit.acquire(kAnn));
}

TEST_CASE("CallerLimit: a stream that keeps a hold reports the values of its source") {
  CallerLimit limit;
  limit.set_max(1);
  const auto opener = limit.kept(limit.acquire(kAnn), [](auto) { return std::make_unique<Source>(); });
  auto stream = opener([] {});
  std::string out;
  CHECK(stream->pull(out, 100) == StreamSource::Next::wait);
  CHECK(out == "data: x\n\n");
  CHECK(stream->has_ids());
  CHECK(stream->held() == 77);
}

TEST_CASE("CallerLimit: a stream's place is released with the stream and its opener") {
  CallerLimit limit;
  limit.set_max(1);
  auto opener = limit.kept(limit.acquire(kAnn), [](auto) { return std::make_unique<Source>(); });
  auto stream = opener([] {});
  opener = nullptr;
  CHECK_FALSE(limit.acquire(kAnn));
  stream.reset();
  CHECK(limit.acquire(kAnn));
}

TEST_CASE("CallerLimit: a caller is bounded across all its tenants") {
  CallerLimit limit;
  const task::Caller ann{"ann"}, ann_elsewhere{std::string("tenant") + task::kTenantEnd + "ann"}, bob{"bob"};
  const auto unbounded = limit.acquire(ann);
  CHECK(unbounded);
  limit.set_max(2);
  auto first = limit.acquire(ann);
  const auto second = limit.acquire(ann_elsewhere);
  CHECK(first);
  CHECK(second);
  CHECK_FALSE(limit.acquire(ann));
  CHECK(limit.acquire(bob));
  const auto copy = first;
  first.reset();
  CHECK_FALSE(limit.acquire(ann));
}

TEST_CASE("CallerLimit: a hold ends with its stream") {
  struct Source final : http::StreamSource {
    Next pull(std::string& out, std::size_t) override {
      out += "x";
      return Next::end;
    }
  };
  CallerLimit limit;
  limit.set_max(1);
  const task::Caller ann{"ann"};
  auto opener = limit.kept(limit.acquire(ann), [](const http::Waker&) { return std::make_unique<Source>(); });
  CHECK_FALSE(limit.acquire(ann));
  auto source = opener([] {});
  opener = nullptr;
  CHECK_FALSE(limit.acquire(ann));
  std::string out;
  CHECK(source->pull(out, 1) == http::StreamSource::Next::end);
  CHECK(out == "x");
  source.reset();
  CHECK(limit.acquire(ann));
}

}  // namespace caller_limit_test

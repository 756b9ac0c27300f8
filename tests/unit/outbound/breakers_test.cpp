#include "outbound/breakers.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace breakers_test {

using namespace baton::outbound;
using std::chrono::milliseconds;
using Went = Breakers::Went;
using State = Breakers::State;

namespace {

constexpr char kFar[] = "http://far:80";

struct Bench {
  explicit Bench(std::size_t origins_max = 3, double chance = 1) {
    Breakers::Options options;
    options.origins_max = origins_max;
    options.now = [this] { return now; };
    options.random = [chance] { return chance; };
    breakers.emplace(options);
  }

  bool goes_out(const std::string& origin = kFar) { return breakers->admit(origin).count() == 0; }
  void call(Went went, const std::string& origin = kFar) {
    REQUIRE(goes_out(origin));
    breakers->report(origin, went);
  }
  void open() {
    for (int i = 0; i < 5; ++i) call(Went::failed);
  }
  Breakers::Status status(const std::string& origin = kFar) const {
    for (const Breakers::Status& one : breakers->all()) {
      if (one.origin == origin) return one;
    }
    return {};
  }

  Breakers::Time now{std::chrono::hours(1)};
  std::optional<Breakers> breakers;
};

}  // namespace

TEST_CASE("Breakers: the fifth failure in a row opens, and an answer resets the count") {
  Bench bench;
  for (int i = 0; i < 4; ++i) bench.call(Went::failed);
  bench.call(Went::unknown);
  bench.call(Went::answered);
  for (int i = 0; i < 4; ++i) bench.call(Went::failed);
  CHECK(bench.status().state == State::closed);
  bench.call(Went::failed);
  CHECK(bench.status().state == State::open);
  CHECK_FALSE(bench.goes_out());
  CHECK(bench.goes_out("http://other:80"));
}

TEST_CASE("Breakers: an open breaker returns the time to wait, and then lets one call try") {
  Bench bench;
  bench.open();
  CHECK(bench.breakers->admit(kFar) == milliseconds(1'000));
  bench.now += milliseconds(999);
  CHECK(bench.breakers->admit(kFar) == milliseconds(1));
  bench.now += milliseconds(1);
  CHECK(bench.goes_out());
  CHECK(bench.status().state == State::half_open);
  CHECK(bench.breakers->admit(kFar) == milliseconds(250));
  bench.breakers->report(kFar, Went::answered);
  CHECK(bench.status().state == State::closed);
  CHECK(bench.goes_out());
  CHECK(bench.goes_out());
}

TEST_CASE("Breakers: each failed try doubles the wait up to a limit, and an answer resets it") {
  Bench bench;
  bench.open();
  for (const int expected : {1'000, 2'000, 4'000, 5'000, 5'000}) {
    const milliseconds wait = bench.breakers->admit(kFar);
    CHECK(wait == milliseconds(expected));
    bench.now += wait;
    bench.call(Went::failed);
  }
  bench.now += milliseconds(5'000);
  bench.call(Went::answered);
  bench.open();
  CHECK(bench.breakers->admit(kFar) == milliseconds(1'000));
}

TEST_CASE("Breakers: jitter shortens the wait by up to half") {
  Bench bench(3, 0);
  bench.open();
  CHECK(bench.breakers->admit(kFar) == milliseconds(500));
}

TEST_CASE("Breakers: a try with an unknown outcome does not count, and another may follow at once") {
  Bench bench;
  bench.open();
  bench.now += milliseconds(1'000);
  bench.call(Went::unknown);
  CHECK(bench.status().state == State::half_open);
  CHECK(bench.goes_out());
}

TEST_CASE("Breakers: after 10 seconds a slow try does not block another one") {
  Bench bench;
  bench.open();
  bench.now += milliseconds(1'000);
  REQUIRE(bench.goes_out());
  bench.now += milliseconds(9'999);
  CHECK_FALSE(bench.goes_out());
  bench.now += milliseconds(1);
  CHECK(bench.goes_out());
}

TEST_CASE("Breakers: failures of calls sent before it opened do not extend the wait") {
  Bench bench;
  for (int i = 0; i < 20; ++i) REQUIRE(bench.goes_out());
  for (int i = 0; i < 20; ++i) bench.breakers->report(kFar, Went::failed);
  CHECK(bench.breakers->admit(kFar) == milliseconds(1'000));
  CHECK(bench.status().opened == 1);
  CHECK(bench.status().failures == 20);
}

TEST_CASE("Breakers: a forced call is let through, and its answer closes the breaker") {
  Bench bench;
  bench.open();
  CHECK(bench.breakers->admit(kFar, true).count() == 0);
  CHECK(bench.status().state == State::open);
  bench.breakers->report(kFar, Went::answered);
  CHECK(bench.status().state == State::closed);
}

TEST_CASE("Breakers: a new origin replaces the least recently used one that has no pending call") {
  Bench bench(2);
  REQUIRE(bench.goes_out("http://a:1"));  // stays pending
  bench.now += milliseconds(1);
  bench.call(Went::answered, "http://b:1");
  bench.now += milliseconds(1);
  bench.call(Went::answered, "http://c:1");
  CHECK(bench.breakers->all().size() == 2);
  CHECK(bench.status("http://a:1").calls == 1);
  CHECK(bench.status("http://b:1").calls == 0);
  CHECK(bench.status("http://c:1").calls == 1);
}

TEST_CASE("Breakers: statuses of a broken server are failures, those of a busy one are not") {
  for (const int status : {500, 502, 503, 504}) CHECK(Breakers::went(status, false) == Went::failed);
  for (const int status : {200, 204, 302, 400, 401, 404, 429, 501}) {
    CHECK(Breakers::went(status, false) == Went::answered);
  }
  CHECK(Breakers::went(503, true) == Went::unknown);
  CHECK(Breakers::went(429, true) == Went::answered);
}

namespace {

std::string metrics_of(const Breakers& breakers) {
  baton::base::MetricsText out;
  breakers.add_to(out);
  return out.text();
}

}  // namespace

TEST_CASE("Breakers: metrics have a line for each origin, and none before the first call") {
  Bench bench;
  CHECK(metrics_of(*bench.breakers).empty());
  bench.open();
  CHECK_FALSE(bench.goes_out());
  const std::string text = metrics_of(*bench.breakers);
  for (const char* line : {"baton_outbound_breaker_state{origin=\"http://far:80\"} 2\n",
                           "baton_outbound_failures_total{origin=\"http://far:80\"} 5\n",
                           "baton_outbound_held_total{origin=\"http://far:80\"} 1\n",
                           "baton_outbound_opened_total{origin=\"http://far:80\"} 1\n"}) {
    CHECK(text.find(line) != std::string::npos);
  }
}

}  // namespace breakers_test

#include "outbound/resolver.h"

#include <doctest/doctest.h>
#include <sys/eventfd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "support/patience.h"

namespace resolver_test {

using namespace std::chrono_literals;
using baton::base::ErrorCode;
using baton::outbound::Addresses;
using baton::outbound::literal_address;
using baton::outbound::Resolver;
using baton::outbound::WaitLimits;
using baton::test::eventually;
using baton::test::patience;

namespace {

// A fake system resolver. Look-ups of names that begin with "slow" block until `let_go`.
struct System {
  std::mutex mutex;
  std::condition_variable changed;
  bool holding = true;
  int begun = 0;
  int ended = 0;

  Addresses look_up(const std::string& host) {
    std::unique_lock lock(mutex);
    ++begun;
    changed.notify_all();
    if (host.starts_with("slow")) changed.wait(lock, [this] { return !holding; });
    ++ended;
    changed.notify_all();
    if (host == "none") return baton::base::fail(ErrorCode::unavailable, "the host name cannot be resolved");
    if (host == "broken") throw std::runtime_error("out of memory");
    return std::vector<std::string>{"192.0.2.1"};
  }
  void let_go() {
    std::lock_guard lock(mutex);
    holding = false;
    changed.notify_all();
  }
  bool wait_for_begun(int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience(), [&] { return begun >= count; });
  }
};

struct Fixture {
  explicit Fixture(std::size_t most = 4)
      : resolver([held = system](const std::string& host) { return held->look_up(host); }, most) {}
  ~Fixture() { system->let_go(); }

  std::shared_ptr<System> system = std::make_shared<System>();
  Resolver resolver;
};

WaitLimits within(std::chrono::milliseconds time) {
  WaitLimits limits;
  limits.deadline = std::chrono::steady_clock::now() + time;
  return limits;
}

}  // namespace

TEST_CASE("Resolver: a look-up that does not end is given up at the deadline, and others are not delayed") {
  Fixture fixture;
  const auto slow = fixture.resolver.resolve("slow", within(20ms));
  REQUIRE_FALSE(slow.has_value());
  CHECK(slow.error().code == ErrorCode::deadline_exceeded);
  const auto quick = fixture.resolver.resolve("quick", within(patience()));
  REQUIRE(quick.has_value());
  CHECK(*quick == std::vector<std::string>{"192.0.2.1"});
}

TEST_CASE("Resolver: concurrent calls for the same name share one look-up") {
  Fixture fixture;
  Addresses first = baton::base::fail(ErrorCode::internal, "");
  std::thread asking([&] { first = fixture.resolver.resolve("slow", within(patience())); });
  REQUIRE(fixture.system->wait_for_begun(1));
  CHECK_FALSE(fixture.resolver.resolve("slow", within(10ms)).has_value());
  fixture.system->let_go();
  asking.join();
  CHECK(first.has_value());
  CHECK(fixture.system->begun == 1);
}

TEST_CASE("Resolver: the number of hanging look-ups is bounded, and their places are released") {
  Fixture fixture(2);
  for (const char* name : {"slow-1", "slow-2"}) {
    CHECK(fixture.resolver.resolve(name, within(1ms)).error().code == ErrorCode::deadline_exceeded);
  }
  const auto refused = fixture.resolver.resolve("quick", within(patience()));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().for_caller == "too many host names are being resolved; try again later");
  fixture.system->let_go();
  CHECK(eventually([&] { return fixture.resolver.resolve("quick", within(patience())).has_value(); }));
}

TEST_CASE("Resolver: a stopped call does not wait for the look-up") {
  Fixture fixture;
  const baton::base::UniqueFd stop(eventfd(1, EFD_CLOEXEC));
  WaitLimits limits = within(patience());
  limits.stop_fd = stop.get();
  CHECK(fixture.resolver.resolve("slow", limits).error().code == ErrorCode::unavailable);
}

TEST_CASE("Resolver: a look-up that fails or throws is an error") {
  Fixture fixture;
  CHECK(fixture.resolver.resolve("none", within(patience())).error().code == ErrorCode::unavailable);
  CHECK(fixture.resolver.resolve("broken", within(patience())).error().code == ErrorCode::unavailable);
}

TEST_CASE("literal_address: normalizes every spelling of an address, and is empty for a name") {
  CHECK(literal_address("127.1") == "127.0.0.1");
  CHECK(literal_address("2130706433") == "127.0.0.1");
  CHECK(literal_address("0:0::1") == "::1");
  CHECK_FALSE(literal_address("localhost").has_value());
  CHECK_FALSE(literal_address("example.com").has_value());
}

}  // namespace resolver_test

#include "notify/host_queues.h"

#include <doctest/doctest.h>

using baton::notify::HostQueues;
using baton::notify::Waiting;
using Added = HostQueues::Added;

namespace {

// A delivery of a config of its own.
Waiting waiting(const std::string& host, std::int64_t config) {
  Waiting result;
  result.host = host;
  result.delivery.key = {config};
  result.delivery.task = {1};
  result.delivery.config_key = {config};
  return result;
}

}  // namespace

TEST_CASE("HostQueues: a config is taken once until it is released") {
  HostQueues queues(4, 2);
  CHECK(queues.add(waiting("a", 1)) == Added::added);
  CHECK(queues.add(waiting("a", 1)) == Added::known);
  const auto taken = queues.next();
  REQUIRE(taken.has_value());
  CHECK(queues.add(waiting("a", 1)) == Added::known);
  queues.sent("a", false);
  CHECK(queues.add(waiting("a", 1)) == Added::known);
  queues.release(taken->delivery);
  CHECK(queues.add(waiting("a", 1)) == Added::added);
}

TEST_CASE("HostQueues: one receiver gets its share of the senders and no more") {
  HostQueues queues(4, 2);
  for (int i = 1; i <= 4; ++i) CHECK(queues.add(waiting("a", i)) == Added::added);
  CHECK(queues.next().has_value());
  CHECK(queues.next().has_value());
  CHECK_FALSE(queues.next().has_value());
  CHECK(queues.add(waiting("b", 5)) == Added::added);
  CHECK(queues.next()->host == "b");
  queues.sent("a", false);
  CHECK(queues.next()->host == "a");
}

TEST_CASE("HostQueues: no more are under way than there are senders") {
  HostQueues queues(2, 2);
  for (int i = 1; i <= 3; ++i) CHECK(queues.add(waiting("host-" + std::to_string(i), i)) == Added::added);
  CHECK(queues.next().has_value());
  CHECK(queues.next().has_value());
  CHECK_FALSE(queues.next().has_value());
}

TEST_CASE("HostQueues: receivers take turns") {
  HostQueues queues(1, 1);
  for (int i = 1; i <= 3; ++i) CHECK(queues.add(waiting("a", i)) == Added::added);
  CHECK(queues.add(waiting("b", 4)) == Added::added);
  std::string order;
  while (const auto taken = queues.next()) {
    order += taken->host;
    queues.sent(taken->host, false);
  }
  CHECK(order == "abaa");
}

TEST_CASE("HostQueues: slow receivers together leave half of the senders to the others") {
  HostQueues queues(4, 2);
  for (int host = 0; host < 4; ++host) {
    const std::string name = "slow-" + std::to_string(host);
    CHECK(queues.add(waiting(name, host * 10 + 1)) == Added::added);
    CHECK(queues.next()->host == name);
    queues.sent(name, true);
    CHECK(queues.add(waiting(name, host * 10 + 2)) == Added::added);
    CHECK(queues.add(waiting(name, host * 10 + 3)) == Added::added);
  }
  const auto first = queues.next();
  const auto second = queues.next();
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(first->host != second->host);
  CHECK_FALSE(queues.next().has_value());
  CHECK(queues.add(waiting("quick", 100)) == Added::added);
  CHECK(queues.next()->host == "quick");

  // One that answers in time again is as good as any other.
  queues.sent(first->host, false);
  CHECK(queues.next().has_value());
}

TEST_CASE("HostQueues: what is kept for one receiver is bounded") {
  HostQueues queues(4, 2);
  const auto most = static_cast<std::int64_t>(HostQueues::kPerHostMax);
  for (std::int64_t i = 1; i <= most; ++i) CHECK(queues.add(waiting("a", i)) == Added::added);
  CHECK(queues.add(waiting("a", most + 1)) == Added::full);
  CHECK(queues.add(waiting("b", most + 1)) == Added::added);
  CHECK(queues.known() == HostQueues::kPerHostMax + 1);
}

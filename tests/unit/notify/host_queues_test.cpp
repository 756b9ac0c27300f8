#include "notify/host_queues.h"

#include <doctest/doctest.h>

namespace host_queues_test {

using baton::notify::HostQueues;
using baton::notify::payer_of;
using baton::notify::receiver_of;
using baton::notify::Waiting;
using Added = HostQueues::Added;

namespace {

// A delivery with its own config.
Waiting waiting(const std::string& host, std::int64_t config, const std::string& caller = "alice") {
  Waiting result;
  result.caller = caller;
  result.host = host;
  result.delivery.key = {config};
  result.delivery.task = {1};
  result.delivery.config_key = {config};
  return result;
}

}  // namespace

TEST_CASE("HostQueues: a config is returned once until it is released") {
  HostQueues queues(4, 2);
  CHECK(queues.add(waiting("a", 1)) == Added::added);
  CHECK(queues.add(waiting("a", 1)) == Added::known);
  const auto taken = queues.next();
  REQUIRE(taken.has_value());
  CHECK(queues.add(waiting("a", 1)) == Added::known);
  queues.sent(*taken, false);
  CHECK(queues.add(waiting("a", 1)) == Added::known);
  queues.release(taken->delivery);
  CHECK(queues.add(waiting("a", 1)) == Added::added);
}

TEST_CASE("HostQueues: one receiver gets its share of the senders and no more") {
  HostQueues queues(8, 2);
  for (int i = 1; i <= 4; ++i) CHECK(queues.add(waiting("a", i)) == Added::added);
  const auto first = queues.next();
  REQUIRE(first.has_value());
  CHECK(queues.next().has_value());
  CHECK_FALSE(queues.next().has_value());
  CHECK(queues.add(waiting("b", 5)) == Added::added);
  CHECK(queues.next()->host == "b");
  queues.sent(*first, false);
  CHECK(queues.next()->host == "a");
}

TEST_CASE("HostQueues: with few senders one receiver leaves one sender to its caller") {
  HostQueues queues(4, 2);
  for (int i = 1; i <= 3; ++i) CHECK(queues.add(waiting("a", i)) == Added::added);
  CHECK(queues.next()->host == "a");
  CHECK_FALSE(queues.next().has_value());
  CHECK(queues.add(waiting("b", 4)) == Added::added);
  CHECK(queues.next()->host == "b");
}

TEST_CASE("HostQueues: with a single sender deliveries are sent one at a time") {
  HostQueues queues(1, 2);
  for (int i = 1; i <= 3; ++i) {
    CHECK(queues.add(waiting("a", i, "caller-" + std::to_string(i))) == Added::added);
  }
  for (int i = 1; i <= 3; ++i) {
    const auto taken = queues.next();
    REQUIRE(taken.has_value());
    CHECK_FALSE(queues.next().has_value());
    queues.sent(*taken, false);
  }
}

TEST_CASE("HostQueues: a caller with many receivers leaves a sender to every caller that has none") {
  HostQueues queues(32, 2);
  std::int64_t config = 0;
  const auto take_all = [&](const std::string& caller) {
    for (int host = 0; host < 64; ++host) {
      CHECK(queues.add(waiting("host-" + std::to_string(host), ++config, caller)) == Added::added);
    }
    int taken = 0;
    while (queues.next()) ++taken;
    return taken;
  };
  CHECK(take_all("a") == 16);
  CHECK(take_all("b") == 8);
  CHECK(take_all("c") == 4);
  CHECK(take_all("d") == 2);
  CHECK(take_all("e") == 1);
  CHECK(take_all("f") == 1);
  CHECK(take_all("g") == 0);
}

TEST_CASE("HostQueues: callers take turns, and so do the receivers of each") {
  HostQueues queues(1, 1);
  for (int i = 1; i <= 3; ++i) CHECK(queues.add(waiting("x", i, "a")) == Added::added);
  CHECK(queues.add(waiting("y", 4, "a")) == Added::added);
  CHECK(queues.add(waiting("z", 5, "b")) == Added::added);
  std::string order;
  while (const auto taken = queues.next()) {
    order += taken->caller + taken->host + " ";
    queues.sent(*taken, false);
  }
  CHECK(order == "ax bz ay ax ax ");
}

TEST_CASE("HostQueues: slow receivers together leave senders to their caller's other receivers") {
  HostQueues queues(8, 2);
  for (int host = 0; host < 4; ++host) {
    CHECK(queues.add(waiting("slow-" + std::to_string(host), host)) == Added::added);
    queues.sent(*queues.next(), true);
  }
  for (int i = 4; i < 12; ++i) {
    CHECK(queues.add(waiting("slow-" + std::to_string(i % 4), i)) == Added::added);
  }
  const auto first = queues.next();
  const auto second = queues.next();
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(first->host != second->host);
  CHECK_FALSE(queues.next().has_value());
  CHECK(queues.add(waiting("quick", 100)) == Added::added);
  CHECK(queues.next()->host == "quick");

  // A receiver that answers in time again is treated like any other.
  queues.sent(*first, false);
  CHECK(queues.next().has_value());
}

TEST_CASE("HostQueues: a receiver that is slow for one caller is not slow for another") {
  HostQueues queues(8, 2);
  CHECK(queues.add(waiting("shared", 1, "a")) == Added::added);
  queues.sent(*queues.next(), true);
  for (int i = 2; i <= 3; ++i) CHECK(queues.add(waiting("shared", i, "b")) == Added::added);
  CHECK(queues.next().has_value());
  CHECK(queues.next().has_value());
}

TEST_CASE("HostQueues: the deliveries queued for one receiver and for one caller are bounded") {
  HostQueues queues(4, 2);
  std::int64_t config = 0;
  for (std::size_t i = 0; i < HostQueues::kPerHostMax; ++i) {
    CHECK(queues.add(waiting("a", ++config)) == Added::added);
  }
  CHECK(queues.add(waiting("a", ++config)) == Added::full);
  for (std::size_t i = HostQueues::kPerHostMax; i < HostQueues::kPerCallerMax; ++i) {
    REQUIRE(queues.add(waiting("host-" + std::to_string(i), ++config)) == Added::added);
  }
  CHECK(queues.add(waiting("b", ++config)) == Added::full);
  CHECK(queues.add(waiting("b", ++config, "bob")) == Added::added);
  CHECK(queues.known() == HostQueues::kPerCallerMax + 1);
}

TEST_CASE("receiver_of: names of one registered domain are one receiver, as are addresses of one network") {
  struct Row {
    const char* url;
    const char* receiver;
  };
  for (const Row& row :
       {Row{"https://hooks.example.com/x", "example.com"},
        Row{"https://a.b.c.example.com:8443/", "example.com"}, Row{"https://EXAMPLE.com./", "example.com"},
        Row{"https://a.example.co.uk/", "example.co.uk"}, Row{"https://co.uk/", "co.uk"},
        Row{"https://a.example.de/", "example.de"}, Row{"http://localhost:9000/", "localhost:9000"},
        Row{"http://127.0.0.1:9000/", "127.0.0.1:9000"}, Row{"http://10.0.0.1/", "10.0.0.1:80"},
        Row{"http://8.8.8.8:9000/", "8.8.8.8"}, Row{"http://134744072:9001/", "8.8.8.8"},
        Row{"http://[2a00:1450:4001:831::200e]/", "2a00:1450:4001:831"},
        Row{"http://[2a00:1450:4001:831:1:2:3:4]:81/", "2a00:1450:4001:831"}, Row{"no url", ""}}) {
    CAPTURE(std::string(row.url));
    CHECK(receiver_of(row.url) == row.receiver);
  }
}

TEST_CASE("payer_of: all tenants of a caller count as that caller") {
  CHECK(payer_of({"alice"}) == "alice");
  CHECK(payer_of({"some tenant\x1f"
                  "alice"}) == "alice");
}

}  // namespace host_queues_test

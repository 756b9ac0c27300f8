#include <doctest/doctest.h>

#include <future>
#include <latch>
#include <stdexcept>
#include <thread>

#include "http/http_server.h"
#include "unit/http/loopback.h"

namespace handler_threads_test {

using namespace baton::http;
using namespace baton::http::loopback;

namespace {

using ExchangePtr = std::shared_ptr<Exchange>;

// Runs handlers on the loop's thread.
Hooks on_the_loop() {
  Hooks hooks;
  hooks.runs_on_loop = [](const Request&) { return true; };
  return hooks;
}

Reply text(std::string body) {
  Reply reply;
  reply.body = std::move(body);
  return reply;
}

}  // namespace

TEST_CASE("Handler on the loop: requests sent together are answered in order") {
  TestServer test(echo, {}, on_the_loop());
  Client client(test.port);
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += post("/p", std::to_string(i));
  REQUIRE(client.send(requests));
  for (int i = 0; i < 100; ++i) CHECK(client.read_answer().body == "POST /p " + std::to_string(i));
}

TEST_CASE("Handler on the loop: many requests sent together do not delay another client") {
  constexpr int kMany = 1'000, kBeforePolite = 600;
  std::latch all_sent(1);
  int served = 0, ahead_of_polite = -1;  // used on the loop's thread
  Client* polite = nullptr;
  const auto handler = [&](const ExchangePtr& exchange) {
    if (exchange->request().path == "/polite") {
      ahead_of_polite = served - kBeforePolite;
    } else if (++served == 1) {
      all_sent.wait();
    } else if (served == kBeforePolite) {
      polite->send(post("/polite", ""));
    }
    exchange->reply(text(""));
  };
  TestServer test(handler, {}, on_the_loop());
  Client greedy(test.port), other(test.port);
  polite = &other;
  REQUIRE(other.ask(post("/polite", "")).status == 200);
  std::string requests;
  for (int i = 0; i < kMany; ++i) requests += get("/");
  REQUIRE(greedy.send(requests));
  all_sent.count_down();
  CHECK(other.read_answer().status == 200);
  for (int i = 0; i < kMany; ++i) REQUIRE(greedy.read_answer().status == 200);
  CHECK(ahead_of_polite >= 0);
  CHECK(ahead_of_polite < 100);
}

TEST_CASE("Handler on the loop: blocking work runs on a worker while others are answered") {
  std::promise<void> release;
  std::thread::id loop, worker;
  const auto handler = [&, released = release.get_future().share()](const ExchangePtr& exchange) {
    if (exchange->request().path == "/quick") return exchange->reply(text("quick"));
    loop = std::this_thread::get_id();
    exchange->block([&, released, exchange] {
      worker = std::this_thread::get_id();
      released.wait();
      exchange->block([&, exchange] {  // already on a thread that may block
        CHECK(worker == std::this_thread::get_id());
        exchange->reply(text("slow"));
      });
    });
  };
  TestServer test(handler, {}, on_the_loop());
  Client slow(test.port), quick(test.port);
  REQUIRE(slow.send(post("/slow", "")));
  CHECK(quick.ask(post("/quick", "")).body == "quick");
  release.set_value();
  CHECK(slow.read_answer().body == "slow");
  CHECK(loop != worker);
}

TEST_CASE("Handler on the loop: blocking requests get 503 while too many wait for a worker") {
  std::promise<void> release;
  std::latch taken(1);
  Limits limits;
  limits.worker_threads = 1;
  limits.work_queue_max = 1;
  const auto handler = [&, released = release.get_future().share()](const ExchangePtr& exchange) {
    const bool first = exchange->request().path == "/first";
    exchange->block([&, first, released, exchange] {
      if (first) taken.count_down();
      released.wait();
      exchange->reply(text("done"));
    });
  };
  TestServer test(handler, limits, on_the_loop());
  Client first(test.port), second(test.port), third(test.port);
  REQUIRE(first.send(post("/first", "")));
  taken.wait();
  REQUIRE(second.send(post("/second", "")));
  REQUIRE(eventually([&] { return test.server.counts().requests == 2; }));
  CHECK(third.ask(post("/third", "")).status == 503);
  release.set_value();
  CHECK(first.read_answer().body == "done");
  CHECK(second.read_answer().body == "done");
}

TEST_CASE("Exchange: work for the loop runs on its thread and may answer") {
  std::promise<ExchangePtr> asked;
  std::thread::id loop;
  const auto handler = [&](ExchangePtr exchange) {
    loop = std::this_thread::get_id();
    asked.set_value(std::move(exchange));
  };
  TestServer test(handler, {}, on_the_loop());
  Client client(test.port);
  REQUIRE(client.send(post("/", "")));
  const ExchangePtr exchange = asked.get_future().get();
  std::promise<std::thread::id> ran;
  exchange->on_loop([&, exchange] {
    exchange->reply(text("told"));
    ran.set_value(std::this_thread::get_id());
  });
  CHECK(ran.get_future().get() == loop);
  CHECK(client.read_answer().body == "told");
}

TEST_CASE("Exchange: work for the loop is dropped with its captures once the client has left") {
  std::promise<ExchangePtr> asked;
  TestServer test([&](ExchangePtr exchange) { asked.set_value(std::move(exchange)); }, {}, on_the_loop());
  Client client(test.port);
  REQUIRE(client.send(post("/", "")));
  ExchangePtr exchange = asked.get_future().get();
  // A reset instead of an orderly end, so that the server notices that the client has left.
  client.reset();
  REQUIRE(eventually([&] { return test.server.counts().connections == 0; }));
  const std::weak_ptr<Exchange> left = exchange;
  const auto held = std::make_shared<int>(1);
  bool ran = false;
  exchange->on_loop([&ran, held, exchange] { ran = true; });
  exchange.reset();
  CHECK(eventually([&] { return left.expired() && held.use_count() == 1; }));
  CHECK_FALSE(ran);
}

TEST_CASE("Handler on the loop: an exception gives 500, wherever it is thrown") {
  const auto handler = [](const ExchangePtr& exchange) {
    const std::string path = exchange->request().path;
    const auto fails = [exchange] { throw std::runtime_error("broken"); };
    if (path == "/block") return exchange->block(fails);
    if (path == "/loop") return exchange->on_loop(fails);
    fails();
  };
  TestServer test(handler, {}, on_the_loop());
  for (const char* path : {"/here", "/block", "/loop"}) {
    CAPTURE(path);
    Client client(test.port);
    CHECK(client.ask(post(path, "")).status == 500);
  }
}

}  // namespace handler_threads_test

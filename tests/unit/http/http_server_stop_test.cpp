// HttpServer: stopping with connections, requests and streams open.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "http/http_server.h"
#include "unit/http/loopback.h"

namespace http_server_stop_test {

using namespace baton::http;
using namespace baton::http::loopback;
using std::chrono::milliseconds;

namespace {

const milliseconds kLong = baton::test::patience();

struct Silent final : StreamSource {
  explicit Silent(std::atomic<int>& destroyed) : destroyed_(destroyed) {}
  ~Silent() override { ++destroyed_; }
  Next pull(std::string&, std::size_t) override { return Next::wait; }
  std::atomic<int>& destroyed_;
};

// Sends one last event and ends once `end` is set.
struct Ending final : StreamSource {
  explicit Ending(std::atomic<bool>& end) : end_(end) {}
  Next pull(std::string& out, std::size_t) override {
    if (!end_) return Next::wait;
    out += "data: last\n\n";
    return Next::end;
  }
  std::atomic<bool>& end_;
};

bool refuses_connections(int port) {
  return !Client(port).connected();
}

}  // namespace

TEST_CASE("HttpServer: stop without open requests closes idle connections and returns") {
  TestServer test;
  Client client(test.port);
  REQUIRE(client.ask(get("/")).status == 200);
  test.server.stop(kLong);
  CHECK(client.read_to_end().empty());
  CHECK(refuses_connections(test.port));
  CHECK(test.server.counts().connections == 0);
  test.server.stop(kLong);
}

TEST_CASE("HttpServer: stop lets running requests finish and accepts no new ones") {
  std::promise<std::shared_ptr<Exchange>> arrived;
  TestServer test([&](std::shared_ptr<Exchange> exchange) { arrived.set_value(std::move(exchange)); });
  Client waiting(test.port);
  waiting.send(get("/"));
  auto exchange = arrived.get_future().get();
  Client half(test.port);
  half.send("GET / HT");
  REQUIRE(eventually([&] { return test.server.counts().connections == 2; }));
  std::thread stopping([&] { test.server.stop(kLong); });
  CHECK(eventually([&] { return refuses_connections(test.port); }));
  const Answer cut = half.read_answer();
  // The bytes may not have been read when the server began to stop, so there may be no answer.
  CHECK((cut.status == 503 || cut.status == 0));
  exchange->reply({});
  const Answer answer = waiting.read_answer();
  CHECK(answer.status == 200);
  CHECK(answer.has("Connection: close\r\n"));
  CHECK(waiting.read_to_end().empty());
  waiting.leave();
  half.leave();
  stopping.join();
}

TEST_CASE("HttpServer: streams are pulled during the grace time and may end properly") {
  std::atomic<bool> end{false};
  std::promise<Waker> waker;
  TestServer test([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->open_stream({}, [&](Waker wake) {
      waker.set_value(std::move(wake));
      return std::make_unique<Ending>(end);
    });
  });
  Client client(test.port);
  client.send(get("/"));
  REQUIRE(client.read_answer().status == 200);
  std::thread stopping([&] { test.server.stop(kLong); });
  CHECK(eventually([&] { return refuses_connections(test.port); }));
  end = true;
  waker.get_future().get()();
  CHECK(client.read_to_end() == "c\r\ndata: last\n\n\r\n0\r\n\r\n");
  client.leave();
  stopping.join();
}

TEST_CASE("HttpServer: after the grace time everything is closed, and later answers and wakes do nothing") {
  std::atomic<int> destroyed{0};
  std::promise<Waker> waker;
  std::promise<std::shared_ptr<Exchange>> deferred;
  std::promise<std::shared_ptr<Exchange>> dropped;
  std::promise<std::shared_ptr<Exchange>> late_stream;
  auto server = std::make_unique<TestServer>([&](std::shared_ptr<Exchange> exchange) {
    const std::string path = exchange->request().path;
    if (path == "/deferred") return deferred.set_value(std::move(exchange));
    if (path == "/dropped") return dropped.set_value(std::move(exchange));
    if (path == "/late") return late_stream.set_value(std::move(exchange));
    exchange->open_stream({}, [&](Waker wake) {
      waker.set_value(std::move(wake));
      return std::make_unique<Silent>(destroyed);
    });
  });
  Client stream(server->port);
  stream.send(get("/stream"));
  REQUIRE(stream.read_answer().status == 200);
  Client one(server->port), two(server->port), three(server->port);
  one.send(get("/deferred"));
  two.send(get("/dropped"));
  three.send(get("/late"));
  auto first = deferred.get_future().get();
  auto second = dropped.get_future().get();
  auto third = late_stream.get_future().get();
  server->server.stop(milliseconds(30));
  CHECK(destroyed == 1);
  for (Client* client : {&stream, &one, &two, &three}) CHECK(client->read_to_end().empty());
  first->reply({});
  server.reset();
  second.reset();
  third->open_stream({}, [&](const Waker&) { return std::make_unique<Silent>(destroyed); });
  waker.get_future().get()();
  CHECK(destroyed == 1);
}

TEST_CASE("HttpServer: answers that race with stop arrive completely or not at all") {
  for (int round = 0; round < 30; ++round) {
    std::promise<std::shared_ptr<Exchange>> arrived;
    TestServer test([&](std::shared_ptr<Exchange> exchange) { arrived.set_value(std::move(exchange)); });
    Client client(test.port);
    client.send(get("/"));
    auto exchange = arrived.get_future().get();
    std::thread answering([&] {
      Reply reply;
      reply.body = "whole";
      exchange->reply(std::move(reply));
    });
    test.server.stop(milliseconds(0));
    answering.join();
    const std::string all = client.read_to_end();
    CHECK((all.empty() || all.ends_with("\r\n\r\nwhole")));
  }
}

TEST_CASE("HttpServer: health is answered while every worker is busy and while the server drains") {
  std::promise<std::shared_ptr<Exchange>> arrived;
  std::promise<void> free_worker;
  Limits limits;
  limits.worker_threads = 1;
  const auto busy = [&](std::shared_ptr<Exchange> exchange) {
    arrived.set_value(std::move(exchange));
    free_worker.get_future().wait();
  };
  Hooks hooks;
  hooks.answer_at_once = [](const Request& request) -> std::optional<Reply> {
    if (request.method != "GET" || request.path != "/healthz") return std::nullopt;
    Reply reply;
    reply.body = "ok";
    return reply;
  };
  HttpServer server(limits, busy, plain_error, hooks);
  const int port = server.start("127.0.0.1", 0).value();
  Client working(port), asking(port);
  working.send(get("/work"));
  auto exchange = arrived.get_future().get();
  for (int i = 0; i < 3; ++i) CHECK(asking.ask(get("/healthz?x=1")).body == "ok");

  server.drain();
  const Answer last = asking.ask(get("/healthz?x=1"));
  CHECK(last.body == "ok");
  CHECK(last.has("Connection: close\r\n"));
  const Answer refused = Client(port).ask(get("/other"));
  CHECK(refused.status == 503);
  CHECK(refused.has("Retry-After: "));
  CHECK(Client(port).ask(get("/healthz?x=1")).status == 200);
  free_worker.set_value();
  exchange->reply({});
  CHECK(working.read_answer().status == 200);
  server.stop(kLong);
  CHECK(refuses_connections(port));
}

}  // namespace http_server_stop_test

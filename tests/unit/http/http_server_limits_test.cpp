// HttpServer: limits and bad input, over real sockets.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/http_server.h"
#include "support/lack_of_memory.h"
#include "unit/http/loopback.h"

namespace http_server_limits_test {

using namespace baton::http;
using namespace baton::http::loopback;
using std::chrono::milliseconds;

TEST_CASE("HttpServer: bad framing gets an error, the connection is closed, and others are still served") {
  TestServer test;
  const std::vector<std::pair<std::string, int>> table{
      {"nonsense\r\n\r\n", 400},
      {"\x16\x03\x01 hello", 400},
      {"GET / HTTP/3.0\r\n\r\n", 505},
      {get("/", "A: b\r\n folded\r\n"), 400},
      {post("/", "x", "Content-Length: 2\r\n"), 400},
      {post("/", "x", "Transfer-Encoding: chunked\r\n"), 400},
      {get("/", "Transfer-Encoding: gzip\r\n"), 501},
      {get("/", "X: " + std::string(40'000, 'x')), 431},
      {"GET /" + std::string(9'000, 'x') + " HTTP/1.1\r\n", 414},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n" + std::string(100'000, 'x'), 413},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n" +
           std::string(100'000, 'x'),
       413},
  };
  for (const auto& [bytes, status] : table) {
    Client client(test.port);
    client.send(bytes);
    const Answer answer = client.read_answer();
    CAPTURE(bytes.substr(0, 80));
    CHECK(answer.status == status);
    CHECK(answer.has("Connection: close\r\n"));
    CHECK(answer.body.starts_with("error: "));
    CHECK(client.read_to_end().empty());
  }
  CHECK(Client(test.port).ask(get("/")).status == 200);
  CHECK(test.server.counts().refused == static_cast<std::int64_t>(table.size()));
}

TEST_CASE("HttpServer: the function that makes a refusal gets the path, once the request line is read") {
  const auto with_path = [](const Request& request, int status, std::string_view) {
    return plain_error(request, status, "at " + request.path + std::string(request.header("Origin")));
  };
  HttpServer server({}, echo, with_path);
  const int port = server.start("127.0.0.1", 0).value();
  const auto answer_to = [port](const std::string& bytes) {
    Client client(port);
    client.send(bytes);
    const Answer answer = client.read_answer();
    return std::to_string(answer.status) + " " + answer.body;
  };
  CHECK(answer_to("POST /a%2Fb?c=d HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n") ==
        "413 error: at /a/b");
  CHECK(answer_to("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n") ==
        "413 error: at /a");
  CHECK(answer_to("GET /a HTTP/1.1\r\nHost: h\r\nX: " + std::string(40'000, 'x')) == "431 error: at /a");
  CHECK(answer_to("GET /" + std::string(9'000, 'x')) == "414 error: at ");
  // Browsers send Origin after Content-Length.
  CHECK(answer_to("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\nOrigin: https://o\r\n\r\n") ==
        "413 error: at /ahttps://o");
  CHECK(answer_to("GET /a HTTP/1.1\r\nHost: h\r\nOrigin: https://o\r\nX: " + std::string(40'000, 'x')) ==
        "431 error: at /ahttps://o");
}

TEST_CASE("HttpServer: a client that sends all of a too large body can read the 413") {
  Limits limits;
  limits.body_max = 1 << 20;
  TestServer test(echo, limits);
  Client client(test.port);
  REQUIRE(client.send(post("/", std::string(6 << 20, 'x'))));
  CHECK(client.read_answer().status == 413);
}

TEST_CASE("HttpServer: lack of memory while refusing a body closes that connection only") {
  Limits limits;
  limits.bodies_max = 1'000;
  limits.keep_awake = milliseconds(20);  // so that the loop checks often
  std::atomic<int> refusals{0};
  const auto no_memory = [&](const Request&, int, std::string_view) {
    ++refusals;
    Reply reply;
    reply.held = std::make_shared<baton::test::LackOfMemory>();  // until the reply is dropped
    return reply;
  };
  HttpServer server(limits, echo, no_memory);
  const int port = server.start("127.0.0.1", 0).value();
  const std::string whole = post("/", std::string(900, 'x'));
  const std::string begun = whole.substr(0, whole.size() - 100);
  Client one(port), other(port);
  one.send(begun);
  other.send(begun);
  REQUIRE(eventually([&] { return one.closed() || other.closed(); }));
  CHECK(refusals == 1);
  Client& left = one.closed() ? other : one;
  CHECK(left.ask(std::string(100, 'x')).status == 200);
  CHECK(Client(port).ask(get("/")).status == 200);
}

TEST_CASE("HttpServer: a slow head and a slow body get 408, a silent connection is closed") {
  Limits slow;
  slow.header_time = milliseconds(40);
  slow.body_grace = milliseconds(40);
  TestServer test(echo, slow);
  Client head(test.port);
  CHECK(head.ask("GET / HT").status == 408);
  Client body(test.port);
  // The head is sent at once. It can be late only if this test is delayed, and then the answer is 408 too.
  CHECK(body.ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab").status == 408);
  Limits idle;
  idle.idle_time = milliseconds(40);
  TestServer other(echo, idle);
  Client silent(other.port);
  CHECK(silent.read_to_end().empty());
  std::optional<Client> used;
  REQUIRE(eventually([&] {
    used.emplace(other.port);
    return used->ask(get("/")).status == 200;  // fails if this test is delayed beyond the idle time
  }));
  CHECK(used->read_to_end().empty());
}

TEST_CASE("HttpServer: a deferred answer is not bound to the idle time") {
  Limits limits;
  limits.idle_time = limits.header_time = milliseconds(20);
  std::promise<std::shared_ptr<Exchange>> arrived;
  TestServer test([&](std::shared_ptr<Exchange> exchange) { arrived.set_value(std::move(exchange)); },
                  limits);
  std::optional<Client> waiting;
  const auto has_arrived = [&] { return test.server.counts().requests == 1; };
  REQUIRE(eventually([&] {
    waiting.emplace(test.port);
    waiting->send(get("/"));
    // Closed if this test was delayed: then the connection was idle for too long.
    return eventually([&] { return has_arrived() || waiting->closed(); }) && has_arrived();
  }));
  auto exchange = arrived.get_future().get();
  // A later connection is closed for its silence, so the idle timeout would have closed this one too.
  CHECK(Client(test.port).read_to_end().empty());
  exchange->reply({});
  CHECK(waiting->read_answer().status == 200);
}

TEST_CASE("HttpServer: a connection whose client does not read is closed") {
  Limits limits;
  limits.stall_time = milliseconds(50);
  TestServer test(
      [](const std::shared_ptr<Exchange>& exchange) {
        Reply reply;
        reply.body.assign(32 << 20, 'x');
        exchange->reply(std::move(reply));
      },
      limits);
  Client client(test.port);
  client.send(get("/"));
  REQUIRE(eventually([&] { return test.server.counts().requests == 1; }));
  CHECK(eventually([&] { return test.server.counts().connections == 0; }));
}

TEST_CASE("HttpServer: of replies that nobody reads one is closed above the limit, unless they are held") {
  constexpr std::size_t kBody = 16 << 20;
  constexpr int kReplies = 5;  // each counts for a quarter of the limit
  bool is_held = false;
  SUBCASE("not held") {}
  SUBCASE("held") {
    is_held = true;
  }
  Limits limits;
  limits.unsent_max = 1 << 20;
  limits.stall_time = baton::test::patience();
  TestServer test(
      [&](const std::shared_ptr<Exchange>& exchange) {
        Reply reply;
        reply.body.assign(kBody, 'x');
        if (is_held) reply.held = std::make_shared<int>();
        exchange->reply(std::move(reply));
      },
      limits);
  std::vector<Client> clients;
  for (int i = 0; i < kReplies; ++i) {
    clients.emplace_back(test.port);
    clients.back().send(get("/"));
    REQUIRE(eventually([&] { return test.server.counts().requests == i + 1; }));
  }
  const int left = is_held ? kReplies : kReplies - 1;
  REQUIRE(eventually([&] { return test.server.counts().connections == left; }));
  int whole = 0;
  for (Client& client : clients) whole += client.read_answer().body.size() == kBody ? 1 : 0;
  CHECK(whole == left);
}

namespace {

constexpr std::size_t kBody = 16 << 20;

// A stream of one event, which has a share.
class Shared final : public StreamSource {
 public:
  Next pull(std::string& out, std::size_t) override {
    out.append(std::exchange(left_, 0), 'x');
    return Next::wait;
  }
  bool has_share() const override { return true; }

 private:
  std::size_t left_ = kBody;
};

}  // namespace

TEST_CASE("HttpServer: if others wait for what answers hold, the one that is taken most slowly is closed") {
  constexpr std::size_t kHalf = kBody / 2;
  bool is_stream = false;
  SUBCASE("replies") {}
  SUBCASE("streams") {
    is_stream = true;
  }
  Limits limits;
  limits.held_time = milliseconds(0);
  limits.stall_time = baton::test::patience();
  limits.keep_awake = milliseconds(20);  // so that the loop checks often
  std::atomic<bool> wait_once{false};
  Hooks hooks;
  hooks.others_wait = [&] { return wait_once.exchange(false); };
  TestServer test(
      [is_stream](const std::shared_ptr<Exchange>& exchange) {
        if (is_stream)
          return exchange->open_stream({}, [](const Waker&) { return std::make_unique<Shared>(); });
        Reply reply;
        reply.body.assign(kBody, 'x');
        reply.held = std::make_shared<int>();
        exchange->reply(std::move(reply));
      },
      limits, std::move(hooks));
  Client slow(test.port), quick(test.port);
  slow.send(get("/"));
  REQUIRE(slow.read_bytes(1).size() == 1);
  quick.send(get("/"));
  REQUIRE(quick.read_bytes(kHalf).size() == kHalf);
  wait_once = true;
  CHECK(eventually([&] { return test.server.counts().connections == 1; }));
  CHECK(slow.read_to_end().size() < kBody);
  CHECK(quick.read_bytes(kHalf).size() == kHalf);
}

TEST_CASE("HttpServer: connections over the limit get an error, and there is room when one leaves") {
  Limits limits;
  limits.connections_max = 2;
  TestServer test(echo, limits);
  Client first(test.port);
  Client second(test.port);
  REQUIRE(first.ask(get("/")).status == 200);
  REQUIRE(second.ask(get("/")).status == 200);
  Client third(test.port);
  const Answer answer = third.read_answer();
  CHECK(answer.status == 503);
  CHECK(answer.has("Retry-After: "));
  CHECK(third.read_to_end().empty());
  CHECK(test.server.counts().connections == 2);
  second.leave();
  REQUIRE(eventually([&] { return test.server.counts().connections == 1; }));
  CHECK(Client(test.port).ask(get("/")).status == 200);
}

TEST_CASE("HttpServer: connections of one address are limited if so configured") {
  Limits limits;
  limits.connections_per_address_max = 1;
  TestServer test(echo, limits);
  Client first(test.port);
  REQUIRE(first.ask(get("/")).status == 200);
  CHECK(Client(test.port).read_answer().status == 503);
  first.leave();
  REQUIRE(eventually([&] { return test.server.counts().connections == 0; }));
  CHECK(Client(test.port).ask(get("/")).status == 200);
}

TEST_CASE("HttpServer: when the queue of requests is full the answer is 503 with Retry-After") {
  Limits limits;
  limits.worker_threads = 1;
  limits.work_queue_max = 1;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::promise<void> entered;
  std::atomic<bool> first{true};
  TestServer test(
      [&](const std::shared_ptr<Exchange>& exchange) {
        if (first.exchange(false)) entered.set_value();
        released.wait();
        exchange->reply({});
      },
      limits);
  Client busy(test.port);
  busy.send(get("/"));
  entered.get_future().wait();
  Client queued(test.port);
  queued.send(get("/"));
  REQUIRE(eventually([&] { return test.server.counts().requests == 2; }));
  Client over(test.port);
  const Answer answer = over.ask(get("/"));
  CHECK(answer.status == 503);
  CHECK(answer.has("Retry-After: "));
  release.set_value();
  CHECK(busy.read_answer().status == 200);
  CHECK(queued.read_answer().status == 200);
  CHECK(over.ask(get("/")).status == 200);
}

TEST_CASE("HttpServer: until it is decided who sends a large body, others are served and the rest waits") {
  const std::string body(20'000, 'x');
  const std::vector<std::pair<LargeBody, int>> table{
      {LargeBody::allowed, 200}, {LargeBody::refused, 401}, {LargeBody::unclear, 503}};
  for (const auto& [large_body, status] : table) {
    CAPTURE(status);
    std::promise<Decide> asked;
    Hooks hooks;
    hooks.may_send_body = [&](const Request& head, Decide decide) -> std::optional<LargeBody> {
      CHECK(head.remote_address == "127.0.0.1");
      asked.set_value(std::move(decide));
      return std::nullopt;
    };
    TestServer test(echo, {}, hooks);
    Client large(test.port), small(test.port);
    REQUIRE(large.send(post("/large", body) + get("/next")));
    const Decide decide = asked.get_future().get();
    CHECK(small.ask(post("/small", "y")).body == "POST /small y");
    CHECK(test.server.counts().requests == 1);
    decide(large_body);
    const Answer answer = large.read_answer();
    CHECK(answer.status == status);
    CHECK(answer.has("Retry-After: 1\r\n") == (status == 503));
    if (status != 200) continue;
    CHECK(answer.body == "POST /large " + body);
    CHECK(large.read_answer().body == "GET /next ");
  }
}

TEST_CASE("HttpServer: a connection that breaks before a decision about its body is closed at once") {
  std::promise<Decide> asked;
  Hooks hooks;
  hooks.may_send_body = [&](const Request&, Decide decide) -> std::optional<LargeBody> {
    asked.set_value(std::move(decide));
    return std::nullopt;
  };
  Limits limits;
  limits.header_time = std::chrono::hours(1);
  TestServer test(echo, limits, hooks);
  Client client(test.port);
  REQUIRE(client.send(post("/", std::string(20'000, 'x'))));
  const Decide decide = asked.get_future().get();
  client.reset();
  REQUIRE(eventually([&] { return test.server.counts().connections == 0; }));
  decide(LargeBody::allowed);
  CHECK(Client(test.port).ask(get("/")).status == 200);
  CHECK(test.server.counts().requests == 1);
}

TEST_CASE("HttpServer: a decision about a large body that comes too late gives 503 and has no effect") {
  std::promise<Decide> asked;
  Hooks hooks;
  hooks.may_send_body = [&](const Request&, Decide decide) -> std::optional<LargeBody> {
    asked.set_value(std::move(decide));
    return std::nullopt;
  };
  Limits limits;
  limits.header_time = milliseconds(20);
  TestServer test(echo, limits, hooks);
  Client client(test.port);
  REQUIRE(client.send(post("/", std::string(20'000, 'x'))));
  const Decide decide = asked.get_future().get();
  CHECK(client.read_answer().status == 503);
  decide(LargeBody::allowed);
  client.end_sending();
  CHECK(client.read_to_end().empty());
  REQUIRE(eventually([&] { return test.server.counts().connections == 0; }));
  CHECK(test.server.counts().requests == 0);
  decide(LargeBody::allowed);
}

}  // namespace http_server_limits_test

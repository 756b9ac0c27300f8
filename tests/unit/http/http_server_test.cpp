#include "http/http_server.h"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "unit/http/loopback.h"

namespace http_server_test {

using namespace baton::http;
using namespace baton::http::loopback;
using baton::base::Guarded;

namespace {

std::size_t threads_of_this_process() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                                std::filesystem::directory_iterator{}));
}

using Exchanges = Guarded<std::vector<std::shared_ptr<Exchange>>>;

Handler keep_in(Exchanges& exchanges) {
  return [&exchanges](std::shared_ptr<Exchange> exchange) {
    exchanges.with([&](auto& list) { list.push_back(std::move(exchange)); });
  };
}

std::size_t count_of(Exchanges& exchanges) {
  return exchanges.with([](auto& list) { return list.size(); });
}

Reply text(std::string body) {
  Reply reply;
  reply.body = std::move(body);
  return reply;
}

}  // namespace

TEST_CASE("HttpServer: one connection serves many requests") {
  TestServer test;
  Client client(test.port);
  for (int i = 0; i < 50; ++i) {
    const Answer answer = client.ask(post("/p%20q", std::to_string(i)));
    REQUIRE(answer.status == 200);
    CHECK(answer.body == "POST /p q " + std::to_string(i));
  }
  CHECK(test.server.counts().connections == 1);
  CHECK(test.server.counts().requests == 50);
}

TEST_CASE("HttpServer: the caller's address is known") {
  TestServer test([](const std::shared_ptr<Exchange>& exchange) {
    exchange->reply(text(exchange->request().remote_address));
  });
  CHECK(Client(test.port).ask(get("/")).body == "127.0.0.1");
}

TEST_CASE("HttpServer: pipelined requests are all answered, in order") {
  TestServer test;
  Client client(test.port);
  std::string all;
  for (int i = 0; i < 200; ++i) all += post("/" + std::to_string(i), "x");
  REQUIRE(client.send(all));
  for (int i = 0; i < 200; ++i) CHECK(client.read_answer().body == "POST /" + std::to_string(i) + " x");
}

TEST_CASE("HttpServer: requests pipelined behind a deferred one wait for its answer") {
  Exchanges kept;
  TestServer test(keep_in(kept));
  Client client(test.port);
  client.send(get("/1"));
  REQUIRE(eventually([&] { return count_of(kept) == 1; }));
  client.send(get("/2"));
  std::thread([&] { kept.with([](auto& list) { return list[0]; })->reply(text("one")); }).join();
  CHECK(client.read_answer().body == "one");
  REQUIRE(eventually([&] { return count_of(kept) == 2; }));
  kept.with([](auto& list) { return list[1]; })->reply(text("two"));
  CHECK(client.read_answer().body == "two");
}

TEST_CASE("HttpServer: a request may arrive byte by byte, with a chunked body") {
  TestServer test;
  Client client(test.port);
  const std::string request =
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (const char c : request) client.send({&c, 1});
  CHECK(client.read_answer().body == "POST /c abcde");
}

TEST_CASE("HttpServer: bodies of megabytes pass in both directions, also to a slow reader") {
  TestServer test;
  Client client(test.port);
  std::string body(4 << 20, 'x');
  for (std::size_t i = 0; i < body.size(); i += 97) body[i] = static_cast<char>('a' + i % 26);
  const Answer answer = client.ask(post("/", body));
  CHECK(answer.status == 200);
  CHECK((answer.body == "POST / " + body));
  CHECK(client.ask(get("/next")).body == "GET /next ");
}

TEST_CASE("HttpServer: HEAD is answered with the length and without the body") {
  TestServer test;
  Client client(test.port);
  client.send("HEAD /h HTTP/1.1\r\nHost: h\r\n\r\n");
  const Answer answer = client.read_answer(false);
  CHECK(answer.has("Content-Length: 8\r\n"));
  CHECK(client.ask(get("/")).body == "GET / ");
}

TEST_CASE("HttpServer: the connection ends if either side sends Connection: close") {
  TestServer test;
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: h\r\nConnection: foo, CLOSE\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    Client client(test.port);
    // Bytes after the request must neither be answered nor spoil the answer.
    client.send(std::string(request) + get("/ignored"));
    const std::string all = client.read_to_end();
    CHECK(all.find("Connection: close\r\n") != std::string::npos);
    CHECK(all.ends_with("GET / "));
  }
  Client old(test.port);
  CHECK(old.ask("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").has("Connection: keep-alive\r\n"));
  CHECK(old.ask("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").status == 200);
  CHECK(eventually([&] { return test.server.counts().connections == 1; }));
}

TEST_CASE("HttpServer: 100 Continue is sent before the body arrives") {
  TestServer test;
  Client client(test.port);
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  CHECK(client.read_to("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  CHECK(client.read_answer().body == "POST / abc");
}

TEST_CASE("HttpServer: a client that has shut down its sending side still gets its answers") {
  Exchanges kept;
  TestServer test(keep_in(kept));
  Client client(test.port);
  client.send(get("/"));
  client.end_sending();
  REQUIRE(eventually([&] { return count_of(kept) == 1; }));
  kept.with([](auto& list) { return list[0]; })->reply(text("late"));
  CHECK(client.read_to_end().ends_with("late"));
  CHECK(eventually([&] { return test.server.counts().connections == 0; }));

  TestServer quick;
  Client other(quick.port);
  other.send(get("/1") + get("/2") + "GET /inc");
  other.end_sending();
  const std::string all = other.read_to_end();
  CHECK(all.find("GET /1 ") != std::string::npos);
  CHECK(all.find("GET /2 ") != std::string::npos);
  CHECK(all.find("HTTP/1.1 400 ") != std::string::npos);
}

TEST_CASE("HttpServer: a thousand waiting requests need no additional threads") {
  Exchanges kept;
  TestServer test(keep_in(kept));
  const std::size_t before = threads_of_this_process() + 2;  // room for workers, which are started on demand
  std::vector<Client> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.emplace_back(test.port);
    REQUIRE(clients.back().send(get("/" + std::to_string(i))));
  }
  REQUIRE(eventually([&] { return count_of(kept) == 1000; }));
  // Fewer is fine: a thread of an earlier test may still be visible for a moment after its join.
  CHECK(threads_of_this_process() <= before);
  std::vector<std::thread> answering;
  for (std::size_t part = 0; part < 4; ++part) {
    answering.emplace_back([&kept, part] {
      for (std::size_t i = part; i < 1000; i += 4) {
        const auto exchange = kept.with([i](auto& list) { return list[i]; });
        exchange->reply(text(exchange->request().path));
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    CHECK(clients[static_cast<std::size_t>(i)].read_answer().body == "/" + std::to_string(i));
  }
  for (std::thread& thread : answering) thread.join();
}

TEST_CASE("HttpServer: of several concurrent answers the client gets one") {
  Exchanges kept;
  TestServer test(keep_in(kept));
  Client client(test.port);
  for (std::size_t round = 0; round < 50; ++round) {
    client.send(get("/"));
    REQUIRE(eventually([&] { return count_of(kept) == round + 1; }));
    const auto exchange = kept.with([](auto& list) { return list.back(); });
    std::thread first([&] { exchange->reply(text("answer")); });
    std::thread second([&] { exchange->reply(text("answer")); });
    first.join();
    second.join();
    CHECK(client.read_answer().body == "answer");
  }
}

TEST_CASE("HttpServer: a dropped exchange and a throwing handler give 500 without the exception's text") {
  TestServer test([](std::shared_ptr<Exchange> exchange) {
    if (exchange->request().path == "/throw") throw std::runtime_error("secret");
    if (exchange->request().path == "/odd") throw 7;
    exchange.reset();
  });
  Client client(test.port);
  for (const char* path : {"/throw", "/odd", "/drop"}) {
    const Answer answer = client.ask(get(path));
    CHECK(answer.status == 500);
    CHECK(answer.body.starts_with("error: "));
    CHECK(answer.body.find("secret") == std::string::npos);
  }
}

TEST_CASE("HttpServer: an address in use is refused, also if another HttpServer uses it") {
  TestServer test;
  HttpServer second({}, echo, plain_error);
  const auto started = second.start("127.0.0.1", test.port);
  REQUIRE_FALSE(started);
  CHECK(started.error().code == baton::base::ErrorCode::unavailable);
  CHECK(started.error().for_log.ends_with(
      "Address already in use: choose another port, or stop the program that uses it"));
  HttpServer third({}, echo, plain_error);
  CHECK_FALSE(third.start("not-an-address", 0));
  HttpServer fourth({}, echo, plain_error);
  CHECK(fourth.start("localhost", 0));
  HttpServer fifth({}, echo, plain_error);
  CHECK_FALSE(fifth.start("127.0.0.1", 70000));
}

// Under AddressSanitizer this fails if an event of a closed connection is handled.
TEST_CASE("HttpServer: events of a closed connection are ignored while a forked process holds its socket") {
  TestServer test;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<Client>(test.port));
    CHECK(clients.back()->ask(post("/", "x")).status == 200);
  }
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pause();
    _exit(0);
  }
  REQUIRE(child > 0);
  for (const auto& client : clients) {
    client->send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    client->end_sending();
  }
  CHECK(eventually([&] { return test.server.counts().connections == 0; }));
  clients.clear();
  for (int i = 0; i < 20; ++i) CHECK(Client(test.port).ask(post("/", "x")).status == 200);
  kill(child, SIGKILL);
  CHECK(waitpid(child, nullptr, 0) == child);
}

TEST_CASE("HttpServer: running out of descriptors delays a connection but does not lose it") {
  TestServer test;
  Client early(test.port);
  REQUIRE(early.ask(get("/")).status == 200);
  Client late;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int next = ::dup(0);
  REQUIRE(next >= 0);
  ::close(next);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &tight) == 0);
  const bool connected = late.connect(test.port);
  late.send(get("/late"));
  // The loop has run at least one round when this is answered.
  const Answer meanwhile = early.ask(get("/early"));
  setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE(connected);
  CHECK(meanwhile.body == "GET /early ");
  CHECK(late.read_answer().body == "GET /late ");
  CHECK(Client(test.port).ask(get("/")).status == 200);
}

}  // namespace http_server_test

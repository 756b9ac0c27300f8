// HttpServer: event streams, over real sockets.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "http/http_server.h"
#include "unit/http/loopback.h"

namespace http_server_stream_test {

using namespace baton::http;
using namespace baton::http::loopback;
using baton::base::Guarded;
using std::chrono::milliseconds;

namespace {

// A log that several threads append to. Each stream reads it at its own position.
class Feed {
 public:
  void append(std::string event) {
    const std::vector<Waker> wakers = state_.with([&](State& state) {
      state.events.push_back(std::move(event));
      return state.wakers;
    });
    for (const Waker& wake : wakers) wake();
  }
  void end() {
    const std::vector<Waker> wakers = state_.with([](State& state) {
      state.ended = true;
      return state.wakers;
    });
    for (const Waker& wake : wakers) wake();
  }
  StreamOpener opener() {
    return [this](Waker waker) {
      state_.with([&](State& state) { state.wakers.push_back(std::move(waker)); });
      return std::make_unique<Source>(*this);
    };
  }

  std::atomic<int> destroyed{0};
  std::atomic<int> destroyed_elsewhere{0};  // sources destroyed on another thread than the one that pulled

 private:
  struct State {
    std::vector<std::string> events;
    std::vector<Waker> wakers;
    bool ended = false;
  };
  class Source final : public StreamSource {
   public:
    explicit Source(Feed& feed) : feed_(feed) {}
    ~Source() override {
      ++feed_.destroyed;
      if (std::this_thread::get_id() != made_on_) ++feed_.destroyed_elsewhere;
    }
    Next pull(std::string& out, std::size_t room) override {
      return feed_.state_.with([&](State& state) {
        while (position_ < state.events.size() && out.size() < room) {
          has_ids_ |= state.events[position_].starts_with("numbered");
          out += "data: " + state.events[position_++] + "\n\n";
        }
        if (position_ < state.events.size()) return Next::more;
        return state.ended ? Next::end : Next::wait;
      });
    }
    bool has_ids() const override { return has_ids_; }

   private:
    Feed& feed_;
    bool has_ids_ = false;
    std::size_t position_ = 0;
    const std::thread::id made_on_ = std::this_thread::get_id();
  };

  Guarded<State> state_;
};

Handler streaming(Feed& feed) {
  return [&feed](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path == "/stream") return exchange->open_stream({{"X-Own", "1"}}, feed.opener());
    echo(exchange);
  };
}

std::string read_all_chunks(Client& client) {
  std::string all;
  for (std::string chunk = client.read_chunk(); !chunk.empty(); chunk = client.read_chunk()) all += chunk;
  return all;
}

// Gives some bytes once, and from then on says that it holds others, and keeps some of them for its end.
class Holder final : public StreamSource {
 public:
  Holder(std::size_t given, std::size_t held, std::atomic<bool>& has_ended, std::size_t kept = 0)
      : given_(given), held_(held), kept_(kept), has_ended_(has_ended) {}
  ~Holder() override { has_ended_ = true; }
  Next pull(std::string& out, std::size_t) override {
    out.append(std::exchange(given_, 0), 'x');
    return Next::wait;
  }
  std::size_t held() const override { return held_; }
  std::size_t kept() const override { return kept_; }

 private:
  std::size_t given_;
  const std::size_t held_, kept_;
  std::atomic<bool>& has_ended_;
};

}  // namespace

TEST_CASE("HttpServer: a stream is an unbuffered event stream, and the connection stays open after it") {
  Feed feed;
  feed.append("a");
  feed.end();
  TestServer test(streaming(feed));
  Client client(test.port);
  client.send(get("/stream") + get("/after"));
  const Answer head = client.read_answer();
  CHECK(head.status == 200);
  for (const char* line : {"Content-Type: text/event-stream\r\n", "Cache-Control: no-cache",
                           "X-Accel-Buffering: no", "Transfer-Encoding: chunked", "X-Own: 1"}) {
    CHECK(head.has(line));
  }
  CHECK(read_all_chunks(client) == "data: a\n\n");
  CHECK(client.read_answer().body == "GET /after ");
  CHECK(feed.destroyed == 1);
  CHECK(test.server.counts().streams == 0);
}

TEST_CASE("HttpServer: a complete stream is sent as one answer, with the head of a stream") {
  TestServer test([](const std::shared_ptr<Exchange>& exchange) {
    exchange->reply_stream({{"X-Own", "1"}}, "data: a\n\n");
  });
  Client client(test.port);
  client.send(get("/stream") + get("/stream"));
  for (int i = 0; i < 2; ++i) {
    const Answer answer = client.read_answer();
    CHECK(answer.status == 200);
    for (const char* line : {"Content-Type: text/event-stream\r\n", "Cache-Control: no-cache",
                             "X-Accel-Buffering: no", "Content-Length: 9\r\n", "X-Own: 1"}) {
      CHECK(answer.has(line));
    }
    CHECK(answer.body == "data: a\n\n");
  }
  CHECK(test.server.counts().streams == 0);
}

TEST_CASE("HttpServer: events that are ready together are sent as one chunk, up to a limit") {
  class Countdown final : public StreamSource {
   public:
    Countdown(int left, std::size_t bytes) : left_(left), event_(bytes, 'x') {}
    Next pull(std::string& out, std::size_t) override {
      if (left_ == 0) return Next::end;
      --left_;
      out += event_;
      return Next::more;
    }

   private:
    int left_;
    const std::string event_;
  };
  TestServer test([](const std::shared_ptr<Exchange>& exchange) {
    const bool large = exchange->request().path == "/large";
    exchange->open_stream({}, [large](const Waker&) {
      return std::make_unique<Countdown>(large ? 10 : 3, large ? 10'000 : 10);
    });
  });
  Client client(test.port);
  client.send(get("/small") + get("/large"));
  client.read_answer();
  CHECK(client.read_chunk().size() == 30);
  CHECK(client.read_chunk().empty());
  client.read_answer();
  CHECK(client.read_chunk().size() == 20'000);
  CHECK(read_all_chunks(client).size() == 80'000);
}

TEST_CASE("HttpServer: events appended by many threads reach every stream once and in order") {
  constexpr int kThreads = 8;
  constexpr int kEach = 300;
  Feed feed;
  TestServer test(streaming(feed));
  std::vector<Client> clients;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back(test.port);
    clients.back().send(get("/stream"));
    REQUIRE(clients.back().read_answer().status == 200);
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&feed, i] {
      for (int k = 0; k < kEach; ++k) feed.append(std::to_string(i) + ":" + std::to_string(k));
    });
  }
  for (std::thread& thread : threads) thread.join();
  feed.end();
  const std::string first = read_all_chunks(clients[0]);
  std::size_t events = 0;
  for (std::size_t at = first.find("\n\n"); at != std::string::npos; at = first.find("\n\n", at + 2))
    ++events;
  CHECK(events == kThreads * kEach);
  for (std::size_t i = 1; i < clients.size(); ++i) CHECK((read_all_chunks(clients[i]) == first));
}

TEST_CASE("HttpServer: a slow reader gets a long stream completely") {
  Feed feed;
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    feed.append(std::string(1000, static_cast<char>('a' + i % 26)));
    expected += "data: " + std::string(1000, static_cast<char>('a' + i % 26)) + "\n\n";
  }
  feed.end();
  TestServer test(streaming(feed));
  Client client(test.port);
  client.send(get("/stream"));
  REQUIRE(eventually([&] { return test.server.counts().streams == 1; }));
  REQUIRE(client.read_answer().status == 200);
  CHECK((read_all_chunks(client) == expected));
}

TEST_CASE("HttpServer: a stream for HTTP/1.0 ends with the connection") {
  Feed feed;
  feed.append("a");
  feed.end();
  TestServer test(streaming(feed));
  Client client(test.port);
  client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string all = client.read_to_end();
  CHECK(all.find("chunked") == std::string::npos);
  CHECK(all.find("Connection: close\r\n") != std::string::npos);
  CHECK(all.ends_with("\r\n\r\ndata: a\n\n"));
}

TEST_CASE("HttpServer: HEAD for a stream gets its head and opens no stream") {
  Feed feed;
  TestServer test(streaming(feed));
  Client client(test.port);
  client.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(client.read_answer(false).has("text/event-stream"));
  CHECK(client.ask(get("/")).body == "GET / ");
  CHECK(feed.destroyed == 0);
}

TEST_CASE(
    "HttpServer: a client that leaves ends its source on the loop's thread, and late wakes are harmless") {
  Feed feed;
  TestServer test(streaming(feed));
  for (const bool half : {false, true}) {
    const int before = feed.destroyed;
    Client client(test.port);
    client.send(get("/stream"));
    REQUIRE(client.read_answer().status == 200);
    CHECK(test.server.counts().streams == 1);
    half ? client.end_sending() : client.leave();
    CHECK(eventually([&] { return feed.destroyed == before + 1; }));
    CHECK(eventually([&] { return test.server.counts().streams == 0; }));
  }
  CHECK(feed.destroyed_elsewhere == 0);
  feed.append("nobody");
  CHECK(Client(test.port).ask(get("/")).status == 200);
}

TEST_CASE("HttpServer: a silent stream gets keep-alive comments") {
  Feed feed;
  Limits limits;
  limits.keep_awake = milliseconds(20);
  TestServer test(streaming(feed), limits);
  Client client(test.port);
  client.send(get("/stream"));
  REQUIRE(client.read_answer().status == 200);
  CHECK(client.read_chunk() == ": keep-awake\n\n");
  CHECK(client.read_chunk() == ": keep-awake\n\n");
  feed.append("a");
  std::string chunk = client.read_chunk();
  while (chunk == ": keep-awake\n\n") chunk = client.read_chunk();
  CHECK(chunk == "data: a\n\n");
}

TEST_CASE("HttpServer: once a stream has ids, its keep-alive comments do not end a block") {
  Feed feed;
  Limits limits;
  limits.keep_awake = milliseconds(20);
  TestServer test(streaming(feed), limits);
  Client client(test.port);
  client.send(get("/stream"));
  REQUIRE(client.read_answer().status == 200);
  feed.append("numbered a");
  std::string chunk = client.read_chunk();
  while (chunk == ": keep-awake\n\n") chunk = client.read_chunk();
  REQUIRE(chunk == "data: numbered a\n\n");
  CHECK(client.read_chunk() == ": keep-awake\n");
  CHECK(client.read_chunk() == ": keep-awake\n");
  feed.append("b");
  for (chunk = client.read_chunk(); chunk == ": keep-awake\n";) chunk = client.read_chunk();
  CHECK(chunk == "data: b\n\n");
}

TEST_CASE("HttpServer: a stream whose reader does not read is closed, and other streams continue") {
  Feed feed;
  Limits limits;
  limits.stall_time = milliseconds(50);
  limits.keep_awake = baton::test::patience();
  TestServer test(streaming(feed), limits);
  Client stalled(test.port);
  stalled.send(get("/stream"));
  REQUIRE(eventually([&] { return test.server.counts().streams == 1; }));
  for (int i = 0; i < 20'000; ++i) feed.append(std::string(1000, 'x'));
  CHECK(eventually([&] { return test.server.counts().streams == 0; }));
  CHECK(eventually([&] { return feed.destroyed == 1; }));
  CHECK(Client(test.port).ask(get("/")).status == 200);
}

TEST_CASE("HttpServer: a stream that is woken while nobody reads it continues once its client reads") {
  Feed feed;
  Limits limits;
  limits.stall_time = limits.keep_awake = baton::test::patience();
  TestServer test(streaming(feed), limits);
  Client client(test.port);
  client.send(get("/stream"));
  REQUIRE(eventually([&] { return test.server.counts().streams == 1; }));
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string event(1000, static_cast<char>('a' + i % 26));
    feed.append(event);
    expected += "data: " + event + "\n\n";
  }
  feed.end();
  REQUIRE(client.read_answer().status == 200);
  CHECK((read_all_chunks(client) == expected));
}

TEST_CASE("HttpServer: what a source holds behind unread events counts once it wakes the stream") {
  constexpr std::size_t kEvent = 16 << 20;
  std::atomic<std::size_t> held{0};
  struct Holding final : StreamSource {
    explicit Holding(const std::atomic<std::size_t>& bytes) : held_(bytes) {}
    Next pull(std::string& out, std::size_t) override {
      if (!std::exchange(pulled_, true)) out.assign(kEvent, 'x');
      return Next::wait;
    }
    std::size_t held() const override { return held_; }

   private:
    const std::atomic<std::size_t>& held_;
    bool pulled_ = false;
  };
  Limits limits;
  limits.unsent_max = 5 * kEvent / 2;
  limits.stall_time = limits.keep_awake = baton::test::patience();
  Guarded<std::vector<Waker>> wakers;
  TestServer test(
      [&](const std::shared_ptr<Exchange>& exchange) {
        exchange->open_stream({}, [&](Waker waker) {
          wakers.with([&](std::vector<Waker>& all) { all.push_back(std::move(waker)); });
          return std::make_unique<Holding>(held);
        });
      },
      limits);
  Client first(test.port), second(test.port);
  first.send(get("/"));
  second.send(get("/"));
  REQUIRE(eventually([&] { return test.server.counts().streams == 2; }));
  held = kEvent;
  for (const Waker& wake : wakers.with([](const std::vector<Waker>& all) { return all; })) wake();
  CHECK(eventually([&] { return test.server.counts().streams == 1; }));
}

TEST_CASE("HttpServer: above the limit of unsent bytes the connection is closed that holds the most by far") {
  constexpr std::size_t kEvent = 16 << 20, kMuch = std::size_t{1} << 50;
  Limits limits;
  limits.unsent_max = kMuch;
  limits.stall_time = limits.keep_awake = baton::test::patience();
  std::atomic<bool> small_ended{false}, large_ended{false};
  TestServer test(
      [&](const std::shared_ptr<Exchange>& exchange) {
        const bool is_large = exchange->request().path == "/large";
        exchange->open_stream({}, [&, is_large](Waker) {
          return std::make_unique<Holder>(kEvent, is_large ? kMuch : 0, is_large ? large_ended : small_ended);
        });
      },
      limits);
  // The client of the small stream has read nothing for longer.
  Client small(test.port), large(test.port);
  small.send(get("/small"));
  REQUIRE(eventually([&] { return test.server.counts().streams == 1; }));
  large.send(get("/large"));
  REQUIRE(eventually([&] { return small_ended || large_ended; }));
  CHECK(large_ended);
  CHECK_FALSE(small_ended);
}

TEST_CASE("HttpServer: what a source holds does not count while its client reads all that comes") {
  constexpr std::size_t kEvent = 16 << 20, kMuch = std::size_t{1} << 50;
  Limits limits;
  limits.unsent_max = kMuch;
  limits.stall_time = limits.keep_awake = baton::test::patience();
  std::atomic<bool> slow_ended{false}, quick_ended{false};
  TestServer test(
      [&](const std::shared_ptr<Exchange>& exchange) {
        const bool is_quick = exchange->request().path == "/quick";
        exchange->open_stream({}, [&, is_quick](Waker) {
          return std::make_unique<Holder>(is_quick ? 1 : kEvent, is_quick ? kMuch : 0,
                                          is_quick ? quick_ended : slow_ended);
        });
      },
      limits);
  Client slow(test.port), quick(test.port);
  slow.send(get("/slow"));
  REQUIRE(eventually([&] { return test.server.counts().streams == 1; }));
  quick.send(get("/quick"));
  CHECK(quick.read_answer().status == 200);
  CHECK(quick.read_chunk() == "x");
  CHECK_FALSE(quick_ended);
  CHECK_FALSE(slow_ended);
}

TEST_CASE(
    "HttpServer: what quick streams keep for their ends closes the largest of them, and no slow reader") {
  constexpr std::size_t kEvent = 16 << 20, kMost = 32 << 20, kKept = 24 << 20;
  Limits limits;
  limits.unsent_max = kMost;
  limits.stall_time = limits.keep_awake = baton::test::patience();
  std::atomic<bool> slow_ended{false}, small_ended{false}, large_ended{false};
  TestServer test(
      [&](const std::shared_ptr<Exchange>& exchange) {
        const std::string path = exchange->request().path;
        exchange->open_stream({}, [&, path](Waker) {
          if (path == "/slow") return std::make_unique<Holder>(kEvent, 0, slow_ended);
          if (path == "/small") return std::make_unique<Holder>(1, kKept, small_ended, kKept);
          return std::make_unique<Holder>(1, 2 * kKept, large_ended, 2 * kKept);
        });
      },
      limits);
  const auto reads = [](Client& client, const std::string& path) {
    client.send(get(path));
    CHECK(client.read_answer().status == 200);
    CHECK(client.read_chunk() == "x");
  };
  Client slow(test.port), alone(test.port), small(test.port), again(test.port);
  slow.send(get("/slow"));
  REQUIRE(eventually([&] { return test.server.counts().streams == 1; }));
  reads(alone, "/large");  // more than the limit, but no other stream keeps anything
  CHECK_FALSE(large_ended);
  reads(small, "/small");
  CHECK(eventually([&] { return large_ended.load(); }));
  CHECK(eventually([&] { return test.server.counts().streams == 2; }));
  // The bytes that an ended stream has kept no longer count.
  large_ended = false;
  small.reset();
  CHECK(eventually([&] { return small_ended.load(); }));
  reads(again, "/large");
  CHECK_FALSE(large_ended);
  CHECK_FALSE(slow_ended);
}

TEST_CASE("HttpServer: streams whose sources work without a result take turns") {
  struct Turns {
    int open = 0;
    std::string pulls;  // the streams' names, in order
  };
  static constexpr std::size_t kPulls = 1'000;
  // Works until both streams have been pulled that often together.
  class Source final : public StreamSource {
   public:
    Source(Guarded<Turns>& turns, char name) : turns_(turns), name_(name) {
      turns_.with([](Turns& now) { ++now.open; });
    }
    Next pull(std::string&, std::size_t) override {
      return turns_.with([&](Turns& now) {
        if (now.open == 2 && now.pulls.size() < kPulls) now.pulls += name_;
        return now.pulls.size() == kPulls ? Next::end : Next::more;
      });
    }

   private:
    Guarded<Turns>& turns_;
    const char name_;
  };
  Guarded<Turns> turns;
  TestServer test([&](const std::shared_ptr<Exchange>& exchange) {
    const char name = exchange->request().path.back();
    exchange->open_stream({}, [&turns, name](const Waker&) { return std::make_unique<Source>(turns, name); });
  });
  Client first(test.port), second(test.port);
  first.send(get("/a"));
  second.send(get("/b"));
  for (Client* client : {&first, &second}) {
    CHECK(client->read_answer().status == 200);
    CHECK(client->read_chunk().empty());
  }
  const std::string pulls = turns.with([](const Turns& now) { return now.pulls; });
  CHECK(pulls.size() == kPulls);
  for (const char name : {'a', 'b'}) CHECK(pulls.find(std::string(8, name)) == std::string::npos);
}

TEST_CASE("HttpServer: streams over the limit get 503 with Retry-After") {
  Feed feed;
  Limits limits;
  limits.streams_max = 1;
  TestServer test(streaming(feed), limits);
  Client first(test.port);
  first.send(get("/stream"));
  REQUIRE(first.read_answer().status == 200);
  Client second(test.port);
  const Answer answer = second.ask(get("/stream"));
  CHECK(answer.status == 503);
  CHECK(answer.has("Retry-After: "));
  CHECK(second.ask(get("/")).status == 200);
}

TEST_CASE("HttpServer: reserved streams use the common places only when the reserve is full") {
  Feed feed;
  Limits limits;
  limits.streams_max = 1;
  limits.reserved_streams_max = 1;
  const auto stream = [&](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path == "/reserved") exchange->use_reserve();
    exchange->open_stream({}, feed.opener());
  };
  TestServer test(stream, limits);
  const auto open = [](Client& client, const char* path) {
    client.send(get(path));
    return client.read_answer().status;
  };
  Client first(test.port), second(test.port), third(test.port);
  SUBCASE("a reserved one is first") {
    CHECK(open(first, "/reserved") == 200);
    CHECK(open(second, "/stream") == 200);
  }
  SUBCASE("a reserved one is second") {
    CHECK(open(first, "/stream") == 200);
    CHECK(open(third, "/stream") == 503);
    CHECK(open(second, "/reserved") == 200);
  }
  SUBCASE("both are reserved") {
    CHECK(open(first, "/reserved") == 200);
    CHECK(open(second, "/reserved") == 200);
  }
  CHECK(open(third, "/reserved") == 503);
  CHECK(open(third, "/stream") == 503);
  // Each stream that ends releases its own place.
  first.leave();
  second.leave();
  REQUIRE(eventually([&] { return test.server.counts().streams == 0; }));
  Client fourth(test.port);
  CHECK(open(third, "/reserved") == 200);
  CHECK(open(fourth, "/stream") == 200);
}

TEST_CASE("HttpServer: a failing opener gives 500, and a failing source aborts the stream") {
  struct Failing final : StreamSource {
    Next pull(std::string&, std::size_t) override { throw std::runtime_error("secret"); }
  };
  TestServer test([](const std::shared_ptr<Exchange>& exchange) {
    const std::string path = exchange->request().path;
    exchange->open_stream({}, [path](const Waker&) -> std::unique_ptr<StreamSource> {
      if (path == "/throw") throw std::runtime_error("secret");
      if (path == "/none") return nullptr;
      return std::make_unique<Failing>();
    });
  });
  Client client(test.port);
  CHECK(client.ask(get("/throw")).status == 500);
  CHECK(client.ask(get("/none")).status == 500);
  client.send(get("/pull"));
  CHECK(client.read_to_end().find("0\r\n\r\n") == std::string::npos);
  CHECK(eventually([&] { return test.server.counts().streams == 0; }));
}

TEST_CASE("HttpServer: a stream opened after its client has left is closed at once") {
  Feed feed;
  std::promise<std::shared_ptr<Exchange>> arrived;
  TestServer test([&](std::shared_ptr<Exchange> exchange) { arrived.set_value(std::move(exchange)); });
  Client client(test.port);
  client.send(get("/stream"));
  auto exchange = arrived.get_future().get();
  client.leave();
  feed.append("a");
  exchange->open_stream({}, feed.opener());
  CHECK(eventually([&] { return test.server.counts().connections == 0; }));
  CHECK(eventually([&] { return test.server.counts().streams == 0; }));
}

}  // namespace http_server_stream_test

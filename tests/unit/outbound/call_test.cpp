#include "outbound/call.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics_text.h"
#include "outbound/post.h"
#include "support/patience.h"
#include "unit/outbound/raw_server.h"

namespace call_test {

using namespace std::chrono_literals;
using baton::base::ErrorCode;
using baton::base::EventLoop;
using baton::outbound::Breakers;
using baton::outbound::Call;
using baton::outbound::CallCounts;
using baton::outbound::Credentials;
using baton::outbound::HttpAnswer;
using baton::outbound::HttpRequest;
using baton::outbound::Intake;
using baton::outbound::PostCall;
using baton::outbound::Posted;
using baton::test::patience;
using baton::test::RawServer;

namespace {

constexpr const char* kStream = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr const char* kEnd = "0\r\n\r\n";

std::shared_ptr<HttpRequest> request_to(const std::string& url) {
  auto request = std::make_shared<HttpRequest>();
  request->url = url;
  request->body = "{}";
  request->policy.allow_private = true;
  request->total_timeout = patience();
  return request;
}

// A loop on the test's thread, and the calls that it makes.
struct Bench {
  // A call and what it has received.
  struct Made {
    std::optional<Call> call;
    std::string data;
    std::optional<baton::base::Result<HttpAnswer>> ended;
  };

  Made& make(std::shared_ptr<const HttpRequest> request, std::function<void(Made&)> on_data = {}) {
    Made& made = *all.emplace_back(std::make_unique<Made>());
    made.call.emplace(loop, std::move(request), 0ms,
                      Call::Events{[&made, on_data](std::string_view piece) {
                                     made.data += piece;
                                     if (on_data) on_data(made);
                                     return true;
                                   },
                                   [&made](auto result) { made.ended = std::move(result); }});
    made.call->start();
    return made;
  }
  // The condition may depend on other threads, which do not wake the loop.
  void until(const std::function<bool()>& is_over) {
    const auto deadline = std::chrono::steady_clock::now() + patience();
    const auto is_late = [&] { return std::chrono::steady_clock::now() > deadline; };
    std::function<void()> look = [&] { look_timer = loop.after(2ms, look); };
    look();
    loop.run_here([&] { return is_over() || is_late(); });
    loop.cancel(look_timer);
    CHECK_FALSE(is_late());
  }
  // Runs the loop for a moment in which nothing is to happen.
  void idle() {
    bool is_over = false;
    loop.after(20ms, [&] { is_over = true; });
    until([&] { return is_over; });
  }
  std::string counted() const {
    baton::base::MetricsText out;
    counts.add_to(out);
    return out.text();
  }

  EventLoop loop{"calls"};
  EventLoop::TimerId look_timer = 0;
  CallCounts counts;
  std::vector<std::unique_ptr<Made>> all;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("Call: calls on one loop are under way at the same time, and each gets its own answer") {
  std::vector<std::unique_ptr<RawServer>> servers;
  Bench bench;
  for (int i = 0; i < 8; ++i) {
    // None of them ends its answer before all have begun theirs.
    servers.push_back(std::make_unique<RawServer>([i](RawServer& self, int connection) {
      RawServer::say(connection, std::string(kStream) + "1\r\n" + std::to_string(i) + "\r\n");
      self.be_silent(connection);
    }));
    bench.make(request_to(servers.back()->url()));
  }
  bench.until(
      [&] { return std::ranges::all_of(bench.all, [](const auto& made) { return !made->data.empty(); }); });
  for (std::size_t i = 0; i < bench.all.size(); ++i) CHECK(bench.all[i]->data == std::to_string(i));
}

TEST_CASE("Call: one that is destroyed closes its connection, says nothing more and counts as stopped") {
  std::atomic<bool> is_closed{false};
  Bench bench;
  RawServer server([&](RawServer& self, int connection) {
    self.be_silent(connection);
    is_closed = true;
  });
  auto request = request_to(server.url());
  request->counts = &bench.counts;
  bool is_connected = false;
  request->on_connected = [&] { is_connected = true; };
  auto& made = bench.make(request);
  bench.until([&] { return is_connected; });
  made.call.reset();
  bench.until([&] { return is_closed.load(); });
  CHECK_FALSE(made.ended.has_value());
  CHECK(has(bench.counted(), R"(outcome="stopped"} 1)"));
}

TEST_CASE("Call: one that is destroyed by its own piece of the answer ends there") {
  Bench bench;
  RawServer server([](RawServer& self, int connection) {
    RawServer::say(connection, std::string(kStream) + "1\r\na\r\n");
    RawServer::say(connection, kEnd);
    self.be_silent(connection);
  });
  auto& made = bench.make(request_to(server.url()), [](auto& self) { self.call.reset(); });
  bench.until([&] { return !made.data.empty(); });
  bench.idle();
  CHECK(made.data == "a");
  CHECK_FALSE(made.ended.has_value());
}

TEST_CASE("Call: a refused connection ends it, and is counted once by counts and breaker") {
  std::string url;
  {
    url = RawServer([](RawServer&, int) {}).url();
  }
  Bench bench;
  Breakers breakers;
  auto request = request_to(url);
  request->counts = &bench.counts;
  request->breakers = &breakers;
  auto& made = bench.make(request);
  bench.until([&] { return made.ended.has_value(); });
  CHECK(made.ended->error().code == ErrorCode::unavailable);
  CHECK(has(bench.counted(), R"(outcome="unreachable"} 1)"));
  REQUIRE(breakers.all().size() == 1);
  CHECK(breakers.all().front().calls == 1);
  CHECK(breakers.all().front().failures == 1);
}

TEST_CASE("Call: while it is paused nothing is read, and afterwards nothing is missing") {
  constexpr std::size_t kChunks = 2'000;
  const std::string chunk = "400\r\n" + std::string(0x400, 'x') + "\r\n";
  std::atomic<std::size_t> sent{0};
  RawServer server([&](RawServer&, int connection) {
    RawServer::say(connection, kStream);
    for (; sent < kChunks && RawServer::say(connection, chunk); ++sent) {
    }
    // Cut into pieces that end in the middle of a size.
    RawServer::say(connection, "2\r");
    RawServer::say(connection, std::string("\nyy\r\n") + kEnd);
  });
  Bench bench;
  int pauses = 0;
  auto& made = bench.make(request_to(server.url()), [&](auto& self) {
    if (pauses++ < 3) self.call->pause();
  });
  for (int i = 1; i <= 3; ++i) {
    bench.until([&] { return pauses == i; });
    const std::size_t before = made.data.size();
    bench.idle();
    CHECK(made.data.size() == before);
    made.call->resume();
  }
  bench.until([&] { return made.ended.has_value(); });
  CHECK(made.ended->has_value());
  CHECK(made.data.size() == kChunks * 0x400 + 2);
}

TEST_CASE("Call: the patience with a server may shrink while its answer comes") {
  RawServer server([](RawServer& self, int connection) {
    RawServer::say(connection, std::string(kStream) + "1\r\na\r\n");
    self.be_silent(connection);
  });
  Bench bench;
  auto request = request_to(server.url());
  bool is_hasty = false;
  request->patience = [&] { return is_hasty ? 10ms : 0ms; };
  auto& made = bench.make(request, [&](auto&) { is_hasty = true; });
  bench.until([&] { return made.ended.has_value(); });
  CHECK(made.data == "a");
  CHECK(made.ended->error().code == ErrorCode::deadline_exceeded);
}

TEST_CASE("Call: an answer waits for room in the budget without blocking the loop, up to its deadline") {
  constexpr std::size_t kMib = 1 << 20;
  baton::outbound::ByteBudget budget({16 * kMib, 4 * kMib});
  Intake first(&budget, "ann"), second(&budget, "ann");
  Intake third(&budget, "ann"), late(&budget, "ann");
  REQUIRE(first.acquire(4 * kMib, {}).has_value());
  REQUIRE(second.acquire(4 * kMib, {}).has_value());
  const std::string body(kMib, 'x');
  const auto says_all = [&](RawServer&, int connection) {
    RawServer::say(connection,
                   "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kMib) + "\r\n\r\n" + body);
  };
  RawServer server(says_all), other(says_all);
  Bench bench;
  auto request = request_to(server.url());
  request->intake = &third;
  auto hasty = request_to(other.url());
  hasty->intake = &late;
  hasty->total_timeout = 100ms;
  auto& made = bench.make(request);
  auto& made_late = bench.make(hasty);
  bench.until([&] { return made_late.ended.has_value(); });
  CHECK(made_late.ended->error().code == ErrorCode::deadline_exceeded);
  bench.until([&] { return budget.counts().waiting == 1; });
  CHECK_FALSE(made.ended.has_value());
  second.keep(0);
  bench.until([&] { return made.ended.has_value(); });
  CHECK(made.ended->has_value());
  CHECK(made.data.size() == kMib);
  CHECK(budget.counts().waiting == 0);
}

namespace {

// A server of agents with a token endpoint of its own.
struct Protected {
  Protected()
      : tokens([this](RawServer& self, int connection) {
          ++fetched;
          if (is_silent) {
            self.be_silent(connection);
            ++closed;
            return;
          }
          const std::string body = R"({"access_token":"token-)" + std::to_string(fetched) + R"("})";
          RawServer::say(connection, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                                         "\r\n\r\n" + body);
        }) {
    server.url = agent.url();
    server.auth = baton::outbound::Server::Auth::oauth;
    server.client_id = "me";
    server.secret_env = "CALL_TEST_SECRET";
    server.token_url = tokens.url();
    setenv("CALL_TEST_SECRET", "s3cret-words", 1);
    rules.policy.allow_private = true;
    credentials = std::make_shared<Credentials>(server, rules);
  }

  std::unique_ptr<PostCall> post(EventLoop& loop) {
    auto call = std::make_unique<PostCall>(
        PostCall::Services{loop, pool}, server, rules, credentials,
        baton::outbound::Post{.url = agent.url(), .body = "{}", .accept = "*/*", .time_max = patience()},
        [](std::string_view) { return true; }, [this](Posted posted) { ended.push_back(std::move(posted)); });
    call->start();
    return call;
  }

  std::atomic<int> fetched{0}, closed{0}, refusals{0};
  std::atomic<bool> is_silent{false};
  RawServer tokens;
  RawServer agent{[this](RawServer&, int connection) {
    if (refusals > 0) {
      --refusals;
      RawServer::say(connection, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    RawServer::say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }};
  baton::base::WorkerPool pool{"files", 1, 10};
  baton::outbound::Server server;
  baton::outbound::Rules rules;
  std::shared_ptr<Credentials> credentials;
  std::vector<Posted> ended;
};

}  // namespace

TEST_CASE("PostCall: calls share the fetch of a token, and a refused token is renewed once") {
  Bench bench;
  Protected place;
  const auto first = place.post(bench.loop), second = place.post(bench.loop);
  bench.until([&] { return place.ended.size() == 2; });
  CHECK(place.fetched == 1);
  for (const Posted& posted : place.ended) {
    CHECK(posted.kind == Posted::Kind::answered);
    CHECK(posted.token == "token-1");
  }
  place.refusals = 1;
  const auto renewing = place.post(bench.loop);
  bench.until([&] { return place.ended.size() == 3; });
  CHECK(place.ended.back().kind == Posted::Kind::answered);
  CHECK(place.ended.back().token == "token-2");
  place.refusals = 2;
  const auto refused = place.post(bench.loop);
  bench.until([&] { return place.ended.size() == 4; });
  CHECK(place.ended.back().kind == Posted::Kind::refused);
  CHECK(place.ended.back().answer.status == 401);
  CHECK(place.fetched == 3);
}

TEST_CASE("PostCall: a fetch goes on while one of its calls is left, and ends with the last") {
  Bench bench;
  Protected place;
  place.is_silent = true;
  auto first = place.post(bench.loop), second = place.post(bench.loop);
  bench.until([&] { return place.fetched == 1; });
  first.reset();
  bench.idle();
  CHECK(place.closed == 0);
  second.reset();
  bench.until([&] { return place.closed == 1; });
  place.is_silent = false;
  const auto third = place.post(bench.loop);
  bench.until([&] { return place.ended.size() == 1; });
  CHECK(place.ended.front().kind == Posted::Kind::answered);
  CHECK(place.fetched == 2);
}

TEST_CASE("PostCall: a missing key and a token endpoint that is down end the call without a request") {
  Bench bench;
  Protected place;
  unsetenv("CALL_TEST_SECRET");
  const auto keyless = place.post(bench.loop);
  bench.until([&] { return place.ended.size() == 1; });
  CHECK(place.ended.back().kind == Posted::Kind::no_token);
  CHECK_FALSE(place.ended.back().may_come);
  setenv("CALL_TEST_SECRET", "s3cret-words", 1);
  {
    place.server.token_url = RawServer([](RawServer&, int) {}).url();
  }
  place.credentials = std::make_shared<Credentials>(place.server, place.rules);
  const auto lost = place.post(bench.loop);
  bench.until([&] { return place.ended.size() == 2; });
  CHECK(place.ended.back().kind == Posted::Kind::no_token);
  CHECK(place.ended.back().may_come);
  CHECK(place.agent.connections() == 0);
}

}  // namespace call_test

#include "server/a2a/http_call.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/worker_pool.h"
#include "support/engine_bench.h"
#include "support/patience.h"

namespace http_call_test {

using namespace baton;
using server::AnswerBudget;

namespace {

class Exchange final : public http::Exchange {
 public:
  explicit Exchange(http::Request request = {}) : request_(std::move(request)) {}
  const http::Request& request() const override { return request_; }
  std::string take_body() override { return {}; }
  void keep_only(std::initializer_list<std::string_view>) override { has_forgotten = true; }
  void reply(http::Reply reply) override { answer = std::move(reply); }
  void reply_stream(std::vector<std::pair<std::string, std::string>> headers, std::string events,
                    std::shared_ptr<const void> held) override {
    answer.headers = std::move(headers);
    answer.body = std::move(events);
    answer.held = std::move(held);
  }
  void open_stream(std::vector<std::pair<std::string, std::string>>, http::StreamOpener) override {}

  http::Reply answer;
  bool has_forgotten = false;  // the headers that no answer needs

 private:
  const http::Request request_;
};

}  // namespace

TEST_CASE("HttpCall: an answer, or a stream that is over, keeps its part of the budget until it is sent") {
  constexpr std::size_t kMost = 1'000'000;
  test::EngineBench engine;
  agents::Agent agent;
  const agents::Catalogue catalogue{std::vector<agents::Agent>(1)};
  const server::ServerOptions options;
  base::WorkerPool readers{"log-read", 1, 10};
  AnswerBudget budget{kMost, 10, test::patience(), readers, engine.engine().timers()};
  const server::Services services{engine.engine(), catalogue, options, readers, {}, &budget};
  const auto exchange = std::make_shared<Exchange>();
  const auto call = std::make_shared<server::a2a::HttpCall>(
      exchange, server::Admitted{services, {&agent, false, {}, true}, {"ann"}}, protocol::a2a::v1_0(),
      server::a2a::Binding::rest);
  bool has_room = false;
  server::take_share(call, "ann", kMost / 2, [&](bool room) { has_room = room; });
  REQUIRE(has_room);
  SUBCASE("a stream that is over") {
    call->answer_stream("data: a\n\n");
    CHECK(exchange->answer.body == "data: a\n\n");
  }
  SUBCASE("an answer") {
    call->answer(server::a2a::CardAnswer{"{}"});
    CHECK(exchange->answer.body == "{}");
  }
  CHECK(call->share == nullptr);
  CHECK(exchange->answer.held != nullptr);
}

TEST_CASE("HttpCall: a stream begins for an error from 0.2 on, but not for a token that lacks the scope") {
  test::EngineBench engine;
  agents::Agent agent;
  const agents::Catalogue catalogue{std::vector<agents::Agent>(1)};
  const server::ServerOptions options;
  base::WorkerPool readers{"log-read", 1, 10};
  const server::Services services{engine.engine(), catalogue, options, readers, {}};
  http::Request request;
  request.headers.emplace_back("Accept", "text/event-stream");
  const auto answer_to = [&](const protocol::a2a::Dialect& dialect, const base::Error& error) {
    const auto exchange = std::make_shared<Exchange>(request);
    server::a2a::HttpCall call(exchange, server::Admitted{services, {&agent, false, {}, true}, {"ann"}},
                               dialect, server::a2a::Binding::json_rpc, "1");
    call.streams = true;
    call.refuse(error);
    return exchange->answer;
  };
  const base::Error not_found{base::ErrorCode::not_found, "x", {}};
  CHECK(answer_to(protocol::a2a::v0_1(), not_found).body.starts_with("{"));
  CHECK(answer_to(protocol::a2a::v0_3(), not_found).body.starts_with("data: "));
  CHECK(answer_to(protocol::a2a::v1_0(), not_found).body.starts_with("data: "));
  const auto has_header = [](const http::Reply& reply, const std::string& name) {
    return std::ranges::count(reply.headers, name, &std::pair<std::string, std::string>::first) > 0;
  };
  const http::Reply busy = answer_to(protocol::a2a::v1_0(), {base::ErrorCode::overloaded, "x", {}});
  CHECK(busy.body.starts_with("data: "));
  CHECK(has_header(busy, "Retry-After"));
  const http::Reply refused = answer_to(protocol::a2a::v0_3(), server::lacks(server::Scope::send));
  CHECK(refused.status == 403);
  CHECK(has_header(refused, "WWW-Authenticate"));
}

TEST_CASE("HttpCall: a request keeps its headers until its token is known to have the scope") {
  test::EngineBench engine;
  agents::Agent agent;
  const agents::Catalogue catalogue{std::vector<agents::Agent>(1)};
  const server::ServerOptions options;
  base::WorkerPool readers{"log-read", 1, 10};
  const server::Services services{engine.engine(), catalogue, options, readers, {}};
  // With a token that has no scopes.
  const auto asked = [&](protocol::a2a::Operation operation, server::a2a::Request request) {
    const auto exchange = std::make_shared<Exchange>();
    const auto call = std::make_shared<server::a2a::HttpCall>(
        exchange,
        server::Admitted{services, {&agent, false, {}, true}, {"ann"}, nullptr, nullptr, server::Scopes()},
        protocol::a2a::v1_0(), server::a2a::Binding::rest);
    server::a2a::run_or_refuse(call, operation, std::move(request));
    return exchange;
  };
  const auto refused = asked(protocol::a2a::Operation::list, protocol::a2a::ListRequest());
  CHECK(refused->answer.status == 403);
  CHECK_FALSE(refused->has_forgotten);
  CHECK(asked(protocol::a2a::Operation::extended_card, server::a2a::CardRequest())->has_forgotten);
}

}  // namespace http_call_test

// Chat requests on an engine, with an exchange that the test reads.
#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <utility>

#include "agents/client_call.h"
#include "base/worker_pool.h"
#include "server/chat/run.h"
#include "support/engine_bench.h"
#include "support/patience.h"

namespace run_test {

using namespace baton;
using test::EngineBench;

namespace {

class Exchange final : public http::Exchange {
 public:
  const http::Request& request() const override { return request_; }
  std::string take_body() override { return {}; }
  void reply(http::Reply reply) override { answer.set_value(std::move(reply)); }
  void open_stream(std::vector<std::pair<std::string, std::string>>, http::StreamOpener) override {
    FAIL("nothing here streams");
  }

  std::promise<http::Reply> answer;

 private:
  const http::Request request_;
};

std::vector<agents::Agent> one_agent() {
  std::vector<agents::Agent> agents(1);
  agents[0].name.value = "scripted";
  return agents;
}

}  // namespace

TEST_CASE("Chat run: a request that waits for its answer does not keep its body") {
  EngineBench bench;
  const agents::Catalogue catalogue{one_agent()};
  const server::ServerOptions options;
  base::WorkerPool readers{"log-read", 1, 10};
  const server::Services services{bench.engine(), catalogue, options, readers, {}};
  server::chat::RunClaims claims;
  const auto exchange = std::make_shared<Exchange>();
  auto answer = exchange->answer.get_future();
  const server::Admitted by{services, {catalogue.find({"scripted"}), false, "http://127.0.0.1:80"}, {"ann"}};
  auto body = json::Document::parse(R"({"input":[{"role":"user","content":"hi"}],"stream":false})");
  REQUIRE(body);
  const auto call = std::make_shared<server::chat::ChatCall>(exchange, by, claims, std::move(*body));
  server::chat::run(call, protocol::chat::agent_api_protocol());
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(call->document.root().missing());
  turn->sink->text("hello");
  turn->sink->finish(agents::Done{});
  REQUIRE(answer.wait_for(test::patience()) == std::future_status::ready);
  const http::Reply reply = answer.get();
  CHECK(reply.status == 200);
  CHECK(reply.body.find("hello") != std::string::npos);
  bench.engine().drain();
  readers.stop();
}

TEST_CASE("Chat run: the errors after a run has begun have their own form, those before it have not") {
  EngineBench bench;
  const agents::Catalogue catalogue{one_agent()};
  const server::ServerOptions options;
  base::WorkerPool readers{"log-read", 1, 10};
  const server::Services services{bench.engine(), catalogue, options, readers, {}};
  server::chat::RunClaims claims;
  const server::Admitted by{services, {catalogue.find({"scripted"}), false, "http://127.0.0.1:80"}, {"ann"}};
  const auto late = [](const base::Error&, const task::AgentName&) {
    http::Reply reply;
    reply.status = 418;
    return reply;
  };
  for (const bool begins : {false, true}) {
    const auto exchange = std::make_shared<Exchange>();
    auto answer = exchange->answer.get_future();
    auto body = json::Document::parse(begins ? R"({"input":[{"role":"user","content":"hi"}],"stream":false})"
                                             : R"({"input":7,"stream":false})");
    REQUIRE(body);
    const auto call = std::make_shared<server::chat::ChatCall>(exchange, by, claims, std::move(*body));
    call->write_late_error = late;
    if (begins) readers.stop();  // takes no more work: the answer cannot be read
    server::chat::run(call, protocol::chat::agent_api_protocol());
    if (begins) {
      const auto turn = bench.scripted().next();
      REQUIRE(turn);
      turn->sink->finish(agents::Done{});
    }
    REQUIRE(answer.wait_for(test::patience()) == std::future_status::ready);
    CHECK(answer.get().status == (begins ? 418 : 400));
  }
  bench.engine().drain();
}

TEST_CASE("Chat run: a tool's result under the name of the run that called it is the next run, once") {
  EngineBench bench;
  const agents::Catalogue catalogue{one_agent()};
  const server::ServerOptions options;
  base::WorkerPool readers{"log-read", 1, 10};
  const server::Services services{bench.engine(), catalogue, options, readers, {}};
  server::chat::RunClaims claims;
  const server::Admitted by{services, {catalogue.find({"scripted"}), false, "http://127.0.0.1:80"}, {"ann"}};
  const auto send = [&](const std::string& item) {
    const auto exchange = std::make_shared<Exchange>();
    auto body = json::Document::parse(R"({"id":"r","session_id":"s","stream":false,"input":[)" + item + "]}");
    REQUIRE(body);
    const auto call = std::make_shared<server::chat::ChatCall>(exchange, by, claims, std::move(*body));
    server::chat::run(call, protocol::chat::agent_api_protocol());
    return exchange;
  };
  const auto text_of = [](const std::shared_ptr<Exchange>& exchange) {
    auto answer = exchange->answer.get_future();
    REQUIRE(answer.wait_for(test::patience()) == std::future_status::ready);
    return answer.get().body;
  };
  const auto asks = send(R"({"role":"user","content":"where?"})");
  const auto first = bench.scripted().next();
  REQUIRE(first);
  first->sink->finish(agents::Asked{"c", false, agents::message_of({"c", "point", {}, true})});
  text_of(asks);

  const std::string result = R"({"type":"function_call_output","call_id":"c","output":"here"})";
  const auto gives = send(result);
  const auto second = bench.scripted().next();
  REQUIRE(second);
  second->sink->text("thanks");
  second->sink->finish(agents::Done{});
  CHECK(text_of(gives).find("thanks") != std::string::npos);
  CHECK(text_of(send(result)).find("thanks") != std::string::npos);
  bench.engine().drain();
  readers.stop();
}

}  // namespace run_test

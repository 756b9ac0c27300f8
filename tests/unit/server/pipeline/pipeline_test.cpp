#include "server/pipeline/pipeline.h"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

#include "base/worker_pool.h"
#include "support/engine_bench.h"

namespace pipeline_test {

using namespace baton;
using http::Reply;
using http::Request;

namespace {

class Asked final : public http::Exchange {
 public:
  explicit Asked(Request request) : request_(std::move(request)) {}
  const Request& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  void reply(Reply reply) override { answer = std::move(reply); }
  void open_stream(std::vector<std::pair<std::string, std::string>>, http::StreamOpener) override {
    FAIL("nothing here streams");
  }
  Reply answer;

 private:
  Request request_;
};

struct Bench {
  Reply ask(const char* method, const char* path, const char* host = nullptr, const char* origin = nullptr) {
    Request request;
    request.method = method;
    request.path = request.raw_path = path;
    if (host != nullptr) request.headers.emplace_back("Host", host);
    if (origin != nullptr) request.headers.emplace_back("Origin", origin);
    const auto asked = std::make_shared<Asked>(std::move(request));
    pipeline.handle(asked);
    return asked->answer;
  }

  test::EngineBench engine;
  agents::Catalogue catalogue{std::vector<agents::Agent>(1)};
  server::ServerOptions options;
  base::WorkerPool readers{"log-read", 1, 1};
  server::Services services{engine.engine(), catalogue, options, readers, {}};
  server::Pipeline pipeline{services};
};

constexpr const char* kCard = "/.well-known/agent-card.json";

}  // namespace

TEST_CASE("Pipeline: before it is open calls and cards get 503, and only health checks are answered") {
  Bench bench;
  for (const char* path : {kCard, "/agents/none/", "/tasks/t", "/agent/authenticatedExtendedCard"}) {
    CHECK(bench.ask("GET", path).status == 503);
  }
  CHECK(bench.ask("POST", "/").status == 503);
  CHECK(bench.ask("GET", "/healthz").status == 200);
  CHECK(bench.ask("GET", "/readyz").status == 503);

  bench.options.grpc_address = ":7";
  bench.pipeline.open("http://127.0.0.1:80");
  const Reply card = bench.ask("GET", kCard);
  CHECK(card.status == 200);
  CHECK(card.body.find("http://127.0.0.1:80/") != std::string::npos);
  CHECK(card.body.find("\"127.0.0.1:7\"") != std::string::npos);
  CHECK(bench.ask("GET", "/agents/none/").status == 404);
  CHECK(bench.ask("GET", "/readyz").status == 503);
}

TEST_CASE("Pipeline: a draining node is not ready and gives the reason") {
  Bench bench;
  server::Nodes nodes(nullptr, bench.engine.engine(), bench.catalogue, {"db-1", "1.2.3", {}}, bench.readers);
  bench.pipeline.set_nodes(&nodes);
  bench.pipeline.set_ready(true);
  CHECK(bench.ask("GET", "/readyz").body == "ready\n");
  nodes.drain();
  bench.pipeline.set_ready(false);
  const Reply reply = bench.ask("GET", "/readyz");
  CHECK(reply.status == 503);
  CHECK(reply.body == "not ready: draining\n");
}

TEST_CASE("Pipeline: a request runs on the loop if it is small and no signature must be checked for it") {
  struct Slow final : server::TokenSource {
    Found find(std::string_view) override { return {}; }
    bool is_quick(std::string_view secret) override { return secret != "unseen"; }
    Wait await(std::string_view, const std::string&, std::function<void()>) override { return Wait::none; }
    std::vector<Issuer> issuers() const override { return {}; }
  };
  Bench bench;
  const auto runs_on_loop = [&](const char* authorization, std::size_t body_size) {
    Request request;
    request.headers.emplace_back("Authorization", authorization);
    request.body.assign(body_size, 'x');
    return bench.pipeline.hooks().runs_on_loop(request);
  };
  CHECK(runs_on_loop("Bearer unseen", 0));
  bench.options.jwt = std::make_shared<Slow>();
  CHECK(runs_on_loop("Bearer seen", 16 << 10));
  CHECK_FALSE(runs_on_loop("Bearer seen", 17 << 10));
  CHECK_FALSE(runs_on_loop("Bearer unseen", 0));
}

TEST_CASE("Pipeline: a request waits until its token is checked, or gets 503 if too many wait") {
  struct Busy final : server::TokenSource {
    Found find(std::string_view) override { return {}; }
    Wait await(std::string_view, const std::string& network, std::function<void()> then) override {
      from = network;
      done = std::move(then);
      return wait;
    }
    std::vector<Issuer> issuers() const override { return {}; }
    Wait wait = Wait::begun;
    std::string from;
    std::function<void()> done;
  };
  Bench bench;
  const auto busy = std::make_shared<Busy>();
  bench.options.jwt = busy;
  bench.pipeline.open("http://localhost");
  const auto ask = [&] {
    Request request;
    request.method = "GET";
    request.path = request.raw_path = "/agents/none/";
    request.headers.emplace_back("Authorization", "Bearer unseen");
    request.remote_address = "2001:db8::1";
    const auto asked = std::make_shared<Asked>(std::move(request));
    bench.pipeline.handle(asked);
    return asked;
  };
  const auto waiting = ask();
  CHECK(waiting->answer.body.empty());
  CHECK(busy->from == "2001:db8::/64");
  busy->done();
  CHECK(waiting->answer.status == 404);
  busy->wait = server::TokenSource::Wait::full;
  const Reply refused = ask()->answer;
  CHECK(refused.status == 503);
  CHECK(std::ranges::count(refused.headers, std::pair<std::string, std::string>{"Retry-After", "1"}) == 1);
  busy->wait = server::TokenSource::Wait::none;
  CHECK(ask()->answer.status == 404);
}

TEST_CASE("Pipeline: before a large body the signature of an unknown token is checked elsewhere") {
  struct Checker final : server::TokenSource {
    Found find(std::string_view) override {
      ++finds;
      return found;
    }
    bool is_quick(std::string_view secret) override { return secret != "unseen"; }
    Wait await(std::string_view, const std::string&, std::function<void()> then) override {
      done = std::move(then);
      return wait;
    }
    std::vector<Issuer> issuers() const override { return {}; }
    Found found{std::make_shared<const server::Token>()};
    Wait wait = Wait::begun;
    std::function<void()> done;
    int finds = 0;
  };
  Bench bench;
  const auto checker = std::make_shared<Checker>();
  bench.options.jwt = checker;
  using http::LargeBody;
  std::vector<LargeBody> decided;
  const auto may_send = [&](const char* authorization) {
    Request head;
    head.headers.emplace_back("Authorization", authorization);
    return bench.pipeline.hooks().may_send_body(head, [&](LargeBody body) { decided.push_back(body); });
  };
  CHECK(may_send("Bearer seen") == LargeBody::allowed);
  CHECK(checker->finds == 1);
  CHECK(may_send("Bearer unseen") == std::nullopt);
  CHECK(checker->finds == 1);
  CHECK(decided.empty());
  checker->done();
  CHECK(decided == std::vector{LargeBody::allowed});
  // A good token that cannot be checked now is not called wrong.
  checker->found = {};
  CHECK(may_send("Bearer unseen") == std::nullopt);
  checker->done();
  CHECK(decided.back() == LargeBody::unclear);
  CHECK(may_send("Bearer seen") == LargeBody::refused);
  checker->wait = server::TokenSource::Wait::full;
  CHECK(may_send("Bearer unseen") == LargeBody::unclear);
  CHECK(decided.size() == 2);
}

TEST_CASE("Pipeline: a connection error on the operator API's paths has that API's form") {
  const auto body_at = [](const char* path, int status) {
    http::Request request;
    request.path = path;
    return server::Pipeline::operator_error(request, status, "no").body;
  };
  CHECK(body_at("/operate/v1/bulk", 413) == R"({"error":{"code":"too_large","message":"no"}})");
  CHECK(body_at("/operate/v1/me", 503) == R"({"error":{"code":"unavailable","message":"no"}})");
  CHECK(body_at("/operate/v1/me", 431) == R"({"error":{"code":"invalid_argument","message":"no"}})");
  CHECK(body_at("/operate/v1/me", 500) == R"({"error":{"code":"internal","message":"no"}})");
  CHECK(body_at("/agents/echo/", 503) == "{\"error\":\"no\"}\n");
  CHECK(body_at("", 503) == "{\"error\":\"no\"}\n");
}

TEST_CASE("Pipeline: a connection error has its path's form, and allowed pages may read it") {
  Bench bench;
  bench.options.cors_origins = {"https://chat.example"};
  bench.pipeline.open("http://localhost");
  http::Request request;
  request.headers = {{"Host", "localhost"}, {"Origin", "https://chat.example"}};
  const auto at = [&](const std::string& method, const std::string& path, int status) {
    request.method = method;
    request.path = request.raw_path = path;
    return bench.pipeline.connection_error(request, status, "no");
  };
  const auto may_read = [](const Reply& reply) {
    return std::ranges::count(reply.headers, std::pair<std::string, std::string>{
                                                 "Access-Control-Allow-Origin", "https://chat.example"});
  };
  const std::string agent;  // the default agent
  const Reply rpc = at("POST", agent + "/", 413);
  CHECK(rpc.status == 413);
  CHECK(rpc.body.starts_with(R"({"jsonrpc":"2.0","id":null,"error":{"code":)"));
  CHECK(may_read(rpc) == 1);
  const Reply busy = at("POST", agent + "/", 503);
  CHECK(busy.body.find("\"retryAfter\":5}") != std::string::npos);
  CHECK(std::ranges::count(busy.headers, std::string_view("Retry-After"),
                           &std::pair<std::string, std::string>::first) == 1);
  CHECK(std::ranges::count(busy.headers, std::pair<std::string, std::string>{"Retry-After", "5"}) == 1);
  CHECK(at("POST", agent + "/message:send", 431).body.starts_with(R"({"error":{"code":431,)"));
  CHECK(at("POST", agent + "/v1/message:send", 408).body.starts_with(R"({"code":)"));
  CHECK(at("POST", "/v1/responses", 413).body ==
        R"({"error":{"message":"no","type":"invalid_request_error","param":null,"code":"too_large"}})");
  CHECK(at("POST", agent + "/ag-ui", 413).body == "{\"error\":\"no\"}\n");
  CHECK(may_read(at("POST", agent + "/ag-ui", 413)) == 1);
  CHECK(at("", "", 400).body == "{\"error\":\"no\"}\n");
  CHECK(may_read(at("GET", "/operate/v1/me", 413)) == 0);
  CHECK(may_read(at("GET", "/console", 413)) == 0);
  request.headers.back().second = "https://other.example";
  CHECK(may_read(at("POST", agent + "/", 413)) == 0);
  CHECK(at("POST", agent + "/", 413).headers.empty());
  request.headers.pop_back();
  const std::vector<std::pair<std::string, std::string>> any{{"Access-Control-Allow-Origin", "*"}};
  CHECK(at("POST", agent + "/message:send", 431).headers == any);
  CHECK(at("POST", agent + "/", 413).headers.empty());
}

TEST_CASE("Pipeline: without operators, or for another host, the operator API's errors have its form") {
  Bench bench;
  CHECK(bench.ask("GET", "/operate/v1/me").body ==
        R"({"error":{"code":"not_found","message":"nothing is served at this path"}})");
  CHECK(bench.ask("GET", "/console").body == "{\"error\":\"nothing is served at this path\"}\n");
  bench.options.any_host = false;
  const Reply refused = bench.ask("GET", "/operate/v1/me", "elsewhere.example");
  CHECK(refused.status == 403);
  CHECK(refused.body.starts_with(R"({"error":{"code":"permission_denied",)"));
}

TEST_CASE(
    "Pipeline: GET of the root is the start page for browsers and links for others, and POST stays A2A's") {
  Bench bench;
  bench.options.anonymous = false;  // the answer is the same for every visitor
  bench.pipeline.open("http://127.0.0.1:80");
  const Reply links = bench.ask("GET", "/");
  CHECK(links.status == 200);
  CHECK(links.body.find(R"("agents":"http://127.0.0.1:80/agents")") != std::string::npos);
  CHECK(links.body.find(R"("chat":"http://127.0.0.1:80/chat")") != std::string::npos);
  CHECK(links.body.find("console") == std::string::npos);  // this listener does not serve it
  CHECK(bench.ask("HEAD", "/").status == 200);

  const auto browser = [&](const char* accepts) {
    Request request;
    request.method = "GET";
    request.path = request.raw_path = "/";
    request.headers.emplace_back("Accept", accepts);
    const auto asked = std::make_shared<Asked>(std::move(request));
    bench.pipeline.handle(asked);
    return asked->answer;
  };
  const Reply page = browser("text/html,application/xhtml+xml,*/*;q=0.8");
  CHECK(page.content_type == "text/html; charset=utf-8");
  CHECK(page.body.starts_with("<!doctype html>"));
  CHECK(browser("application/json, text/html").body == links.body);
  bench.options.chat.page = false;  // the start page needs its files
  CHECK(browser("text/html").body.find("chat") == std::string::npos);

  CHECK(bench.ask("POST", "/").body.starts_with(R"({"jsonrpc":"2.0")"));
  const Reply put = bench.ask("PUT", "/");
  CHECK(put.status == 405);
  CHECK(put.body.find("GET, HEAD, POST") != std::string::npos);
}

TEST_CASE("Pipeline: MCP checks the caller before the method, so HEAD without a token gets the challenge") {
  Bench bench;
  bench.options.anonymous = false;
  bench.pipeline.open("http://127.0.0.1:80");
  for (const char* method : {"HEAD", "DELETE", "GET", "POST"}) {
    CAPTURE(method);
    const Reply reply = bench.ask(method, "/mcp");
    CHECK(reply.status == 401);
    CHECK(std::ranges::count(reply.headers, std::string_view("WWW-Authenticate"),
                             &std::pair<std::string, std::string>::first) == 1);
  }
  bench.options.anonymous = true;
  CHECK(bench.ask("HEAD", "/mcp").status == 405);
  CHECK(bench.ask("DELETE", "/mcp").status == 405);
}

TEST_CASE("Pipeline: a page of another origin is refused and logged, whatever the path") {
  const auto before = spdlog::default_logger();
  for (const auto& [method, path] : std::initializer_list<std::pair<const char*, const char*>>{
           {"GET", "/agents"}, {"POST", "/"}, {"POST", "/mcp"}, {"GET", "/v1/models"}, {"POST", "/tokens"}}) {
    CAPTURE(path);
    std::ostringstream text;
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
    Bench bench;
    bench.pipeline.open("http://127.0.0.1:80");
    const Reply reply = bench.ask(method, path, "127.0.0.1", "https://evil.example");
    spdlog::set_default_logger(before);
    CHECK(reply.status == 403);
    CHECK(text.str().find("refused: web pages of ") != std::string::npos);
  }
}

TEST_CASE("Pipeline: the log says why a token is refused, whatever the path") {
  struct Refusing final : server::TokenSource {
    Found find(std::string_view) override { return {nullptr, false, "it has expired"}; }
    Wait await(std::string_view, const std::string&, std::function<void()>) override { return Wait::none; }
    std::vector<Issuer> issuers() const override { return {}; }
  };
  const auto before = spdlog::default_logger();
  for (const auto& [method, path] : std::initializer_list<std::pair<const char*, const char*>>{
           {"GET", "/agents"}, {"POST", "/"}, {"POST", "/mcp"}, {"GET", "/v1/models"}, {"POST", "/tokens"}}) {
    CAPTURE(path);
    std::ostringstream text;
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
    Bench bench;
    bench.options.anonymous = false;
    bench.options.jwt = std::make_shared<Refusing>();
    bench.pipeline.open("http://127.0.0.1:80");
    Request request;
    request.method = method;
    request.path = request.raw_path = path;
    request.headers.emplace_back("Authorization", "Bearer old");
    const auto asked = std::make_shared<Asked>(std::move(request));
    bench.pipeline.handle(asked);
    spdlog::set_default_logger(before);
    CHECK(asked->answer.status == 401);
    CHECK(text.str().find("refused an invalid token: it has expired") != std::string::npos);
  }
}

}  // namespace pipeline_test

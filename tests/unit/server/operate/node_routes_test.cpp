#include "server/operate/node_list.h"

#include <doctest/doctest.h>

#include <future>

#include "server/operate/routes.h"
#include "support/engine_bench.h"
#include "support/fake_peers.h"

namespace node_routes_test {

using namespace baton;
using test::FakePeers;

namespace {

class Asked final : public http::Exchange {
 public:
  explicit Asked(http::Request request) : request_(std::move(request)) {}
  const http::Request& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  void reply(http::Reply reply) override { answer.set_value(std::move(reply)); }
  void open_stream(std::vector<std::pair<std::string, std::string>>, http::StreamOpener) override {
    FAIL("nothing here streams");
  }
  std::promise<http::Reply> answer;

 private:
  http::Request request_;
};

store::Node node(store::NodeId id, const std::string& name, const std::string& digest) {
  store::Node made;
  made.id = id;
  made.name = name;
  made.version = "1.2.3";
  made.lease = std::chrono::milliseconds(4'800);
  made.report = {3, 1, false, std::chrono::milliseconds(250)};
  made.database = std::chrono::microseconds(400);
  made.agents = {{{"echo"}, digest}};
  return made;
}

struct Bench {
  explicit Bench(bool is_shared = true)
      : engine([&] {
          test::EngineBench::Options made;
          made.engine.drain_grace = std::chrono::milliseconds(200);
          made.wiring.peers = is_shared ? &peers : nullptr;
          return made;
        }()),
        nodes(is_shared ? &peers : nullptr, engine.engine(), catalogue, {"db-1", "1.2.3", {}}, pool) {
    peers.set_nodes(std::vector{node(FakePeers::kSelf, "db-1", "a"), node(FakePeers::kOther, "db-2", "b")});
  }
  ~Bench() { pool.stop(); }

  http::Reply ask(const char* method, const std::string& path, const std::string& body = {},
                  bool may_act = true) {
    http::Request request;
    request.method = method;
    request.path = request.raw_path = "/operate/v1" + path;
    request.body = body;
    const auto asked = std::make_shared<Asked>(std::move(request));
    routes.handle(asked, {"otto", may_act});
    return asked->answer.get_future().get();
  }
  std::vector<store::AuditLine> audit() { return engine.store().audit({}, 0, 10)->lines; }

  FakePeers peers;
  test::EngineBench engine;
  agents::Catalogue catalogue{std::vector<agents::Agent>(1)};
  server::ServerOptions options;
  base::WorkerPool pool{"operate", 2, 10};
  server::Services services{engine.engine(), catalogue, options, pool, {}};
  server::Nodes nodes;
  server::operate::Facts facts{services,
                               engine.store(),
                               engine.store(),
                               engine.engine().operator_actions(),
                               engine.engine().bulk_jobs(),
                               nodes,
                               "1.2.3",
                               {},
                               {}};
  server::operate::Routes routes{facts, pool};
};

constexpr const char* kReason = R"({"reason":"new machine"})";

}  // namespace

TEST_CASE("Operator API: nodes are listed with their reports and the differences of their agents") {
  Bench bench;
  const auto answer = json::Document::parse(bench.ask("GET", "/nodes", {}, false).body);
  REQUIRE(answer);
  const json::Value root = answer->root();
  CHECK(root["shared"].boolean());
  REQUIRE(root["nodes"].size() == 2);
  for (const json::Value row : root["nodes"]) {
    const bool is_self = row["key"].string() == "1";
    CHECK(row["self"].boolean() == is_self);
    CHECK(row["leads"].absent() == !is_self);
    CHECK(row["name"].string() == (is_self ? "db-1" : "db-2"));
    CHECK(row["state"].string() == "serving");
    CHECK(row["leaseMs"].integer() == 4'800);
    CHECK(row["running"].integer() == 3);
    CHECK(row["queued"].integer() == 1);
    CHECK(row["lagMs"].integer() == 250);
    CHECK(row["databaseMs"].real().value_or(0) == doctest::Approx(0.4));
  }
  REQUIRE(root["differences"].size() == 1);
  for (const json::Value difference : root["differences"]) {
    CHECK(difference["agent"].string() == "echo");
    CHECK(difference["missing"].size() == 0);
    CHECK(difference["cards"].size() == 2);
  }
}

TEST_CASE("Operator API: drain asks the node to drain, and the audit has operator and reason") {
  Bench bench;
  const http::Reply reply = bench.ask("POST", "/nodes/2/drain", kReason);
  CHECK(reply.status == 200);
  CHECK(reply.body.find(R"("state":"draining")") != std::string::npos);
  CHECK((*bench.peers.nodes())[1].is_asked_to_drain);
  CHECK_FALSE((*bench.peers.nodes())[0].is_asked_to_drain);
  const auto lines = bench.audit();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].entry.action == "drain");
  CHECK(lines[0].entry.actor == "otto");
  CHECK(lines[0].entry.reason == "new machine");
  CHECK(lines[0].entry.detail == "node 2, db-2");
  CHECK(lines[0].entry.outcome == task::kDone);
}

TEST_CASE("Operator API: a drain needs an operator, a reason and an existing node") {
  Bench bench;
  CHECK(bench.ask("POST", "/nodes/2/drain", kReason, false).status == 403);
  CHECK(bench.ask("POST", "/nodes/2/drain", "{}").status == 400);
  CHECK(bench.ask("POST", "/nodes/two/drain", kReason).status == 404);
  CHECK(bench.audit().empty());
  CHECK(bench.ask("POST", "/nodes/7/drain", kReason).status == 404);
  const auto lines = bench.audit();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].entry.outcome == "not_found");
}

TEST_CASE("Operator API: without a shared store only this node is listed, and it cannot be drained") {
  Bench bench(false);
  const http::Reply listed = bench.ask("GET", "/nodes");
  CHECK(listed.status == 200);
  CHECK(listed.body.find(R"("shared":false)") != std::string::npos);
  CHECK(listed.body.find("leaseMs") == std::string::npos);
  CHECK(bench.ask("POST", "/nodes/1/drain", kReason).status == 409);
  REQUIRE(bench.audit().size() == 1);
  CHECK(bench.audit()[0].entry.outcome == "conflict");
}

TEST_CASE("Operator API: /me shows whether there may be other nodes") {
  CHECK(Bench(true).ask("GET", "/me").body.find(R"("nodes":true)") != std::string::npos);
  CHECK(Bench(false).ask("GET", "/me").body.find("\"nodes\"") == std::string::npos);
}

}  // namespace node_routes_test

#include "server/a2a/cards.h"

#include <doctest/doctest.h>

#include "base/worker_pool.h"
#include "protocol/card/remote_card.h"
#include "server/a2a/card_signer.h"
#include "support/engine_bench.h"

namespace cards_test {

using namespace baton;
using base::ErrorCode;
using protocol::CardView;
using task::ProtocolVersion;

namespace {

struct Bench {
  Bench() {
    agent.name = {"probe"};
    agent.card.name = "Probe";
    agent.card.skills.resize(1);
    agent.read_at = std::chrono::sys_seconds(std::chrono::seconds(784111777));
  }

  void extend() {
    agent.card.extended = task::CardExtras{"For you", {}};
    options.tokens = std::vector<server::Token>{{"secret", {"alice"}, {}}};
  }

  http::Reply get(std::vector<std::pair<std::string, std::string>> headers,
                  std::vector<std::pair<std::string, std::string>> query = {}) {
    http::Request request;
    request.method = "GET";
    request.headers = std::move(headers);
    request.query = std::move(query);
    return server::card_reply(services, request, agent, urls);
  }

  base::Result<std::string> extended(const char* caller, CardView view) {
    return server::extended_card(services, agent, {caller}, urls, view);
  }

  test::EngineBench engine;
  agents::Agent agent;
  const agents::Catalogue catalogue{std::vector<agents::Agent>(1)};
  server::ServerOptions options;
  base::WorkerPool readers{"log-read", 1, 1};
  server::Services services{engine.engine(), catalogue, options, readers, {}};
  const server::CardUrls urls{"http://host/", "http://host", ""};
};

std::string header_of(const http::Reply& reply, std::string_view wanted) {
  for (const auto& [name, value] : reply.headers) {
    if (name == wanted) return value;
  }
  return {};
}

std::vector<ProtocolVersion> versions_of(const http::Reply& reply) {
  const auto document = json::Document::parse_view(reply.body);
  REQUIRE(document.has_value());
  return protocol::versions_of(document->root());
}

}  // namespace

TEST_CASE("CardSigner: signatures and times of cards change with the key that signs, and with no other key") {
  using std::chrono::seconds;
  const std::string card =
      R"({"name":"P","description":"d","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC",)"
      R"("protocolVersion":"1.0"}],"version":"1","capabilities":{"streaming":true},"defaultInputModes":["t"],)"
      R"("defaultOutputModes":["t"],"skills":[{"id":"s","name":"S","description":"d","tags":["t"]}]})";
  const auto signer = std::make_shared<server::CardSigner>("https://host");
  const auto one = *jose::Key::generate(jose::Key::Type::p256),
             two = *jose::Key::generate(jose::Key::Type::p256);
  const auto set = [&](const jose::Key& signs, std::vector<jose::Key> published, int at) {
    signer->set(std::make_shared<server::CardKeys>(server::CardKeys{signs, std::move(published)}),
                server::HttpTime(seconds(at)));
    return signer->signed_card("p", "https://host/", card);
  };
  signer->set(nullptr, server::HttpTime(seconds(5)));
  CHECK(signer->changed_at() == server::HttpTime{});
  CHECK(signer->key_set().empty());
  const std::string first = set(one, {}, 1000000000);
  CHECK(first != card);
  CHECK(set(one, {two}, 1100000000) == first);
  CHECK(signer->changed_at() == server::HttpTime(seconds(1000000000)));
  CHECK(set(two, {}, 1200000000) != first);
  CHECK(signer->changed_at() == server::HttpTime(seconds(1200000000)));
  // Before the first signature the next key is shown.
  signer->set(std::make_shared<server::CardKeys>(server::CardKeys{std::nullopt, {one}}),
              server::HttpTime(seconds(1300000000)));
  CHECK(signer->signed_card("p", "https://host/", card) == card);
  CHECK(json::Document::parse(signer->key_set())->root()["keys"].size() == 1);

  // A card is as new as its key.
  Bench bench;
  bench.options.card_signer = signer;
  bench.options.public_url = "https://host";
  CHECK(header_of(bench.get({{"a2a-version", "1.0"}}), "Last-Modified") == "Sun, 13 Mar 2011 07:06:40 GMT");
  CHECK(header_of(bench.get({}), "Last-Modified") == "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST_CASE("Card over HTTP: requests for 1.0 get the 1.0 card, all others the superset") {
  Bench bench;
  const std::vector<ProtocolVersion> pure{ProtocolVersion::v1_0},
      superset{ProtocolVersion::v0_3, ProtocolVersion::v1_0};
  CHECK(versions_of(bench.get({})) == superset);
  CHECK(versions_of(bench.get({{"A2A-Version", "0.3"}})) == superset);
  CHECK(versions_of(bench.get({{"A2A-Version", "9.9"}})) == superset);
  CHECK(versions_of(bench.get({{"a2a-version", " 1.0 "}})) == pure);
  CHECK(versions_of(bench.get({{"A2A-Version", "1.0.1"}})) == pure);
  CHECK(versions_of(bench.get({}, {{"A2A-Version", "1.0"}})) == pure);
  CHECK(versions_of(bench.get({{"A2A-Version", "0.3"}}, {{"A2A-Version", "1.0"}})) == superset);
}

TEST_CASE("Card over HTTP: the headers give caches the lifetime, the variants and the date") {
  Bench bench;
  const auto card = bench.get({});
  CHECK(card.content_type == "application/json");
  CHECK(header_of(card, "Cache-Control") == "max-age=60");
  CHECK(header_of(card, "Vary") == "A2A-Version, Origin, Host");
  CHECK(header_of(card, "Last-Modified") == "Sun, 06 Nov 1994 08:49:37 GMT");
  const auto again = bench.get({{"If-None-Match", header_of(card, "ETag")}});
  CHECK(again.status == 304);
  CHECK(header_of(again, "Cache-Control") == "max-age=60");
  CHECK(header_of(again, "Vary") == "A2A-Version, Origin, Host");
  const auto other = bench.get({{"If-None-Match", header_of(card, "ETag")}, {"A2A-Version", "1.0"}});
  CHECK(other.status == 200);
}

TEST_CASE("Card over HTTP: tokens are shown if there are any, and required without anonymous callers") {
  Bench bench;
  CHECK(bench.get({}).body.find("securitySchemes") == std::string::npos);
  bench.options.tokens = std::vector<server::Token>{{"secret", {"alice"}, {}}};
  CHECK(bench.get({}).body.find("securitySchemes") != std::string::npos);
  CHECK(bench.get({}).body.find("securityRequirements") == std::string::npos);
  bench.options.anonymous = false;
  CHECK(bench.get({}).body.find("securityRequirements") != std::string::npos);
}

TEST_CASE("Extended card: without one each version answers in its own way") {
  Bench bench;
  for (const char* caller : {"anonymous", "alice"}) {
    CHECK(bench.extended(caller, CardView::v1_0).error().code == ErrorCode::unsupported);
    CHECK(bench.extended(caller, CardView::superset).error().code == ErrorCode::extended_card_not_configured);
    CHECK(bench.extended(caller, CardView::v0_3_rest).has_value());
  }
}

TEST_CASE("Extended card: without tokens there is none, and no card claims one") {
  Bench bench;
  bench.extend();
  CHECK(bench.get({{"A2A-Version", "1.0"}}).body.find("extendedAgentCard") != std::string::npos);
  bench.options.tokens = std::vector<server::Token>();
  CHECK(bench.get({}).body.find("supportsAuthenticatedExtendedCard") == std::string::npos);
  CHECK(bench.get({{"A2A-Version", "1.0"}}).body.find("extendedAgentCard") == std::string::npos);
  CHECK(bench.extended("anonymous", CardView::v1_0).error().code == ErrorCode::unsupported);
}

TEST_CASE("Extended card: only callers with a name get it, in every version") {
  Bench bench;
  bench.extend();
  for (const CardView view : {CardView::v1_0, CardView::superset, CardView::v0_3_rest}) {
    CHECK(bench.extended("anonymous", view).error().code == ErrorCode::unauthenticated);
  }
  for (const CardView view : {CardView::v1_0, CardView::superset, CardView::v0_3_rest}) {
    CHECK(bench.extended("alice", view)->find("For you") != std::string::npos);
  }
  CHECK(bench.get({}).body.find("For you") == std::string::npos);
}

TEST_CASE("Agents: with a task's id only agents that have the task are listed, with full ids") {
  Bench bench;
  std::vector<agents::Agent> both(2);
  both[0].name = {"helper"};
  both[1].name = {"scripted"};
  const agents::Catalogue catalogue{std::move(both)};
  const server::Services services{bench.engine.engine(), catalogue, bench.options, bench.readers, {}};
  REQUIRE(bench.engine.submit(test::EngineBench::message("work", "job-17-long")));
  const auto listed = [&](std::vector<std::pair<std::string, std::string>> query) {
    http::Request request;
    request.method = "GET";
    request.query = std::move(query);
    return server::agents_reply(services, request, "http://host").body;
  };
  CHECK(listed({}).find("\"tasks\"") == std::string::npos);
  CHECK(listed({}).find("\"helper\"") != std::string::npos);
  for (const char* named : {"job-17-long", "job-17-l"}) {
    const std::string body = listed({{"task", named}});
    CHECK(body.find(R"("tasks":["job-17-long"])") != std::string::npos);
    CHECK(body.find("\"helper\"") == std::string::npos);
  }
  CHECK(listed({{"task", "job-18"}}) == R"({"agents":[]})");
  bench.options.tokens = std::vector<server::Token>{{"secret", {"alice"}, {}}};
  bench.options.anonymous = false;
  CHECK(listed({{"task", "job-17-long"}}).find("job-17") == std::string::npos);
}

}  // namespace cards_test

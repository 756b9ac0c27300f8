#include "protocol/discovery/catalog.h"

#include <doctest/doctest.h>

#include "protocol/card/card.h"
#include "protocol/discovery/server_card.h"

namespace baton::protocol::discovery::catalog_test {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::vector<CatalogProblem>& found) {
  Lines lines;
  for (const CatalogProblem& one : found)
    lines.push_back(std::string(one.is_error ? "error " : "warning ") + one.pointer + ": " + one.reason);
  return lines;
}

Lines problems(const std::string& catalog, std::string_view publisher = "a.example") {
  const auto document = json::Document::parse(catalog);
  REQUIRE(document.has_value());
  return lines_of(check_catalog(document->root(), publisher));
}

// A catalog with this entry.
std::string with(const std::string& entry) {
  return R"({"specVersion":"1.0","host":{"displayName":"A"},"entries":[)" + entry + "]}";
}

}  // namespace

TEST_CASE("Catalog: only a domain name with a dot is a publisher") {
  CHECK(publisher_of("https://Agents.Example.com:8443/x") == "agents.example.com");
  CHECK(publisher_of("http://a.b") == "a.b");
  for (const char* url : {"https://localhost", "http://x.localhost:8080/", "http://10.0.0.1/",
                          "http://[::1]:80/", "https://host", "https://a_b.example", "a.example", ""}) {
    CAPTURE(url);
    CHECK(publisher_of(url).empty());
  }
}

TEST_CASE("Catalog: what is written is one line of bounded text, and has no problems") {
  CatalogEntry entry{"urn:air:a.example:agents:one", "One\n\x1b", std::string(kA2aCard),
                     "https://a.example/card"};
  entry.description = std::string(2'000, 'x') + "\n";
  entry.tags = {"t", "t", "", "u"};
  entry.queries = {"only one"};
  const std::string few = write_catalog("a.example", {{entry}});
  CHECK(problems(few) ==
        Lines{"warning /entries/0/representativeQueries: should have 2 to 5 texts: registries "
              "search by them"});
  CHECK(few.find("One\",") != std::string::npos);
  CHECK(few.find("queries") == std::string::npos);
  CHECK(few.find(R"("tags":["t","u"])") != std::string::npos);
  CHECK(few.size() < 1'400);
  entry.queries = {"a", "b", "c", "d", "e", "f"};
  entry.updated = base::from_ms(1'700'000'000'000);
  CHECK(problems(write_catalog("a.example", {{entry}})).empty());
}

TEST_CASE("Catalog: each rule that readers have is checked at its place") {
  const std::string id = R"("identifier":"urn:air:a.example:agents:x")";
  const std::string rest =
      R"("displayName":"X","type":"application/a2a-agent-card+json","representativeQueries":["a","b"])";
  const std::string good = "{" + id + "," + rest + R"(,"url":"https://a.example/x"})";
  CHECK(problems(with(good)).empty());
  CHECK(problems(with("{" + id + "," + rest + R"(,"url":"HTTPS://a.example/x"})")).empty());
  CHECK(problems(with("{" + id + "," + rest + R"(,"url":"Http://a.example/x"})")) ==
        Lines{"warning /entries/0/url: should begin with https"});
  CHECK(problems("[]") == Lines{"error : must be an object"});
  CHECK(problems(R"({"entries":1,"host":{"displayName":"A"},"specVersion":"1.0"})") ==
        Lines{"error /entries: must be a list"});
  CHECK(problems(R"({"entries":[],"more":1})") ==
        Lines{"warning /specVersion: should be \"1.0\"",
              "warning /host: is missing: readers of the first version require it",
              "warning /more: is unknown", "warning /entries: is empty"});
  CHECK(problems(with(good + "," + good)) ==
        Lines{"error /entries/1/identifier: another entry has the same"});
  CHECK(problems(with(good), "b.example") ==
        Lines{"error /entries/0/identifier: must name the host that serves it, b.example"});
  CHECK(problems(with("{" + id + "," + rest + "}")) ==
        Lines{"error /entries/0: must have one of url and data"});
  for (const char* wrong : {"urn:air:a.example", "urn:air:a.example:", "urn:air:a.example::x",
                            "urn:other:a:b", "urn:air:a.example:x y"}) {
    CAPTURE(wrong);
    const auto found = problems(
        with(R"({"identifier":")" + std::string(wrong) + "\"," + rest + R"(,"url":"https://a.example/x"})"));
    CHECK(found == Lines{"error /entries/0/identifier: must be like urn:air:example.com:agents:name"});
  }
  const std::string odd = "{" + id +
                          R"(,"displayName":"","type":"x/y","url":"ftp://a","tags":[1],"version":2,)" +
                          R"("representativeQueries":"q","updatedAt":"today","metadata":{"a":[]}})";
  CHECK(problems(with(odd)) ==
        Lines{"error /entries/0/displayName: must be a text", "warning /entries/0/type: is unknown",
              "error /entries/0/url: must be a web URL", "error /entries/0/version: must be a text",
              "error /entries/0/tags: must be a list of texts",
              "error /entries/0/representativeQueries: must be a list of texts",
              "error /entries/0/updatedAt: must be a time of RFC 3339",
              "error /entries/0/metadata/a: must be a single value"});
}

TEST_CASE("ServerCard: what is written fits the schema's bounds, and wrong ones are told") {
  const auto check = [](const std::string& text) {
    const auto document = json::Document::parse(text);
    REQUIRE(document.has_value());
    return lines_of(check_server_card(document->root()));
  };
  const std::string card = write_server_card({"agents.example.com", "table-report", "Reports",
                                              std::string(300, 'x'), "1", "https://agents.example.com/mcp"});
  CHECK(check(card).empty());
  CHECK(card.find(R"("name":"com.example.agents/table-report")") != std::string::npos);
  CHECK(card.find(R"("supportedProtocolVersions":["2026-07-28","2025-11-25")") != std::string::npos);
  const std::string bare = write_server_card({"a.example", "x", "", "", "1", "https://a.example/mcp"});
  CHECK(check(bare).empty());
  CHECK(check(R"({"name":"x","version":1,"description":"","remotes":[{"type":"ws"}]})") ==
        Lines{"warning /$schema: should be "
              "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
              "error /name: must be a domain, its parts in reverse, a slash and a name",
              "error /version: must be a text", "error /description: must be a text",
              "error /remotes/0/type: must be streamable-http or sse", "error /remotes/0/url: is missing"});
}

}  // namespace baton::protocol::discovery::catalog_test

#include "protocol/mcp/resources.h"

#include <doctest/doctest.h>

namespace baton::protocol::mcp::resources_test {
namespace {

std::string content_of(const task::Part& part) {
  std::string text;
  json::Writer out(text);
  out.object([&] { write_resource(out, part); });
  return text;
}

}  // namespace

TEST_CASE("MCP: the URI of a part names it at whatever host and path") {
  const ResourceName name{{"t/1"}, ResourceName::Kind::message, "m 1", 2};
  for (const std::string at : {"http://h:1/agents/a", "https://h/x/y/tenant", ""}) {
    const auto read = read_resource_uri(at + resource_path(name));
    REQUIRE(read.has_value());
    CHECK(read->task.value == "t/1");
    CHECK(read->kind == ResourceName::Kind::message);
    CHECK(read->id == "m 1");
    CHECK(read->part == 2);
  }
  for (const char* wrong :
       {"", "test://static", "/tasks/t/artifacts/a/parts/x", "/tasks/t/artifacts/a/parts/-1",
        "/tasks//artifacts/a/parts/0", "/tasks/t/files/a/parts/0", "/tasks/%FF/artifacts/a/parts/0",
        "/tasks/t/artifacts/a/parts/99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(read_resource_uri(wrong).has_value());
  }
}

TEST_CASE("MCP: a resource is text if its type and its bytes say so, and bytes otherwise") {
  using task::Part;
  CHECK(content_of({Part::Kind::raw, "YQ==", {}, "text/csv", {}}) == R"({"mimeType":"text/csv","text":"a"})");
  CHECK(content_of({Part::Kind::raw, "/w==", {}, "text/csv", {}}) ==
        R"({"mimeType":"text/csv","blob":"/w=="})");
  CHECK(content_of({Part::Kind::raw, "YQ==", {}, "application/zip", {}}) ==
        R"({"mimeType":"application/zip","blob":"YQ=="})");
  CHECK(content_of({Part::Kind::raw, "YQ==", {}, "Text/CSV", {}}) == R"({"mimeType":"Text/CSV","text":"a"})");
  CHECK(content_of(Part::of_text("words")) == R"({"text":"words"})");
}

}  // namespace baton::protocol::mcp::resources_test

#include "protocol/agui/content.h"

#include <doctest/doctest.h>

namespace agui_content_test {

using namespace baton;
using protocol::agui::read_content;
using protocol::agui::write_content;
using task::Part;

namespace {

std::vector<Part> parts_of(std::string json) {
  const auto document = json::Document::parse(std::move(json));
  REQUIRE(document);
  auto parts = read_content(document->root(), "content");
  if (!parts) FAIL(parts.error().for_caller);
  return std::move(*parts);
}

std::string complaint(std::string json) {
  const auto document = json::Document::parse(std::move(json));
  REQUIRE(document);
  const auto parts = read_content(document->root(), "content");
  REQUIRE_FALSE(parts);
  return parts.error().for_caller;
}

std::string written(const std::vector<Part>& parts, bool newer) {
  std::string text;
  json::Writer out(text);
  write_content(out, parts, newer);
  return text;
}

}  // namespace

TEST_CASE("AG-UI content: a string, text parts and parts of unknown types are read") {
  CHECK(parts_of(R"("Hi")") == std::vector{Part::of_text("Hi")});
  CHECK(parts_of("null").empty());
  CHECK(parts_of(R"([{"type":"text","text":"a"},{"type":"hologram","x":1},{"type":"text","text":"b"}])") ==
        std::vector{Part::of_text("a"), Part::of_text("b")});
}

TEST_CASE("AG-UI content: binary parts of 0.0.x") {
  CHECK(parts_of(R"([{"type":"binary","mimeType":"image/png","data":"aGk","filename":"a.png"},
                     {"type":"binary","mimeType":"image/png","url":"https://example.org/a"},
                     {"type":"binary","mimeType":"image/png","id":"f1"}])") ==
        std::vector{Part{Part::Kind::raw, "aGk=", "a.png", "image/png", {}},
                    Part{Part::Kind::url, "https://example.org/a", {}, "image/png", {}},
                    Part{Part::Kind::data, R"({"file":{"id":"f1"}})", {}, "image/png", {}}});
}

TEST_CASE("AG-UI content: media parts of 1.0") {
  CHECK(
      parts_of(
          R"([{"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"},"metadata":{"w":1}},
                     {"type":"audio","source":{"type":"url","value":"https://example.org/a"}},
                     {"type":"document","source":{"type":"file","value":"f1","provider":"p","mimeType":"text/csv"}},
                     {"type":"document","source":{"type":"data","value":"aGk="},"metadata":{"filename":"a.csv"}},
                     {"type":"document","source":{"type":"data","value":"aGk="},"metadata":{"filename":1}},
                     {"type":"video","source":{"type":"telepathy","value":"x"}}])") ==
      std::vector{Part{Part::Kind::raw, "aGk=", {}, "image/png", {R"({"w":1})"}},
                  Part{Part::Kind::url, "https://example.org/a", {}, {}, {}},
                  Part{Part::Kind::data, R"({"file":{"id":"f1","provider":"p"}})", {}, "text/csv", {}},
                  Part{Part::Kind::raw, "aGk=", "a.csv", {}, {R"({"filename":"a.csv"})"}},
                  Part{Part::Kind::raw, "aGk=", {}, {}, {R"({"filename":1})"}}});
}

TEST_CASE("AG-UI content: a data URL is read as its bytes") {
  const Part bytes{Part::Kind::raw, "aGk=", {}, "image/gif", {}};
  CHECK(parts_of(R"([{"type":"image","source":{"type":"url","value":"data:image/gif;base64,aGk="}}])") ==
        std::vector{bytes});
  CHECK(parts_of(R"([{"type":"binary","mimeType":"image/gif","data":"data:image/png;base64,aGk="}])") ==
        std::vector{bytes});
  CHECK(parts_of(R"([{"type":"image","source":{"type":"url","value":"DATA:image/gif;BASE64,aG\nk="}}])") ==
        std::vector{bytes});
}

TEST_CASE("AG-UI content: errors name the wrong member") {
  CHECK(complaint("[1]") == "content[0]: must be an object");
  CHECK(complaint(R"([{"text":"x"}])") == "content[0].type: must be a string");
  CHECK(complaint(R"([{"type":"text"}])") == "content[0].text: must be a string");
  CHECK(complaint(R"([{"type":"binary","mimeType":"a/b"}])") ==
        "content[0]: one of id, url and data is required");
  CHECK(complaint(R"([{"type":"binary","mimeType":"a/b","data":"*"}])") == "content[0].data: must be base64");
  CHECK(complaint(R"([{"type":"image"}])") == "content[0].source: must be an object");
  CHECK(complaint(R"([{"type":"image","source":{"type":"url"}}])") ==
        "content[0].source.value: must be a string");
}

TEST_CASE("AG-UI content: it is written as text, or in parts that the client's version knows") {
  const Part text = Part::of_text("a"), raw{Part::Kind::raw, "aGk=", "a.png", "image/png", {}},
             url{Part::Kind::url, "https://example.org/a", {}, {}, {}},
             kept{Part::Kind::data, R"({"file":{"id":"f1"}})", {}, "text/csv", {}};
  CHECK(written({text, Part::of_text("b"), Part::of_data({"1"})}, true) == R"("a\nb")");
  CHECK(
      written({text, raw, url, kept}, true) ==
      R"([{"type":"text","text":"a"},)"
      R"({"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"},"metadata":{"filename":"a.png"}},)"
      R"({"type":"document","source":{"type":"url","value":"https://example.org/a"}},)"
      R"({"type":"document","source":{"type":"file","value":"f1","mimeType":"text/csv"}}])");
  CHECK(written({text, raw, url, kept}, false) ==
        R"([{"type":"text","text":"a"},)"
        R"({"type":"binary","mimeType":"image/png","data":"aGk=","filename":"a.png"},)"
        R"({"type":"binary","mimeType":"application/octet-stream","url":"https://example.org/a"},)"
        R"({"type":"binary","mimeType":"text/csv","id":"f1"}])");
}

}  // namespace agui_content_test

#include "json/schema.h"

#include <doctest/doctest.h>

namespace schema_test {

using namespace baton;
using json::SchemaProblem;

namespace {

constexpr const char* kSchema = R"({
  "type": "object", "required": ["name"],
  "properties": {
    "name": {"type": "string", "minLength": 1},
    "count": {"type": "integer", "minimum": 1, "maximum": 9},
    "share": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
    "kind": {"enum": ["a", "b"]},
    "list": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/item"}},
    "either": {"anyOf": [{"enum": ["all", "any"]},
                         {"type": "object", "required": ["n_of"], "additionalProperties": false,
                          "properties": {"n_of": {"type": "integer", "minimum": 1, "maximum": 9}}}]},
    "input": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "array"},
                        {"type": "object", "properties": {"text": {}, "data": {}}}]},
    "strict": {"type": "object", "additionalProperties": false, "properties": {"mode": {}, "workers": {}}}
  },
  "definitions": {"item": {"type": "object", "required": ["id", "tag"],
                           "properties": {"id": {"type": "string"}, "tag": {"type": "string"}}}}
})";

std::vector<SchemaProblem> check(std::string_view json) {
  const auto schema = json::Schema::parse(kSchema);
  REQUIRE(schema.has_value());
  return schema->check(json);
}

std::string only(std::string_view json) {
  const auto problems = check(json);
  REQUIRE(problems.size() == 1);
  return problems[0].pointer + " " + problems[0].reason;
}

}  // namespace

TEST_CASE("Schema: a value that fits has no problems") {
  CHECK(
      check(
          R"({"name":"n","count":3,"kind":"a","list":[{"id":"x","tag":"y"}],"strict":{"mode":1},"more":[]})")
          .empty());
}

TEST_CASE("Schema: the reason of each rule says what is allowed") {
  CHECK(only(R"({})") == " \"name\" is missing");
  CHECK(only(R"([])") == " must be of type \"object\"");
  CHECK(only(R"({"name":1})") == "/name must be of type \"string\"");
  CHECK(only(R"({"name":""})") == "/name must not be empty");
  CHECK(only(R"({"name":"n","count":0})") == "/count must be at least 1");
  CHECK(only(R"({"name":"n","count":10})") == "/count must be at most 9");
  CHECK(only(R"({"name":"n","share":0})") == "/share must be greater than 0");
  CHECK(only(R"({"name":"n","kind":"c"})") == "/kind must be one of \"a\", \"b\"");
  CHECK(only(R"({"name":"n","list":[]})") == "/list must not be empty");
  CHECK(only(R"({"name":"n","list":[3]})") == "/list/0 must be of type \"object\"");
  CHECK(only(R"({"name":"n","strict":{"workes":1}})") ==
        "/strict/workes is unknown; did you mean \"workers\"?");
  CHECK(only(R"({"name":"n","strict":{"temperature":1}})") == "/strict/temperature is unknown");
}

TEST_CASE("Schema: the problem of a value that fits no alternative names all of them") {
  const std::string join =
      R"(must be one of "all", "any", or an object with "n_of" (an integer from 1 to 9))";
  for (const char* wrong : {R"("some")", "3", R"({"n_of":0})", R"({"n_of":1,"of":2})"})
    CHECK(only(R"({"name":"n","either":)" + std::string(wrong) + "}") == "/either " + join);
  CHECK(only(R"({"name":"n","input":""})") ==
        R"(/input must be a non-empty string, a list, or an object with any of "text", "data")");
}

TEST_CASE("Schema: all problems of a document are reported together") {
  const std::vector<SchemaProblem> problems =
      check(R"({"count":"x","kind":7,"list":[{"id":1},{"id":"a","tag":2}],"strict":{"moed":1,"wrkers":2}})");
  const std::vector<SchemaProblem> expected = {
      {"/count", "must be of type \"integer\""},
      {"/kind", "must be one of \"a\", \"b\""},
      {"/list/0/id", "must be of type \"string\""},
      {"/list/0", "\"tag\" is missing"},
      {"/list/1/tag", "must be of type \"string\""},
      {"/strict/moed", "is unknown; did you mean \"mode\"?"},
      {"/strict/wrkers", "is unknown; did you mean \"workers\"?"},
      {"", "\"name\" is missing"},
  };
  CHECK(problems == expected);
}

TEST_CASE("Schema: text that is not a schema is refused") {
  CHECK_FALSE(json::Schema::parse("[]").has_value());
  CHECK_FALSE(json::Schema::parse("{").has_value());
}

}  // namespace schema_test

#include "json/bounded_schema.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/growth.h"

using namespace baton;
using json::BoundedSchema;
using json::SchemaProblem;

namespace bounded_schema_test {
namespace {

std::string shown(const SchemaProblem& problem) {
  return problem.pointer + ": " + problem.reason;
}

// The fault of a schema, or an empty text.
std::string fault_of(const std::string& text, const json::SchemaLimits& limits = {}) {
  const auto schema = BoundedSchema::parse(text, limits);
  return schema ? std::string() : shown(schema.error());
}

// The problem of a value, or an empty text if it fits.
std::string problem_of(const std::string& text, const std::string& value,
                       const json::SchemaLimits& limits = {}) {
  const auto schema = BoundedSchema::parse(text, limits);
  if (!schema) return "fault " + shown(schema.error());
  const auto problem = schema->check_text(value);
  return problem ? shown(*problem) : std::string();
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

struct Row {
  const char* schema;
  std::vector<const char*> good;
  std::vector<std::pair<const char*, const char*>> bad;  // values that do not fit, and their problems
};

TEST_CASE("BoundedSchema: each keyword accepts what it describes, and gives a reason otherwise") {
  const Row rows[] = {
      {R"({"type": "string"})", {R"("a")"}, {{"1", ": must be a string"}, {"null", ": must be a string"}}},
      {R"({"type": ["string", "null"]})", {"null", R"("")"}, {{"{}", ": must be null or a string"}}},
      {R"({"type": "integer"})",
       {"1", "1.0", "1e400"},
       {{"1.5", ": must be an integer"}, {"true", ": must be an integer"}}},
      {R"({"type": "number"})", {"1", "-1.5e-9"}, {{"\"1\"", ": must be a number"}}},
      {R"({"enum": ["a", 1, null, {"b": [1]}]})",
       {R"("a")", "1.0", "null", R"({"b": [1.0]})"},
       {{"2", ": must be one of \"a\", 1, null or {\"b\": [1]}"},
        {R"({"b": [2]})", ": must be one of \"a\", 1, null or {\"b\": [1]}"}}},
      {R"({"const": "x"})", {R"("x")"}, {{R"("y")", ": must be \"x\""}}},
      {R"({"minimum": 1, "maximum": 10})",
       {"1", "10", R"("text")"},
       {{"0.99", ": must be at least 1"}, {"99", ": must be at most 10"}, {"1e999", ": must be at most 10"}}},
      {R"({"exclusiveMinimum": 0, "exclusiveMaximum": 1})",
       {"0.5"},
       {{"0", ": must be greater than 0"}, {"1", ": must be less than 1"}}},
      {R"({"minimum": 0, "exclusiveMinimum": true, "maximum": 1, "exclusiveMaximum": false})",
       {"0.5", "1"},
       {{"0", ": must be greater than 0"}, {"2", ": must be at most 1"}}},
      {R"({"multipleOf": 0.01})", {"19.99", "0"}, {{"0.001", ": must be a multiple of 0.01"}}},
      {R"({"minLength": 2, "maxLength": 3})",
       {R"("ab")", "\"\xc3\xa4\xc3\xb6\xf0\x9f\x98\x80\"", "7"},
       {{R"("a")", ": must have at least 2 characters"}, {R"("abcd")", ": must have at most 3 characters"}}},
      {R"({"minLength": 1})", {R"("a")"}, {{R"("")", ": must not be empty"}}},
      {R"({"pattern": "^a+$"})", {R"("aa")", "1"}, {{R"("b")", ": must match the pattern ^a+$"}}},
      {R"({"format": "date"})",
       {R"("2026-01-31")", "1"},
       {{R"("tomorrow")", ": must be a date like 2026-01-31"}}},
      {R"({"format": "colour"})", {R"("red")"}, {}},
      {R"({"items": {"type": "integer"}, "minItems": 1, "maxItems": 2, "uniqueItems": true})",
       {"[1]", "[1, 2]", "{}"},
       {{"[]", ": must not be empty"},
        {"[1, 2, 3]", ": must have at most 2 items"},
        {"[1, \"x\"]", "/1: must be an integer"},
        {"[1, 1.0]", ": must not contain the same item twice"}}},
      {R"({"uniqueItems": true})",
       {R"([{"a": 1, "b": 2}, {"a": 2, "b": 1}, 12345678901234567890, 12345678901234567891])"},
       {{R"([{"a": 1, "b": 2}, 3, {"b": 2.0, "a": 1}])", ": must not contain the same item twice"}}},
      {R"({"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false})",
       {R"(["a", 1])", R"(["a"])"},
       {{R"(["a", "b"])", "/1: must be an integer"}, {R"(["a", 1, 2])", "/2: is not allowed"}}},
      {R"({"type": "object", "required": ["environment", "replicas"], "additionalProperties": false, "properties":
           {"environment": {"enum": ["staging", "production"]}, "replicas": {"type": "integer", "maximum": 10}}})",
       {R"({"environment": "staging", "replicas": 3})"},
       {{R"({"environment": "moon", "replicas": 99})",
         "/environment: must be one of \"staging\" or \"production\""},
        {R"({"environment": "staging", "replicas": 99})", "/replicas: must be at most 10"},
        {R"({"environment": "staging"})", ": \"replicas\" is missing"},
        {R"({"environment": "staging", "replica": 1})", "/replica: is unknown; did you mean \"replicas\"?"},
        // Parsers differ in which of two equal names they use, so both values must fit.
        {R"({"environment": "staging", "replicas": 99, "replicas": 1})", "/replicas: must be at most 10"},
        {"[]", ": must be an object"}}},
      {R"({"additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 2})",
       {R"({"a/b": 1})"},
       {{R"({"a/b": "x"})", "/a~1b: must be an integer"},
        {"{}", ": must have at least 1 member"},
        {R"({"a": 1, "b": 2, "c": 3})", ": must have at most 2 members"}}},
      {R"({"allOf": [{"minimum": 1}, {"maximum": 2}]})", {"1.5"}, {{"3", ": must be at most 2"}}},
      {R"({"anyOf": [{"type": "string"}, {"type": "null"}]})",
       {"null", R"("a")"},
       {{"1", ": must be a string or null"}}},
      {R"({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "null"}]})",
       {"null", "{}"},
       {{R"({"a": 1})", "/a: must be a string"}}},
      {R"({"oneOf": [{"type": "integer"}, {"minimum": 2}]})",
       {"1", "2.5"},
       {{"3", ": matches several alternatives, but must match exactly one"},
        {"1.5", ": must be at least 2"}}},
      {R"({"not": {"type": "string"}})", {"1"}, {{R"("a")", ": matches a schema that it must not match"}}},
      {R"({"$ref": "#/$defs/A b~1c", "$defs": {"A b/c": {"type": "integer"}}})",
       {"1"},
       {{"[]", ": must be an integer"}}},
      {R"({"$ref": "#/definitions/x%20y", "definitions": {"x y": {"type": "integer"}}})",
       {"1"},
       {{"[]", ": must be an integer"}}},
      {R"({"properties": {"a": {"$ref": "#/$defs/A", "maxLength": 1}}, "$defs": {"A": {"type": "string"}}})",
       {R"({"a": "x"})"},
       {{R"({"a": "xx"})", "/a: must have at most 1 character"}, {R"({"a": 1})", "/a: must be a string"}}},
      {"true", {"1"}, {}},
      {"{}", {"1", "null"}, {}},
      {R"({"title": "T", "description": 1, "default": 3, "examples": 4, "$schema": 1, "$id": 2, "$comment": 3, "readOnly": 1,
           "deprecated": 1, "contentMediaType": 1, "x-order": [], "discriminator": {}, "type": "string"})",
       {R"("a")"},
       {{"1", ": must be a string"}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.schema);
    for (const char* value : row.good) {
      CAPTURE(value);
      CHECK(problem_of(row.schema, value) == "");
    }
    for (const auto& [value, problem] : row.bad) {
      CAPTURE(value);
      CHECK(problem_of(row.schema, value) == problem);
    }
  }
}

TEST_CASE("BoundedSchema: a recursive schema is allowed and checks nested data") {
  const char* tree =
      R"({"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "required": ["name"], "properties": {
    "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
    "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}}})";
  CHECK(problem_of(tree, R"({"name": "a", "children": [{"name": "b", "children": []}], "next": null})") ==
        "");
  CHECK(problem_of(tree, R"({"name": "a", "children": [{"name": "b", "children": [{"name": 3}]}]})") ==
        "/children/0/children/0/name: must be a string");
  CHECK(problem_of(tree, R"({"name": "a", "next": {"name": "b", "next": {}}})") ==
        "/next/next: \"name\" is missing");
}

TEST_CASE("BoundedSchema: hostile schemas are faults with a pointer") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({"$ref": "#"})", ": refers to itself without descending into the value"},
      {R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})",
       "/$defs/a: refers to itself without descending into the value"},
      {R"({"allOf": [{"$ref": "#"}]})", ": refers to itself without descending into the value"},
      {R"({"not": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}})",
       ": refers to itself without descending into the value"},
      {R"({"properties": {"x": {"allOf": [{"$ref": "#/$defs/y"}]}}, "$defs": {"y": {"oneOf": [{"$ref": "#/$defs/y"}]}}})",
       "/$defs/y: refers to itself without descending into the value"},
      {R"({"$ref": "https://example.com/schema"})",
       "/$ref: refers to \"https://example.com/schema\", which is not a schema in $defs or definitions"},
      {R"({"$ref": "#/$defs/none"})",
       "/$ref: refers to \"#/$defs/none\", which is not a schema in $defs or definitions"},
      {R"({"$ref": "#/$defs/a/enum", "$defs": {"a": {"enum": [1]}}})",
       "/$ref: refers to \"#/$defs/a/enum\", which is not a schema in $defs or definitions"},
      {R"({"$ref": 3})", "/$ref: must be a string"},
      {R"({"anyOf": ["x", 3]})", "/anyOf/0: must be a schema: an object, true or false"},
      {R"({"properties": [1]})", "/properties: must be an object"},
      {R"({"properties": {"a/b": 1}})", "/properties/a~1b: must be a schema: an object, true or false"},
      {R"({"properties": {"a": {}, "b": {}, "a": {}}})", "/properties: \"a\" is given twice"},
      {R"({"type": "string", "type": "number"})", "/type: is given twice"},
      {R"({"type": "text"})", "/type: must be a type name or a list of type names"},
      {R"({"type": []})", "/type: must not be empty"},
      {R"({"enum": "a"})", "/enum: must be a list with at least one value"},
      {R"({"required": true})", "/required: must be a list of names"},
      {R"({"required": [1]})", "/required: must be a list of names"},
      {R"({"minimum": "1"})", "/minimum: must be a number"},
      {R"({"multipleOf": 0})", "/multipleOf: must be greater than 0"},
      {R"({"multipleOf": -0.0})", "/multipleOf: must be greater than 0"},
      {R"({"multipleOf": 0.1234567890123456789})", "/multipleOf: has more digits than can be checked"},
      {R"({"maxLength": -1})", "/maxLength: must be a whole number of at least 0"},
      {R"({"maxLength": 1.5})", "/maxLength: must be a whole number of at least 0"},
      {R"({"maxLength": "5"})", "/maxLength: must be a whole number of at least 0"},
      {R"({"items": [{}]})", "/items: must be one schema, not a list: use prefixItems for a list"},
      {R"({"allOf": []})", "/allOf: must be a list with at least one schema"},
      {R"({"uniqueItems": 1})", "/uniqueItems: must be true or false"},
      {R"({"pattern": 1})", "/pattern: must be a string"},
      {R"({"format": 1})", "/format: must be a string"},
      {R"({"properties": {"a": {"patternProperties": {}}}})",
       "/properties/a/patternProperties: is a keyword that is not supported in questions"},
      {R"({"if": {}, "then": {}})", "/if: is a keyword that is not supported in questions"},
      {R"({"dependentRequired": {}})", "/dependentRequired: is a keyword that is not supported in questions"},
      {R"({"unevaluatedProperties": false})",
       "/unevaluatedProperties: is a keyword that is not supported in questions"},
      {R"({"$defs": {"unused": {"contains": {}}}})",
       "/$defs/unused/contains: is a keyword that is not supported in questions"},
      {"[]", ": must be a schema: an object, true or false"},
      {"NaN", ": is not JSON: at byte 0: Invalid value."},
      {"", ": is not JSON: at byte 0: The document is empty."},
  };
  for (const auto& [schema, fault] : rows) {
    CAPTURE(schema);
    CHECK(fault_of(schema) == fault);
  }
}

TEST_CASE("BoundedSchema: each limit of a schema has its own error") {
  const auto nested = [](int depth) {
    return repeated(R"({"items":)", depth - 1) + "{}" + repeated("}", depth - 1);
  };
  CHECK(fault_of(nested(32)) == "");
  CHECK(fault_of(nested(33)).find(": is nested deeper than 32") != std::string::npos);
  CHECK(fault_of(nested(5000)) == ": is nested deeper than 32");
  CHECK(fault_of("{\"default\": " + repeated("[", 200) + repeated("]", 200) + "}") ==
        ": is nested deeper than 32");
  const auto wide = [](int count) {
    std::string properties;
    for (int i = 0; i < count; ++i) properties += (i > 0 ? ",\"p" : "\"p") + std::to_string(i) + "\":{}";
    return "{\"properties\":{" + properties + "}}";
  };
  CHECK(fault_of(wide(1999)) == "");
  CHECK(fault_of(wide(2000)) == ": has more than 2000 schemas in it");
  CHECK(fault_of("{\"enum\": [" + std::string(2'000'000, '1') + "," + "1]}") ==
        ": is larger than 65536 bytes");
  CHECK(fault_of("{\"title\": \"" + std::string(65'536 - 13, 'x') + "\"}") == "");
  CHECK(fault_of("{\"title\": \"" + std::string(65'536 - 12, 'x') + "\"}") == ": is larger than 65536 bytes");
  // References count as nesting: checking each needs a stack frame for each level of the value.
  std::string chain = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 1500; ++i)
    chain += "\"d" + std::to_string(i) + R"(":{"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"},";
  CHECK(fault_of(chain + R"("d1500":{}}})").find("is nested deeper than 32, references included") !=
        std::string::npos);
  json::SchemaLimits less;
  less.bytes_max = 10;
  CHECK(fault_of(R"({"type": "string"})", less) == ": is larger than 10 bytes");
  less = {};
  less.depth_max = 1;
  CHECK(fault_of(R"({"items": {}})", less) == "/items: is nested deeper than 1");
}

TEST_CASE("BoundedSchema: limits of any size are enforced exactly") {
  CHECK(problem_of(R"({"maxLength": 1e308})", R"("a")") == "");
  CHECK(problem_of(R"({"maxItems": 99999999999999999999999999})", "[1]") == "");
  CHECK(problem_of(R"({"minLength": 1e308})", R"("a")").find("must have at least") != std::string::npos);
  CHECK(problem_of(R"({"multipleOf": 1e308})", "3") == ": must be a multiple of 1e308");
  CHECK(problem_of(R"({"multipleOf": 1e308})", "1e309") == "");
  CHECK(problem_of(R"({"multipleOf": 1e-308})", "1") == "");
  CHECK(problem_of(R"({"multipleOf": 3})", "0.3333333333333333333333") ==
        ": has more digits than can be checked");
  CHECK(problem_of(R"({"minimum": -1e400, "maximum": 1e400})", "1e308") == "");
  CHECK(problem_of(R"({"maxLength": 1e2})", "\"" + std::string(100, 'a') + "\"") == "");
}

TEST_CASE("BoundedSchema: a check takes a bounded number of steps for any schema and value") {
  const std::string too_much = ": takes more than 100000 steps to check";
  CHECK(problem_of(R"({"items": {}})", "[" + repeated("1,", 100'000) + "1]") == too_much);
  CHECK(problem_of(R"({"additionalProperties": true, "required": ["a"]})",
                   "{\"a\":1" + repeated(",\"b\":1", 100'000) + "}") == too_much);
  CHECK(problem_of(R"({"uniqueItems": true})", "[" + repeated("{\"abcdefgh\":[1]},", 200'000) + "1]") ==
        too_much);
  // The steps double with each level, so a bound on the value's depth is not enough.
  const char* doubling =
      R"({"anyOf": [{"items": {"$ref": "#"}, "minItems": 1}, {"items": {"$ref": "#"}, "maxItems": 9}],
    "not": {"const": 7}})";
  CHECK(problem_of(doubling, repeated("[", 60) + "7" + repeated("]", 60)) == too_much);
  const char* excluding = R"({"not": {"not": {"anyOf": [{"items": {"$ref": "#"}, "maxItems": 0},
    {"items": {"$ref": "#"}, "maxItems": 0}]}}})";
  CHECK(problem_of(excluding, repeated("[", 99) + repeated("]", 99)) != "");
  // The whole long list has to be compared.
  CHECK(problem_of(R"({"enum": [[]]})", "[" + repeated("12345678901,", 300'000) + "1]") == too_much);
  // Each schema has to read all digits.
  CHECK(problem_of(R"({"allOf": [)" + repeated(R"({"type": "integer"},)", 300) + "true]}",
                   "1" + repeated("0", 100'000)) == too_much);
  json::SchemaLimits less;
  less.steps_max = 10;
  CHECK(problem_of(R"({"items": {}})", "[1,2,3]", less) == "");
  CHECK(problem_of(R"({"items": {}})", "[1,2,3,4,5,6,7,8,9,10]", less) ==
        ": takes more than 10 steps to check");
}

TEST_CASE("BoundedSchema: comparing with a constant takes no longer beside many other keywords") {
  test::check_growth("const", 7'000, [](std::size_t size) {
    const std::string schema = test::GrowingText{R"({"items":{"const":1,)", "\"#\":0", "}}"}.of(size);
    const std::string list = test::GrowingText{"[", "1", "]"}.of(size);
    return [checker = std::make_shared<BoundedSchema>(*BoundedSchema::parse(schema)), list] {
      CHECK_FALSE(checker->check_text(list));
    };
  });
}

TEST_CASE("BoundedSchema: a check's recursion is bounded") {
  std::string deep = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 30; ++i)
    deep += "\"d" + std::to_string(i) + R"(":{"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"},";
  deep += R"("d30":{"items":{"$ref":"#/$defs/d0"}}}})";
  CHECK(fault_of(deep) == "");
  CHECK(problem_of(deep, "[[[]]]") == "");
  CHECK(problem_of(deep, repeated("[", 90) + repeated("]", 90)) == ": is nested too deeply to be checked");
}

TEST_CASE("BoundedSchema: patterns match in bounded time, and those that RE2 refuses are not enforced") {
  const std::string text = "\"" + std::string(5'000, 'a') + "\"";
  // Takes exponential time in a backtracking matcher.
  CHECK(problem_of(R"({"pattern": "^(a+)+$"})", text) == "");
  CHECK(problem_of(R"({"pattern": "^(a|a)*b$"})", text) == ": must match the pattern ^(a|a)*b$");
  CHECK(problem_of(R"({"pattern": "(a|b)*a(a|b){200}c"})", "\"" + repeated("abbabaabab", 100'000) + "\"") ==
        ": takes more than 100000 steps to check");
  const std::vector<std::string> refused = {"(((a{100}){100}){100}){100}", "(?=a)b", "a(", "\\\\pL{1000}",
                                            std::string(513, 'a')};
  for (const std::string& pattern : refused) {
    CAPTURE(pattern);
    const auto schema = BoundedSchema::parse(R"({"items": {"pattern": ")" + pattern + R"("}})");
    REQUIRE(schema);
    REQUIRE(schema->unenforced().size() == 1);
    CHECK(schema->unenforced()[0].pointer == "/items/pattern");
    CHECK(schema->unenforced()[0].reason.starts_with("is not enforced: "));
    CHECK_FALSE(schema->check_text(R"(["anything"])"));
  }
  // Four billion repetitions are read as literal text or refused. The automaton is never built.
  const auto huge = BoundedSchema::parse(R"({"pattern": "a{4000000000}"})");
  REQUIRE(huge);
  CHECK(huge->check_text(R"("b")").has_value() == huge->unenforced().empty());
  std::string many;
  for (int i = 0; i < 1'500; ++i)
    many += (i > 0 ? "," : "") + std::string(R"({"pattern":"\\pL\\pN{50}a{900}"})");
  const auto heavy = BoundedSchema::parse("{\"allOf\":[" + many + "]}");
  REQUIRE(heavy);
  CHECK(heavy->unenforced().size() > 1'400);
  CHECK(heavy->unenforced().back().reason == "is not enforced: the schema's patterns are too complex");
}

TEST_CASE("BoundedSchema: keywords that depend on an unenforced pattern accept, also not and oneOf") {
  CHECK(problem_of(R"({"not": {"pattern": "(?=a)b"}})", R"("x")") == "");
  CHECK(problem_of(R"({"oneOf": [{"pattern": "(?=a)b"}, {"type": "string"}]})", R"("x")") == "");
  CHECK(problem_of(R"({"anyOf": [{"pattern": "(?=a)b"}, {"type": "null"}]})", R"("x")") == "");
  CHECK(problem_of(R"({"pattern": "(?=a)b", "maxLength": 1})", R"("xx")") ==
        ": must have at most 1 character");
}

TEST_CASE("BoundedSchema: pointers and values in reasons are cut") {
  const std::string name(50'000, 'n');
  const std::string problem = problem_of(R"({"additionalProperties": {"additionalProperties": false}})",
                                         "{\"" + name + "\": {\"" + name + "\": 1}}");
  CHECK(problem.size() < 500);
  CHECK(problem_of("{\"const\": \"" + name + "\"}", "1").size() < 500);
  CHECK(fault_of("{\"properties\": {\"" + name + "\": {\"properties\": {\"" + name.substr(0, 10'000) +
                 "\": 3}}}}")
            .size() < 600);
}

// The JSON value that the text is read as; "-" if the text has none; "?" if the schema gives texts none.
std::string read(const char* schema, const char* text) {
  const auto parsed = BoundedSchema::parse(schema);
  REQUIRE(parsed);
  const auto reading = parsed->reading();
  if (!reading) return "?";
  return reading->value(text).value_or("-");
}

TEST_CASE("BoundedSchema: a text is read as JSON if the schema makes it unambiguous") {
  const char* approved =
      R"({"type": "object", "properties": {"approved": {"type": "boolean"}, "note": {"type": "string"}},
    "required": ["approved"]})";
  CHECK(read(approved, " Yes\n") == R"({"approved":true})");
  CHECK(read(approved, "false") == R"({"approved":false})");
  CHECK(read(approved, "sure") == "-");
  CHECK(read(R"({"type": "boolean"})", "no") == "false");
  CHECK(read(R"({"type": "integer"})", "12") == "12");
  CHECK(read(R"({"type": "number"})", " 1.5e3 ") == "1.5e3");
  CHECK(read(R"({"type": "number"})", "many") == "-");
  CHECK(read(R"({"type": "string"})", " \"as\" it is") == R"(" \"as\" it is")");
  CHECK(read(R"({"enum": ["staging", "production", 3]})", "Staging") == R"("staging")");
  CHECK(read(R"({"enum": ["staging", "production", 3]})", "3") == "3");
  CHECK(read(R"({"enum": ["staging", "production", 3]})", "moon") == "-");
  CHECK(read(R"({"enum": ["a", "A"]})", "A") == R"("A")");
  CHECK(read(R"({"enum": ["ab", "AB"]})", "Ab") == "-");
  CHECK(read(R"({"enum": ["s", "p"], "enumNames": ["Staging", "Production"]})", "production") == R"("p")");
  CHECK(read(R"({"oneOf": [{"const": "s", "title": "Staging"}, {"const": "p", "title": "Production"}]})",
             "Staging") == R"("s")");
  CHECK(read(R"({"anyOf": [{"type": "boolean"}, {"type": "null"}]})", "yes") == "true");
  // A schema as pydantic writes it for a model with an enum.
  CHECK(
      read(
          R"({"$defs": {"E": {"enum": ["a", "b"], "type": "string"}}, "properties": {"e": {"allOf": [{"$ref": "#/$defs/E"}],
    "title": "E"}}, "required": ["e"], "type": "object"})",
          "b") == R"({"e":"b"})");
  for (const char* more :
       {R"({})", R"({"type": "object", "properties": {"approved": {"type": "boolean"}}})",
        R"({"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string"}, "b": {}}})",
        R"({"type": ["string", "integer"]})", R"({"type": "array"})", R"({"enum": [{"a": 1}]})",
        R"({"type": "object", "required": ["a"], "properties": {"a": {"type": "array"}}})",
        R"({"type": "object", "required": ["a"]})"}) {
    CAPTURE(more);
    CHECK(read(more, "yes") == "?");
  }
}

TEST_CASE("BoundedSchema: an example fits its schema") {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {R"({"type": "boolean"})", "true"},
      {R"({"type": "object", "required": ["environment", "replicas"], "properties": {"note": {"type": "string"},
           "environment": {"enum": ["staging"]}, "replicas": {"type": "integer", "minimum": 2}}})",
       R"({"environment":"staging","replicas":2})"},
      {R"({"type": "object", "properties": {"approved": {"type": "boolean"}}})", R"({"approved":true})"},
      {R"({"type": "array", "minItems": 2, "items": {"type": "string", "format": "date"}})",
       R"(["2026-01-31","2026-01-31"])"},
      {R"({"type": "string", "minLength": 5, "maxLength": 5})", R"(".....")"},
      {R"({"type": "number", "exclusiveMinimum": 0})", "1"},
      {R"({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"next": {"$ref": "#/$defs/A"}}, "required": []}}})",
       nullptr},
      {R"({"type": "string", "pattern": "^x[0-9]+$"})", ""},
  };
  for (const auto& [schema, example] : rows) {
    CAPTURE(schema);
    const auto parsed = BoundedSchema::parse(schema);
    REQUIRE(parsed);
    const std::string made = parsed->example();
    if (example != nullptr) CHECK(made == example);
    if (!made.empty()) CHECK_FALSE(parsed->check_text(made));
  }
}

}  // namespace
}  // namespace bounded_schema_test

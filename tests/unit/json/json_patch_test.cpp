#include "json/json_patch.h"

#include <doctest/doctest.h>

namespace json_patch_test {

using baton::json::Document;
using baton::json::is_patch;
using baton::json::patch_problem;

TEST_CASE("JSON Patch: complete operations with valid pointers are a patch") {
  CHECK(is_patch({"[]"}));
  CHECK(is_patch({R"([{"op":"add","path":"/a/-","value":null},{"op":"remove","path":""}])"}));
  CHECK(is_patch({R"([{"op":"move","from":"/a~1b","path":"/~0"},{"op":"copy","from":"","path":"/c"}])"}));
  CHECK(is_patch({R"([{"op":"replace","path":"/a","value":1,"x":2},{"op":"test","path":"/a","value":1}])"}));
}

TEST_CASE("JSON Patch: other texts are not a patch") {
  for (const char* text : {"", "{}", "[1]", R"([{"op":"add","path":"/a"}])", R"([{"op":"move","path":"/a"}])",
                           R"([{"op":"add","path":"a","value":1}])", R"([{"op":"remove","path":"/a~2"}])",
                           R"([{"op":"remove","path":"/a~"}])", R"([{"op":"drop","path":"/a"}])",
                           R"([{"op":"remove"}])", R"([{"path":"/a"}])", "[", "null"}) {
    CAPTURE(text);
    CHECK_FALSE(is_patch({text}));
  }
}

TEST_CASE("JSON Patch: a problem is reported with the number of its operation") {
  const auto problem = [](const char* text) { return patch_problem(Document::parse_view(text)->root()); };
  CHECK(problem(R"([{"op":"test","path":"","value":null}])") == "");
  CHECK(problem("{}") == "must be a list of JSON Patch operations");
  CHECK(problem("[1]") == "contains invalid operation 0: must be an object");
  CHECK(problem(R"([{"op":"remove","path":"/a"},{"op":"add","path":"/a"}])") ==
        "contains invalid operation 1: \"value\" is missing");
  CHECK(problem(R"([{"op":"copy","path":"/a","from":"b"}])") ==
        "contains invalid operation 0: \"from\" must be a JSON Pointer: empty, or beginning with /");
  CHECK(problem(R"([{"op":"drop","path":"/a"}])") ==
        "contains invalid operation 0: \"op\" must be add, remove, replace, move, copy or test");
}

}  // namespace json_patch_test

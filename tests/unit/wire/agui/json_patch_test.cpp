#include "wire/agui/json_patch.h"

#include <doctest/doctest.h>

using baton::wire::agui::is_patch;

TEST_CASE("JSON Patch: complete operations with pointers") {
  CHECK(is_patch({"[]"}));
  CHECK(is_patch({R"([{"op":"add","path":"/a/-","value":null},{"op":"remove","path":""}])"}));
  CHECK(is_patch({R"([{"op":"move","from":"/a~1b","path":"/~0"},{"op":"copy","from":"","path":"/c"}])"}));
  CHECK(is_patch({R"([{"op":"replace","path":"/a","value":1,"x":2},{"op":"test","path":"/a","value":1}])"}));
}

TEST_CASE("JSON Patch: anything else is none") {
  for (const char* text : {"", "{}", "[1]", R"([{"op":"add","path":"/a"}])", R"([{"op":"move","path":"/a"}])",
                           R"([{"op":"add","path":"a","value":1}])", R"([{"op":"remove","path":"/a~2"}])",
                           R"([{"op":"remove","path":"/a~"}])", R"([{"op":"drop","path":"/a"}])",
                           R"([{"op":"remove"}])", R"([{"path":"/a"}])"}) {
    CAPTURE(text);
    CHECK_FALSE(is_patch({text}));
  }
}

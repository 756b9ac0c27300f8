#include "agents/tool_names.h"

#include <doctest/doctest.h>

namespace baton::agents::tool_names_test {

TEST_CASE("ToolNames: names are safe, at most 64 bytes, and distinct however alike the wanted ones are") {
  ToolNames names;
  const std::string longest(64, 'x');
  CHECK(names.add("team.a") == "team_a");
  CHECK(names.add("team a") == "team_a_2");
  CHECK(names.add("team_a_2") == "team_a_2_2");
  CHECK(names.add(longest + "1") == longest);
  CHECK(names.add(longest + "2") == longest.substr(0, 62) + "_2");
  CHECK(names.add("\xC3\xA4\n") == "___");
}

}  // namespace baton::agents::tool_names_test

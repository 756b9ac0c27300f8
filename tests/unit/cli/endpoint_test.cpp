#include "cli/endpoint.h"

#include <doctest/doctest.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/load_config.h"
#include "cli/version.h"

namespace baton::cli::endpoint_test {
namespace {

TEST_CASE("Endpoint: an agent's URL is its place under the server's, whatever its name") {
  CHECK(endpoint_url("http://h:1", "") == "http://h:1/");
  CHECK(endpoint_url("http://h:1//", "") == "http://h:1/");
  CHECK(endpoint_url("http://h:1/base/", "echo") == "http://h:1/base/agents/echo");
  CHECK(endpoint_url("http://h:1", "a/../b c?") == "http://h:1/agents/a%2F..%2Fb%20c%3F");
}

TEST_CASE("Commands: the line that goes on names server and agent where they are not the usual ones") {
  CHECK(command_line({}, {"watch", "t1"}) == "baton watch t1");
  ClientOptions client;
  client.url = "http://h:1";
  client.agent = "table report";
  client.token = "secret";
  CHECK(command_line(client, {"send", "--task", "t'1", "YES"}) ==
        "baton send --task 't'\\''1' YES --url http://h:1 --agent 'table report'");
  client.a2a = "0.3";
  CHECK(command_line(client, {"get", "t1"}) ==
        "baton get t1 --url http://h:1 --agent 'table report' --a2a 0.3");
}

TEST_CASE("Exit codes: every state has its own meaning for a script") {
  CHECK(exit_code_for(task::State::completed) == 0);
  CHECK(exit_code_for(task::State::failed) == 1);
  CHECK(exit_code_for(task::State::rejected) == 1);
  CHECK(exit_code_for(task::State::input_required) == 3);
  CHECK(exit_code_for(task::State::auth_required) == 3);
  CHECK(exit_code_for(task::State::canceled) == 5);
  CHECK(exit_code_for(task::State::working) == 7);
}

TEST_CASE("Version: the program says what the build says") {
  const auto build = read_file(std::string(BATON_SOURCE_DIR) + "/CMakeLists.txt", 1 << 20);
  REQUIRE(build.has_value());
  CHECK(build->find("project(baton VERSION " + std::string(kVersion) + " ") != std::string::npos);
}

}  // namespace
}  // namespace baton::cli::endpoint_test

#include "cli/commands.h"

#include <doctest/doctest.h>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/ops_session.h"

namespace baton::cli::commands_test {
namespace {

TEST_CASE("Commands: the suggested next command names server and agent unless they are the defaults") {
  CHECK(command_line({}, {"watch", "t1"}) == "baton watch t1");
  ClientOptions client;
  client.url = "http://h:1";
  client.agent = "table report";
  client.access.token = "secret";
  CHECK(command_line(client, {"send", "--task", "t'1", "YES"}) ==
        "baton send --task 't'\\''1' YES --url http://h:1 --agent 'table report'");
  client.a2a = "0.3";
  CHECK(command_line(client, {"get", "t1"}) ==
        "baton get t1 --url http://h:1 --agent 'table report' --a2a 0.3");
}

TEST_CASE(
    "Commands: if no server listens at the default address, the error names the command that starts one") {
  const client::CallError nobody{.text = "the connection failed", .lost = true, .unsent = true};
  CHECK(describe(nobody, "http://127.0.0.1:8080/agents/echo") ==
        "http://127.0.0.1:8080/agents/echo: the connection failed; `baton dev` starts a server, and --url "
        "names another one");
  CHECK(describe(nobody, "http://h:1/") == "http://h:1/: the connection failed");
  CHECK(describe({.text = "it is busy", .lost = true, .status = 503, .unsent = true},
                 "http://127.0.0.1:8080/") == "http://127.0.0.1:8080/: it is busy");
}

TEST_CASE("Commands: words are taken as they are, also in square brackets") {
  std::vector<std::string> words;
  CLI::App command;
  add_words(command, "text", words, "The message");
  command.parse("[a,b] c []");
  CHECK(words == std::vector<std::string>{"[a,b]", "c", "[]"});
}

TEST_CASE("Operator's commands: an error about a member of the API names the option that the user typed") {
  CHECK(error_of_option("age_min_s: must be a whole number from 0 to 9") ==
        "--age: must be a whole number from 0 to 9");
  CHECK(error_of_option("attempts_min: is too long") == "--attempts: is too long");
  CHECK(error_of_option("overlapSeconds: must be less") == "--overlap: must be less");
  CHECK_FALSE(error_of_option("agent: is too long"));
  CHECK_FALSE(error_of_option("children of the task still run"));
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

}  // namespace
}  // namespace baton::cli::commands_test

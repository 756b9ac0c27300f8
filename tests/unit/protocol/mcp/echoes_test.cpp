#include "protocol/mcp/echoes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "protocol/chat/run_request.h"

namespace baton::protocol::mcp::echoes_test {
namespace {

bool is_one_visible_line(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

TEST_CASE("MCP: the state of a request comes back whole, or is refused") {
  const std::string state = make_request_state({{"a:task\n"}, "key.3"});
  CHECK(is_one_visible_line(state));
  const auto read = read_request_state(state);
  REQUIRE(read.has_value());
  CHECK(read->task.value == "a:task\n");
  CHECK(read->ask == "key.3");
  CHECK_FALSE(read_request_state(state + "x").has_value());
  CHECK_FALSE(read_request_state("x" + state).has_value());
  CHECK_FALSE(read_request_state("").has_value());
  CHECK_FALSE(read_request_state("::::::").has_value());
  CHECK_FALSE(read_request_state(std::string(100'000, 'a')).has_value());
}

TEST_CASE("MCP: the id of an event tells the call, its place and its progress on one line") {
  const std::string id = make_event_id({{"t\r\nid: 9"}, {12}, 3, R"("r:1")", "7"});
  CHECK(is_one_visible_line(id));
  const auto read = read_event_id(id);
  REQUIRE(read.has_value());
  CHECK(read->task.value == "t\r\nid: 9");
  CHECK(read->after == task::EventNumber{12});
  CHECK(read->number == 3);
  CHECK(read->request == R"("r:1")");
  CHECK(read->progress_token == "7");
}

TEST_CASE("MCP: an event id whose request is no id, or whose numbers are none, is refused") {
  CHECK(read_event_id("t:0:0:1:").has_value());
  for (const char* wrong : {"", "t", "t:0:0:1", ":0:0:1:", "t:-1:0:1:", "t:0:-1:1:", "t:x:0:1:", "t:0:0::",
                            "t:0:0:%7B%22a%22%3A%0A1%7D:", "t:0:0:1%0A:", "t:0:0:1:%0A2",
                            "t:0:0:null:", "t:0:0:%22%0A%22:", "t:0:99999999999999999999:1:",
                            "t:0:9223372036854775807:1:", "t:9223372036854775807:0:1:", "%FF:0:0:1:"}) {
    CAPTURE(wrong);
    CHECK_FALSE(read_event_id(wrong).has_value());
  }
}

TEST_CASE("MCP: a session's id tells what its client said, to the caller that began it only") {
  const std::string id = make_session_id({"2025-06-18", {true, true, false}}, "ann", "n1");
  CHECK(is_one_visible_line(id));
  const auto read = read_session_id(id, "ann");
  REQUIRE(read.has_value());
  CHECK(read->version == "2025-06-18");
  CHECK(read->client.forms);
  CHECK_FALSE(read->client.urls);
  CHECK_FALSE(read->client.tasks);
  CHECK(read->client.links);
  CHECK_FALSE(read_session_id(make_session_id({"2025-03-26", {}}, "ann", "n1"), "ann")->client.links);
  CHECK_FALSE(read_session_id(id, "bob").has_value());
  CHECK_FALSE(read_session_id(id + "0", "ann").has_value());
  CHECK_FALSE(read_session_id("unknown", "ann").has_value());
  CHECK(id != make_session_id({"2025-06-18", {true, true, false}}, "ann", "n2"));
}

TEST_CASE("MCP: the id of a question in a stream tells its task") {
  const std::string id = make_asking_id({{"t:1"}, "ask/2"});
  CHECK(is_one_visible_line(id));
  const auto read = read_asking_id(id);
  REQUIRE(read.has_value());
  CHECK(read->task.value == "t:1");
  CHECK(read->ask == "ask/2");
  const std::string longest(chat::kAskMax, '?'), task(chat::kIdMax, '?');
  CHECK(read_asking_id(make_asking_id({{task}, longest}))->ask == longest);
  CHECK(read_request_state(make_request_state({{task}, longest}))->ask == longest);
  CHECK_FALSE(read_asking_id("7").has_value());
  CHECK_FALSE(read_asking_id(":x").has_value());
}

}  // namespace
}  // namespace baton::protocol::mcp::echoes_test

#include "client/answers.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "json/document.h"

namespace baton::client::answers_test {
namespace {

// Half a surrogate pair, which Python and JavaScript write.
const std::string kTask =
    R"({"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"metadata":{"a":"\ud83d"}})";

std::string answer_with(const std::string& result) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + result + "}";
}

// Returns a member of the metadata in the text.
std::string said_in(std::string_view text) {
  const auto document = json::Document::view_of(text);
  return document.root()["metadata"]["a"].str();
}

TEST_CASE("Answers: an event with half a surrogate pair gives its result") {
  std::string result;
  StreamReading reading(
      protocol::a2a::client_dialect(task::ProtocolVersion::v0_3, protocol::Binding::json_rpc), false,
      [&](std::int64_t, std::string_view text) {
        result = text;
        return true;
      });
  std::vector<StreamReading::Event> events;
  CHECK(reading.feed("data: " + answer_with(kTask) + "\n\n", events));
  REQUIRE(events.size() == 1);
  CHECK(reading.deliver(events.front()));
  CHECK(said_in(result) == "\xef\xbf\xbd");
}

TEST_CASE("Answers: a stream passes over what is no event of the protocol, and shows the words of an error") {
  struct Row {
    std::string block, error;
  };
  const std::vector<Row> table{
      {"event: ping\ndata: {\"time\":1}\n\n", ""},
      {"event: heartbeat\ndata: 12:00\n\n", ""},
      {"event: heartbeat\ndata: {\"time\":1}\n\n", ""},
      {"event: failure\ndata: {\"error\":\"it broke\"}\n\n", "it broke"},
      {"data: [DONE]\n\n", ""},
      {"data: oops\n\n", "the stream contained an event that is not JSON"},
      {"event: error\ndata: oops\n\n", "the stream contained an event that is not JSON"},
      {R"(data: {"error":{"code":"-32603","message":"it broke"}})"
       "\n\n",
       "it broke"},
      {R"(data: {"error":{"message":"it broke"}})"
       "\n\n",
       "it broke"},
      {R"(data: {"error":"it broke"})"
       "\n\n",
       "it broke"},
      {"data: {}\n\n", "the answer has neither result nor error"},
  };
  outbound::HttpAnswer answer;
  answer.status = 200;
  answer.content_type = "text/event-stream";
  for (const Row& row : table) {
    CAPTURE(row.block);
    int results = 0;
    StreamReading reading(
        protocol::a2a::client_dialect(task::ProtocolVersion::v0_3, protocol::Binding::json_rpc), false,
        [&](std::int64_t, std::string_view) { return ++results > 0; });
    std::vector<StreamReading::Event> events;
    CHECK(reading.feed(row.block + "event: task\ndata: " + answer_with(kTask) + "\n\n", events));
    bool goes_on = true;
    for (const auto& event : events) goes_on = goes_on && reading.deliver(event);
    const StreamEnd end = reading.end(answer, {});
    CHECK((end.error ? end.error->text : "") == row.error);
    CHECK(results == (row.error.empty() ? 1 : 0));
  }
}

TEST_CASE("Answers: an update under a name of its own is not passed over because it is invalid") {
  const auto dialect = protocol::a2a::client_dialect(task::ProtocolVersion::v1_0, protocol::Binding::rest);
  std::vector<std::string> results;
  StreamReading reading(dialect, false, [&](std::int64_t, std::string_view result) {
    results.emplace_back(result);
    return true;
  });
  const std::string invalid = R"({"artifactUpdate":{"artifact":{"parts":7}}})";
  std::vector<StreamReading::Event> events;
  CHECK(reading.feed("event: update\ndata: " + invalid + "\n\nevent: beat\ndata: {\"time\":1}\n\n", events));
  for (const StreamReading::Event& event : events) CHECK(reading.deliver(event));
  CHECK(results == std::vector<std::string>{invalid});
}

TEST_CASE("Answers: an error that says the server is busy, by its status or its code, may pass") {
  struct Row {
    int status;
    std::int64_t code;
    bool may_pass, is_unsent;
  };
  const Row rows[] = {
      {429, -32603, true, true},   {429, -32029, true, true},   {503, -32603, true, true},
      {529, -32000, true, true},   {200, 429, true, true},      {200, 503, true, true},
      {200, 529, true, true},      {200, 502, true, false},     {502, -32603, true, false},
      {524, -32000, true, false},  {500, -32603, false, false}, {501, -32603, false, false},
      {502, -32006, false, false}, {200, -32603, false, false}, {200, 500, false, false},
      {400, -32602, false, false},
  };
  const auto dialect =
      protocol::a2a::client_dialect(task::ProtocolVersion::v0_3, protocol::Binding::json_rpc);
  for (const Row& row : rows) {
    CAPTURE(row.status);
    CAPTURE(row.code);
    const std::string body =
        R"({"jsonrpc":"2.0","id":1,"error":{"code":)" + std::to_string(row.code) + R"(,"message":"no"}})";
    outbound::HttpAnswer answer;
    answer.status = row.status;
    const CallError error = from_http(dialect.get(), answer, body);
    CHECK(error.lost == row.may_pass);
    CHECK(error.unsent == row.is_unsent);
    if (row.status != 200) continue;
    StreamReading reading(dialect, false, [](std::int64_t, std::string_view) { return true; });
    std::vector<StreamReading::Event> events;
    CHECK(reading.feed("data: " + body + "\n\n", events));
    CHECK_FALSE(reading.deliver(events.at(0)));
    const StreamEnd end = reading.end(answer, {});
    CHECK(end.error.value().lost == row.may_pass);
    CHECK(end.error.value().unsent == row.is_unsent);
  }
}

TEST_CASE("Answers: the last event counts without the empty line after it, unless it is cut off") {
  outbound::HttpAnswer whole;
  whole.status = 200;
  whole.content_type = "text/event-stream";
  const base::Result<outbound::HttpAnswer> lost =
      base::fail(base::ErrorCode::unavailable, "the connection was lost");
  const std::string first = "id: 1\ndata: " + answer_with(kTask) + "\n\nid: 2\n";
  const std::string last = "data: " + answer_with(kTask);
  struct Row {
    std::string bytes;
    base::Result<outbound::HttpAnswer> answer;
    int results = 0;
    std::int64_t number = 0;
  };
  const Row rows[] = {
      {first + last, whole, 2, 2},
      {first + last + "\n", whole, 2, 2},
      {first + last.substr(0, last.size() - 5), whole, 1, 1},
      {first, whole, 1, 1},
      {first + last, lost, 1, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    int results = 0;
    StreamReading reading(
        protocol::a2a::client_dialect(task::ProtocolVersion::v0_3, protocol::Binding::json_rpc), false,
        [&](std::int64_t, std::string_view) { return ++results > 0; });
    std::vector<StreamReading::Event> events;
    CHECK(reading.feed(row.bytes, events));
    reading.feed_end(row.answer, events);
    for (const auto& event : events) CHECK(reading.deliver(event));
    CHECK(results == row.results);
    const StreamEnd end = reading.end(row.answer, {});
    CHECK(end.error.has_value() == !row.answer.has_value());
    CHECK(end.last_number == row.number);
  }
}

TEST_CASE("Answers: a plain answer with half a surrogate pair gives its result") {
  for (const std::string half : {"\\ud83d", "\\udc00"}) {
    std::string task = kTask;
    task.replace(task.find("\\ud83d"), 6, half);
    outbound::HttpAnswer answer;
    answer.status = 200;
    answer.body = answer_with(task);
    const auto dialect =
        protocol::a2a::client_dialect(task::ProtocolVersion::v0_3, protocol::Binding::json_rpc);
    const auto result = result_in(*dialect, answer);
    REQUIRE(result);
    CHECK(said_in(result->text) == "\xef\xbf\xbd");
  }
}

}  // namespace
}  // namespace baton::client::answers_test

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
  CHECK(reading.take(events.front()));
  CHECK(said_in(result) == "\xef\xbf\xbd");
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

#include <doctest/doctest.h>

#include "protocol/chat/protocol.h"

namespace agent_server_request_test {

using namespace baton;
using task::Part;

namespace {

base::Result<protocol::chat::RunRequest> read(const std::string& body) {
  const auto document = json::Document::parse(body);
  REQUIRE_MESSAGE(document, body);
  return protocol::chat::make_agent_server_protocol("response")->read(document->root());
}

protocol::chat::RunRequest good(const std::string& body) {
  auto request = read(body);
  REQUIRE_MESSAGE(request, (request ? "" : request.error().for_caller));
  return std::move(*request);
}

protocol::chat::RunRequest with_input(const std::string& input) {
  return good(R"({"user_id":"wk","session_id":"002","input":)" + input + "}");
}

std::string problem(const std::string& body) {
  const auto request = read(body);
  REQUIRE_MESSAGE(!request, body);
  CHECK(request.error().code == base::ErrorCode::invalid_argument);
  return request.error().for_caller;
}

}  // namespace

TEST_CASE("Agent Server request: the seed's question is read with user, session and message") {
  const auto request = good(R"({
    "user_id": "wk",
    "session_id": "002",
    "input": [{"role": "user", "content": [{"type": "text", "text": "现在几点了"}]}]})");
  CHECK(request.conversation.value == "002");
  CHECK(request.message.role == task::Role::user);
  CHECK(request.message.parts == std::vector{Part::of_text("现在几点了")});
  CHECK(request.metadata.text == R"({"agent_server":{"user_id":"wk"}})");
  CHECK(request.tools.empty());
  CHECK(request.run.empty());
  CHECK_FALSE(request.history);
}

TEST_CASE("Agent Server request: content may be plain text, and the user's items are joined in order") {
  const auto request = with_input(R"([{"role":"user","content":"one"},
    {"role":"user","content":[{"type":"text","text":"two"},{"text":"three"}]}])");
  CHECK(request.message.parts ==
        std::vector{Part::of_text("one"), Part::of_text("two"), Part::of_text("three")});
}

TEST_CASE("Agent Server request: items of other roles become metadata unchanged") {
  const auto request = with_input(R"([{"role":"system","content":"Be kind."},{"role":"user","content":"hi"},
    {"role":"assistant","content":[{"type":"text","text":"yes"}]}])");
  CHECK(request.message.parts == std::vector{Part::of_text("hi")});
  CHECK(
      request.metadata.text ==
      R"({"agent_server":{"user_id":"wk","input":[{"role":"system","content":"Be kind."},{"role":"assistant","content":[{"type":"text","text":"yes"}]}]}})");
}

TEST_CASE("Agent Server request: images, files and data become parts, and unknown kinds data") {
  const auto request = with_input(R"([{"role":"user","content":[
    {"type":"image","image_url":"https://x.example/a.png"},{"type":"image","image_url":"data:image/png;base64,aGk="},
    {"type":"file","file_url":"https://x.example/b.pdf","filename":"b.pdf"},
    {"type":"data","data":{"n":1}},{"type":"hologram","x":1}]}])");
  const auto& parts = request.message.parts;
  REQUIRE(parts.size() == 5);
  CHECK(parts[0].kind == Part::Kind::url);
  CHECK(parts[0].content == "https://x.example/a.png");
  CHECK(parts[1].kind == Part::Kind::raw);
  CHECK(parts[1].content == "aGk=");
  CHECK(parts[1].media_type == "image/png");
  CHECK(parts[2].filename == "b.pdf");
  CHECK(parts[3] == Part::of_data({R"({"n":1})"}));
  CHECK(parts[4] == Part::of_data({R"({"type":"hologram","x":1})"}));
}

TEST_CASE("Agent Server request: errors name the wrong member") {
  const std::string who = R"({"user_id":"wk","session_id":"002",)";
  CHECK(problem("[]") == "body: must be an object");
  CHECK(problem(R"({"session_id":"s","input":[{"role":"user","content":"x"}]})") ==
        "user_id: must be a string");
  CHECK(problem(R"({"user_id":"","session_id":"s","input":[]})") == "user_id: must not be empty");
  CHECK(problem(R"({"user_id":"u","session_id":7,"input":[]})") == "session_id: must be a string");
  CHECK(problem(R"({"user_id":"u","session_id":")" + std::string(257, 'x') + R"(","input":[]})") ==
        "session_id: must not be longer than 256 bytes");
  CHECK(problem(R"({"user_id":"u","session_id":"s"})") == "input: must be a list with at least one message");
  CHECK(problem(who + R"("input":[]})") == "input: must be a list with at least one message");
  CHECK(problem(who + R"("input":"hi"})") == "input: must be a list with at least one message");
  CHECK(problem(who + R"("input":[1]})") == "input[0]: must be an object");
  CHECK(problem(who + R"("input":[{"content":"x"}]})") == "input[0].role: must be a string");
  CHECK(problem(who + R"("input":[{"role":"assistant","content":"x"}]})") ==
        "input: must have a user message");
  CHECK(problem(who + R"("input":[{"role":"user","content":[]}]})") == "input: must have a user message");
  CHECK(problem(who + R"("input":[{"role":"user"}]})").starts_with("input[0].content"));
  CHECK(problem(who + R"("input":[{"role":"user","content":[{"type":"text","text":1}]}]})")
            .starts_with("input[0].content[0].text"));
}

}  // namespace agent_server_request_test

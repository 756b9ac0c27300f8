#include "protocol/models/chat_completions/request.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "json/document.h"

namespace baton::protocol::models::chat_completions::request_test {
namespace {

using Role = ChatMessage::Role;
using Kind = task::Part::Kind;

ModelRequest request_of(ChatMessage message) {
  return {"m", {}, {std::move(message)}, {}};
}

// The JSON of the only message's content.
std::string content_of(ChatMessage message) {
  const std::string body = write_request(request_of(std::move(message)));
  const auto document = json::Document::parse_view(body);
  REQUIRE(document.has_value());
  return std::string((*(*document).root()["messages"].begin())["content"].raw());
}

task::Part file(Kind kind, std::string content, std::string type, std::string name = {}) {
  return {kind, std::move(content), std::move(name), std::move(type), {}};
}

}  // namespace

TEST_CASE("write_request: it requests a stream with usage") {
  CHECK(
      write_request(request_of(ChatMessage::of_text(Role::user, "hi"))) ==
      R"({"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}})");
}

TEST_CASE("write_request: parameters become members, except those that it sets itself") {
  ModelRequest request{
      "m", {R"({"temperature":0.5,"model":"x","stream":false,"stream_options":{}})"}, {}, {}};
  CHECK(write_request(request) ==
        R"({"model":"m","temperature":0.5,"stream_options":{},"messages":[],"stream":true})");
}

TEST_CASE("write_request: calls, results and tools") {
  ChatMessage said;
  said.role = Role::assistant;
  said.calls = {{"c1", "f", "{\"x\":1}"}};
  ChatMessage result = ChatMessage::of_text(Role::tool, "2");
  result.call_id = "c1";
  const ModelRequest request{
      "m", {}, {said, result}, {{"f", "does it", {R"({"type":"object"})"}}, {"g", "", {}}}};
  CHECK(
      write_request(request) ==
      R"({"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",)"
      R"("function":{"name":"f","arguments":"{\"x\":1}"}}]},{"role":"tool","content":"2","tool_call_id":"c1"}],)"
      R"("tools":[{"type":"function","function":{"name":"f","description":"does it","parameters":{"type":"object"}}},)"
      R"({"type":"function","function":{"name":"g","description":"","parameters":{"type":"object","properties":{}}}}],"stream":true,"stream_options":{"include_usage":true}})");
}

TEST_CASE("write_request: images of results follow all results of the round, as a message of the user") {
  ChatMessage said;
  said.role = Role::assistant;
  said.calls = {{"c1", "look", "{}"}, {"c2", "draw", "{}"}};
  ChatMessage first = ChatMessage::of_text(Role::tool, "two images");
  first.call_id = "c1";
  first.parts.push_back(file(Kind::raw, "AAAA", "image/png"));
  first.parts.push_back(file(Kind::raw, "BBBB", "image/gif"));
  ChatMessage second = ChatMessage::of_text(Role::tool, "one image");
  second.call_id = "c2";
  second.parts.push_back(file(Kind::raw, "CCCC", "image/png"));
  const std::string body =
      write_request({"m", {}, {said, first, second, ChatMessage::of_text(Role::user, "so?")}, {}});
  const auto document = json::Document::parse_view(body);
  REQUIRE(document.has_value());
  std::vector<std::string> messages;
  for (const json::Value message : document->root()["messages"]) messages.emplace_back(message.raw());
  REQUIRE(messages.size() == 5);
  CHECK(messages[1] == R"({"role":"tool","content":"two images","tool_call_id":"c1"})");
  CHECK(messages[2] == R"({"role":"tool","content":"one image","tool_call_id":"c2"})");
  CHECK(messages[3] == R"({"role":"user","content":[{"type":"text","text":"Image 1 of the result of look:"},)"
                       R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},)"
                       R"({"type":"text","text":"Image 2 of the result of look:"},)"
                       R"({"type":"image_url","image_url":{"url":"data:image/gif;base64,BBBB"}},)"
                       R"({"type":"text","text":"Image 1 of the result of draw:"},)"
                       R"({"type":"image_url","image_url":{"url":"data:image/png;base64,CCCC"}}]})");
  CHECK(messages[4] == R"({"role":"user","content":"so?"})");
}

TEST_CASE("write_request: text, data and text files are one string") {
  ChatMessage message = ChatMessage::of_text(Role::user, "a");
  message.parts.push_back(task::Part::of_data({"[1]"}));
  message.parts.push_back(file(Kind::raw, "YixjCg==", "text/csv; charset=utf-8", "t.csv"));
  CHECK(content_of(message) == R"("a\n[1]\nFile t.csv:\nb,c\n")");
}

TEST_CASE("write_request: images and PDF files are content parts") {
  ChatMessage message = ChatMessage::of_text(Role::user, "a");
  message.parts.push_back(file(Kind::raw, "AAAA", "image/png"));
  message.parts.push_back(file(Kind::url, "https://e/i", "image/jpeg"));
  message.parts.push_back(file(Kind::raw, "AAAA", "application/pdf", "r.pdf"));
  CHECK(
      content_of(message) ==
      R"([{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},)"
      R"({"type":"image_url","image_url":{"url":"https://e/i"}},)"
      R"({"type":"file","file":{"filename":"r.pdf","file_data":"data:application/pdf;base64,AAAA"}}])");
}

TEST_CASE("write_request: the parameters and the case of a media type do not matter") {
  ChatMessage message;
  message.parts.push_back(file(Kind::raw, "AAAA", "Image/PNG; name=x"));
  message.parts.push_back(file(Kind::raw, "AAAA", "Application/PDF; name=\"r.pdf\"", "r.pdf"));
  CHECK(content_of(message) ==
        R"([{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},)"
        R"({"type":"file","file":{"filename":"r.pdf","file_data":"data:application/pdf;base64,AAAA"}}])");
  ChatMessage text;
  text.parts.push_back(file(Kind::raw, "YixjCg==", "Text/CSV", "t.csv"));
  CHECK(content_of(text) == R"("File t.csv:\nb,c\n")");
}

TEST_CASE("write_request: a file that models cannot read becomes a note") {
  ChatMessage message;
  message.parts.push_back(file(Kind::raw, "AAAA", "application/zip", "a.zip"));
  message.parts.push_back(file(Kind::url, "https://e/f", ""));
  message.parts.push_back(file(Kind::raw, "/w==", "text/plain", "no-utf8"));
  CHECK(content_of(message) ==
        R"("[File a.zip, application/zip, 3 bytes, not shown]\n[File without a name: https://e/f]\n)"
        R"([File no-utf8, text/plain, 1 bytes, not shown]")");
}

TEST_CASE("write_request: an assistant's image becomes a note") {
  ChatMessage message;
  message.role = Role::assistant;
  message.parts.push_back(file(Kind::raw, "AAAA", "image/png", "i.png"));
  CHECK(content_of(message) == R"("[File i.png, image/png, 3 bytes, not shown]")");
}

}  // namespace baton::protocol::models::chat_completions::request_test

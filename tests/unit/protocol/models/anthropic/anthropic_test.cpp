#include <doctest/doctest.h>

#include <string>

#include "json/document.h"
#include "protocol/models/anthropic/answer.h"
#include "protocol/models/anthropic/request.h"

namespace baton::protocol::models::anthropic::anthropic_test {
namespace {

using Role = ChatMessage::Role;
using Kind = task::Part::Kind;

std::string messages_of(std::vector<ChatMessage> messages) {
  const std::string body = write_request({"m", {}, std::move(messages), {}});
  const auto document = json::Document::parse_view(body);
  REQUIRE(document.has_value());
  return std::string(document->root()["messages"].raw());
}

ChatMessage result(const std::string& id, const std::string& text) {
  ChatMessage message = ChatMessage::of_text(Role::tool, text);
  message.call_id = id;
  return message;
}

std::string start(int index, const std::string& block) {
  return R"({"type":"content_block_start","index":)" + std::to_string(index) + R"(,"content_block":)" +
         block + "}";
}

std::string words(int index, const std::string& type, const std::string& text) {
  return R"({"type":"content_block_delta","index":)" + std::to_string(index) + R"(,"delta":{"type":")" +
         type + R"(_delta",")" + type + R"(":")" + text + "\"}}";
}

}  // namespace

TEST_CASE("anthropic: system messages stand apart, and parameters set the limit of tokens") {
  CHECK(
      write_request({"m",
                     {R"({"max_tokens":5,"system":"x","thinking":{"type":"adaptive"}})"},
                     {ChatMessage::of_text(Role::system, "be kind"), ChatMessage::of_text(Role::user, "hi")},
                     {{"f", "", {}}}}) ==
      R"({"model":"m","max_tokens":5,"thinking":{"type":"adaptive"},"system":"be kind",)"
      R"("messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],)"
      R"("tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"stream":true})");
}

TEST_CASE("anthropic: results begin the user's turn, and blank texts are left out") {
  ChatMessage said = ChatMessage::of_text(Role::assistant, " \n");
  said.calls = {{"call:1", "f", "[1]"}};
  CHECK(
      messages_of({ChatMessage::of_text(Role::user, "a"), said, result("call:1", "r"),
                   ChatMessage::of_text(Role::user, "b")}) ==
      R"([{"role":"user","content":[{"type":"text","text":"a"}]},)"
      R"({"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"f","input":{}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"r"},{"type":"text","text":"b"}]}])");
  CHECK(messages_of({ChatMessage::of_text(Role::user, " ")}) ==
        R"json([{"role":"user","content":[{"type":"text","text":"(nothing)"}]}])json");
}

TEST_CASE("anthropic: a result with images is a list of blocks") {
  ChatMessage shown = result("c", "[image image/png, 3 bytes]");
  shown.parts.push_back({Kind::raw, "AAAA", "", "Image/PNG", {}});
  CHECK(messages_of({shown, result("d", "r")}) ==
        R"([{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[)"
        R"({"type":"text","text":"[image image/png, 3 bytes]"},)"
        R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},)"
        R"({"type":"tool_result","tool_use_id":"d","content":"r"}]}])");
}

TEST_CASE("anthropic: images and PDF files are blocks; images of other kinds are named") {
  ChatMessage message;
  message.parts.push_back({Kind::raw, "AAAA", "", "image/png", {}});
  message.parts.push_back({Kind::url, "https://e/i", "", "image/jpeg", {}});
  message.parts.push_back({Kind::raw, "AAAA", "r.pdf", "application/pdf", {}});
  message.parts.push_back({Kind::raw, "AAAA", "t.tiff", "image/tiff", {}});
  CHECK(
      messages_of({message}) ==
      R"([{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},)"
      R"({"type":"image","source":{"type":"url","url":"https://e/i"}},)"
      R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},"title":"r.pdf"},)"
      R"({"type":"text","text":"[File t.tiff, image/tiff, 3 bytes, not shown]"}]}])");
}

TEST_CASE("anthropic: the parameters and the case of a media type do not matter") {
  ChatMessage message;
  message.parts.push_back({Kind::raw, "AAAA", "", "Image/PNG; name=x", {}});
  message.parts.push_back({Kind::raw, "AAAA", "", "application/pdf; name=\"a.pdf\"", {}});
  CHECK(
      messages_of({message}) ==
      R"([{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},)"
      R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}])");
}

TEST_CASE("anthropic: a whole message is read as a finished answer") {
  Reader reader;
  const auto piece = reader.take(
      R"({"type":"message","role":"assistant","model":"claude","stop_reason":"tool_use","content":[
          {"type":"thinking","thinking":"Hm","signature":"s"},{"type":"text","text":"So"},
          {"type":"tool_use","id":"t","name":"f","input":{"a":1}}],"usage":{"input_tokens":2,"output_tokens":3}})");
  REQUIRE(piece);
  CHECK(piece->text == "So");
  CHECK(piece->reasoning == "Hm");
  CHECK(reader.calls() == std::vector<CalledTool>{{"t", "f", R"({"a":1})"}});
  CHECK(reader.end() == AnswerReader::End::whole);
}

TEST_CASE("anthropic: usage keeps what a later event leaves out, and adds what the cache did") {
  Reader reader;
  REQUIRE(
      reader.take(R"({"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}})"));
  REQUIRE(reader.take(R"({"type":"message_delta","delta":{},"usage":{"input_tokens":0,"output_tokens":4}})"));
  CHECK(reader.usage("p", "m").text ==
        R"({"provider":"p","model":"m","inputTokens":7,"outputTokens":4,"totalTokens":11})");
}

TEST_CASE("anthropic: pieces of a block that has not begun count, and so do unknown events") {
  Reader reader;
  for (const char* event :
       {R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}})",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}})",
        R"({"type":"ping"})", R"({"type":"message_stop"})"})
    REQUIRE(reader.take(event));
  CHECK(reader.text() == "a");
  CHECK(reader.end() == AnswerReader::End::whole);
}

TEST_CASE("anthropic: words in a block of another type are kept, in a block of their own") {
  Reader reader;
  std::string reasoning;
  for (const std::string& event :
       {start(0, R"({"type":"thinking","thinking":"","signature":""})"), words(0, "thinking", "Hm"),
        words(0, "text", "So "), words(0, "thinking", ""), words(0, "text", "it is."),
        std::string(R"({"type":"message_stop"})")}) {
    const auto piece = reader.take(event);
    REQUIRE(piece);
    reasoning += piece->reasoning;
  }
  CHECK(reader.text() == "So it is.");
  CHECK(reasoning == "Hm");
  ChatMessage said = ChatMessage::of_text(Role::assistant, reader.text());
  said.others = reader.others();
  CHECK(messages_of({said}) ==
        R"([{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":""},)"
        R"({"type":"text","text":"So it is."}]}])");
}

TEST_CASE("anthropic: the input of a tool may come whole, and again in pieces") {
  Reader reader;
  const std::string call = R"({"type":"tool_use","id":"t","name":"f","input":{"a":1}})";
  const std::string piece =
      R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":)";
  for (const std::string& event :
       {start(0, call), start(1, call), piece + R"(""}})", piece + R"("{\"a\":"}})", piece + R"("1}"}})",
        start(2, R"({"type":"mcp_tool_use","id":"m","name":"g","server_name":"s","input":{}})")})
    REQUIRE(reader.take(event));
  CHECK(reader.calls() == std::vector<CalledTool>{{"t", "f", R"({"a":1})"}, {"t", "f", R"({"a":1})"}});
  CHECK(reader.others().text.find(R"("id":"m","name":"g","input":{})") != std::string::npos);
}

TEST_CASE("anthropic: too many calls and too much to give back are refused") {
  Reader small({1'000});
  const std::string delta =
      R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":")" +
      std::string(500, 'x') + "\"}}";
  CHECK(small.take(delta));
  CHECK_FALSE(small.take(delta));
  Reader reader;
  const std::string call = R"({"type":"tool_use","id":"t","name":"f","input":{}})";
  for (int one = 0; one < 64; ++one) REQUIRE(reader.take(start(one, call)));
  CHECK_FALSE(reader.take(start(64, call)));
}

}  // namespace baton::protocol::models::anthropic::anthropic_test

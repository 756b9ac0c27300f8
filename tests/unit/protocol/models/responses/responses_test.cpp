#include <doctest/doctest.h>

#include <string>

#include "json/document.h"
#include "protocol/models/responses/answer.h"
#include "protocol/models/responses/request.h"

namespace baton::protocol::models::responses::responses_test {
namespace {

using Role = ChatMessage::Role;
using Kind = task::Part::Kind;

std::string input_of(std::vector<ChatMessage> messages, const std::string& parameters = "") {
  const std::string body = write_request({"m", {parameters}, std::move(messages), {}});
  const auto document = json::Document::parse_view(body);
  REQUIRE(document.has_value());
  return std::string(document->root()["input"].raw());
}

std::string item_done(const std::string& item) {
  return R"({"type":"response.output_item.done","item":)" + item + "}";
}

std::string text_delta(const std::string& text) {
  return R"({"type":"response.output_text.delta","delta":")" + text + "\"}";
}

}  // namespace

TEST_CASE("responses: the system prompt is the instructions, and other system messages are the developer's") {
  CHECK(write_request({"m",
                       {R"({"temperature":1,"model":"x","store":true,"include":[]})"},
                       {ChatMessage::of_text(Role::system, "be kind"), ChatMessage::of_text(Role::user, "hi"),
                        ChatMessage::of_text(Role::system, "be brief")},
                       {{"f", "does", {}}}}) ==
        R"({"model":"m","temperature":1,"store":true,"include":[],"instructions":"be kind",)"
        R"("input":[{"role":"user","content":"hi"},{"role":"developer","content":"be brief"}],)"
        R"("tools":[{"type":"function","name":"f","description":"does","strict":false,)"
        R"("parameters":{"type":"object","properties":{}}}],"stream":true})");
}

TEST_CASE("responses: images and PDF files are parts, by their bytes or their URLs") {
  ChatMessage message = ChatMessage::of_text(Role::user, "a");
  message.parts.push_back({Kind::raw, "AAAA", "", "image/png", {}});
  message.parts.push_back({Kind::url, "https://e/i", "", "image/jpeg", {}});
  message.parts.push_back({Kind::raw, "AAAA", "r.pdf", "application/pdf", {}});
  message.parts.push_back({Kind::url, "https://e/p", "", "application/pdf", {}});
  message.parts.push_back({Kind::raw, "AAAA", "z.zip", "application/zip", {}});
  CHECK(input_of({message}) ==
        R"([{"role":"user","content":[{"type":"input_text","text":"a"},)"
        R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AAAA"},)"
        R"({"type":"input_image","detail":"auto","image_url":"https://e/i"},)"
        R"({"type":"input_file","filename":"r.pdf","file_data":"data:application/pdf;base64,AAAA"},)"
        R"({"type":"input_file","file_url":"https://e/p"},)"
        R"({"type":"input_text","text":"[File z.zip, application/zip, 3 bytes, not shown]"}]}])");
}

TEST_CASE("responses: a result with images is a list of parts") {
  ChatMessage shown = ChatMessage::of_text(Role::tool, "[image image/png, 3 bytes]");
  shown.call_id = "c";
  shown.parts.push_back({Kind::raw, "AAAA", "", "image/png", {}});
  ChatMessage said = ChatMessage::of_text(Role::tool, "r");
  said.call_id = "d";
  CHECK(input_of({shown, said}) ==
        R"([{"type":"function_call_output","call_id":"c","output":[)"
        R"({"type":"input_text","text":"[image image/png, 3 bytes]"},)"
        R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AAAA"}]},)"
        R"({"type":"function_call_output","call_id":"d","output":"r"}])");
}

TEST_CASE("responses: a whole response is read as a finished answer") {
  Reader reader;
  const auto piece = reader.take(
      R"({"object":"response","status":"completed","model":"m-1","error":null,"output":[
          {"type":"reasoning","summary":[{"text":"a"},{"text":"b"}]},
          {"type":"message","content":[{"type":"output_text","text":"It "},{"type":"refusal","refusal":"is."}]}]})");
  REQUIRE(piece);
  CHECK(piece->reasoning == "a\n\nb");
  CHECK(reader.text() == "It is.");
  CHECK(reader.end() == AnswerReader::End::whole);
  CHECK(reader.is_over());
}

TEST_CASE("responses: several messages go back in their places, with what is not known of them") {
  Reader reader;
  for (const std::string& event :
       {text_delta("I lo"), text_delta("ok."),
        item_done(R"({"type":"message","id":"m1","phase":"commentary","content":[{"text":"I look."}]})"),
        item_done(R"({"type":"reasoning","id":"r","summary":[],"encrypted_content":"x"})"),
        item_done(R"({"type":"message","id":"m2","content":[{"type":"output_text","text":"So."}]})"),
        item_done(R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"})")})
    REQUIRE(reader.take(event));
  CHECK(reader.text() == "I look.So.");
  ChatMessage said = ChatMessage::of_text(Role::assistant, reader.text());
  said.others = reader.others();
  // The call was not made.
  CHECK(
      input_of({said}) ==
      R"([{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}],)"
      R"("id":"m1","phase":"commentary"},{"type":"reasoning","id":"r","summary":[],"encrypted_content":"x"},)"
      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"So.","annotations":[]}],"id":"m2"}])");
  // Another text, such as one from the history, takes the first place.
  said.parts.front().content = "Other";
  CHECK(input_of({said}).find(R"("So.")") == std::string::npos);
  CHECK(input_of({said}).find(R"("text":"Other","annotations":[]}],"id":"m1")") != std::string::npos);
}

TEST_CASE("responses: reasoning without content goes back only to a server that stores it") {
  Reader reader;
  REQUIRE(reader.take(item_done(R"({"type":"reasoning","id":"r","summary":[{"text":"a"}]})")));
  ChatMessage said = ChatMessage::of_text(Role::assistant, "x");
  said.others = reader.others();
  CHECK(input_of({said}) == R"([{"type":"message","role":"assistant","content":"x"}])");
  CHECK(input_of({said}, R"({"store":true})").find(R"("id":"r")") != std::string::npos);
}

TEST_CASE("responses: what members of other APIs' answers say stays out of a request") {
  ChatMessage said = ChatMessage::of_text(Role::assistant, "x");
  said.others = {R"({"reasoning_content":"hm","anthropic blocks":[{"members":{"type":"thinking"}}]})"};
  CHECK(input_of({said}) == R"([{"type":"message","role":"assistant","content":"x"}])");
}

TEST_CASE(
    "responses: an error event is read, whatever its form, and a stream that has not ended has no end") {
  for (const char* event :
       {R"({"type":"error","code":"server_error","message":"oops","param":null,"sequence_number":3})",
        R"({"type":"error","error":{"type":"server_error","message":"oops"}})",
        R"({"error":{"code":500,"message":"oops"}})"}) {
    CAPTURE(event);
    Reader reader;
    REQUIRE(reader.take(event));
    REQUIRE(reader.error());
    CHECK(reader.error()->message == "oops");
    CHECK(reader.error()->busy);
  }
  Reader reader;
  REQUIRE(reader.take(text_delta("x")));
  (void)reader.done();
  CHECK(reader.end() == AnswerReader::End::none);
}

TEST_CASE("responses: a completed text is shown once, whatever other events repeat it") {
  const std::string done = R"({"type":"response.output_text.done","text":"Yes"})";
  const std::string item = R"({"type":"message","content":[{"text":"Yes"}]})";
  const std::string end = R"({"type":"response.completed","response":{"status":"completed","output":[)";
  const std::vector<std::string> streams[] = {
      {text_delta("Ye"), text_delta("s"), done, item_done(item), end + item + "]}}"},
      {text_delta("Yes"), done, end + "]}}"},
      {text_delta("Yes"), end + item + "]}}"},
      {done, item_done(item), end + item + "]}}"},
      {done, end + item + "]}}"},
      {done, end + "]}}"},
  };
  for (const auto& stream : streams) {
    Reader reader;
    for (const std::string& event : stream) REQUIRE(reader.take(event));
    CHECK(reader.text() == "Yes");
    CHECK(reader.is_over());
  }
}

TEST_CASE("responses: calls that have begun are bounded, too") {
  Reader small({100});
  const std::string begun =
      R"({"type":"response.output_item.added","item":{"type":"function_call","name":"f"}})";
  const auto delta = [](std::size_t bytes) {
    return R"({"type":"response.function_call_arguments.delta","delta":")" + std::string(bytes, ' ') + "\"}";
  };
  REQUIRE(small.take(begun));
  REQUIRE(small.take(delta(10)));
  CHECK_FALSE(small.take(delta(100)));
  Reader reader;
  for (int one = 0; one < 64; ++one) REQUIRE(reader.take(begun));
  CHECK_FALSE(reader.take(begun));
}

TEST_CASE("responses: too many calls and too much to give back are refused") {
  Reader small({100});
  CHECK_FALSE(
      small.take(item_done(R"({"type":"reasoning","encrypted_content":")" + std::string(100, 'x') + "\"}")));
  Reader reader;
  const std::string call = item_done(R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"})");
  for (int one = 0; one < 64; ++one) REQUIRE(reader.take(call));
  CHECK_FALSE(reader.take(call));
}

}  // namespace baton::protocol::models::responses::responses_test

#include "protocol/a2a/v1_objects.h"

#include <doctest/doctest.h>

namespace v1_objects_test {

using namespace baton;
using json::Document;

namespace {

// Reads a message from JSON and writes it again.
std::string rewritten(const std::string& text) {
  const auto document = Document::parse(text);
  REQUIRE(document);
  task::TaskId task;
  task::ContextId context;
  const auto message = protocol::v1::read_message(document->root(), &task, &context);
  if (!message) return message.error().for_caller;
  std::string out;
  json::Writer writer(out);
  protocol::v1::write_message(writer, *message, task, context);
  return out;
}

}  // namespace

TEST_CASE("A2A 1.0 message: everything in it is written back, raw values byte for byte") {
  const std::string text =
      R"({"messageId":"m","contextId":"c","taskId":"t","role":"ROLE_AGENT","parts":[)"
      R"({"text":"hi","metadata":{ "k" : 1.0 }},{"raw":"aGk=","filename":"a","mediaType":"text/plain"},)"
      R"({"url":"https://x/y"},{"data":{ "n":123456789012345678901234567890 }},{"data":null}],)"
      R"("metadata":{"a": [ 1,2]},"extensions":["e"],"referenceTaskIds":["r1","r2"]})";
  CHECK(rewritten(text) == text);
}

TEST_CASE("A2A 1.0 message: other spellings are read") {
  CHECK(rewritten(R"({"message_id":"m","role":1,"parts":[{"raw":"-_8","media_type":"x/y","text":null}]})") ==
        R"({"messageId":"m","role":"ROLE_USER","parts":[{"raw":"+/8=","mediaType":"x/y"}]})");
  CHECK(rewritten(R"({"messageId":"m","role":1,"parts":[{"text":"a","data":null}]})") ==
        R"({"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]})");
}

TEST_CASE("A2A 1.0 message: errors name the wrong member") {
  CHECK(rewritten(R"({"parts":[{"text":"a"},{"text":"a","url":"b"}]})") ==
        "parts[1]: exactly one of text, raw, url and data is required");
  CHECK(rewritten(R"({"parts":[{"text":5}]})") == "parts[0]: text: must be a string");
  CHECK(rewritten(R"({"parts":[{"raw":"!"}]})") == "parts[0]: raw: is not base64");
  CHECK(rewritten(R"({"parts":[]})") == "parts: must have at least one part");
  CHECK(rewritten(R"({"role":"user","parts":[{"text":"a"}]})") ==
        "message.role: must be ROLE_USER or ROLE_AGENT");
  CHECK(rewritten(R"({"parts":[{"text":"a","metadata":3}]})") == "parts[0]: metadata: must be an object");
}

}  // namespace v1_objects_test

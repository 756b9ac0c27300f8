#include "protocol/agent_api/content.h"

#include "agent_api_bench.h"

namespace agent_api_content_test {

using namespace baton;
using namespace baton::test::agent_api;
using protocol::agent_api::read_content;
using protocol::agent_api::write_content;

namespace {

Part read(const std::string& json) {
  const Document document = parsed(json);
  auto part = read_content(document.root(), "input[0].content[0]");
  REQUIRE_MESSAGE(part, (part ? "" : part.error().for_caller));
  return std::move(*part);
}

std::string error(const std::string& json) {
  const Document document = parsed(json);
  const auto part = read_content(document.root(), "content[0]");
  if (part) return "";
  CHECK(part.error().code == base::ErrorCode::invalid_argument);
  return part.error().for_caller;
}

std::string written(const Part& part) {
  std::string json;
  json::Writer out(json);
  out.object([&] { write_content(out, part); });
  return json;
}

Part raw(std::string media_type, std::string base64) {
  return {Part::Kind::raw, std::move(base64), {}, std::move(media_type), {}};
}

Part url(std::string media_type, std::string place) {
  return {Part::Kind::url, std::move(place), {}, std::move(media_type), {}};
}

}  // namespace

TEST_CASE("Agent API content: each type is read as a part") {
  CHECK(read(R"({"type":"text","text":"hi"})") == Part::of_text("hi"));
  CHECK(read(R"({"type":"image","image_url":"https://x/cat"})") == url("image/*", "https://x/cat"));
  CHECK(read(R"({"type":"image","image_url":"data:image/png;base64,AAEC"})") == raw("image/png", "AAEC"));
  CHECK(read(R"({"type":"data","data":{"a":1.50}})") == Part::of_data({R"({"a":1.50})"}));
  CHECK(read(R"({"type":"audio","data":"AAEC","format":"wav"})") == raw("audio/wav", "AAEC"));
  CHECK(read(R"({"type":"audio","data":"AAEC","format":"mp3"})") == raw("audio/mpeg", "AAEC"));
  CHECK(read(R"({"type":"audio","data":"AAEC","format":"audio/ogg"})") == raw("audio/ogg", "AAEC"));
  CHECK(read(R"({"type":"audio","data":"https://x/a.wav","format":"wav"})") ==
        url("audio/wav", "https://x/a.wav"));
  CHECK(read(R"({"type":"audio","data":"data:audio/flac;base64,AAEC","format":"x"})") ==
        raw("audio/flac", "AAEC"));
  CHECK(read(R"({"type":"video","video_url":"https://x/v.mp4"})") == url("video/*", "https://x/v.mp4"));
  CHECK(read(R"({"type":"video","video_url":"data:video/mp4;base64,AAEC"})") == raw("video/mp4", "AAEC"));
  Part refusal = Part::of_text("no");
  refusal.metadata.text = R"({"refusal":true})";
  CHECK(read(R"({"type":"refusal","refusal":"no"})") == refusal);
}

TEST_CASE("Agent API content: a file is read by its bytes, else by its URL, else by its id") {
  Part pdf = raw("application/pdf", "AAEC");
  pdf.filename = "a.pdf";
  CHECK(read(R"({"type":"file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAEC"})") == pdf);
  CHECK(read(R"({"type":"file","filename":"a.pdf","file_data":"AAEC","media_type":"application/pdf",
                 "file_url":"https://x/a.pdf","file_id":"f1"})") == pdf);
  CHECK(read(R"({"type":"file","file_data":"AAEC","file_url":null})") ==
        raw("application/octet-stream", "AAEC"));
  CHECK(read(R"({"type":"file","file_url":"https://x/a.pdf","file_id":"f1"})") == url("", "https://x/a.pdf"));
  Part stored = Part::of_data({R"({"file":{"id":"f1"}})"});
  stored.filename = "a.pdf";
  CHECK(read(R"({"type":"file","file_id":"f1","filename":"a.pdf"})") == stored);
}

TEST_CASE("Agent API content: data URLs with parameters, without base64 and in capitals are read") {
  CHECK(read(R"({"type":"file","file_data":"data:text/plain;charset=utf-8;base64,aGk="})") ==
        raw("text/plain;charset=utf-8", "aGk="));
  CHECK(read(R"({"type":"file","file_data":"DATA:text/plain,h%69"})") == raw("text/plain", "aGk="));
  CHECK(read(R"({"type":"image","image_url":"data:;base64,aGk"})") == raw("image/*", "aGk="));
}

TEST_CASE("Agent API content: items without a type or of unknown types are read") {
  CHECK(read(R"("hi")") == Part::of_text("hi"));
  CHECK(read(R"({"text":"hi"})") == Part::of_text("hi"));
  CHECK(read(R"({"type":"text","text":null})") == Part::of_text(""));
  CHECK(read(R"({"type":"image","image_url":{"url":"https://x/cat"}})") == url("image/*", "https://x/cat"));
  CHECK(read(R"({"type":"hologram","ray":1})") == Part::of_data({R"({"type":"hologram","ray":1})"}));
}

TEST_CASE("Agent API content: errors name the member") {
  CHECK(error("7") == "content[0] must be an object");
  CHECK(error(R"({"type":7})") == "content[0].type must be a string");
  CHECK(error(R"({"type":"text","text":7})") == "content[0].text must be a string");
  CHECK(error(R"({"type":"image"})") == "content[0].image_url is missing");
  CHECK(error(R"({"type":"image","image_url":""})") == "content[0].image_url must not be empty");
  CHECK(error(R"({"type":"image","image_url":7})") == "content[0].image_url must be a string");
  CHECK(error(R"({"type":"image","image_url":"data:image/png"})") ==
        "content[0].image_url is not a data URL");
  CHECK(error(R"({"type":"image","image_url":"data:image/png;base64,%"})") ==
        "content[0].image_url is not a data URL");
  CHECK(error(R"({"type":"audio","data":"A*","format":"wav"})") == "content[0].data must be a URL or base64");
  CHECK(error(R"({"type":"audio","data":"AAEC","format":1})") == "content[0].format must be a string");
  CHECK(error(R"({"type":"data"})") == "content[0].data is missing");
  CHECK(error(R"({"type":"file","filename":"a"})") ==
        "content[0].file_data is missing; one of file_data, file_url and file_id is required");
  CHECK(error(R"({"type":"file","filename":1})") == "content[0].filename must be a string");
  CHECK(error(R"({"type":"refusal","refusal":[]})") == "content[0].refusal must be a string");
}

TEST_CASE("Agent API content: each kind of part is written by its media type") {
  CHECK(written(Part::of_text("hi")) == R"({"type":"text","text":"hi"})");
  CHECK(written(raw("image/png", "AAEC")) == R"({"type":"image","image_url":"data:image/png;base64,AAEC"})");
  CHECK(written(url("image/png", "https://x/c")) == R"({"type":"image","image_url":"https://x/c"})");
  CHECK(written(raw("audio/x-wav", "AAEC")) == R"({"type":"audio","data":"AAEC","format":"wav"})");
  CHECK(written(url("audio/mpeg", "https://x/a")) ==
        R"({"type":"audio","data":"https://x/a","format":"mp3"})");
  CHECK(written(raw("video/mp4", "AAEC")) == R"({"type":"video","video_url":"data:video/mp4;base64,AAEC"})");
  Part pdf = raw("application/pdf", "AAEC");
  pdf.filename = "a.pdf";
  CHECK(written(pdf) ==
        R"({"type":"file","file_data":"AAEC","filename":"a.pdf","media_type":"application/pdf"})");
  CHECK(written(url("", "https://x/f")) == R"({"type":"file","file_url":"https://x/f"})");
}

TEST_CASE("Agent API content: data is always written as an object") {
  CHECK(written(Part::of_data({R"({"a":1})"})) == R"({"type":"data","data":{"a":1}})");
  CHECK(written(Part::of_data({R"( {"a":1})"})) == R"({"type":"data","data": {"a":1}})");
  CHECK(written(Part::of_data({"[1]"})) == R"({"type":"data","data":{"value":[1]}})");
  CHECK(written(Part::of_data({"null"})) == R"({"type":"data","data":{"value":null}})");
}

TEST_CASE("Agent API content: written content is read as the same part") {
  const std::vector<Part> parts{
      Part::of_text("hi"),
      Part::of_data({R"({"a":1})"}),
      raw("image/png", "AAEC"),
      url("image/*", "https://x/c"),
      raw("audio/mpeg", "AAEC"),
      raw("audio/*", "AAEC"),
      url("audio/wav", "https://x/a"),
      raw("video/mp4", "AAEC"),
      raw("application/pdf", "AAEC"),
      {Part::Kind::url, "https://x/f", "f.txt", "text/plain", {}},
      {Part::Kind::text, "no", "", "", {R"({"refusal":true})"}},
  };
  for (const Part& part : parts) {
    CAPTURE(written(part));
    CHECK(read(written(part)) == part);
  }
}

}  // namespace agent_api_content_test

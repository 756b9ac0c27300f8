#include "http/accept.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace accept_test {

using namespace baton::http;

namespace {

constexpr std::string_view kStream = "text/event-stream", kJson = "application/json",
                           kA2a = "application/a2a+json";

Request request_with(const std::vector<std::string>& accepts) {
  Request request;
  for (const std::string& accept : accepts) request.headers.emplace_back("accept", accept);
  return request;
}

std::string of_json_and_stream(const std::string& accept) {
  return std::string(preferred_type(request_with({accept}), {kJson, kStream}));
}

}  // namespace

TEST_CASE("Accept: without a header or with */* the server's first offer is chosen") {
  CHECK(preferred_type(request_with({}), {kJson, kStream}) == kJson);
  CHECK(preferred_type(request_with({"*/*"}), {kStream, kJson}) == kStream);
  CHECK(preferred_type(request_with({""}), {kJson, kStream}) == kJson);
}

TEST_CASE("Accept: with equal weights a named type is preferred to one covered by a wildcard") {
  CHECK(of_json_and_stream("*/*, text/event-stream") == kStream);
  CHECK(of_json_and_stream("text/event-stream, */*") == kStream);
  CHECK(of_json_and_stream("TEXT/Event-Stream") == kStream);
  CHECK(of_json_and_stream("text/event-stream, application/json") == kJson);
  CHECK(of_json_and_stream("text/*, application/*") == kJson);
}

TEST_CASE("Accept: weights decide, and a type's weight is that of its most specific range") {
  CHECK(of_json_and_stream("application/json;q=0.5, text/event-stream;q=0.6") == kStream);
  CHECK(of_json_and_stream("application/json ; Q=0.875, text/event-stream;q=0.87") == kJson);
  CHECK(of_json_and_stream("text/event-stream;q=0.1, */*;q=0.9") == kJson);
  CHECK(of_json_and_stream("*/*;q=0.9, application/*;q=0.2") == kStream);
  CHECK(of_json_and_stream("application/json;q=0, */*") == kStream);
  CHECK(of_json_and_stream("application/json;q=0.000, text/event-stream;q=0").empty());
  CHECK(of_json_and_stream("text/html").empty());
}

TEST_CASE("Accept: several headers are read as one list") {
  CHECK(preferred_type(request_with({"text/html", "text/event-stream"}), {kJson, kStream}) == kStream);
  CHECK(preferred_type(request_with({"application/json;q=0.1", "application/a2a+json"}), {kJson, kA2a}) ==
        kA2a);
}

TEST_CASE("Accept: parameters are ignored, also with separators in quotes") {
  CHECK(of_json_and_stream("text/event-stream; charset=utf-8") == kStream);
  CHECK(of_json_and_stream(R"(text/event-stream;a="1;q=0, application/json";q=0.5)") == kStream);
  CHECK(of_json_and_stream(R"(text/event-stream;a="\", application/json")") == kStream);
}

TEST_CASE("Accept: a malformed member is ignored, and alone it allows everything") {
  CHECK(of_json_and_stream("text/event-stream;q=2, application/json;q=0.1") == kJson);
  for (const char* bad : {"text/event-stream;q=x", "text/event-stream;q=0.1234", "text/event-stream;q",
                          ";q=1", "text", "text/", "/event-stream", ",,", "text/event stream", "\""}) {
    CAPTURE(bad);
    CHECK(of_json_and_stream(bad) == kJson);
  }
}

TEST_CASE("Accept: a type counts as named only without wildcards and with a weight above 0") {
  CHECK(names_type(request_with({"*/*", "application/json;q=0.1"}), kJson));
  CHECK_FALSE(names_type(request_with({"*/*, application/*"}), kJson));
  CHECK_FALSE(names_type(request_with({"application/json;q=0"}), kJson));
  CHECK_FALSE(names_type(request_with({}), kJson));
}

}  // namespace accept_test

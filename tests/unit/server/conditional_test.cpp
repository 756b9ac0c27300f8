#include "server/show/conditional.h"

#include <doctest/doctest.h>

namespace conditional_test {

using namespace baton;
using server::conditional_reply;
using server::HttpTime;

namespace {

constexpr HttpTime kModified{std::chrono::seconds(784111777)};
constexpr const char* kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

std::string header_of(const http::Reply& reply, std::string_view wanted) {
  for (const auto& [name, value] : reply.headers) {
    if (name == wanted) return value;
  }
  return {};
}

http::Request asking(std::vector<std::pair<std::string, std::string>> headers) {
  http::Request request;
  request.method = "GET";
  request.headers = std::move(headers);
  return request;
}

int status_for(std::vector<std::pair<std::string, std::string>> headers, HttpTime modified = kModified) {
  return conditional_reply(asking(std::move(headers)), "body", modified).status;
}

}  // namespace

TEST_CASE("Conditional reply: the whole body has a strong ETag of its bytes and its date") {
  const auto reply = conditional_reply(asking({}), "body", kModified);
  CHECK(reply.status == 200);
  CHECK(reply.body == "body");
  const std::string etag = header_of(reply, "ETag");
  CHECK(etag.front() == '"');
  CHECK(etag.back() == '"');
  CHECK(etag == header_of(conditional_reply(asking({}), "body", {}), "ETag"));
  CHECK(etag != header_of(conditional_reply(asking({}), "bodY", kModified), "ETag"));
  CHECK(header_of(reply, "Last-Modified") == kDate);
}

TEST_CASE("Conditional reply: 304 without a body for a tag that is listed, weak or any") {
  const std::string etag = header_of(conditional_reply(asking({}), "body", {}), "ETag");
  for (const std::string& tags :
       {etag, "W/" + etag, "\"x\", " + etag, std::string("*"), "\"x\",W/" + etag + " "}) {
    CAPTURE(tags);
    const auto reply = conditional_reply(asking({{"if-none-match", tags}}), "body", kModified);
    CHECK(reply.status == 304);
    CHECK(reply.body.empty());
    CHECK(reply.content_type.empty());
    CHECK(header_of(reply, "ETag") == etag);
    CHECK(header_of(reply, "Last-Modified") == kDate);
  }
  CHECK(status_for({{"If-None-Match", "\"x\""}, {"If-None-Match", etag}}) == 304);
  CHECK(status_for({{"If-None-Match", "\"x\", W/\"y\","}}) == 200);
  CHECK(status_for({{"If-None-Match", etag.substr(1, etag.size() - 2)}}) == 200);
}

TEST_CASE("Conditional reply: a date matches from the second of the change on, and only without tags") {
  CHECK(status_for({{"If-Modified-Since", kDate}}) == 304);
  CHECK(status_for({{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:38 GMT"}}) == 304);
  CHECK(status_for({{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"}}) == 200);
  CHECK(status_for({{"If-Modified-Since", "yesterday"}}) == 200);
  CHECK(status_for({{"If-Modified-Since", std::string(kDate) + " or so"}}) == 200);
  CHECK(status_for({{"If-Modified-Since", kDate}, {"If-None-Match", "\"x\""}}) == 200);
}

TEST_CASE("Conditional reply: if the date is unknown none is sent or compared") {
  CHECK(status_for({{"If-Modified-Since", kDate}}, HttpTime{}) == 200);
  CHECK(header_of(conditional_reply(asking({}), "body", HttpTime{}), "Last-Modified").empty());
}

}  // namespace conditional_test

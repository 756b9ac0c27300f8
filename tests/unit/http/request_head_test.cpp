#include "http/request_head.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace request_head_test {

using baton::http::HeadParser;
using baton::http::Limits;
using baton::http::ParsedRequest;
using baton::http::Refusal;
using baton::http::Request;
using Pairs = std::vector<std::pair<std::string, std::string>>;

namespace {

std::optional<Refusal> parse(std::string_view request_line, const std::vector<std::string_view>& headers,
                             ParsedRequest& parsed) {
  HeadParser parser;
  if (auto refusal = parser.add_request_line(request_line, parsed)) return refusal;
  for (const std::string_view line : headers) {
    if (auto refusal = parser.add_header_line(line, parsed, Limits())) return refusal;
  }
  return parser.finish(parsed);
}

Request accepted(std::string_view request_line, const std::vector<std::string_view>& headers = {"Host: h"}) {
  ParsedRequest parsed;
  CAPTURE(request_line);
  REQUIRE_FALSE(parse(request_line, headers, parsed));
  return parsed.request;
}

int refused(std::string_view request_line, const std::vector<std::string_view>& headers = {"Host: h"}) {
  ParsedRequest parsed;
  const auto refusal = parse(request_line, headers, parsed);
  return refusal ? refusal->status : 0;
}

}  // namespace

TEST_CASE("HeadParser: path and query are decoded, and the path is also kept as received") {
  const Request request = accepted("POST /a%20b/%C3%A4+c?x=1%262&y=a+b&z HTTP/1.1");
  CHECK(request.method == "POST");
  CHECK(request.path == "/a b/\xc3\xa4+c");
  CHECK(request.raw_path == "/a%20b/%C3%A4+c");
  CHECK(request.query == Pairs{{"x", "1&2"}, {"y", "a b"}, {"z", ""}});
}

TEST_CASE("HeadParser: a query keeps its order, repeated names and separators within values") {
  const auto query = [](const std::string& text) { return accepted("GET /?" + text + " HTTP/1.1").query; };
  CHECK(query("b=1&a=2&b=3") == Pairs{{"b", "1"}, {"a", "2"}, {"b", "3"}});
  CHECK(query("a=b?c") == Pairs{{"a", "b?c"}});
  CHECK(query("token=YQ==&n=1") == Pairs{{"token", "YQ=="}, {"n", "1"}});
  CHECK(query("&&=x&a=") == Pairs{{"a", ""}});
  CHECK(query("").empty());
}

TEST_CASE("HeadParser: an invalid percent escape is kept") {
  const Request request = accepted("GET /100%/%zz%4?a=%&b=%2 HTTP/1.1");
  CHECK(request.path == "/100%/%zz%4");
  CHECK(request.query == Pairs{{"a", "%"}, {"b", "%2"}});
}

TEST_CASE("HeadParser: header values are trimmed, not decoded, and keep their order") {
  const Request request =
      accepted("GET / HTTP/1.1", {"X-One: \t v w\t ", "Authorization: Bearer a%2Fb%", "Host:h", "x-one:2"});
  CHECK(request.headers ==
        Pairs{{"X-One", "v w"}, {"Authorization", "Bearer a%2Fb%"}, {"Host", "h"}, {"x-one", "2"}});
  CHECK(request.header("x-ONE") == "v w");
  CHECK(request.header("absent").empty());
}

TEST_CASE("HeadParser: headers about the body's length and the connection are removed") {
  const Request request = accepted("POST / HTTP/1.1", {"Host: h", "Connection: close", "Expect: 100-continue",
                                                       "Content-Length: 9", "Range: bytes=0-1"});
  CHECK(request.headers == Pairs{{"Host", "h"}, {"Range", "bytes=0-1"}});
}

TEST_CASE("HeadParser: any token is accepted as a method") {
  CHECK(accepted("BREW / HTTP/1.1").method == "BREW");
  CHECK(accepted("post / HTTP/1.1").method == "post");
  for (const char* line : {"G(T / HTTP/1.1", " / HTTP/1.1", "G\xc3\x84T / HTTP/1.1", "GET:/ / HTTP/1.1"}) {
    CAPTURE(line);
    CHECK(refused(line) == 400);
  }
}

TEST_CASE("HeadParser: an absolute target gives the same request as its path") {
  CHECK(accepted("GET http://example.org:80/p%41?a=b HTTP/1.1", {"Host: example.org:80"}).path == "/pA");
  CHECK(accepted("GET HTTPS://h/p HTTP/1.1").raw_path == "/p");
  CHECK(accepted("GET http://h HTTP/1.1").path == "/");
  const Request request = accepted("GET http://h?u=http://x HTTP/1.1");
  CHECK(request.path == "/");
  CHECK(request.query == Pairs{{"u", "http://x"}});
}

TEST_CASE("HeadParser: an absolute target must have the same host as Host") {
  CHECK(accepted("GET http://EXAMPLE.org/ HTTP/1.1", {"Host: example.ORG"}).path == "/");
  for (const char* host : {"Host: other.org", "Host: example.org:80", "Host: example.org.", "Host:"}) {
    CAPTURE(host);
    CHECK(refused("GET http://example.org/ HTTP/1.1", {host}) == 400);
  }
  CHECK(refused("GET http://example.org/ HTTP/1.1", {}) == 400);
  // HTTP/1.0 needs no Host; the target's host is then the only one.
  CHECK(accepted("GET http://example.org/ HTTP/1.0", {}).header("Host") == "example.org");
}

TEST_CASE("HeadParser: targets of an unknown form are refused") {
  for (const char* target :
       {"nowhere", "?a=b", "*x", "example.com:443", "http:///p", "http://", "http://?", "ftp://h/p",
        "http:/h/p", "http://u@h/", "http://h\\@x/", "http://h#x", "/p#x", "/p?a#x", "file:///etc/passwd"}) {
    CAPTURE(target);
    CHECK(refused("GET " + std::string(target) + " HTTP/1.1") == 400);
  }
  CHECK(accepted("OPTIONS * HTTP/1.1").path == "*");
  CHECK(refused("GET * HTTP/1.1") == 400);
  CHECK(refused("CONNECT h:443 HTTP/1.1") == 400);
}

TEST_CASE("HeadParser: a Host that is not an authority is refused") {
  for (const char* host :
       {"Host: a b", "Host: a/b", "Host: a@b", "Host: a?b", "Host: a\\b", "Host: \xc3\xa4"}) {
    CAPTURE(host);
    CHECK(refused("GET / HTTP/1.1", {host}) == 400);
  }
  for (const char* host : {"Host:", "Host: [::1]:80", "Host: xn--4ca.example.", "Host: a_b-c:1"}) {
    CAPTURE(host);
    CHECK(refused("GET / HTTP/1.1", {host}) == 0);
  }
}

}  // namespace request_head_test

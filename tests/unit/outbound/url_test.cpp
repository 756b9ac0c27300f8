#include <doctest/doctest.h>

#include <string>

#include "outbound/http_client.h"

namespace url_test {

using baton::base::ErrorCode;
using baton::outbound::parse_url;

TEST_CASE("parse_url: the parts of a URL are found") {
  struct Row {
    const char* text;
    const char* scheme;
    const char* host;
    int port;
    const char* target;
  };
  constexpr Row kRows[] = {
      {"http://example.com", "http", "example.com", 80, "/"},
      {"https://example.com/", "https", "example.com", 443, "/"},
      {"HTTP://Example.COM:8080/A/b?c=d&e=%20", "http", "example.com", 8080, "/A/b?c=d&e=%20"},
      {"https://example.com?x=1", "https", "example.com", 443, "/?x=1"},
      {"https://example.com/a#fragment", "https", "example.com", 443, "/a"},
      {"https://example.com#@elsewhere/", "https", "example.com", 443, "/"},
      {"http://[::1]:81/x", "http", "::1", 81, "/x"},
      {"http://[2001:DB8::1]", "http", "2001:db8::1", 80, "/"},
      {"http://[::ffff:127.0.0.1]/", "http", "::ffff:127.0.0.1", 80, "/"},
      {"http://a_b-c.example./", "http", "a_b-c.example.", 80, "/"},
      {"http://2130706433/", "http", "2130706433", 80, "/"},
      {"http://h/user@name:p", "http", "h", 80, "/user@name:p"},
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.text));
    const auto url = parse_url(row.text);
    REQUIRE(url.has_value());
    CHECK(url->scheme == row.scheme);
    CHECK(url->host == row.host);
    CHECK(url->port == row.port);
    CHECK(url->target == row.target);
  }
}

TEST_CASE("parse_url: anything but an absolute http or https URL is refused") {
  const std::string rows[] = {
      "",
      "example.com",
      "/path",
      "//example.com/",
      "ftp://example.com/",
      "file:///etc/passwd",
      "http:/example.com",
      "http://",
      "http:///path",
      "http://:80/",
      "http://user@example.com/",
      "http://user:secret@example.com/",
      "http://example.com@elsewhere.example/",
      "http://example.com\\@elsewhere.example/",
      "http://example.com:/",
      "http://example.com:0/",
      "http://example.com:65536/",
      "http://example.com:80a/",
      "http://example.com:-1/",
      "http://example.com:80:80/",
      "http://exam ple.com/",
      "http://example.com/a b",
      "http://example.com/\r\nHost: elsewhere",
      "http://example.com/\n",
      " http://example.com/",
      "http://example.com/\t",
      std::string("http://example.com/\0", 20),
      "http://ex%61mple.com/",
      "http://ex\xc3\xa4mple.com/",
      "http://[::1",
      "http://[::1]x/",
      "http://[::1]x80/",
      "http://printer../",
      "http://a..example.org/",
      "http://.example.org/",
      "http://./",
      "http://[localhost]/",
      "http://[fe80::1%25eth0]/",
      "http://::1/",
      "http://" + std::string(254, 'a') + "/",
      "http://example.com/" + std::string(8192, 'a'),
  };
  for (const std::string& row : rows) {
    CAPTURE(row);
    const auto url = parse_url(row);
    REQUIRE_FALSE(url.has_value());
    CHECK(url.error().code == ErrorCode::invalid_argument);
  }
}

TEST_CASE("resolved: a reference is resolved against the URL it came from") {
  const auto base = *parse_url("http://example.com:81/a/b?c");
  const auto place = [&](std::string_view reference) {
    const auto url = resolved(base, reference);
    return url ? origin_of(*url) + url->target : std::string();
  };
  CHECK(place("/x") == "http://example.com:81/x");
  CHECK(place("x") == "http://example.com:81/a/x");
  CHECK(place("?y") == "http://example.com:81/a/b?y");
  CHECK(place("//other/x") == "http://other:80/x");
  CHECK(place("https://other/x?next=http://a/#f") == "https://other:443/x?next=http://a/");
  CHECK(place("x?next=http://a/") == "http://example.com:81/a/x?next=http://a/");
  CHECK(place("ftp://other/x").empty());
}

TEST_CASE("origin_of: an IPv6 address is in brackets, so that the origin is a URL again") {
  const auto base = *parse_url("https://[2001:DB8::1]/a");
  CHECK(origin_of(base) == "https://[2001:db8::1]:443");
  CHECK(baton::outbound::origin_of(origin_of(base)) == origin_of(base));
  CHECK(origin_of(*resolved(base, "/b")) == origin_of(base));
}

}  // namespace url_test

#include "agents/delegate_urls.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace baton::agents::delegate_urls_test {

TEST_CASE("delegate_urls: an entry allows its URL, and with a slash at its end also the paths below") {
  const std::vector<std::string> allowed{"https://one/agents/echo", "https://many/agents/"};
  CHECK(is_delegate_url(allowed, "https://one/agents/echo"));
  CHECK(is_delegate_url(allowed, "https://many/agents/"));
  CHECK(is_delegate_url(allowed, "https://many/agents/a-b_c.d~e/F9"));
  CHECK(is_delegate_url(allowed, "https://many/agents/a/"));
  CHECK(is_delegate_url(allowed, "HTTPS://One/agents/echo"));
  CHECK(is_delegate_url(allowed, "HTTPS://Many/agents/a"));
  for (const char* other : {"", "https://one/agents/echo/", "https://one/agents/echo2", "https://one/agents/",
                            "http://one/agents/echo", "https://many/agents", "https://many/agents2/a",
                            "https://many/", "https://many.example/agents/a", "https://many/Agents/a"}) {
    CAPTURE(other);
    CHECK_FALSE(is_delegate_url(allowed, other));
  }
  CHECK_FALSE(is_delegate_url({}, "https://one/agents/echo"));
}

TEST_CASE("delegate_urls: a path that could lead outside an entry is not below it") {
  const std::vector<std::string> allowed{"https://many/agents/"};
  for (const char* path : {"../admin", "a/../../admin", "a/..", "./a", "a/./b", "%2e%2e/admin", "a//b", "/a",
                           "a\\b", "a?b", "a#b", "a@b", "a:b", "a b", "a;b"}) {
    CAPTURE(path);
    CHECK_FALSE(is_delegate_url(allowed, std::string("https://many/agents/") + path));
  }
}

TEST_CASE("delegate_urls: a URL that is too long for lists of hops is not allowed") {
  const std::vector<std::string> allowed{"https://many/"};
  const std::string rest(250 - allowed.front().size(), 'a');
  CHECK(is_delegate_url(allowed, allowed.front() + rest));
  CHECK_FALSE(is_delegate_url(allowed, allowed.front() + rest + "a"));
}

TEST_CASE("delegate_urls: ambiguous entries are refused") {
  for (const char* good : {"https://host/", "https://host/agents/echo", "http://127.0.0.1:8081/agents/"}) {
    CHECK(delegate_url_problem(good).empty());
  }
  for (const char* wrong : {"", "host/", "https://host", "ftp://host/", "https://me@host/", "https://host/?a",
                            "https://host/#a", "https://host/a\\b", "https:///"}) {
    CAPTURE(wrong);
    CHECK_FALSE(delegate_url_problem(wrong).empty());
  }
  CHECK_FALSE(delegate_url_problem("https://host/" + std::string(250, 'a')).empty());
}

}  // namespace baton::agents::delegate_urls_test

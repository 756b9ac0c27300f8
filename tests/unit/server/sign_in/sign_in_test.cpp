#include "server/sign_in/sign_in.h"

#include <doctest/doctest.h>

#include "server/sign_in/pages.h"

namespace sign_in_test {

using namespace baton;
using server::sign_in::may_lead_to;

TEST_CASE("Sign-in: it leads to the console, the chat page and below them, and nowhere else") {
  for (const char* place : {"/console", "/console/", "/console/tasks?state=working&x=1#y", "/chat",
                            "/chat#agent=echo", "/chat/?a=b", "/console/tasks/1"})
    CHECK(may_lead_to(place));
  for (const char* place :
       {"", "/", "console", "/consoles", "/chatter", "/agents", "//console", "https://x/console",
        "/console//x", "/console/../agents", "/console/..", "/console\\x", "/console x", "/console\n",
        "/console\"", "/console<", "/console/\xc3\xa9", "/operate/v1/me"}) {
    CAPTURE(place);
    CHECK_FALSE(may_lead_to(place));
  }
  CHECK(may_lead_to("/console/" + std::string(500, 'x')));
  CHECK_FALSE(may_lead_to("/console/" + std::string(510, 'x')));
}

TEST_CASE("Sign-in: its pages show texts of others as text") {
  const auto failure =
      server::sign_in::page_of_failure(400, "<script>\"'&\x01\xff" + std::string(1'000, 'x'), "/chat#a&b");
  CHECK(failure.status == 400);
  CHECK(failure.body.find("&lt;script&gt;&quot;&#39;&amp; \xef\xbf\xbdxxx") != std::string::npos);
  CHECK(failure.body.find(std::string(401, 'x')) == std::string::npos);
  CHECK(failure.body.find("href=\"/chat#a&amp;b\"") != std::string::npos);
  CHECK(failure.body.find("/chat/style.css") != std::string::npos);
  const auto landing = server::sign_in::page_that_leads_to("/console?a=b&c=d");
  CHECK(landing.body.find("content=\"0;url=/console?a=b&amp;c=d\"") != std::string::npos);
}

}  // namespace sign_in_test

#include "server/a2a/rest.h"

#include <doctest/doctest.h>

namespace rest_test {

using namespace baton;
using server::a2a::Form;
using server::a2a::match_rest;

TEST_CASE("match_rest: /v1 is the old protocol, paths without it are 1.0") {
  const auto old = match_rest("POST", "/v1/message:send");
  REQUIRE(old);
  CHECK(old->form == Form::rest_v0_3);
  CHECK((old->run == &server::a2a::send));
  const auto fresh = match_rest("POST", "/message:send");
  REQUIRE(fresh);
  CHECK(fresh->form == Form::rest_v1_0);
  CHECK((fresh->run == &server::a2a::send));
}

TEST_CASE("match_rest: v1 is no tenant, another first segment is one") {
  const auto tenant = match_rest("GET", "/acme%20ltd/tasks/t1");
  REQUIRE(tenant);
  CHECK(tenant->tenant == "acme ltd");
  CHECK(tenant->task.value == "t1");
  CHECK(tenant->form == Form::rest_v1_0);
  CHECK_FALSE(match_rest("GET", "/v1/extendedAgentCard"));
  CHECK_FALSE(match_rest("GET", "/v1/tasks"));
  CHECK_FALSE(match_rest("GET", "/a/b/tasks/t1"));
  CHECK_FALSE(match_rest("GET", "//tasks/t1"));
}

TEST_CASE("match_rest: an id may hold colons; the verb stands behind the last") {
  const auto cancel = match_rest("POST", "/tasks/a:b%3Acancel:cancel");
  REQUIRE(cancel);
  CHECK((cancel->run == &server::a2a::cancel));
  CHECK(cancel->task.value == "a:b:cancel");
  const auto get = match_rest("GET", "/tasks/a:b");
  REQUIRE(get);
  CHECK((get->run == &server::a2a::get));
  CHECK(get->task.value == "a:b");
  const auto encoded = match_rest("GET", "/tasks/x%3Asubscribe");
  REQUIRE(encoded);
  CHECK((encoded->run == &server::a2a::get));
  CHECK(encoded->task.value == "x:subscribe");
}

TEST_CASE("match_rest: a slash inside an id comes percent-encoded") {
  const auto config = match_rest("DELETE", "/tasks/a%2Fb/pushNotificationConfigs/c%2Fd");
  REQUIRE(config);
  CHECK((config->run == &server::a2a::delete_push));
  CHECK(config->task.value == "a/b");
  CHECK(config->config.value == "c/d");
}

TEST_CASE("match_rest: a served path with a wrong method says which are right") {
  const auto wrong = match_rest("PUT", "/tasks/t1/pushNotificationConfigs");
  REQUIRE(wrong);
  CHECK((wrong->run == nullptr));
  CHECK(wrong->allow == "POST, GET");
  const auto verb = match_rest("GET", "/message:send");
  REQUIRE(verb);
  CHECK((verb->run == nullptr));
  CHECK(verb->allow == "POST");
}

TEST_CASE("match_rest: subscribe takes both methods, push config lists are no configs without an id") {
  CHECK((match_rest("GET", "/v1/tasks/t:subscribe")->run == &server::a2a::subscribe));
  CHECK((match_rest("POST", "/tasks/t:subscribe")->run == &server::a2a::subscribe));
  CHECK((match_rest("GET", "/tasks/t/pushNotificationConfigs")->run == &server::a2a::list_push));
}

TEST_CASE("match_rest: other paths are not its own") {
  for (const char* path : {"/", "", "/x", "/tasks/", "/tasks//pushNotificationConfigs", "/tasks/t/other",
                           "/message:other", "/tasks/%zz", "/tasks/%4", "/v1/", "/card"}) {
    CAPTURE(path);
    CHECK_FALSE(match_rest("GET", path));
  }
}

}  // namespace rest_test

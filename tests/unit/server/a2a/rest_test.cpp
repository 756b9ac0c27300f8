#include "server/a2a/rest.h"

#include <doctest/doctest.h>

namespace rest_test {

using namespace baton;
using server::a2a::Operation;

namespace {

struct Found : server::a2a::RestTarget {
  std::optional<Operation> operation;  // empty: the path does not allow this method
  std::string allow;
};

std::optional<Found> match_rest(std::string_view method, std::string_view path) {
  const auto match = server::find_path(server::a2a::rest_paths(), method, path);
  if (match.row == nullptr) return std::nullopt;
  Found found{server::a2a::rest_target(match), {}, match.allow};
  if (match.allowed) found.operation = found.RestTarget::operation;
  return found;
}

}  // namespace

TEST_CASE("match_rest: /v1 is the old protocol, paths without it are 1.0") {
  const auto old = match_rest("POST", "/v1/message:send");
  REQUIRE(old);
  CHECK_FALSE(old->is_v1);
  CHECK((old->operation == Operation::send));
  const auto fresh = match_rest("POST", "/message:send");
  REQUIRE(fresh);
  CHECK(fresh->is_v1);
  CHECK((fresh->operation == Operation::send));
}

TEST_CASE("match_rest: v1 is not a tenant, any other first segment is") {
  const auto tenant = match_rest("GET", "/acme%20ltd/tasks/t1");
  REQUIRE(tenant);
  CHECK(tenant->tenant == "acme ltd");
  CHECK(tenant->task.value == "t1");
  CHECK(tenant->is_v1);
  CHECK_FALSE(match_rest("GET", "/v1/extendedAgentCard"));
  CHECK_FALSE(match_rest("GET", "/v1/tasks"));
  CHECK_FALSE(match_rest("GET", "/a/b/tasks/t1"));
  CHECK_FALSE(match_rest("GET", "//tasks/t1"));
}

TEST_CASE("match_rest: an id may have colons; the verb follows the last one") {
  const auto cancel = match_rest("POST", "/tasks/a:b%3Acancel:cancel");
  REQUIRE(cancel);
  CHECK((cancel->operation == Operation::cancel));
  CHECK(cancel->task.value == "a:b:cancel");
  const auto get = match_rest("GET", "/tasks/a:b");
  REQUIRE(get);
  CHECK((get->operation == Operation::get));
  CHECK(get->task.value == "a:b");
  const auto encoded = match_rest("GET", "/tasks/x%3Asubscribe");
  REQUIRE(encoded);
  CHECK((encoded->operation == Operation::get));
  CHECK(encoded->task.value == "x:subscribe");
}

TEST_CASE("match_rest: the colon before a verb may be percent-encoded if that is unambiguous") {
  for (const char* path :
       {"/message%3Asend", "/message%3asend", "/v1/message%3Asend", "/acme/message%3Asend"}) {
    CAPTURE(path);
    const auto send = match_rest("POST", path);
    REQUIRE(send);
    CHECK((send->operation == Operation::send));
  }
  const auto cancel = match_rest("POST", "/tasks/a%3Ab%3Acancel");
  REQUIRE(cancel);
  CHECK((cancel->operation == Operation::cancel));
  CHECK(cancel->task.value == "a:b");
  CHECK_FALSE(match_rest("POST", "/message%3Aother"));
}

TEST_CASE("match_rest: an artifact, and a part by its number") {
  const auto part = match_rest("HEAD", "/acme/tasks/t/artifacts/a%2Fb/parts/2");
  REQUIRE(part);
  CHECK((part->operation == Operation::artifact_bytes));
  CHECK(part->tenant == "acme");
  CHECK(part->content == "a/b");
  CHECK(part->part == 2);
  CHECK_FALSE(match_rest("GET", "/tasks/t/artifacts/a")->part);
  CHECK(match_rest("PUT", "/tasks/t/artifacts/a")->allow == "GET, HEAD");
  CHECK_FALSE(match_rest("GET", "/tasks/t/artifacts/a/parts/x"));
  CHECK_FALSE(match_rest("GET", "/v1/tasks/t/artifacts/a"));
  CHECK_FALSE(match_rest("HEAD", "/tasks/t")->operation);
}

TEST_CASE("match_rest: a slash inside an id comes percent-encoded") {
  const auto config = match_rest("DELETE", "/tasks/a%2Fb/pushNotificationConfigs/c%2Fd");
  REQUIRE(config);
  CHECK((config->operation == Operation::delete_push));
  CHECK(config->task.value == "a/b");
  CHECK(config->config.value == "c/d");
}

TEST_CASE("match_rest: a served path with a wrong method returns the allowed ones") {
  const auto wrong = match_rest("PUT", "/tasks/t1/pushNotificationConfigs");
  REQUIRE(wrong);
  CHECK_FALSE(wrong->operation);
  CHECK(wrong->allow == "POST, GET");
  const auto verb = match_rest("GET", "/message:send");
  REQUIRE(verb);
  CHECK_FALSE(verb->operation);
  CHECK(verb->allow == "POST");
}

TEST_CASE("match_rest: a wrong method is distinguished from a path that is not served") {
  const std::vector<std::pair<const char*, const char*>> wrong_methods{
      {"GET", "/message:send"},
      {"GET", "/v1/message:send"},
      {"PUT", "/tasks/x"},
      {"PUT", "/v1/tasks/x"},
      {"DELETE", "/tasks/x"},
      {"POST", "/tasks"},
      {"POST", "/tasks/x:frobnicate"},
      {"PUT", "/tasks/x/pushNotificationConfigs/c"},
      {"POST", "/extendedAgentCard"}};
  for (const auto& [method, path] : wrong_methods) {
    CAPTURE(path);
    const auto found = match_rest(method, path);
    REQUIRE(found);
    CHECK_FALSE(found->operation);
    CHECK_FALSE(found->allow.empty());
  }
  const std::vector<std::pair<const char*, const char*>> not_served{{"POST", "/message:frobnicate"},
                                                                    {"GET", "/tasks/x/frobnicate"},
                                                                    {"GET", "/v1/frobnicate"},
                                                                    {"GET", "/a/b/c/tasks"},
                                                                    {"POST", "/tasks/"},
                                                                    {"GET", "/frobnicate"}};
  for (const auto& [method, path] : not_served) {
    CAPTURE(path);
    CHECK_FALSE(match_rest(method, path));
  }
}

TEST_CASE("match_rest: subscribe accepts both methods, and push configs without an id are a list") {
  CHECK((match_rest("GET", "/v1/tasks/t:subscribe")->operation == Operation::subscribe));
  CHECK((match_rest("POST", "/tasks/t:subscribe")->operation == Operation::subscribe));
  CHECK((match_rest("GET", "/tasks/t/pushNotificationConfigs")->operation == Operation::list_push));
}

TEST_CASE("match_rest: other paths do not match") {
  for (const char* path : {"/", "", "/x", "/tasks/", "/tasks//pushNotificationConfigs", "/tasks/t/other",
                           "/message:other", "/tasks/%zz", "/tasks/%4", "/v1/", "/card"}) {
    CAPTURE(path);
    CHECK_FALSE(match_rest("GET", path));
  }
}

}  // namespace rest_test

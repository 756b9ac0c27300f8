#include "protocol/a2a/v1_list.h"

#include "dialect_bench.h"

namespace v1_list_test {

using namespace baton;
using namespace baton::test;
using protocol::a2a::v1_0;

namespace {

protocol::a2a::ListRequest list(const std::string& params) {
  const auto document = parsed(params);
  return value_of(v1_0().read_list(document.root()));
}

std::string list_error(const std::string& params) {
  const auto document = parsed(params);
  return error_of(v1_0().read_list(document.root()));
}

std::string answer(const protocol::a2a::ListRequest& request, const std::vector<task::Task>& tasks,
                   const std::optional<task::ListPosition>& next = {}) {
  return written([&](json::Writer& out) { v1_0().write_list(out, request, tasks, next, 7); });
}

// The token that a page has for the next one.
std::string token_of(const task::ListPosition& position) {
  const auto document = parsed(answer({}, {}, position));
  return document.root()["nextPageToken"].str();
}

}  // namespace

TEST_CASE("A2A 1.0 list: every filter is read") {
  const auto request =
      list(R"({"tenant":"x","contextId":"c1","status":"TASK_STATE_WORKING","pageSize":2,"historyLength":4,)"
           R"("statusTimestampAfter":"2026-01-31T12:00:00+02:00","includeArtifacts":true})");
  CHECK(request.filter.context.value == "c1");
  CHECK(request.filter.state == task::State::working);
  CHECK(request.filter.limit == 2);
  REQUIRE(request.filter.status_since);
  CHECK(base::to_rfc3339(*request.filter.status_since) == "2026-01-31T10:00:00.000Z");
  CHECK_FALSE(request.filter.after);
  CHECK(request.depth.history == 4);
  CHECK(request.depth.artifacts);
}

TEST_CASE("A2A 1.0 list: without filters it means the first 50 tasks, all history and no artifacts") {
  for (const auto& request :
       {value_of(v1_0().read_list(json::Value())), list("{}"), list(R"({"status":null})")}) {
    CHECK(request.filter.context.empty());
    CHECK_FALSE(request.filter.state);
    CHECK_FALSE(request.filter.status_since);
    CHECK(request.filter.limit == 50);
    CHECK(request.depth.history == std::nullopt);
    CHECK_FALSE(request.depth.artifacts);
  }
}

TEST_CASE("A2A 1.0 list: the values of a query are read") {
  const auto request = list(R"({"page_size":"100","history_length":"0","include_artifacts":"true",)"
                            R"("status":"3","pageToken":"","context_id":"c"})");
  CHECK(request.filter.limit == 100);
  CHECK(request.filter.state == task::State::completed);
  CHECK(request.filter.context.value == "c");
  CHECK(request.depth.history == 0);
  CHECK(request.depth.artifacts);
}

TEST_CASE("A2A 1.0 list: the time that a2a-go sends over REST is a filter") {
  const auto request = list(R"({"lastUpdatedAfter":"2026-01-31T12:00:00+02:00"})");
  REQUIRE(request.filter.status_since);
  CHECK(base::to_rfc3339(*request.filter.status_since) == "2026-01-31T10:00:00.000Z");
}

TEST_CASE("A2A 1.0 list: unknown members are ignored, and invalid or too large numbers are refused") {
  CHECK(list(R"({"unknown":"1","frobnicate":{"a":[]}})").filter.limit == 50);
  CHECK(list_error(R"({"pageSize":1099511627776})") == "pageSize: must be a whole number from 1 to 100");
  CHECK(list_error(R"({"historyLength":"1.5"})") == "historyLength: must be a whole number of at least 0");
}

TEST_CASE("A2A 1.0 list: states are read by name and number, and unspecified means any") {
  CHECK(list(R"({"status":5})").filter.state == task::State::canceled);
  CHECK(list(R"({"status":6})").filter.state == task::State::input_required);
  CHECK(list(R"({"status":7})").filter.state == task::State::rejected);
  CHECK(list(R"({"status":8})").filter.state == task::State::auth_required);
  for (const char* any : {"0", R"("TASK_STATE_UNSPECIFIED")", R"("")"}) {
    CHECK_FALSE(list(std::string(R"({"status":)") + any + "}").filter.state);
  }
  for (const char* none : {"9", "-1", R"("completed")", R"("9")", "true", "1.5"}) {
    CAPTURE(none);
    CHECK(list_error(std::string(R"({"status":)") + none + "}") ==
          "status: must be a task state, such as TASK_STATE_COMPLETED");
  }
}

TEST_CASE("A2A 1.0 list: errors name the wrong filter") {
  for (const char* size : {"0", "101", "-1", R"("x")", "1.5", R"("")"}) {
    CAPTURE(size);
    CHECK(list_error(std::string(R"({"pageSize":)") + size + "}") ==
          "pageSize: must be a whole number from 1 to 100");
  }
  CHECK(list_error(R"({"statusTimestampAfter":"yesterday"})") ==
        "statusTimestampAfter: must be a time such as 2026-01-31T10:00:00Z");
  CHECK(list_error(R"({"historyLength":-1})") == "historyLength: must be a whole number of at least 0");
  CHECK(list_error(R"({"includeArtifacts":"yes"})") == "includeArtifacts: must be true or false");
  CHECK(list_error("[]") == "params: must be an object");
}

TEST_CASE("A2A 1.0 list: all four members are on every page") {
  CHECK(answer({}, {}) == R"({"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":7})");
  protocol::a2a::ListRequest request;
  request.filter.limit = 1;
  request.depth.artifacts = false;
  const task::Task task = bare_task(task::State::working);
  const std::string page = answer(request, {task}, task::ListPosition{base::from_ms(5), {"t1"}});
  CHECK(page.starts_with(R"({"tasks":[)" + task_shown(v1_0(), task) + R"(],"nextPageToken":")"));
  CHECK(page.ends_with(R"(","pageSize":1,"totalSize":7})"));
}

TEST_CASE("ListTasks: artifacts are absent unless asked for, then present even if there are none") {
  protocol::a2a::ListRequest request;
  request.depth.artifacts = false;
  CHECK_FALSE(has(answer(request, {bare_task(task::State::working)}), "artifacts"));
  request.depth.artifacts = true;
  CHECK(has(answer(request, {bare_task(task::State::working)}), R"("artifacts":[])"));
}

TEST_CASE("ListTasks: a page token has the last task's position, and the next page begins after it") {
  for (const std::string id : {"t1", "a:b", "\xc3\xa9\xff", "0199f0a0-1111-7000-8000-000000000000"}) {
    const task::ListPosition position{base::from_ms(1'746'093'600'123), {id}};
    const auto after = list(R"({"pageToken":")" + token_of(position) + R"("})").filter.after;
    REQUIRE(after);
    CHECK(after->status_at == position.status_at);
    CHECK(after->id == position.id);
  }
}

TEST_CASE("A2A 1.0 list: changed and foreign page tokens are refused") {
  const std::string token = token_of({base::from_ms(1'746'093'600'123), {"task-1"}});
  CHECK(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
        std::string::npos);
  const std::string refusal = "pageToken: is invalid; start again without it";
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    CAPTURE(changed);
    CHECK(list_error(R"({"pageToken":")" + changed + R"("})") == refusal);
  }
  for (const std::string other : {"x", "!", "dDE=", "MTc0NjA5MzYwMDEyMzp0MQ", "10"}) {
    CHECK(list_error(R"({"pageToken":")" + other + R"("})") == refusal);
  }
  CHECK(list_error(R"({"pageToken":")" + token + R"(="})") == refusal);
  CHECK(list_error(R"({"pageToken":5})") == "pageToken: must be a string");
}

}  // namespace v1_list_test

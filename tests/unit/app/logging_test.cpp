#include "app/logging.h"

#include <doctest/doctest.h>

namespace logging_test {

using baton::app::json_log_line;

TEST_CASE("Log line: leading facts become members, the rest is the message") {
  CHECK(json_log_line("now", "info", "task=t1 agent=echo it ended a=b") ==
        "{\"time\":\"now\",\"level\":\"info\",\"task\":\"t1\",\"agent\":\"echo\",\"message\":\"it ended "
        "a=b\"}\n");
  CHECK(json_log_line("now", "info", "other=1 x") ==
        "{\"time\":\"now\",\"level\":\"info\",\"message\":\"other=1 x\"}\n");
  CHECK(json_log_line("now", "info", "task=t1") ==
        "{\"time\":\"now\",\"level\":\"info\",\"task\":\"t1\",\"message\":\"\"}\n");
}

TEST_CASE("Log line: worker and attempt are members") {
  CHECK(json_log_line("now", "info", "agent=echo worker=1 task=t1 attempt=2 agent-stderr | x=1") ==
        "{\"time\":\"now\",\"level\":\"info\",\"agent\":\"echo\",\"worker\":\"1\",\"task\":\"t1\","
        "\"attempt\":\"2\",\"message\":\"agent-stderr | x=1\"}\n");
}

TEST_CASE("Log line: whatever the message holds, it is one line of JSON") {
  CHECK(json_log_line("now", "warn", "a\nb\"c\\") ==
        "{\"time\":\"now\",\"level\":\"warn\",\"message\":\"a\\nb\\\"c\\\\\"}\n");
}

}  // namespace logging_test

#include <doctest/doctest.h>

#include "agents/schedule.h"

namespace schedule_test {

using namespace baton;
using agents::Schedule;

namespace {

struct Read {
  std::vector<Schedule> schedules;
  std::vector<std::string> problems, warnings;  // "pointer: reason"
};

Read read(const std::string& text) {
  const auto document = json::Document::parse_view(text);
  REQUIRE(document);
  std::vector<json::SchemaProblem> problems, warnings;
  Read found{agents::read_schedules(document->root(), problems, warnings), {}, {}};
  for (const json::SchemaProblem& one : problems) found.problems.push_back(one.pointer + ": " + one.reason);
  for (const json::SchemaProblem& one : warnings) found.warnings.push_back(one.pointer + ": " + one.reason);
  return found;
}

}  // namespace

TEST_CASE("Schedule: a single one or a list is read, with defaults for time zone, caller and missed runs") {
  const Read one = read(R"({"cron": "@daily", "message": "report"})");
  CHECK(one.problems.empty());
  REQUIRE(one.schedules.size() == 1);
  CHECK(one.schedules[0].caller == task::kAnonymous);
  CHECK(one.schedules[0].missed == Schedule::Missed::skip);
  const base::Timestamp noon = *base::parse_rfc3339("2027-07-01T12:00:00Z");
  CHECK(one.schedules[0].cron.next(noon, one.schedules[0].zone) == noon + std::chrono::hours(12));

  const Read two =
      read(R"([{"cron": "@daily", "message": "report", "timezone": "Europe/Berlin", "caller": "ann",
                             "missed": "once"},
                            {"cron": "@daily", "message": "report", "missed": "all"}])");
  REQUIRE(two.schedules.size() == 2);
  CHECK(two.schedules[0].caller.value == "ann");
  CHECK(two.schedules[0].missed == Schedule::Missed::once);
  CHECK(two.schedules[0].cron.next(noon, two.schedules[0].zone) == noon + std::chrono::hours(10));
  CHECK(two.schedules[1].missed == Schedule::Missed::all);
  CHECK(two.schedules[1].name != one.schedules[0].name);
  CHECK(read("[]").schedules.empty());
}

TEST_CASE("Schedule: problems are reported with their place") {
  CHECK(read(R"({"cron": "0 0 30 2 *", "message": "m"})").problems ==
        std::vector<std::string>{"/baton/schedule/cron: never occurs: no such date exists"});
  const Read list = read(R"([{"cron": "@daily", "message": "m"},
                             {"cron": "@daily", "message": "m", "timezone": "Mars/Olympus", "caller": "a\u001fb"},
                             {"cron": "@daily", "message": "m"}])");
  CHECK(list.problems ==
        std::vector<std::string>{"/baton/schedule/1/caller: is not a valid caller name",
                                 "/baton/schedule/2: is given twice: remove one of the two"});
}

TEST_CASE("Schedule: a schedule with an unknown time zone is off and gives a warning") {
  const Read list = read(R"([{"cron": "@daily", "message": "m", "timezone": "Mars/Olympus"},
                             {"cron": "@daily", "message": "m", "timezone": "../etc/passwd"},
                             {"cron": "@daily", "message": "m"}])");
  CHECK(list.problems.empty());
  CHECK(list.warnings ==
        std::vector<std::string>{
            "/baton/schedule/0/timezone: is not a known time zone; this schedule is disabled",
            "/baton/schedule/1/timezone: is not a time zone name, such as Europe/Berlin; this schedule is "
            "disabled"});
  REQUIRE(list.schedules.size() == 1);
  CHECK(list.schedules[0].zone_name == "UTC");
}

TEST_CASE("Schedule: the message carries the time it was due") {
  const Read one = read(R"({"cron": "@daily", "message": "report"})");
  const task::Message message = one.schedules.at(0).message_at(base::from_ms(1'800'000'000'000));
  CHECK(task::text_of(message) == "report");
  CHECK(message.metadata.text == R"({"urn:baton:a2a:1":{"dueAt":"2027-01-15T08:00:00.000Z"}})");
}

}  // namespace schedule_test

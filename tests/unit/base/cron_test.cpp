#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/cron.h"

namespace cron_test {

using namespace baton;
using base::Cron;
using base::TimeZone;

namespace {

const TimeZone& zone(std::string_view name) {
  static std::vector<std::pair<std::string, std::unique_ptr<TimeZone>>> known;
  for (const auto& [other, kept] : known) {
    if (other == name) return *kept;
  }
  auto loaded = TimeZone::load(std::string(name));
  REQUIRE(loaded);
  known.emplace_back(name, std::make_unique<TimeZone>(std::move(*loaded)));
  return *known.back().second;
}

// The next `count` times after `after`, in UTC, to the minute. The expression is read in the zone `where`.
std::vector<std::string> times(const std::string& cron, const std::string& after, int count,
                               const std::string& where = "Europe/Berlin") {
  const auto parsed = Cron::parse(cron);
  REQUIRE(parsed);
  base::Timestamp at = *base::parse_rfc3339(after);
  std::vector<std::string> found;
  for (int i = 0; i < count; ++i) {
    at = parsed->next(at, zone(where)).value();
    found.push_back(base::to_rfc3339(at).substr(0, 16));
  }
  return found;
}

using Times = std::vector<std::string>;

std::string error_of(const std::string& cron) {
  const auto parsed = Cron::parse(cron);
  return parsed ? "" : parsed.error().for_caller;
}

}  // namespace

TEST_CASE("Cron: fields have numbers, ranges, lists, steps and names") {
  const std::string monday = "2027-03-01T00:00:00Z";
  CHECK(times("5 4 * * *", monday, 2, "UTC") == Times{"2027-03-01T04:05", "2027-03-02T04:05"});
  CHECK(times("*/20 0-1 * * *", monday, 4, "UTC") ==
        Times{"2027-03-01T00:20", "2027-03-01T00:40", "2027-03-01T01:00", "2027-03-01T01:20"});
  CHECK(times("10-30/10,7 6 * * *", monday, 4, "UTC") ==
        Times{"2027-03-01T06:07", "2027-03-01T06:10", "2027-03-01T06:20", "2027-03-01T06:30"});
  CHECK(times("0 9 * Jan-feb MON", monday, 2, "UTC") == Times{"2028-01-03T09:00", "2028-01-10T09:00"});
  CHECK(times("0 0 * * 7", monday, 1, "UTC") == times("0 0 * * sun", monday, 1, "UTC"));
  CHECK(times("0 0 * * 5-7", monday, 3, "UTC") ==
        Times{"2027-03-05T00:00", "2027-03-06T00:00", "2027-03-07T00:00"});
  CHECK(times("@weekly", monday, 1, "UTC") == Times{"2027-03-07T00:00"});
  CHECK(times("@Hourly", monday, 1, "UTC") == Times{"2027-03-01T01:00"});
  CHECK(times(" 0\t12   1 * * ", monday, 1, "UTC") == Times{"2027-03-01T12:00"});
}

TEST_CASE("Cron: with both kinds of days given either may match, and a star does not restrict") {
  CHECK(times("0 0 13 * fri", "2027-08-01T00:00:00Z", 4, "UTC") ==
        Times{"2027-08-06T00:00", "2027-08-13T00:00", "2027-08-20T00:00", "2027-08-27T00:00"});
  CHECK(times("0 0 1 * wed", "2027-08-25T12:00:00Z", 2, "UTC") ==
        Times{"2027-09-01T00:00", "2027-09-08T00:00"});
  CHECK(times("0 0 31 * *", "2027-01-31T00:00:00Z", 2, "UTC") ==
        Times{"2027-03-31T00:00", "2027-05-31T00:00"});
}

TEST_CASE("Cron: 29 February comes in leap years only, also across 2100") {
  CHECK(times("0 0 29 2 *", "2027-01-01T00:00:00Z", 2, "UTC") ==
        Times{"2028-02-29T00:00", "2032-02-29T00:00"});
  CHECK(times("0 0 29 2 *", "2096-03-01T00:00:00Z", 1, "UTC") == Times{"2104-02-29T00:00"});
}

TEST_CASE("Cron: times are local times of the zone") {
  CHECK(times("0 8 * * *", "2027-03-26T12:00:00Z", 3) ==
        Times{"2027-03-27T07:00", "2027-03-28T06:00", "2027-03-29T06:00"});
  CHECK(times("0 8 * * *", "2027-03-26T12:00:00Z", 1, "Asia/Kolkata") == Times{"2027-03-27T02:30"});
  // Years after the database's last transition follow its rule.
  CHECK(times("0 8 * * *", "2090-06-30T12:00:00Z", 1) == Times{"2090-07-01T06:00"});
  CHECK(times("0 8 * * *", "2090-12-30T12:00:00Z", 1) == Times{"2090-12-31T07:00"});
}

TEST_CASE("Cron: a time skipped in spring comes once, at the change") {
  const std::string before = "2027-03-27T12:00:00Z";
  CHECK(times("30 2 * * *", before, 2) == Times{"2027-03-28T01:00", "2027-03-29T00:30"});
  CHECK(times("*/30 2-3 * * *", before, 4) ==
        Times{"2027-03-28T01:00", "2027-03-28T01:30", "2027-03-29T00:00", "2027-03-29T00:30"});
  CHECK(times("30 2 * * *", "2027-03-13T12:00:00Z", 1, "America/New_York") == Times{"2027-03-14T07:00"});
}

TEST_CASE("Cron: a time that occurs twice in autumn comes once, the first time") {
  const std::string before = "2027-10-30T12:00:00Z";
  CHECK(times("30 2 * * *", before, 2) == Times{"2027-10-31T00:30", "2027-11-01T01:30"});
  CHECK(times("*/30 2-3 * * *", before, 4) ==
        Times{"2027-10-31T00:00", "2027-10-31T00:30", "2027-10-31T02:00", "2027-10-31T02:30"});
  // From within the repeated hour.
  CHECK(times("30 2 * * *", "2027-10-31T01:10:00Z", 1) == Times{"2027-11-01T01:30"});
}

TEST_CASE("Cron: with a star in the hour field it comes in every hour through both changes") {
  const std::string spring = "2027-03-28T00:40:00Z", autumn = "2027-10-31T00:20:00Z";
  CHECK(times("*/30 * * * *", autumn, 5) == Times{"2027-10-31T00:30", "2027-10-31T01:00", "2027-10-31T01:30",
                                                  "2027-10-31T02:00", "2027-10-31T02:30"});
  CHECK(times("15 */2 * * *", autumn, 2) == Times{"2027-10-31T01:15", "2027-10-31T03:15"});
  CHECK(times("@hourly", autumn, 3) == Times{"2027-10-31T01:00", "2027-10-31T02:00", "2027-10-31T03:00"});
  CHECK(times("30 * * * *", spring, 2) == Times{"2027-03-28T01:30", "2027-03-28T02:30"});
  CHECK(times("0 * * * *", spring, 2) == Times{"2027-03-28T01:00", "2027-03-28T02:00"});
  CHECK(times("* * 29 2 *", "2027-01-01T00:00:00Z", 2) == Times{"2028-02-28T23:00", "2028-02-28T23:01"});
  CHECK(error_of("* * 30 2 *") == "never occurs: no such date exists");
}

TEST_CASE("Cron: the error names the wrong field") {
  const std::string fields =
      "must have five fields: minute, hour, day of the month, month and day of the week";
  CHECK(error_of("* * * *") == fields);
  CHECK(error_of("* * * * * *") == fields);
  CHECK(error_of("") == fields);
  CHECK(error_of("60 * * * *") == "\"60\" is not a valid minute, range or step");
  CHECK(error_of("* 24 * * *") == "\"24\" is not a valid hour, range or step");
  CHECK(error_of("* * 0 * *") == "\"0\" is not a valid day of the month, range or step");
  CHECK(error_of("* * * foo *") == "\"foo\" is not a valid month, range or step");
  CHECK(error_of("* * * * 8") == "\"8\" is not a valid day of the week, range or step");
  for (const char* wrong : {"5-1 * * * *", "*/0 * * * *", "*/x * * * *", "5/10 * * * *", "1,,2 * * * *",
                            "-1 * * * *", "1- * * * *", "+1 * * * *", ", * * * *"}) {
    CAPTURE(wrong);
    CHECK(error_of(wrong).ends_with("is not a valid minute, range or step"));
  }
  CHECK(error_of("@reboot") ==
        "must be five fields or @yearly, @monthly, @weekly, @daily or @hourly, not @reboot");
  CHECK(error_of("0 0 30 2 *") == "never occurs: no such date exists");
  CHECK(error_of("0 0 31 4,6 *") == "never occurs: no such date exists");
}

TEST_CASE("TimeZone: names outside the database and broken files are refused") {
  CHECK(TimeZone::load("Nowhere/Atall").error().for_caller == "is not a known time zone");
  CHECK(TimeZone::load("Europe").error().for_caller == "is not a known time zone");
  for (const char* wrong : {"", "/etc/passwd", "../../../etc/passwd", "Europe/../Europe/Berlin", "a b"}) {
    CAPTURE(wrong);
    CHECK(TimeZone::load(wrong).error().for_caller == "is not a time zone name, such as Europe/Berlin");
  }
  CHECK(TimeZone::load("Europe/Berlin", "/proc/self/no-such-folder").error().for_caller ==
        "cannot be looked up: no time zone database is installed (package tzdata)");
  for (const std::string& wrong : {std::string("TZif"), std::string("nonsense"),
                                   "TZif2" + std::string(39, '\0'), "TZif2" + std::string(200, '\xff')}) {
    CHECK_FALSE(TimeZone::read(wrong));
  }
}

TEST_CASE("TimeZone: local times equal those of localtime_r from 1970 to 2046") {
  for (const char* name : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
                           "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia"}) {
    CAPTURE(name);
    const TimeZone& here = zone(name);
    setenv("TZ", (":" + std::string(name)).c_str(), 1);
    tzset();
    for (std::int64_t at = 0; at < 2'400'000'000; at += 7'777) {
      const auto time = static_cast<std::time_t>(at);
      std::tm shown{};
      localtime_r(&time, &shown);
      const auto local = here.to_local(base::from_ms(at * 1000)).time_since_epoch().count();
      if (local - at == shown.tm_gmtoff) continue;
      CAPTURE(at);
      CHECK(local - at == shown.tm_gmtoff);
      break;
    }
  }
  unsetenv("TZ");
  tzset();
}

}  // namespace cron_test

#include "base/metrics_text.h"

#include <doctest/doctest.h>

namespace metrics_text_test {

using namespace baton;
using base::MetricsText;

TEST_CASE("MetricsText: a family's HELP and TYPE come once, before its values") {
  MetricsText out;
  out.family("baton_tasks_total", MetricsText::Type::counter, "Statuses.");
  out.value({{"agent", "echo"}, {"state", "failed"}}, std::int64_t{3});
  out.value({{"agent", "echo"}, {"state", "completed"}}, std::int64_t{4});
  out.gauge("baton_turns_queued", "Turns waiting for a slot.", 0.5);
  CHECK(out.text() ==
        "# HELP baton_tasks_total Statuses.\n# TYPE baton_tasks_total counter\n"
        "baton_tasks_total{agent=\"echo\",state=\"failed\"} 3\n"
        "baton_tasks_total{agent=\"echo\",state=\"completed\"} 4\n"
        "# HELP baton_turns_queued Turns waiting for a slot.\n# TYPE baton_turns_queued gauge\n"
        "baton_turns_queued 0.5\n");
}

TEST_CASE("MetricsText: a family without values is left out") {
  MetricsText out;
  out.family("baton_nothing_total", MetricsText::Type::counter, "Nothing.");
  out.counter("baton_one_total", "One.", std::int64_t{1});
  CHECK(out.text() == "# HELP baton_one_total One.\n# TYPE baton_one_total counter\nbaton_one_total 1\n");
}

TEST_CASE("MetricsText: quotes, backslashes and line ends are escaped") {
  MetricsText out;
  out.family("baton_one", MetricsText::Type::gauge, "A \"help\"\nof \\ lines.");
  out.value({{"origin", "a\"b\\c\nd"}}, std::int64_t{1});
  CHECK(out.text() ==
        "# HELP baton_one A \"help\"\\nof \\\\ lines.\n# TYPE baton_one gauge\n"
        "baton_one{origin=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST_CASE("MetricsText: a histogram's buckets are cumulative and end with +Inf") {
  static constexpr std::array kBounds{0.25, 1.0};
  base::Histogram histogram(kBounds);
  for (const int ms : {100, 500, 2'000}) histogram.observe(std::chrono::milliseconds(ms));
  MetricsText out;
  out.family("baton_turn_duration_seconds", MetricsText::Type::histogram, "Turns.");
  out.histogram({{"agent", "echo"}}, histogram.snapshot());
  CHECK(out.text() ==
        "# HELP baton_turn_duration_seconds Turns.\n# TYPE baton_turn_duration_seconds histogram\n"
        "baton_turn_duration_seconds_bucket{agent=\"echo\",le=\"0.25\"} 1\n"
        "baton_turn_duration_seconds_bucket{agent=\"echo\",le=\"1\"} 2\n"
        "baton_turn_duration_seconds_bucket{agent=\"echo\",le=\"+Inf\"} 3\n"
        "baton_turn_duration_seconds_sum{agent=\"echo\"} 2.6\n"
        "baton_turn_duration_seconds_count{agent=\"echo\"} 3\n");
}

}  // namespace metrics_text_test

#include "outbound/call_counts.h"

#include <doctest/doctest.h>

#include <string>

#include "outbound/call_report.h"

namespace call_counts_test {

using baton::base::ErrorCode;
using baton::outbound::CallCounts;
using baton::outbound::CallOutcome;
using baton::outbound::CallReport;

namespace {

std::string metrics_of(const CallCounts& counts) {
  baton::base::MetricsText out;
  counts.add_to(out);
  return out.text();
}

bool has(const CallCounts& counts, const std::string& line) {
  return metrics_of(counts).find(line + "\n") != std::string::npos;
}

std::string calls(const std::string& server, const std::string& outcome, int number) {
  return "baton_outbound_calls_total{origin=\"" + server + "\",outcome=\"" + outcome + "\"} " +
         std::to_string(number);
}

}  // namespace

TEST_CASE("CallCounts: calls are counted by server and outcome, and the first 64 servers have names") {
  CallCounts::Time now{};
  CallCounts counts([&] { return now; });
  CHECK(metrics_of(counts).empty());
  for (int i = 0; i < 70; ++i) counts.add("http://" + std::to_string(i), CallOutcome::done, {});
  counts.add("http://0", CallOutcome::lost, std::chrono::milliseconds(1'500));
  CHECK(has(counts, calls("http://0", "done", 1)));
  CHECK(has(counts, calls("http://0", "lost", 1)));
  CHECK(has(counts, "baton_outbound_call_seconds_total{origin=\"http://0\"} 1.5"));
  CHECK(has(counts, calls("http://63", "done", 1)));
  CHECK_FALSE(has(counts, calls("http://64", "done", 1)));
  CHECK(has(counts, calls("other", "done", 6)));

  // One that was not called for an hour gives its place.
  now += std::chrono::hours(1);
  counts.add("http://0", CallOutcome::done, {});
  counts.add("http://new", CallOutcome::busy, {});
  CHECK(has(counts, calls("http://0", "done", 2)));
  CHECK(has(counts, calls("http://new", "busy", 1)));
  CHECK(has(counts, calls("other", "done", 6)));
}

TEST_CASE("CallCounts: however many servers are called over the hours, 64 and \"other\" are shown") {
  CallCounts::Time now{};
  CallCounts counts([&] { return now; });
  const auto call_many = [&](int hour) {
    for (int i = 0; i < 70; ++i)
      counts.add("http://" + std::to_string(hour) + "." + std::to_string(i), CallOutcome::done, {});
  };
  for (int hour = 0; hour < 5; ++hour) {
    call_many(hour);
    const std::string text = metrics_of(counts);
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = text.find("calls_total{", at)) != std::string::npos; ++at) ++lines;
    CHECK(lines == CallCounts::kServersMax + 1);
    CHECK(has(counts, calls("other", "done", 6 * (hour + 1))));
    now += std::chrono::hours(2);
  }
}

TEST_CASE("CallReport: a call is counted once, as what its status or its error says") {
  const auto counted = [](auto&& report) {
    CallCounts counts;
    {
      CallReport call(nullptr, &counts, "http://far:80");
      CHECK(call.admit(false).count() == 0);
      report(call);
      call.answered(200, false);  // too late
    }
    const std::string text = metrics_of(counts);
    const std::size_t begin = text.find("outcome=\"") + 9;
    return text.substr(begin, text.find('"', begin) - begin);
  };
  const std::pair<int, const char*> statuses[] = {
      {200, "done"}, {429, "busy"}, {524, "lost"}, {404, "refused"}};
  for (const auto& [status, outcome] : statuses)
    CHECK(counted([&](CallReport& call) { call.answered(status, false); }) == outcome);
  const auto lost = [&](ErrorCode code, bool was_connected, bool is_stopped) {
    return counted([&](CallReport& call) { call.lost({code, {}, {}}, was_connected, is_stopped); });
  };
  CHECK(lost(ErrorCode::unavailable, false, false) == "unreachable");
  CHECK(lost(ErrorCode::deadline_exceeded, true, false) == "lost");
  CHECK(lost(ErrorCode::permission_denied, false, false) == "forbidden");
  CHECK(lost(ErrorCode::unavailable, true, true) == "stopped");
}

}  // namespace call_counts_test

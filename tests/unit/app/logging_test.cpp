#include "app/logging.h"

#include <doctest/doctest.h>
#include <spdlog/details/log_msg.h>

#include <algorithm>
#include <regex>
#include <string>

#include "base/log.h"
#include "base/text.h"

namespace baton::app::logging_test {
namespace {

using spdlog::level::level_enum;

std::string line_of(const char* format, const base::LogMembers& members, std::string_view text,
                    level_enum level = spdlog::level::info) {
  const spdlog::log_clock::time_point at(std::chrono::seconds(1'700'000'000));
  const base::LogMembersScope scope(members);
  spdlog::memory_buf_t out;
  log_formatter({"info", format})
      ->format(spdlog::details::log_msg(at, {}, "baton", level, {text.data(), text.size()}), out);
  return std::string(out.data(), out.size());
}

const std::string kBegin = R"({"time":"2023-11-14T22:13:20.000Z","level":)";

TEST_CASE("Log line: in JSON, members come before the message, and the message stays as it is") {
  CHECK(line_of("json", {{"task", "t1"}, {"agent", "echo"}}, "it ended a=b") ==
        kBegin + R"("info","task":"t1","agent":"echo","message":"it ended a=b"})" + "\n");
  CHECK(line_of("json", {{"agent", "echo"}, {"worker", 1}, {"task", "t1"}, {"attempt", 2}}, "task=t2 x=1") ==
        kBegin + R"("info","agent":"echo","worker":"1","task":"t1","attempt":"2","message":"task=t2 x=1"})" +
            "\n");
  CHECK(line_of("json", {}, "other=1 x") == kBegin + R"("info","message":"other=1 x"})" + "\n");
  CHECK(line_of("json", {{"task", "t1"}}, "") == kBegin + R"("info","task":"t1","message":""})" + "\n");
}

TEST_CASE("Log line: as text, members come before the message as name=value") {
  const std::regex time(R"(^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} )");
  const auto after_time = [&](const std::string& line) { return std::regex_replace(line, time, "TIME "); };
  CHECK(after_time(line_of("text", {{"task", "t1"}, {"attempt", 2}}, "it ended", spdlog::level::warn)) ==
        "TIME warning task=t1 attempt=2 it ended\n");
  CHECK(after_time(line_of("text", {}, "it ended")) == "TIME info it ended\n");
}

TEST_CASE("Log line: another server's words begin no line and control no terminal, in any format") {
  const std::string words = "lost: x\n2026-01-01 error forged\x1b[2J\xff";
  for (const char* format : {"text", "terminal", "json"}) {
    CAPTURE(format);
    const std::string line = line_of(format, {{"task", "t1"}}, words);
    CHECK(std::ranges::count(line, '\n') == 1);
    CHECK(line.find("\x1b[2J") == std::string::npos);
    CHECK(base::is_utf8(line));
  }
}

TEST_CASE("Log line: name=value at the start of a message without members becomes members") {
  CHECK(line_of("json", {}, "task=t1 agent=echo it ended a=b") ==
        kBegin + R"("info","task":"t1","agent":"echo","message":"it ended a=b"})" + "\n");
}

TEST_CASE("Log line: any message and members give one line of JSON") {
  CHECK(line_of("json", {}, "a\nb\"c\\", spdlog::level::err) ==
        kBegin + R"("error","message":"a\nb\"c\\"})" + "\n");
  CHECK(line_of("json", {{"task", "a b\nc"}}, "") ==
        kBegin + R"("info","task":"a\\x20b\\x0Ac","message":""})" + "\n");
}

TEST_CASE("Log line: for a terminal, time, agent and the short form of the task's id come first") {
  CHECK(line_of("terminal",
                {{"agent", "echo"}, {"task", "01a218ba-f064-7f34-9639-09e89348afb1"}, {"attempt", 1}},
                "agent-stderr | hi") == "22:13:20 echo 09e89348afb1 | hi\n");
  CHECK(line_of("terminal", {{"agent", "echo"}, {"task", "mine"}}, "hi") == "22:13:20 echo mine hi\n");
  CHECK(line_of("terminal", {}, "listening") == "22:13:20 baton listening\n");
  CHECK(line_of("terminal", {{"agent", "echo"}, {"worker", 1}}, "killed", spdlog::level::warn) ==
        "22:13:20 echo warning: killed\n");
  CHECK(line_of("terminal", {}, "task=t1 agent=echo attempt=2 lost", spdlog::level::warn) ==
        "22:13:20 echo t1 warning: lost\n");
  CHECK(line_of("terminal", {}, "lost", spdlog::level::err) == "22:13:20 baton error: lost\n");
}

TEST_CASE("Log line: members apply to their own line only") {
  CHECK(line_of("json", {{"task", "t1"}}, "x").find("t1") != std::string::npos);
  CHECK(base::current_log_members().empty());
}

}  // namespace
}  // namespace baton::app::logging_test

#include "base/trace_context.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace trace_context_test {

using baton::base::read_traceparent;
using baton::base::traceparent_below;

namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kParent = "00f067aa0ba902b7";
const std::string kGood = "00-" + kTrace + "-" + kParent + "-01";

}  // namespace

TEST_CASE("traceparent: a good value is kept as it is, without the blanks around it") {
  CHECK(read_traceparent(kGood) == kGood);
  CHECK(read_traceparent(" \t" + kGood + " ") == kGood);
}

TEST_CASE("traceparent: defined flags stay, and all others are cleared") {
  const std::string before = "00-" + kTrace + "-" + kParent + "-";
  const std::vector<std::pair<std::string, std::string>> flags{
      {"00", "00"}, {"01", "01"}, {"02", "02"}, {"03", "03"}, {"08", "00"}, {"ff", "03"}, {"f1", "01"}};
  for (const auto& [sent, kept] : flags) {
    CAPTURE(sent);
    CHECK(read_traceparent(before + sent) == before + kept);
  }
}

TEST_CASE("traceparent: a future version is read by its first four fields") {
  const std::string rest = kTrace + "-" + kParent + "-01";
  CHECK(read_traceparent("01-" + rest) == kGood);
  CHECK(read_traceparent("cc-" + rest + "-what-the-future-will-be-like") == kGood);
  CHECK(read_traceparent("fe-" + rest + "-") == kGood);
}

TEST_CASE("traceparent: everything else is ignored") {
  const std::string zeros(32, '0');
  const std::vector<std::string> wrong{
      "",
      " ",
      "x",
      "ff-" + kTrace + "-" + kParent + "-01",       // version ff is invalid
      "00-" + kTrace + "-" + kParent + "-01-more",  // version 00 has four fields
      "00-" + kTrace + "-" + kParent + "-01-",      //
      "01-" + kTrace + "-" + kParent + "-01.more",  //
      "01-" + kTrace + "-" + kParent + "-011",      //
      "00-" + zeros + "-" + kParent + "-01",        // all zeros is not an id
      "00-" + kTrace + "-" + zeros.substr(16) + "-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + kParent + "-01",  // upper case
      "00-" + kTrace + "-00F067AA0BA902B7-01",
      "00-" + kTrace + "-" + kParent + "-0A",
      "0A-" + kTrace + "-" + kParent + "-01",
      "0x-" + kTrace + "-" + kParent + "-01",
      "00-" + kTrace.substr(1) + "g-" + kParent + "-01",
      "00-" + kTrace.substr(1) + "-" + kParent + "-01",  // too short
      "00-" + kTrace + "0-" + kParent + "-01",           // too long
      "00-" + kTrace + "-" + kParent.substr(1) + "-01",
      "00-" + kTrace + "-" + kParent + "-1",
      "00_" + kTrace + "-" + kParent + "-01",
      "00-" + kTrace + "_" + kParent + "-01",
      "00-" + kTrace + "-" + kParent + "_01",
      "00-" + kTrace + "-" + kParent,
      kGood + "," + kGood,
      std::string(kGood).replace(10, 1, 1, '\0'),
  };
  for (const std::string& value : wrong) {
    CAPTURE(value);
    CHECK(read_traceparent(value).empty());
  }
}

TEST_CASE("traceparent: work caused by a request has the request's trace and flags, and its own span") {
  const std::string below = traceparent_below(kGood, {"t1-1-9", "1"});
  CHECK(read_traceparent(below) == below);
  CHECK(below.substr(0, 36) == kGood.substr(0, 36));
  CHECK(below.substr(52) == "-01");
  CHECK(traceparent_below(kGood, {"t1-1-9", "1"}) == below);
  CHECK(traceparent_below("", {"t1-1-9", "1"}).empty());
}

TEST_CASE("traceparent: another name, attempt or request makes another span") {
  const std::string other = "00-" + kTrace + "-b7ad6b7169203331-01";
  const std::set<std::string> all{
      kGood,
      traceparent_below(kGood, {"t1-1-9", "1"}),
      traceparent_below(kGood, {"t1-1-9", "2"}),
      traceparent_below(kGood, {"t1-2-9", "1"}),
      traceparent_below(kGood, {"t1-1-91", ""}),
      traceparent_below(other, {"t1-1-9", "1"}),
      traceparent_below(traceparent_below(kGood, {"t1-1-9", "1"}), {"t1-1-9", "1"}),
  };
  CHECK(all.size() == 7);
}

TEST_CASE("traceparent: the span id derived from these names never changes between versions") {
  // Computed by another program: FNV-1a of each text's bytes and length, then MurmurHash3's fmix64.
  CHECK(traceparent_below(kGood, {"turn"}) == "00-" + kTrace + "-7904ed00655e79bd-01");
}

}  // namespace trace_context_test

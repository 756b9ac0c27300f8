#include "task/short_id.h"

#include <doctest/doctest.h>

namespace short_id_test {

using namespace baton::task;

TEST_CASE("Short id: a UUID is shown as its last group, and any other id unchanged") {
  CHECK(short_id("01a218ba-f064-7f34-9639-09e89348afb1") == "09e89348afb1");
  CHECK(short_id("01a218ba-f064-7f34-9639-09E89348AFB1") == "01a218ba-f064-7f34-9639-09E89348AFB1");
  CHECK(short_id("01a218ba.f064-7f34-9639-09e89348afb1") == "01a218ba.f064-7f34-9639-09e89348afb1");
  CHECK(short_id("t1") == "t1");
  CHECK(short_id("") == "");
}

TEST_CASE("Short id: an id is matched only by its beginning or its short form") {
  constexpr const char* kId = "01a218ba-f064-7f34-9639-09e89348afb1";
  for (const char* part : {"", "0", "01a218ba", "01a218ba-f064-7f34-9639-09e89348afb1", "09e89348afb1"})
    CHECK(is_named_by(kId, part));
  for (const char* part : {"1", "f064", "9e89348afb1", "9639-09e89348afb1", "01A218BA"})
    CHECK_FALSE(is_named_by(kId, part));
}

}  // namespace short_id_test

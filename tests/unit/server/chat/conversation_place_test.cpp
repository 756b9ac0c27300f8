#include "server/chat/conversation_place.h"

#include <doctest/doctest.h>

namespace conversation_place_test {

using namespace baton;
using server::chat::ConversationPlace;
using server::chat::RunName;

namespace {

RunName run(const std::string& task, std::int64_t before = 0) {
  return {{task}, {before}};
}

base::Timestamp at(std::int64_t seconds) {
  return base::from_ms(1'000'000 + seconds * 1000);
}

}  // namespace

TEST_CASE("ConversationPlace: an id names the runs of the last minute, and all before are known") {
  ConversationPlace place;
  place.add(run("old"), at(0));
  place.add(run("a;b:c@d", 7), at(70));
  place.add(run("late"), at(69));  // became visible after one that began later
  CHECK(place.prefix() == "1010000;a%3Bb%3Ac%40d@7;late@0;");
  const auto read = ConversationPlace::read(place.prefix() + "a%3Bb%3Ac%40d:12.3");
  REQUIRE(read);
  REQUIRE(read->run);
  CHECK(read->run->task.value == "a;b:c@d");
  CHECK(read->run->position.event.value == 12);
  CHECK(read->run->position.frames == 3);
  CHECK(read->place.prefix() == place.prefix());
  CHECK(read->place.knows(run("old"), at(0)));
  CHECK(read->place.knows(run("a;b:c@d", 7), at(70)));
  CHECK(read->place.knows(run("late"), at(69)));
  CHECK_FALSE(read->place.knows(run("a;b:c@d", 9), at(70)));
  CHECK_FALSE(read->place.knows(run("later yet"), at(11)));
  CHECK(read->place.knows(run("too late"), at(10)));
}

TEST_CASE("ConversationPlace: a run of a read id is dropped once the floor covers it") {
  auto read = ConversationPlace::read("1000000;a@0;b@0;:0");
  REQUIRE(read);
  CHECK_FALSE(read->run);
  read->place.add_besides(run("a"), at(5));
  read->place.add(run("c"), at(70));
  CHECK(read->place.prefix() == "1010000;b@0;c@0;");
}

TEST_CASE("ConversationPlace: an id of a busy conversation stays short, and can be read") {
  ConversationPlace place;
  for (int i = 0; i < 1'000; ++i) {
    place.add(run("0123456789abcdef0123456789abcdef" + std::to_string(i)), base::from_ms(1'000'000 + i));
  }
  CHECK(place.prefix().size() < 4'000);
  const auto read = ConversationPlace::read(place.prefix() + ":0");
  REQUIRE(read);
  CHECK(read->place.knows(run("0123456789abcdef0123456789abcdef999"), base::from_ms(1'000'999)));
  CHECK(read->place.knows(run("0123456789abcdef0123456789abcdef100"), base::from_ms(1'000'100)));
  CHECK_FALSE(read->place.knows(run("next"), base::from_ms(1'001'000)));
}

TEST_CASE("ConversationPlace: text that is no id is refused") {
  for (const char* text : {"", "5", "5;", ";:0", "x;:0", "-1;:0", "5;a;:0", "5;@1;:0", "5;a@-1;:0",
                           "5;a@x;:0", "5;t", "5;t:", "5;:1", "5;t:x"}) {
    CAPTURE(text);
    CHECK_FALSE(ConversationPlace::read(text));
  }
  std::string many = "5;";
  for (int i = 0; i < 300; ++i) many += "a@" + std::to_string(i) + ";";
  CHECK_FALSE(ConversationPlace::read(many + ":0"));
}

}  // namespace conversation_place_test

#include "store/postgres/nodes/bus_words.h"

#include <doctest/doctest.h>

namespace bus_words_test {

using namespace baton::store::postgres;
using baton::store::Grown;
using baton::task::TaskKey;

namespace {

constexpr std::int64_t kSelf = 7;

Words read(const std::string& payload) {
  Words words;
  read_payload(payload, kSelf, words);
  return words;
}

}  // namespace

TEST_CASE("Bus words: what a node says is what the others hear") {
  const std::vector<std::string> said{word_of_change({{345}, {6}}), word_of_follower({{78}, {9}}),
                                      word_of_question({11}), word_of_answer({12}), std::string(kAskAll)};
  const auto payloads = payloads_of(12, said);
  REQUIRE(payloads.size() == 1);
  CHECK(payloads[0] == "12 345:6 +78:9 ?11 !12 *");
  Words heard;
  CHECK(read_payload(payloads[0], kSelf, heard) == 12);
  REQUIRE(heard.tasks.size() == 1);
  CHECK(heard.tasks[0].task == TaskKey{345});
  CHECK(heard.tasks[0].last.value == 6);
  REQUIRE(heard.followed.size() == 1);
  CHECK(heard.followed[0].task == TaskKey{78});
  CHECK(heard.asked == std::vector<TaskKey>{{11}});
  CHECK(heard.answered == std::vector<TaskKey>{{12}});
  CHECK(heard.asks_all);
  CHECK_FALSE(heard.is_call);
}

TEST_CASE("Bus words: a payload without words is a call, but not one's own") {
  CHECK(read("12").is_call);
  CHECK_FALSE(read("7").is_call);
  CHECK(read("7 1:2").tasks.empty());
}

TEST_CASE("Bus words: more words than a payload holds become several payloads") {
  const std::vector<std::string> many(2'000, word_of_change({{123'456}, {7}}));
  Words heard;
  for (const std::string& payload : payloads_of(12, many)) {
    CHECK(payload.size() < 8'000);
    read_payload(payload, kSelf, heard);
  }
  CHECK(heard.tasks.size() == 2'000);
}

TEST_CASE("Bus words: what follows a word that cannot be read is ignored") {
  for (const char* payload : {"12 x 1:2", "12 0:1 1:2", "12 99999999999999999999:1 1:2", "12 5 1:2"}) {
    CAPTURE(payload);
    CHECK(read(payload).tasks.empty());
    CHECK_FALSE(read(payload).is_call);
  }
}

}  // namespace bus_words_test

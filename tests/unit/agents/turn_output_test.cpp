#include "agents/turn_output.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/recording_sink.h"

namespace turn_output_test {

using namespace baton;

namespace {

// The output of a turn that hides a secret.
struct Output {
  Output() {
    turn.hide(
        [] { return std::make_shared<const base::SecretMask>(std::vector<std::string>{"s3cret-token"}); });
  }

  std::shared_ptr<test::RecordingSink> sink = std::make_shared<test::RecordingSink>();
  agents::SinkGate gate{sink};
  agents::TurnOutput turn{gate, "reply-"};
};

}  // namespace

TEST_CASE("TurnOutput: a secret is hidden in replies that are streamed in turns or replaced") {
  Output output;
  output.turn.reply("a", "your s3cret");
  output.turn.reply("b", "s3c");
  output.turn.reply("a", "-token");
  output.turn.reply("b", "ond", false, true);
  output.turn.reply("c", "a draft");
  output.turn.reply("c", "s3cret-", true);
  output.turn.reply("c", "token");
  output.turn.reply("d", "");
  output.turn.reply("e", "gone");
  output.turn.reply("e", "", true);
  output.turn.finish(agents::Done{});
  const auto& replies = output.sink->replies();
  REQUIRE(replies.size() == 4);
  CHECK(replies[0].text == "your ***");
  CHECK(replies[1].text == "s3cond");
  CHECK(replies[2].text == "***");
  CHECK(replies[3].text.empty());
}

TEST_CASE("TurnOutput: a secret is hidden in streamed text, however it is cut, and in an error") {
  Output output;
  for (const char* piece : {"your s3", "cret-", "token, s3cret"}) output.turn.text(piece);
  output.turn.reasoning("s3cret-t");
  output.turn.reasoning("oken");
  output.turn.finish(agents::Failed{"refused: s3cret-token"});
  CHECK(output.sink->all_text() == "your ***, s3cret");
  CHECK(output.sink->all_reasoning() == "***");
  CHECK(output.sink->ending() == "refused: ***");
}

}  // namespace turn_output_test

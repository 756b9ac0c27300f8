#include "engine/pending_output.h"

#include <doctest/doctest.h>

using namespace baton;
using engine::PendingOutput;

namespace {

task::ArtifactChunk chunk(const std::string& id, const std::string& text, bool append = false) {
  task::ArtifactChunk made;
  made.artifact.id.value = id;
  made.artifact.parts.push_back(task::Part::of_text(text));
  made.append = append;
  return made;
}

const task::TextDelta& text_at(const std::vector<task::EventBody>& events, std::size_t index) {
  return std::get<task::TextDelta>(events.at(index));
}

}  // namespace

TEST_CASE("PendingOutput: pieces of one reply that wait together become one event") {
  PendingOutput output("t", 2, 1000);
  output.add_text("a");
  output.add_text("b");
  auto first = output.take();
  REQUIRE(first.size() == 1);
  CHECK(text_at(first, 0).text == "ab");
  CHECK(text_at(first, 0).first);
  CHECK_FALSE(text_at(first, 0).last);
  CHECK(text_at(first, 0).reply.value == "t-r2.1");
  output.add_text("c");
  output.close_reply();
  const auto second = output.take();
  CHECK(text_at(second, 0).text == "c");
  CHECK_FALSE(text_at(second, 0).first);
  CHECK(text_at(second, 0).last);
}

TEST_CASE("PendingOutput: content ends the open reply, notes do not") {
  PendingOutput output("t", 1, 1000);
  output.add_text("a");
  CHECK_FALSE(output.add(task::StatusChanged{}, {}));
  output.add_text("b");
  CHECK_FALSE(output.add(chunk("x", "1"), {}));
  output.add_text("c");
  const auto events = output.take();
  REQUIRE(events.size() == 5);
  CHECK(text_at(events, 0).reply == text_at(events, 2).reply);
  CHECK(text_at(events, 2).last);
  CHECK(text_at(events, 4).reply.value == "t-r1.2");
  output.stored();
  output.add(chunk("x", "2"), {});
  // The piece is on its way already: the reply's end follows by itself.
  CHECK(text_at(output.take(), 0).last);
}

TEST_CASE("PendingOutput: what was not stored comes again before what came since") {
  PendingOutput output("t", 1, 1000);
  output.add(chunk("1", "x"), {});
  CHECK(output.take().size() == 1);
  output.add(chunk("2", "x"), {});
  output.put_back();
  const auto again = output.take();
  REQUIRE(again.size() == 2);
  CHECK(std::get<task::ArtifactChunk>(again[0]).artifact.id.value == "1");
  output.stored();
  output.put_back();
  CHECK(output.empty());
}

TEST_CASE("PendingOutput: its weight counts what waits and is exact over every road") {
  PendingOutput output("t", 1, 10'000);
  output.add_text(std::string(500, 'x'));
  output.add_text(std::string(500, 'y'));
  const std::size_t whole = output.bytes();
  CHECK(whole >= 1000);
  output.take();
  CHECK(output.bytes() == 0);
  output.put_back();
  CHECK(output.bytes() == whole);
  output.drop_all();
  CHECK(output.bytes() == 0);
}

TEST_CASE("PendingOutput: an artifact past the bound is refused, one that begins anew counts anew") {
  PendingOutput output("t", 1, 10);
  CHECK_FALSE(output.add(chunk("a", "12345678"), {}));
  CHECK_FALSE(output.add(chunk("a", "12345678"), {}));
  const auto wrong = output.add(chunk("a", "123", true), {});
  REQUIRE(wrong);
  CHECK(*wrong == "the agent made an artifact of more than 10 bytes");
}

TEST_CASE("PendingOutput: an artifact without an id and a note without one get theirs") {
  PendingOutput output("t", 3, 100);
  output.add(chunk("", "x"), {});
  task::StatusChanged note;
  note.status.state = task::State::completed;
  note.status.message.emplace();
  output.add(note, base::from_ms(5));
  const auto events = output.take();
  CHECK(std::get<task::ArtifactChunk>(events[0]).artifact.id.value == "t-a3.1");
  const auto& status = std::get<task::StatusChanged>(events[1]).status;
  CHECK(status.state == task::State::working);
  CHECK(status.at == base::from_ms(5));
  CHECK_FALSE(status.message->id.empty());
}

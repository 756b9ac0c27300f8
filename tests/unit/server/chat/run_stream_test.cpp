#include "server/chat/run_stream.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "unit/server/stream_bench.h"

namespace run_stream_test {

using namespace baton;
using server::chat::RunPosition;
using server::chat::RunStream;
using test::EngineBench;
using Next = http::StreamSource::Next;

namespace {

// Shows each event as three frames, but messages not at all. Each frame has the number of events seen, so
// that a skipped event is noticed.
class ThreeFrames final : public protocol::chat::RunView {
 public:
  void show(const task::Event& event, protocol::chat::Frames& out) override {
    ++told_;
    if (std::holds_alternative<task::MessageAdded>(event.body)) return;
    for (const char* name : {"a", "b", ""}) {
      out.add(name) = "{\"told\":\n" + std::to_string(told_) + "}";
    }
  }

 private:
  int told_ = 0;
};

// Shows each event as three large frames.
class LargeFrames final : public protocol::chat::RunView {
 public:
  static constexpr std::size_t kBytes = 100'000;
  void show(const task::Event&, protocol::chat::Frames& out) override {
    for (int i = 0; i < 3; ++i) out.add() = std::string(kBytes, 'x');
  }
};

// Writes only frames that the client does not have, one for each event.
class AskingView final : public protocol::chat::RunView {
 public:
  AskingView(int& told, int& written, bool keeps = false) : told_(told), written_(written), keeps_(keeps) {}
  void show(const task::Event&, protocol::chat::Frames& out) override {
    ++told_;
    if (out.skips_next()) return;
    ++written_;
    out.add() = "{}";
  }
  bool keeps_output() const override { return keeps_; }

 private:
  int &told_, &written_;
  const bool keeps_;
};

// A stream and its consumer, which pulls it as the connection layer would.
class Reader : test::StreamBench {
 public:
  Reader(EngineBench& bench, task::TaskKey task, task::EventNumber before,
         std::optional<RunPosition> shown = {}, std::optional<std::int64_t> skipped = {},
         std::unique_ptr<protocol::chat::RunView> view = std::make_unique<ThreeFrames>())
      : StreamBench(bench) {
    RunStream::Start start{task, {"t 1"}, before, shown, false, std::move(view), [this] { ++left; }};
    start.has_ids = !skipped;
    start.skipped = skipped.value_or(0);
    if (skipped) start.last_words = "[DONE]";
    stream_ = std::make_unique<RunStream>(services_, std::move(start), waker());
  }
  void go() { stream_.reset(); }
  std::size_t held() const { return stream_->held(); }
  std::size_t kept() const { return stream_->kept(); }

  std::string pull_to_end() {
    std::string out;
    while (true) {
      const int seen = wakes();
      const std::size_t before = out.size();
      const Next next = stream_->pull(out, 64 + out.size());
      most_pulled = std::max(most_pulled, out.size() - before);
      most_held = std::max(most_held, stream_->held());
      if (after_pull) after_pull();
      if (next == Next::end) return out;
      if (next == Next::wait) REQUIRE(woken_since(seen));
    }
  }

  int left = 0;
  std::size_t most_pulled = 0, most_held = 0;  // after one pull
  std::function<void()> after_pull;

 private:
  std::unique_ptr<RunStream> stream_;
};

struct Block {
  std::string id;
  std::string text;
};

std::vector<Block> blocks_in(const std::string& stream) {
  std::vector<Block> blocks;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t end = stream.find("\n\n", at) + 2;
    Block block{{}, stream.substr(at, end - at)};
    const std::size_t id = block.text.find("id: ") + 4;
    block.id = block.text.substr(id, block.text.find('\n', id) - id);
    blocks.push_back(std::move(block));
    at = end;
  }
  return blocks;
}

std::string joined(const std::vector<Block>& blocks, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < blocks.size(); ++i) text += blocks[i].text;
  return text;
}

// Makes a task that asks and is answered, which is two runs. Returns its key and the event number before the
// second run.
std::pair<task::TaskKey, task::EventNumber> two_runs(EngineBench& bench) {
  const auto first = bench.submit(EngineBench::message("x", "t 1"));
  REQUIRE(first);
  auto turn = bench.scripted().next();
  turn->sink->text("Which?");
  turn->sink->finish(agents::Asked{"a1", false, {}});
  const auto asked = bench.wait(first->key);
  REQUIRE(asked);
  REQUIRE(bench.submit(EngineBench::message("this", "t 1")));
  turn = bench.scripted().next();
  turn->sink->text("Done.");
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(first->key, asked->number.value));
  return {first->key, asked->number};
}

}  // namespace

TEST_CASE("SSE ids of runs: they have a task and a position in its log") {
  const auto whole = server::chat::read_sse_id("t%201:7");
  REQUIRE(whole);
  CHECK(whole->task.value == "t 1");
  CHECK(whole->position.event.value == 7);
  CHECK(whole->position.frames == 0);
  const auto within = server::chat::read_sse_id("a:b:0.2");
  REQUIRE(within);
  CHECK(within->task.value == "a:b");
  CHECK(within->position.frames == 2);
  for (const char* bad : {"", "7", ":7", "t:", "t:x", "t:-1", "t:1.", "t:1.x", "t:1.-2", "t:1 ", "%zz:1"}) {
    CAPTURE(bad);
    CHECK_FALSE(server::chat::read_sse_id(bad));
  }
}

TEST_CASE("RunStream: a run of an ended task is complete, with an id per block, and ends at its stop") {
  EngineBench bench;
  const auto [task, second] = two_runs(bench);
  Reader reader(bench, task, {0});
  const auto blocks = blocks_in(reader.pull_to_end());
  REQUIRE(blocks.size() >= 4);
  CHECK(blocks[0].text == "event: a\nid: t%201:1.1\ndata: {\"told\": 1}\n\n");
  CHECK(blocks[1].text == "event: b\nid: t%201:1.2\ndata: {\"told\": 1}\n\n");
  CHECK(blocks[2].text == "id: t%201:1\ndata: {\"told\": 1}\n\n");
  // The second event is the message, which is not shown.
  CHECK(blocks[3].text == "event: a\nid: t%201:3.1\ndata: {\"told\": 3}\n\n");
  CHECK(blocks.back().id == "t%201:" + std::to_string(second.value));
  reader.go();
  CHECK(reader.left == 0);
}

TEST_CASE("RunStream: a client that resumes after any block gets exactly the rest") {
  EngineBench bench;
  const auto [task, second] = two_runs(bench);
  for (const task::EventNumber before : {task::EventNumber{0}, second}) {
    Reader reader(bench, task, before);
    const auto blocks = blocks_in(reader.pull_to_end());
    for (std::size_t seen = 0; seen + 1 < blocks.size(); ++seen) {
      CAPTURE(blocks[seen].id);
      const auto id = server::chat::read_sse_id(blocks[seen].id);
      REQUIRE(id);
      Reader again(bench, task, before, id->position);
      CHECK(again.pull_to_end() == joined(blocks, seen + 1));
    }
  }
}

TEST_CASE("RunStream: without ids a client names how many frames it has, and the last words end the stream") {
  EngineBench bench;
  const auto [task, second] = two_runs(bench);
  Reader whole(bench, task, {0}, {}, 0);
  const std::string all = whole.pull_to_end();
  CHECK(all.find("id: ") == std::string::npos);
  const auto blocks = blocks_in(all);
  CHECK(blocks.back().text == "data: [DONE]\n\n");
  for (std::size_t has = 0; has < blocks.size() + 2; ++has) {
    Reader rest(bench, task, {0}, {}, static_cast<std::int64_t>(has));
    CHECK(rest.pull_to_end() == joined(blocks, std::min(has, blocks.size() - 1)));
  }
}

TEST_CASE("RunStream: large frames of one event are sent one by one, and those that are left count as held") {
  EngineBench bench;
  const auto [task, second] = two_runs(bench);
  Reader reader(bench, task, {0}, {}, {}, std::make_unique<LargeFrames>());
  CHECK(reader.pull_to_end().size() > 6 * LargeFrames::kBytes);
  CHECK(reader.most_pulled < 2 * LargeFrames::kBytes);
  CHECK(reader.most_held >= 2 * LargeFrames::kBytes);
  CHECK(reader.most_held < 3 * LargeFrames::kBytes);
}

TEST_CASE(
    "RunStream: a client that has all frames gets none, and a pull reads about as much as there is room") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t 1"));
  REQUIRE(accepted);
  const auto turn = bench.scripted().next();
  constexpr int kEvents = 20;
  for (int i = 0; i < kEvents; ++i)
    turn->sink->emit(task::Custom{"c", task::Json{"\"" + std::string(1000, 'x') + "\""}});
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  int told = 0, written = 0, before = 0, most = 0;
  Reader reader(bench, accepted->key, {0}, {}, std::int64_t{1} << 40,
                std::make_unique<AskingView>(told, written));
  reader.after_pull = [&] { most = std::max(most, told - std::exchange(before, told)); };
  CHECK(reader.pull_to_end() == "data: [DONE]\n\n");
  CHECK(told > kEvents);
  CHECK(most < kEvents / 2);
}

TEST_CASE("RunStream: the output that a view keeps counts as held and kept until the run is over") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t 1"));
  REQUIRE(accepted);
  const auto turn = bench.scripted().next();
  constexpr int kEvents = 20, kBytes = 1000;
  for (int i = 0; i < kEvents; ++i)
    turn->sink->emit(task::Custom{"c", task::Json{"\"" + std::string(kBytes, 'x') + "\""}});
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  for (const bool keeps : {false, true}) {
    CAPTURE(keeps);
    int told = 0, written = 0;
    std::size_t most = 0, most_kept = 0;  // when most of the events were shown
    Reader reader(bench, accepted->key, {0}, {}, {}, std::make_unique<AskingView>(told, written, keeps));
    reader.after_pull = [&] {
      if (told > kEvents - 6 && told < kEvents) most = std::max(most, reader.held());
      most_kept = std::max(most_kept, reader.kept());
    };
    reader.pull_to_end();
    CHECK((most > kEvents / 2 * kBytes) == keeps);
    CHECK((most_kept > kEvents / 2 * kBytes) == keeps);
    CHECK(reader.held() < kBytes);
    CHECK(reader.kept() == 0);
  }
}

TEST_CASE("RunStream: only the content of small events counts as held if a view keeps them") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t 1"));
  REQUIRE(accepted);
  const auto turn = bench.scripted().next();
  constexpr int kEvents = 100;
  for (int i = 0; i < kEvents; ++i) turn->sink->emit(task::Custom{"c", task::Json{"1"}});
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  int told = 0, written = 0;
  std::size_t most = 0;  // when few events were left
  Reader reader(bench, accepted->key, {0}, {}, {}, std::make_unique<AskingView>(told, written, true));
  reader.after_pull = [&] {
    if (told > kEvents - 10 && told < kEvents) most = std::max(most, reader.held());
  };
  reader.pull_to_end();
  CHECK(most > 0);
  CHECK(most < kEvents / 2 * sizeof(task::EventBody));
}

TEST_CASE("RunStream: a client that resumes has no frames written for the events that it has") {
  EngineBench bench;
  const auto [task, second] = two_runs(bench);
  int all = 0;
  for (std::int64_t has = 0; has < second.value; ++has) {
    CAPTURE(has);
    int told = 0, written = 0;
    Reader reader(bench, task, {0}, RunPosition{{has}}, {}, std::make_unique<AskingView>(told, written));
    const auto blocks = blocks_in(reader.pull_to_end());
    CHECK(blocks.size() == static_cast<std::size_t>(written));
    if (has == 0) all = told;
    CHECK(told == all);
    CHECK((written == all) == (has == 0));
  }
}

TEST_CASE("RunStream: a client that leaves before the end is reported as left") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t 1"));
  REQUIRE(accepted);
  Reader reader(bench, accepted->key, {0});
  reader.go();
  CHECK(reader.left == 1);
}

}  // namespace run_stream_test

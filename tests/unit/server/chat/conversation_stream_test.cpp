#include "server/chat/conversation_stream.h"

#include <doctest/doctest.h>

#include "unit/server/stream_bench.h"

namespace conversation_stream_test {

using namespace baton;
using server::chat::ConversationPlace;
using server::chat::ConversationStream;
using server::chat::FoundRun;
using test::EngineBench;
using Next = http::StreamSource::Next;

namespace {

using Lines = std::vector<std::string>;

const task::ContextRef kThread{task::kAnonymous, {"scripted"}, {"thread"}};

// Makes tasks of one run each. Returns their ids.
Lines short_runs(EngineBench& bench, int count) {
  Lines ids;
  for (int i = 0; i < count; ++i) {
    task::Submission submission = EngineBench::message("x");
    submission.context = kThread.id;
    const auto accepted = bench.submit(std::move(submission));
    REQUIRE(accepted);
    bench.scripted().next()->sink->finish(agents::Done{});
    REQUIRE(bench.wait(accepted->key));
    ids.push_back(accepted->id.value);
  }
  return ids;
}

// Shows of a run only that it has begun.
class Name final : public protocol::chat::RunView {
 public:
  explicit Name(std::string name) : name_(std::move(name)) {}
  void show(const task::Event&, protocol::chat::Frames& out) override {
    if (!name_.empty()) out.add() = std::exchange(name_, {});
  }

 private:
  std::string name_;
};

// Follows the conversation from its beginning.
class Reader : test::StreamBench {
 public:
  explicit Reader(EngineBench& bench) : StreamBench(bench) {
    ConversationStream::Start start;
    start.context = kThread;
    start.view = [](const server::chat::RunName& run, const std::vector<task::Message>&) {
      return std::make_unique<Name>(run.task.value);
    };
    stream_ = std::make_unique<ConversationStream>(services_, std::move(start), waker());
  }

  // Pulls until that many runs are shown. Returns their names.
  Lines shown(std::size_t count) {
    while (true) {
      const int seen = wakes();
      const Next next = stream_->pull(out_, 64 + out_.size());
      if (next == Next::more) continue;
      if (next == Next::end || names().size() >= count) return names();
      REQUIRE(woken_since(seen));
    }
  }

 private:
  Lines names() const {
    Lines found;
    constexpr std::string_view kData = "data: ";
    for (std::size_t at = out_.find(kData); at != std::string::npos; at = out_.find(kData, at)) {
      at += kData.size();
      found.push_back(out_.substr(at, out_.find('\n', at) - at));
    }
    return found;
  }
  std::string out_;
  std::unique_ptr<ConversationStream> stream_;
};

}  // namespace

TEST_CASE(
    "Conversation runs: many that a client has missed are found in order, with few looks at all of them") {
  EngineBench bench;
  const Lines begun = short_runs(bench, 64);
  ConversationPlace place;
  Lines shown;
  int looks = 0;
  while (true) {
    const auto ahead = server::chat::runs_ahead(bench.engine().reader(), kThread, place);
    REQUIRE(ahead);
    if (ahead->empty()) break;
    ++looks;
    for (const FoundRun& run : *ahead) {
      shown.push_back(run.name.task.value);
      place.add(run.name, run.began);
    }
  }
  CHECK(shown == begun);
  CHECK(looks <= 4);  // at 64, 32, 16 and 8
}

TEST_CASE(
    "ConversationStream: runs that a client has missed, and then new ones, are shown once and in order") {
  EngineBench bench;
  Lines begun = short_runs(bench, 40);
  Reader reader(bench);
  CHECK(reader.shown(begun.size()) == begun);
  for (std::string& id : short_runs(bench, 2)) begun.push_back(std::move(id));
  CHECK(reader.shown(begun.size()) == begun);
}

}  // namespace conversation_stream_test

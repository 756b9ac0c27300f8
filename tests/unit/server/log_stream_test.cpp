#include "server/streams/log_stream.h"

#include <doctest/doctest.h>

#include <future>

#include "unit/server/stream_bench.h"

namespace log_stream_test {

using namespace baton;
using server::LogStream;
using test::EngineBench;
using Next = http::StreamSource::Next;

namespace {

bool shown(const task::Event& event, bool last, task::EventNumber from, std::string& data) {
  data = "{\"n\":\n" + std::to_string(event.number.value) + (last ? "!}" : "}");
  if (from != event.number) data += " from " + std::to_string(from.value);
  return true;
}
// Like `shown`, but does not show messages.
bool shown_in_part(const task::Event& event, bool last, task::EventNumber from, std::string& data) {
  return !std::holds_alternative<task::MessageAdded>(event.body) && shown(event, last, from, data);
}

// A stream and its consumer, which pulls it as the connection layer would.
class Reader : test::StreamBench {
 public:
  Reader(EngineBench& bench, LogStream::Start start, server::AnswerBudget* pages = nullptr)
      : StreamBench(bench, pages) {
    if (!start.view) start.view = &shown;
    stream_ = std::make_unique<LogStream>(services_, std::move(start), waker());
  }

  // Pulls until the stream ends (true), or waits after at least `count` numbers (false).
  bool pull_until(std::size_t count) {
    while (true) {
      const int seen = wakes();
      const Next next = stream_->pull(out_, kRoom + out_.size());
      if (next == Next::end) return true;
      if (next == Next::more) continue;
      if (numbers().size() >= count) return false;
      REQUIRE(woken_since(seen));
    }
  }
  bool pull_to_end() { return pull_until(SIZE_MAX); }

  // The event numbers of all blocks received.
  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> found;
    std::size_t at = 0;
    while ((at = out_.find("id: ", at)) != std::string::npos) {
      at += 4;
      found.push_back(std::stoll(out_.substr(at)));
    }
    return found;
  }
  const std::string& out() const { return out_; }
  bool has_ids() const { return stream_->has_ids(); }
  std::size_t held() const { return stream_->held(); }

  // Pulls once; returns whether the stream waits, has more or ends.
  Next pull() { return stream_->pull(out_, kRoom + out_.size()); }
  void wait_for_news() {
    while (true) {
      const int seen = wakes();
      if (pull() != Next::wait) return;
      REQUIRE(woken_since(seen));
    }
  }
  // Waits until the store was read, without pulling.
  void wait_for_page() {
    while (true) {
      const int seen = wakes();
      if (held() > 0) return;
      REQUIRE(woken_since(seen));
    }
  }
  // Blocks reads of the store until the returned promise is set.
  std::promise<void> hold_reads() {
    std::promise<void> release;
    REQUIRE(readers_.try_submit(
        [held = std::make_shared<std::future<void>>(release.get_future())] { held->wait(); }));
    return release;
  }

 private:
  static constexpr std::size_t kRoom = 64;
  std::string out_;
  std::unique_ptr<LogStream> stream_;
};

std::vector<std::int64_t> up_to(std::int64_t last, std::int64_t first = 1) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t n = first; n <= last; ++n) numbers.push_back(n);
  return numbers;
}

// A budget for pages read from the store.
struct Budget {
  Budget(std::size_t bytes_max, std::chrono::milliseconds wait_max)
      : pages(bytes_max, 10, wait_max, pool, (timers.start(), timers)) {}
  base::EventLoop timers{"test-time"};
  base::WorkerPool pool{"test-pages", 1, 10};
  server::AnswerBudget pages;
};

// Makes an ended task with more bytes than the feed keeps of a task, so that its log is read from the store.
task::TaskKey large_task(EngineBench& bench) {
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  turn->sink->emit(task::Custom{"c", task::Json{"\"" + std::string(5 << 20, 'x') + "\""}});
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  return accepted->key;
}

LogStream::Start start_at(task::TaskKey task, std::int64_t after) {
  LogStream::Start start;
  start.task = task;
  start.after = {after};
  return start;
}

}  // namespace

TEST_CASE("LogStream: an ended task's log is read from the store, from any number to its end") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  for (int i = 0; i < 300; ++i)
    turn->sink->emit(task::Step{"s" + std::to_string(i), task::Step::Phase::start});
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  const auto last = static_cast<std::int64_t>(bench.log(accepted->key).size());
  for (const std::int64_t after : {std::int64_t{0}, std::int64_t{150}, last - 1}) {
    Reader reader(bench, start_at(accepted->key, after));
    CHECK(reader.pull_to_end());
    CHECK(reader.numbers() == up_to(last, after + 1));
  }
  auto at_end = start_at(accepted->key, last);
  at_end.ended_there = true;
  Reader reader(bench, std::move(at_end));
  CHECK(reader.pull_to_end());
  CHECK(reader.numbers().empty());
}

TEST_CASE("LogStream: past events from the store and live ones from memory join without gap or repeat") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  // More events than the feed keeps.
  for (int i = 0; i < 400; ++i) turn->sink->emit(task::Step{"s", task::Step::Phase::start});
  while (bench.log(accepted->key).size() < 403) std::this_thread::yield();
  Reader reader(bench, start_at(accepted->key, 0));
  CHECK_FALSE(reader.pull_until(403));
  CHECK(reader.numbers() == up_to(403));
  for (int i = 0; i < 50; ++i) {
    turn->sink->emit(task::Step{"s", task::Step::Phase::finish});
    while (bench.log(accepted->key).size() < static_cast<std::size_t>(404 + i)) std::this_thread::yield();
  }
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  CHECK(reader.pull_to_end());
  CHECK(reader.numbers() == up_to(454));
}

TEST_CASE("LogStream: a send's stream ends at the first stop, a subscription only at the end") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  task::Message question;
  question.parts.push_back(task::Part::of_text("?"));
  auto of_send = start_at(accepted->key, 0);
  of_send.ends_at = &task::is_stopped;
  Reader sent(bench, std::move(of_send));
  Reader subscribed(bench, start_at(accepted->key, 0));
  bench.scripted().next()->sink->finish(agents::Asked{"a", false, question});
  REQUIRE(bench.wait(accepted->key));
  CHECK(sent.pull_to_end());
  CHECK_FALSE(subscribed.pull_until(4));
  CHECK(subscribed.numbers() == up_to(4));
  REQUIRE(bench.submit(EngineBench::message("answer", "t1")));
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key, 4));
  CHECK(subscribed.pull_to_end());
  CHECK(sent.numbers() == up_to(4));
  CHECK(subscribed.numbers() == up_to(8));
}

TEST_CASE("LogStream: each event is a block of one line, and hidden ones are covered by the next block") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  auto start = start_at(accepted->key, 0);
  start.first_block = "data: first\n\n";
  start.view = &shown_in_part;
  Reader reader(bench, std::move(start));
  CHECK(reader.pull_to_end());
  CHECK(reader.out() ==
        "data: first\n\n"
        "id: 1\ndata: {\"n\": 1}\n\n"
        "id: 3\ndata: {\"n\": 3} from 2\n\n"
        "id: 4\ndata: {\"n\": 4!}\n\n");
}

TEST_CASE("LogStream: a stream that is not numbered has the same blocks without ids") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  auto start = start_at(accepted->key, 2);
  start.numbered = false;
  Reader reader(bench, std::move(start));
  CHECK(reader.pull_to_end());
  CHECK(reader.out() == "data: {\"n\": 3}\n\ndata: {\"n\": 4!}\n\n");
  CHECK_FALSE(reader.has_ids());
}

TEST_CASE("LogStream: has_ids is true once a block with an id was returned") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  auto of_send = start_at(accepted->key, 0);
  of_send.first_block = "data: first\n\n";
  Reader sent(bench, std::move(of_send));
  CHECK(sent.pull() == Next::more);
  CHECK_FALSE(sent.has_ids());
  CHECK(sent.pull_to_end());
  CHECK(sent.has_ids());
  auto numbered = start_at(accepted->key, 4);
  numbered.first_block = "id: 4\ndata: first\n\n";
  Reader with_task(bench, std::move(numbered));
  CHECK(with_task.pull() == Next::more);
  CHECK(with_task.has_ids());
}

TEST_CASE("LogStream: events already read follow the first block, and then the rest of the log") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  auto start = start_at(accepted->key, 2);
  start.first_block = "data: first\n\n";
  start.page = {bench.log(accepted->key).at(2)};
  start.ends_at = &task::is_stopped;
  Reader reader(bench, std::move(start));
  CHECK(reader.pull() == Next::more);
  CHECK(reader.out() == "data: first\n\n");
  CHECK(reader.pull() == Next::more);
  CHECK(reader.numbers() == up_to(3, 3));
  CHECK(reader.pull_to_end());
  CHECK(reader.numbers() == up_to(4, 3));
}

TEST_CASE("LogStream: an event that arrives in the feed while it is being read is sent once") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  const auto emit = [&](std::string text, std::size_t events) {
    turn->sink->emit(task::Custom{"c", task::Json{"\"" + std::move(text) + "\""}});
    while (bench.log(accepted->key).size() < events) std::this_thread::yield();
  };
  // More bytes than the feed keeps of a task, so that its log is empty afterwards.
  emit(std::string(300 << 10, 'x'), 4);
  Reader reader(bench, start_at(accepted->key, 3));
  reader.wait_for_news();
  REQUIRE(reader.numbers() == up_to(4, 4));
  auto release = reader.hold_reads();
  REQUIRE(reader.pull() == Next::wait);  // the store is asked for events after 4
  emit("y", 5);
  reader.wait_for_news();  // the feed has the event
  release.set_value();
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  CHECK(reader.pull_to_end());
  CHECK(reader.numbers() == up_to(6, 4));
}

TEST_CASE("LogStream: a page that waits for its reader leaves the budget to others, and counts as held") {
  EngineBench bench;
  const task::TaskKey task = large_task(bench);
  Budget one_at_a_time(1, test::patience());
  Reader slow(bench, start_at(task, 0), &one_at_a_time.pages);
  Reader quick(bench, start_at(task, 0), &one_at_a_time.pages);
  REQUIRE(slow.pull() == Next::wait);
  slow.wait_for_page();
  CHECK(slow.held() > 5 << 20);
  CHECK(quick.pull_to_end());
  CHECK(slow.pull_to_end());
  CHECK(slow.held() == 0);
  CHECK(slow.out() == quick.out());
}

TEST_CASE("LogStream: a stream whose end was already read is one text, equal to the pulled stream") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  const auto begun = [&] {
    auto start = start_at(accepted->key, 0);
    start.first_block = "data: first\n\n";
    start.page = bench.log(accepted->key);
    start.ends_at = &task::is_stopped;
    start.view = &shown;
    return start;
  };
  const auto whole = LogStream::whole(begun());
  REQUIRE(whole);
  Reader reader(bench, begun());
  CHECK(reader.pull_to_end());
  CHECK(*whole == reader.out());
  auto cut = begun();
  cut.page.pop_back();
  CHECK_FALSE(LogStream::whole(cut));
  cut.page.clear();
  CHECK_FALSE(LogStream::whole(cut));
  auto subscribed = begun();
  subscribed.ends_at = nullptr;
  CHECK_FALSE(LogStream::whole(subscribed));
}

}  // namespace log_stream_test

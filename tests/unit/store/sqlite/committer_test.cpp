#include "store/sqlite/committer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/manual_clock.h"
#include "support/temp_folder.h"

namespace committer_test {

using namespace baton;
using base::ErrorCode;
using store::sqlite::Committer;
using store::sqlite::CommitterLimits;
using store::sqlite::Connection;
using store::sqlite::Write;
using store::sqlite::WriteState;

namespace {

struct Finished {
  int id;
  std::optional<ErrorCode> error;
};

// Inserts its id into a table where ids are unique and positive.
class Insert final : public Write {
 public:
  Insert(int id, std::vector<Finished>& finished) : id_(id), finished_(finished) {}

  void apply(WriteState& state) override {
    CHECK_FALSE(error_.has_value());
    applied_ = true;
    state.connection().run("INSERT INTO ids (id) VALUES (?)", id_);
  }
  void undo() override { applied_ = false; }
  void refuse(const base::Error& error) override { error_ = error.code; }
  void finish() override {
    CHECK(applied_ != error_.has_value());
    finished_.push_back({id_, error_});
  }

 private:
  const int id_;
  std::vector<Finished>& finished_;  // the flushing thread only, until the committer is gone
  bool applied_ = false;
  std::optional<ErrorCode> error_;
};

// Writes nothing, and keeps the committing thread where it is applied the first time.
class Hold final : public Write {
 public:
  Hold(std::promise<void>& reached, std::future<void> until) : reached_(reached), until_(std::move(until)) {}
  void apply(WriteState&) override {
    if (std::exchange(held_, true)) return;
    reached_.set_value();
    until_.wait();
  }
  void undo() override {}
  void refuse(const base::Error&) override {}
  void finish() override {}

 private:
  std::promise<void>& reached_;
  const std::future<void> until_;
  bool held_ = false;
};

struct Bench {
  Bench() { connection.database().exec("CREATE TABLE ids (id INTEGER PRIMARY KEY CHECK (id > 0))"); }
  // What is pushed until `release` waits together.
  void hold(Committer& committer) {
    committer.push(std::make_unique<Hold>(held, release.get_future()), 1);
    held.get_future().wait();
  }
  int count() { return connection.database().execAndGet("SELECT count(*) FROM ids").getInt(); }

  test::TempFolder folder;
  test::ManualClock clock;
  Connection connection{(folder.path() / "test.db").string(), Connection::Mode::write};
  store::sqlite::SendIndex sends{std::chrono::hours(24), 100};
  WriteState state{connection, clock, 10, sends, 32};
  std::vector<Finished> finished;
  std::promise<void> held;
  std::promise<void> release;
};

}  // namespace

TEST_CASE("Committer: past its bound writes are refused, and finish in their turn") {
  Bench bench;
  CommitterLimits limits;
  limits.writes_max = 3;
  {
    Committer committer(bench.state, limits, [] {});
    bench.hold(committer);
    for (int id = 1; id <= 10; ++id) committer.push(std::make_unique<Insert>(id, bench.finished), 1);
    bench.release.set_value();
  }
  REQUIRE(bench.finished.size() == 10);
  for (int i = 0; i < 10; ++i) {
    const Finished& one = bench.finished[static_cast<std::size_t>(i)];
    CHECK(one.id == i + 1);
    CHECK(one.error == (i < 3 ? std::nullopt : std::optional(ErrorCode::overloaded)));
  }
  CHECK(bench.count() == 3);
}

TEST_CASE("Committer: the bound is on bytes too, but one write alone is let in") {
  Bench bench;
  CommitterLimits limits;
  limits.bytes_max = 100;
  {
    Committer committer(bench.state, limits, [] {});
    bench.hold(committer);
    committer.push(std::make_unique<Insert>(1, bench.finished), 1000);
    committer.push(std::make_unique<Insert>(2, bench.finished), 1);
    bench.release.set_value();
  }
  REQUIRE(bench.finished.size() == 2);
  CHECK_FALSE(bench.finished[0].error.has_value());
  CHECK(bench.finished[1].error == ErrorCode::overloaded);
}

TEST_CASE("Committer: a write that cannot be written fails alone") {
  Bench bench;
  {
    Committer committer(bench.state, {}, [] {});
    bench.hold(committer);
    committer.push(std::make_unique<Insert>(1, bench.finished), 1);
    committer.push(std::make_unique<Insert>(-1, bench.finished), 1);
    committer.push(std::make_unique<Insert>(2, bench.finished), 1);
    bench.release.set_value();
  }
  REQUIRE(bench.finished.size() == 3);
  CHECK_FALSE(bench.finished[0].error.has_value());
  CHECK(bench.finished[1].error == ErrorCode::internal);
  CHECK_FALSE(bench.finished[2].error.has_value());
  CHECK(bench.count() == 2);
}

TEST_CASE("Committer: with a full disk every write of the transaction is unavailable, afterwards they work") {
  Bench bench;
  const int pages = bench.connection.database().execAndGet("PRAGMA page_count").getInt();
  bench.connection.database().exec("CREATE TABLE filler (x)");
  bench.connection.database().exec("PRAGMA max_page_count=" + std::to_string(pages + 1));
  class Fill final : public Write {
   public:
    explicit Fill(std::optional<ErrorCode>& error) : error_(error) {}
    void apply(WriteState& state) override {
      state.connection().run("INSERT INTO filler VALUES (?)", std::string(100'000, 'x'));
    }
    void undo() override {}
    void refuse(const base::Error& error) override { error_ = error.code; }
    void finish() override {}

   private:
    std::optional<ErrorCode>& error_;
  };
  std::optional<ErrorCode> filling;
  {
    Committer committer(bench.state, {}, [] {});
    bench.hold(committer);
    committer.push(std::make_unique<Insert>(1, bench.finished), 1);
    committer.push(std::make_unique<Insert>(2, bench.finished), 1);
    committer.push(std::make_unique<Fill>(filling), 1);
    bench.release.set_value();
  }
  {
    Committer committer(bench.state, {}, [] {});
    committer.push(std::make_unique<Insert>(3, bench.finished), 1);
  }
  CHECK(filling == ErrorCode::unavailable);
  REQUIRE(bench.finished.size() == 3);
  CHECK(bench.finished[0].error == ErrorCode::unavailable);
  CHECK(bench.finished[1].error == ErrorCode::unavailable);
  CHECK_FALSE(bench.finished[2].error.has_value());
  CHECK(bench.count() == 1);
}

TEST_CASE(
    "Committer: nobody is told of a write before it has been flushed, and what comes meanwhile is one "
    "group") {
  Bench bench;
  std::promise<void> flushing, disk_is_done;
  std::atomic<int> flushes = 0;
  const auto flush = [&] {
    if (++flushes > 1) return;
    flushing.set_value();
    disk_is_done.get_future().wait();
  };
  {
    Committer committer(bench.state, {}, flush);
    committer.push(std::make_unique<Insert>(1, bench.finished), 1);
    flushing.get_future().wait();
    CHECK(bench.finished.empty());
    for (int id = 2; id <= 9; ++id) committer.push(std::make_unique<Insert>(id, bench.finished), 1);
    bench.release.set_value();
    bench.hold(committer);  // all of them have been applied
    disk_is_done.set_value();
  }
  CHECK(flushes == 2);
  REQUIRE(bench.finished.size() == 9);
  for (int i = 0; i < 9; ++i) CHECK(bench.finished[static_cast<std::size_t>(i)].id == i + 1);
}

TEST_CASE("Committer: settling waits for the flush of what can be seen, and for nothing else") {
  Bench bench;
  std::promise<void> flushing, disk_is_done;
  const auto flush = [&] {
    flushing.set_value();
    disk_is_done.get_future().wait();
  };
  Committer committer(bench.state, {}, flush);
  committer.settle();
  committer.push(std::make_unique<Insert>(1, bench.finished), 1);
  flushing.get_future().wait();
  std::atomic<bool> settled = false;
  std::jthread reader([&] {
    committer.settle();
    settled = true;
  });
  CHECK_FALSE(settled);
  disk_is_done.set_value();
  reader.join();
  CHECK(bench.count() == 1);
}

TEST_CASE(
    "Committer: a write hears that it is committed while its group is flushed, a refused one does not") {
  class Hears final : public Write {
   public:
    Hears(bool is_refused, std::vector<std::string>& heard) : is_refused_(is_refused), heard_(heard) {}
    void apply(WriteState& state) override {
      if (is_refused_) state.connection().run("INSERT INTO ids (id) VALUES (-1)");
    }
    void undo() override {}
    void refuse(const base::Error&) override { heard_.push_back("refused"); }
    void committed() override { heard_.push_back("committed"); }
    void finish() override { heard_.push_back("finished"); }

   private:
    const bool is_refused_;
    std::vector<std::string>& heard_;
  };
  Bench bench;
  std::promise<void> disk_is_done;
  std::vector<std::string> good, bad;
  // Tells when all before it have heard.
  class Last final : public Write {
   public:
    explicit Last(std::promise<void>& disk_is_done) : disk_is_done_(disk_is_done) {}
    void apply(WriteState&) override {}
    void undo() override {}
    void refuse(const base::Error&) override {}
    void committed() override { disk_is_done_.set_value(); }
    void finish() override {}

   private:
    std::promise<void>& disk_is_done_;
  };
  {
    Committer committer(bench.state, {}, [&, once = false]() mutable {
      if (!std::exchange(once, true)) disk_is_done.get_future().wait();
    });
    bench.hold(committer);
    committer.push(std::make_unique<Hears>(false, good), 1);
    committer.push(std::make_unique<Hears>(true, bad), 1);
    committer.push(std::make_unique<Last>(disk_is_done), 1);
    bench.release.set_value();
  }
  CHECK(good == std::vector<std::string>{"committed", "finished"});
  CHECK(bad == std::vector<std::string>{"refused", "finished"});
}

TEST_CASE("Committer: what is pushed by those who are told of the last group is written too") {
  // Pushes the next of a few once it has been written.
  class Chain final : public Write {
   public:
    Chain(Committer*& committer, int left, std::vector<Finished>& finished)
        : committer_(committer), left_(left), finished_(finished) {}
    void apply(WriteState&) override {}
    void undo() override {}
    void refuse(const base::Error&) override {}
    void finish() override {
      finished_.push_back({left_, {}});
      if (left_ > 0) committer_->push(std::make_unique<Chain>(committer_, left_ - 1, finished_), 1);
    }

   private:
    Committer*& committer_;
    const int left_;
    std::vector<Finished>& finished_;
  };
  Bench bench;
  Committer* told = nullptr;
  {
    Committer committer(bench.state, {}, [] {});
    told = &committer;
    committer.push(std::make_unique<Chain>(told, 5, bench.finished), 1);
  }
  CHECK(bench.finished.size() == 6);
}

}  // namespace committer_test

#include "outbound/byte_budget.h"

#include <doctest/doctest.h>
#include <sys/eventfd.h>

#include <atomic>
#include <list>
#include <optional>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "outbound/http_client.h"
#include "support/patience.h"
#include "unit/outbound/raw_server.h"
#include "unit/outbound/transports.h"

namespace byte_budget_test {

using namespace std::chrono_literals;
using baton::base::ErrorCode;
using Ending = std::optional<ErrorCode>;  // empty on success
using baton::outbound::ByteBudget;
using baton::outbound::HttpRequest;
using baton::outbound::Intake;
using baton::outbound::WaitLimits;
using baton::test::Blocking;
using baton::test::eventually;
using baton::test::OverLoop;
using baton::test::patience;
using baton::test::RawServer;

namespace {

constexpr std::size_t kKib = 1024, kMib = 1024 * kKib;
constexpr std::size_t kPiece = 16 * kKib;
// 12 MiB for reading, of which one account may use 8 and one answer 4, and 4 MiB for decoding.
constexpr ByteBudget::Options kSmall{16 * kMib, 4 * kMib};

// A deadline that has passed, so that any call that would wait fails.
WaitLimits now() {
  WaitLimits limits;
  limits.deadline = std::chrono::steady_clock::now();
  return limits;
}

// Takes `bytes` bytes and returns the error, if any.
Ending acquire(Intake& intake, std::size_t bytes, const WaitLimits& limits = now()) {
  for (std::size_t taken = 0; taken < bytes; taken += kPiece) {
    if (const auto more = intake.acquire(kPiece, limits); !more) return more.error().code;
  }
  return std::nullopt;
}

bool wait_for_waiting(const ByteBudget& budget, std::size_t calls) {
  return eventually([&] { return budget.counts().waiting >= calls; });
}

}  // namespace

TEST_CASE("ByteBudget: small answers do not use the budget") {
  ByteBudget budget(kSmall);
  std::list<Intake> intakes;
  for (int i = 0; i < 1'000; ++i)
    REQUIRE(acquire(intakes.emplace_back(&budget), ByteBudget::kFree) == std::nullopt);
  CHECK(budget.counts().bytes == 0);
}

TEST_CASE("ByteBudget: one answer has its limit, and the error names it") {
  ByteBudget budget(kSmall);
  Intake intake(&budget);
  CHECK(acquire(intake, 4 * kMib) == std::nullopt);
  const auto more = intake.acquire(1, now());
  REQUIRE_FALSE(more);
  CHECK(more.error().code == ErrorCode::too_large);
  CHECK(more.error().for_caller.find("4194304 bytes (outbound.task_bytes_max") != std::string::npos);
}

TEST_CASE("ByteBudget: one account gets half, and others have the rest") {
  ByteBudget budget(kSmall);
  std::list<Intake> intakes;
  // Two full answers fit; the third waits.
  CHECK(acquire(intakes.emplace_back(&budget, "ann"), 4 * kMib) == std::nullopt);
  CHECK(acquire(intakes.emplace_back(&budget, "ann"), 4 * kMib) == std::nullopt);
  CHECK(acquire(intakes.emplace_back(&budget, "ann"), 4 * kMib) == ErrorCode::deadline_exceeded);
  CHECK(acquire(intakes.emplace_back(&budget, "bob"), 4 * kMib) == std::nullopt);
  CHECK(budget.counts().bytes <= 12 * kMib);
  CHECK(acquire(intakes.emplace_back(&budget, "eve"), 4 * kMib) == ErrorCode::deadline_exceeded);
  intakes.front().keep(0);
  CHECK(acquire(intakes.emplace_back(&budget, "ann"), 4 * kMib) == std::nullopt);
}

TEST_CASE("ByteBudget: the largest answer can always be finished, regardless of other answers") {
  ByteBudget budget(kSmall);
  std::list<Intake> intakes;
  for (int account = 0; account < 30; ++account) {
    for (int i = 0; i < 5; ++i)
      (void)acquire(intakes.emplace_back(&budget, std::to_string(account)), 3 * kMib);
  }
  // The intake with the most bytes can finish first, then each of the others in turn.
  std::size_t finished = 0;
  for (bool progress = true; progress;) {
    progress = false;
    for (auto intake = intakes.begin(); intake != intakes.end(); ++intake) {
      if (acquire(*intake, 4 * kMib) == ErrorCode::deadline_exceeded) continue;
      intakes.erase(intake);
      ++finished;
      progress = true;
      break;
    }
  }
  CHECK(finished == 150);
  CHECK(intakes.empty());
  CHECK(budget.counts().bytes == 0);
}

TEST_CASE("ByteBudget: many concurrent readers never deadlock") {
  ByteBudget budget(kSmall);
  std::atomic<int> done{0};
  std::atomic<std::size_t> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      WaitLimits limits;
      limits.deadline = std::chrono::steady_clock::now() + patience();
      for (int answer = 0; answer < 4; ++answer) {
        Intake intake(&budget, i % 2 == 0 ? "ann" : "bob");
        if (acquire(intake, 4 * kMib, limits) != std::nullopt) return;
        most = std::max<std::size_t>(most, budget.counts().bytes);
        const auto right = intake.decode(4 * kMib, kMib);
        if (!right) return;
      }
      ++done;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(done == 16);
  CHECK(most <= 16 * kMib);
  CHECK(budget.counts().bytes == 0);
}

TEST_CASE("ByteBudget: a waiting call ends when it is stopped") {
  ByteBudget budget(kSmall);
  const baton::base::UniqueFd stop(eventfd(0, EFD_CLOEXEC));
  Intake first(&budget, "ann"), second(&budget, "ann"), third(&budget, "ann", stop.get());
  REQUIRE(acquire(first, 4 * kMib) == std::nullopt);
  REQUIRE(acquire(second, 4 * kMib) == std::nullopt);
  Ending reading, decoding;
  std::thread reader([&] {
    WaitLimits limits;
    limits.stop_fd = stop.get();
    reading = acquire(third, 4 * kMib, limits);
  });
  CHECK(wait_for_waiting(budget, 1));
  const auto right = first.decode(4 * kMib, kMib);
  std::thread decoder([&] {
    const auto other = third.decode(4 * kMib, kMib);
    if (!other) decoding = other.error().code;
  });
  CHECK(wait_for_waiting(budget, 2));
  eventfd_write(stop.get(), 1);
  reader.join();
  decoder.join();
  CHECK(reading == ErrorCode::unavailable);
  CHECK(decoding == ErrorCode::unavailable);
}

TEST_CASE("ByteBudget: large answers are decoded one at a time, and one with too many values is refused") {
  ByteBudget budget(kSmall);
  Intake intake(&budget);
  CHECK(intake.decode(kMib, 5 * kMib).error().code == ErrorCode::too_large);
  CHECK(intake.decode(kKib, kKib).has_value());
  std::atomic<int> under_way{0}, most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        const auto right = intake.decode(2 * kMib, kMib);
        most = std::max<int>(most, ++under_way);
        --under_way;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most == 1);
  CHECK(budget.counts().bytes == 0);
}

TEST_CASE_TEMPLATE("ByteBudget: reading of an answer that does not fit pauses until there is room", Transport,
                   Blocking, OverLoop) {
  ByteBudget budget(kSmall);
  const std::string body(3 * kMib, 'x');
  RawServer server([&](RawServer&, int connection) {
    RawServer::say(connection,
                   "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  Intake first(&budget, "ann"), second(&budget, "ann"), third(&budget, "ann");
  REQUIRE(acquire(first, 4 * kMib) == std::nullopt);
  REQUIRE(acquire(second, 4 * kMib) == std::nullopt);
  HttpRequest request;
  request.url = server.url();
  request.method = "GET";
  request.policy.allow_private = true;
  request.total_timeout = patience();
  request.answer_max = 4 * kMib;
  request.intake = &third;
  baton::base::Result<baton::outbound::HttpAnswer> answer;
  std::thread caller([&] { answer = Transport::request(request); });
  CHECK(wait_for_waiting(budget, 1));
  CHECK(budget.counts().bytes <= 8 * kMib + kMib);
  second.keep(0);
  caller.join();
  REQUIRE(answer);
  CHECK(answer->body.size() == body.size());
}

TEST_CASE_TEMPLATE("ByteBudget: an answer over its limit fails and is not cut off", Transport, Blocking,
                   OverLoop) {
  ByteBudget budget(kSmall);
  RawServer server([&](RawServer& self, int connection) {
    RawServer::say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
    self.drip(connection, std::string(64 * kKib, 'x'), 0);
  });
  Intake intake(&budget);
  HttpRequest request;
  request.url = server.url();
  request.policy.allow_private = true;
  request.total_timeout = patience();
  request.answer_max = 100'000'000;
  request.intake = &intake;
  const auto answer = Transport::request(request);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::too_large);
}

}  // namespace byte_budget_test

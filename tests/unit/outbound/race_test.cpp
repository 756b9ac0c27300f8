#include "outbound/race.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/patience.h"
#include "unit/outbound/listener.h"

namespace race_test {

using baton::base::ErrorCode;
using baton::outbound::Race;
using baton::outbound::Socket;
using baton::test::Listener;
using baton::test::patience;

namespace {

constexpr const char* kHanging = "127.0.0.2";

baton::base::Result<std::unique_ptr<Socket>> connect(const std::vector<std::string>& addresses, int port,
                                                     std::chrono::milliseconds timeout) {
  baton::base::EventLoop loop("race");
  std::optional<baton::base::Result<std::unique_ptr<Socket>>> ended;
  Race race(loop, addresses, port, timeout, [&](auto socket) { ended = std::move(socket); });
  race.start();
  loop.run_here([&] { return ended.has_value(); });
  return std::move(*ended);
}

}  // namespace

TEST_CASE(
    "Race: an address that does not answer is joined by the next one, one that refuses is passed over") {
  Listener hanging(kHanging, 0, 0);
  hanging.hang();
  // Not 127.0.0.1, where another program may use the port.
  const Listener good("127.0.0.4", hanging.port(), 16);
  // 127.0.0.3 refuses. Without a race the first address would use up the whole time.
  const auto socket = connect({kHanging, "127.0.0.3", "127.0.0.4"}, good.port(), 10 * patience());
  REQUIRE_MESSAGE(socket.has_value(), socket.error().for_caller);
  CHECK((*socket)->address() == "127.0.0.4");
}

TEST_CASE("Race: the families take turns, beginning with that of the first address") {
  Listener good("127.0.0.1", 0, 16);
  // The second IPv6 address comes after the IPv4 one. Documentation addresses: unreachable, or without an
  // answer.
  const auto socket = connect({"100::1", "100::2", "127.0.0.1"}, good.port(), 10 * patience());
  REQUIRE_MESSAGE(socket.has_value(), socket.error().for_caller);
  CHECK((*socket)->address() == "127.0.0.1");
}

TEST_CASE(
    "Race: a race that nobody wins ends with the time of each attempt, and one that is dropped at once") {
  Listener hanging(kHanging, 0, 0);
  hanging.hang();
  using std::chrono::milliseconds;
  const auto late = connect({kHanging}, hanging.port(), milliseconds(20));
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().code == ErrorCode::deadline_exceeded);
  baton::base::EventLoop loop("race");
  bool is_told = false;
  std::optional<Race> race(std::in_place, loop, std::vector<std::string>{kHanging}, hanging.port(),
                           milliseconds(10), [&](auto) { is_told = true; });
  race->start();
  race.reset();
  bool is_later = false;
  loop.after(milliseconds(30), [&] { is_later = true; });
  loop.run_here([&] { return is_later; });
  CHECK_FALSE(is_told);
}

}  // namespace race_test

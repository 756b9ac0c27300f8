#include "server/grpc/connections.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "support/patience.h"

namespace baton::server::grpc::connections_test {
namespace {

using std::chrono_literals::operator""ms;

// Connections on a free port, and one of them, which the test serves itself.
class Bench {
 public:
  explicit Bench(const GrpcLimits& limits = {}, const http::Limits& bounds = {}) {
    auto listener = http::Listener::open("127.0.0.1", 0);
    REQUIRE(listener.has_value());
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(listener->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::promise<int> accepted;
    connections.emplace(std::move(*listener), limits, bounds,
                        [&](int, int connection) { accepted.set_value(connection); });
    connections->start();
    constexpr int kReceiveBuffer = 4096;
    setsockopt(client.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
    REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    served = base::UniqueFd(accepted.get_future().get());
    socklen_t size = sizeof address;
    REQUIRE(getsockname(client.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    key = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~Bench() { connections->stop(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // Sends until the kernel takes no more.
  void fill() const {
    const std::string bytes(64 << 10, 'x');
    while (::send(served.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    }
  }
  // Whether the connection has ended, or does so within the time.
  bool has_ended(std::chrono::milliseconds time = test::patience()) const {
    pollfd one{served.get(), 0, 0};
    return ::poll(&one, 1, static_cast<int>(time.count())) == 1;
  }

  base::UniqueFd client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  base::UniqueFd served;
  std::string key;
  std::optional<Connections> connections;
};

TEST_CASE("gRPC connections: one whose client takes nothing for the stall time is ended") {
  http::Limits bounds;
  bounds.stall_time = 50ms;
  const Bench bench({}, bounds);
  bench.fill();
  CHECK(bench.has_ended());
}

TEST_CASE("gRPC connections: the bytes that a client has taken count, and those that wait for it do not") {
  const Bench bench;
  const auto taken = [&] { return bench.connections->taken(bench.key); };
  CHECK(::send(bench.served.get(), "five!", 5, MSG_NOSIGNAL) == 5);
  // The kernel counts acknowledgements, which come a moment later.
  CHECK(test::eventually([&] { return taken() >= 5; }));
  // A connection begins with one more.
  CHECK(taken() - 5 <= 1);
  bench.fill();
  CHECK(taken() < 64 << 10);
  CHECK(bench.connections->taken("127.0.0.1:0") == 0);
}

TEST_CASE("gRPC connections: one is full while its client reads nothing") {
  const Bench bench;
  CHECK(!bench.connections->is_full(bench.key));
  bench.fill();
  CHECK(bench.connections->is_full(bench.key));
}

TEST_CASE("gRPC connections: one with more refusals than it may have at a time is ended") {
  constexpr int kRefusals = 3;
  GrpcLimits limits;
  limits.resets_max = limits.calls_per_connection_max = kRefusals;
  SUBCASE("as many as resets") {
    limits.calls_per_connection_max = 1;
  }
  SUBCASE("as many as calls") {
    limits.resets_max = 1;
  }
  Bench bench(limits);
  for (int i = 0; i < 2 * kRefusals; ++i) {
    bench.connections->begin_refusal(bench.key);
    bench.connections->end_refusal(bench.key);
  }
  for (int i = 0; i < kRefusals; ++i) bench.connections->begin_refusal(bench.key);
  CHECK(!bench.has_ended(0ms));
  bench.connections->begin_refusal(bench.key);
  CHECK(bench.has_ended());
}

}  // namespace
}  // namespace baton::server::grpc::connections_test

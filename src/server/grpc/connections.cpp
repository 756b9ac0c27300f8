#include "server/grpc/connections.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "server/admission/hosts.h"

namespace baton::server::grpc {
namespace {

using http::AcceptedSocket;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr int kAcceptsInARound = 64;
constexpr auto kPause = 250ms;
constexpr auto kResetWindow = 10s;

std::string key_of(std::string_view address, int port) {
  return std::string(address).append(":").append(std::to_string(port));
}

int port_of_peer(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return -1;
  return address.ss_family == AF_INET6 ? ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port)
                                       : ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace

Peer peer_of(std::string_view peer) {
  peer.remove_prefix(std::min(peer.find(':') + 1, peer.size()));
  Peer read;
  for (std::size_t i = 0; i < peer.size(); ++i) {
    const std::string_view escape = peer.substr(i, 3);
    if (escape == "%5B" || escape == "%5D") {
      i += 2;
    } else if (peer[i] == '%') {
      i = std::min({peer.find("%5D", i), peer.find(']', i), peer.size()}) - 1;
    } else if (peer[i] != '[' && peer[i] != ']') {
      read.key += peer[i];
    }
  }
  read.address = read.key.substr(0, read.key.rfind(':'));
  return read;
}

Connections::Connections(http::Listener listener, const GrpcLimits& limits, const http::Limits& bounds,
                         HandOver hand_over)
    : limits_(limits),
      connections_max_(bounds.connections_max),
      stall_time_(bounds.stall_time),
      hand_over_(std::move(hand_over)),
      listener_(std::move(listener)) {}

void Connections::start() {
  loop_.watch(listener_.fd(), EPOLLIN, accept_);
  loop_.start();
}

void Connections::stop_listening() {
  loop_.post([this] {
    if (listener_.fd() < 0) return;
    loop_.forget(listener_.fd(), accept_);
    listener_.close();
  });
}

void Connections::stop() {
  loop_.stop();
}

void Connections::accept_some() {
  for (int i = 0; i < kAcceptsInARound && listener_.fd() >= 0; ++i) {
    AcceptedSocket accepted = listener_.accept();
    if (accepted.outcome == AcceptedSocket::Outcome::none) return;
    if (accepted.outcome == AcceptedSocket::Outcome::exhausted) return pause();
    if (accepted.outcome != AcceptedSocket::Outcome::connection) continue;
    if (!adopt(std::move(accepted))) return pause();
    exhausted_ = false;
  }
}

// Without a descriptor or memory for it, the connection would be reported again at once, and fail again.
void Connections::pause() {
  if (!std::exchange(exhausted_, true)) spdlog::warn("grpc: out of file descriptors; new connections wait");
  loop_.forget(listener_.fd(), accept_);
  loop_.after(kPause, [this] {
    if (listener_.fd() >= 0) loop_.watch(listener_.fd(), EPOLLIN, accept_);
  });
}

bool Connections::may_connect(const std::string& network) {
  return state_.with([&](State& state) {
    if (static_cast<int>(state.open.size()) >= connections_max_) return false;
    const auto found = state.of_network.find(network);
    const int count = found == state.of_network.end() ? 0 : found->second;
    return limits_.connections_per_address_max == 0 || count < limits_.connections_per_address_max;
  });
}

// Returns false if no descriptor is left. A connection over a limit is closed at once: no error can be sent
// before HTTP/2 has begun.
bool Connections::adopt(AcceptedSocket accepted) {
  const std::string network = server::network_of(accepted.address);
  if (!may_connect(network)) return true;
  const int port = port_of_peer(accepted.fd.get());
  if (port < 0) return true;
  base::UniqueFd second(fcntl(accepted.fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!second.valid()) return false;
  const auto stall = static_cast<unsigned>(stall_time_.count());
  setsockopt(accepted.fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &stall, sizeof stall);
  const std::string key = key_of(accepted.address, port);
  const int watched = second.get();
  // An earlier connection with the same key must have ended.
  drop(key, -1);
  const auto* const ended = state_.with([&](State& state) {
    ++state.of_network[network];
    Open& open = state.open[key];
    open = {std::move(second),
            network,
            [this, key, watched](std::uint32_t) { drop(key, watched); },
            0,
            0,
            0,
            std::chrono::steady_clock::now()};
    return &open.ended;
  });
  loop_.watch(watched, EPOLLRDHUP | EPOLLET, *ended);
  hand_over_(listener_.fd(), accepted.fd.release());
  return true;
}

void Connections::drop(const std::string& key, int second) {
  decltype(State::open)::node_type dropped;
  state_.with([&](State& state) {
    const auto found = state.open.find(key);
    if (found == state.open.end() || (second >= 0 && found->second.second.get() != second)) return;
    dropped = state.open.extract(found);
    const auto counted = state.of_network.find(dropped.mapped().network);
    if (--counted->second == 0) state.of_network.erase(counted);
  });
  if (dropped) loop_.forget(dropped.mapped().second.get(), dropped.mapped().ended);
}

bool Connections::begin_call(const std::string& key) {
  return state_.with([&](State& state) {
    const auto found = state.open.find(key);
    if (found == state.open.end()) return true;  // already closed
    if (found->second.calls >= limits_.calls_per_connection_max) return false;
    ++found->second.calls;
    return true;
  });
}

void Connections::end_call(const std::string& key, bool reset) {
  const int flooding = state_.with([&](State& state) {
    const auto found = state.open.find(key);
    if (found == state.open.end()) return -1;
    Open& open = found->second;
    open.calls = std::max(open.calls - 1, 0);
    if (!reset) return -1;
    const auto now = std::chrono::steady_clock::now();
    if (now - open.since > kResetWindow) {
      open.since = now;
      open.resets = 0;
    }
    return ++open.resets == limits_.resets_max + 1 ? open.second.get() : -1;
  });
  close(key, flooding, "resets too many calls");
}

void Connections::begin_refusal(const std::string& key) {
  // All calls that a client may have can be refused before it has read the first refusal.
  const int most = std::max(limits_.resets_max, limits_.calls_per_connection_max);
  const int flooding = state_.with([&](State& state) {
    const auto found = state.open.find(key);
    if (found == state.open.end()) return -1;
    return ++found->second.refusals == most + 1 ? found->second.second.get() : -1;
  });
  close(key, flooding, "does not read the refusals of its calls");
}

void Connections::end_refusal(const std::string& key) {
  state_.with([&](State& state) {
    const auto found = state.open.find(key);
    if (found != state.open.end()) found->second.refusals = std::max(found->second.refusals - 1, 0);
  });
}

// Locked, so that the descriptor stays open; the kernel answers at once.
std::uint64_t Connections::taken(const std::string& key) const {
  // An offset in the kernel's struct tcp_info. The C library's struct ends before this member.
  constexpr std::size_t kBytesAckedAt = 120;
  std::array<char, kBytesAckedAt + sizeof(std::uint64_t)> info{};
  socklen_t size = info.size();
  state_.with([&](const State& state) {
    const auto found = state.open.find(key);
    if (found == state.open.end()) return;
    getsockopt(found->second.second.get(), IPPROTO_TCP, TCP_INFO, info.data(), &size);
  });
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, info.data() + kBytesAckedAt, sizeof bytes);
  return bytes;
}

// Locked for the same reason; this poll does not wait.
bool Connections::is_full(const std::string& key) const {
  return state_.with([&](const State& state) {
    const auto found = state.open.find(key);
    if (found == state.open.end()) return false;
    pollfd socket{found->second.second.get(), POLLOUT, 0};
    return ::poll(&socket, 1, 0) == 0;
  });
}

void Connections::close(const std::string& key, int second, const char* why) {
  if (second < 0) return;
  loop_.post([this, key, second, why] {
    const bool is_open = state_.with([&](State& state) {
      const auto found = state.open.find(key);
      return found != state.open.end() && found->second.second.get() == second;
    });
    if (!is_open) return;
    spdlog::warn("grpc: {} {}; its connection is closed", key, why);
    ::shutdown(second, SHUT_RDWR);
  });
}

}  // namespace baton::server::grpc

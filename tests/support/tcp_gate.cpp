#include "support/tcp_gate.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace baton::test {
namespace {

constexpr int kLookMs = 20;

sockaddr_in local(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

TcpGate::TcpGate(int port) : server_port_(port), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = local(0);
  socklen_t size = sizeof address;
  ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
  ::listen(listener_.get(), 16);
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void TcpGate::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (cuts_all_.exchange(false)) pairs_.clear();
    if (is_frozen_) {
      ::poll(nullptr, 0, kLookMs);
      continue;
    }
    std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      watched.push_back({pair.client.get(), POLLIN, 0});
      watched.push_back({pair.server.get(), POLLIN, 0});
    }
    ::poll(watched.data(), watched.size(), kLookMs);
    auto each = watched.begin() + 1;
    for (Pair& pair : pairs_) {
      if ((each++)->revents != 0) pass_request(pair);
      if ((each++)->revents != 0) pass_answer(pair);
    }
    // A pair whose client was dropped stays until the server closes: the server must not see that.
    std::erase_if(pairs_, [](const Pair& pair) { return !pair.server.valid(); });
    if (watched.front().revents != 0) accept_one();
  }
}

void TcpGate::accept_one() {
  Pair pair{base::UniqueFd(::accept(listener_.get(), nullptr, nullptr)), {}};
  if (is_shut_) return;
  pair.server = base::UniqueFd(::socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = local(server_port_);
  if (::connect(pair.server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    pairs_.push_back(std::move(pair));
}

void TcpGate::pass_request(Pair& pair) {
  if (!pair.client.valid()) return;
  std::array<char, 65536> bytes;
  const ssize_t got = ::recv(pair.client.get(), bytes.data(), bytes.size(), 0);
  if (got <= 0) {
    pair.client.reset();
    pair.server.reset();
    return;
  }
  std::string_view passed(bytes.data(), static_cast<std::size_t>(got));
  const std::int64_t most = request_bytes_;
  if (most < 0) return send_all(pair.server.get(), passed);
  request_bytes_ = most >= got ? most - got : -1;
  passed = passed.substr(0, static_cast<std::size_t>(std::min<std::int64_t>(most, got)));
  send_all(pair.server.get(), passed);
  if (most >= got) return;
  pair.client.reset();
  ++cuts_;
}

void TcpGate::pass_answer(Pair& pair) {
  if (!pair.server.valid()) return;
  std::array<char, 65536> bytes;
  const ssize_t got = ::recv(pair.server.get(), bytes.data(), bytes.size(), 0);
  if (got <= 0) {
    pair.client.reset();
    pair.server.reset();
    return;
  }
  const std::string_view passed(bytes.data(), static_cast<std::size_t>(got));
  const char* const lost = lost_;
  if (lost != nullptr && passed.find(lost) != std::string_view::npos) return;
  const char* wanted = answer_;
  if (wanted != nullptr && pair.client.valid() && passed.find(wanted) != std::string_view::npos) {
    answer_ = nullptr;
    pair.client.reset();
    ++cuts_;
  }
  if (pair.client.valid()) send_all(pair.client.get(), passed);
}

}  // namespace baton::test

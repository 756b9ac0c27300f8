#include "outbound/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

constexpr const char* kNoConnection = "the connection failed";

tl::unexpected<base::Error> broken(const char* what, int error) {
  return fail(ErrorCode::unavailable, what, std::strerror(error));
}

// Returns the limit of one wait: the shorter of the remaining time and the idle time; nullopt for no limit.
std::optional<milliseconds> longest_wait(const WaitLimits& limits, milliseconds idle) {
  std::optional<milliseconds> longest;
  if (idle.count() > 0) longest = idle;
  if (limits.deadline) {
    const auto left = std::chrono::ceil<milliseconds>(*limits.deadline - std::chrono::steady_clock::now());
    longest = std::min(longest.value_or(left), left);
  }
  return longest;
}

// Returns the addresses in the order in which they are tried: the families take turns, beginning with that of
// the first one (RFC 8305, 4).
std::vector<std::string> in_turns(const std::vector<std::string>& addresses) {
  const auto is_v6 = [](const std::string& address) { return address.find(':') != std::string::npos; };
  std::vector<std::string> first, second, order;
  for (const std::string& address : addresses)
    (is_v6(address) == is_v6(addresses.front()) ? first : second).push_back(address);
  for (std::size_t at = 0; at < std::max(first.size(), second.size()); ++at) {
    if (at < first.size()) order.push_back(first[at]);
    if (at < second.size()) order.push_back(second[at]);
  }
  order.resize(std::min(order.size(), Socket::kAddressesMax));
  return order;
}

// Begins to connect. The result may already have failed or succeeded: poll says so.
base::Result<base::UniqueFd> begin_to_connect(const std::string& address, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // parses an address, resolves no name
  addrinfo* list = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &list) != 0) {
    return fail(ErrorCode::unavailable, "the address is not usable");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);

  base::UniqueFd fd(::socket(list->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return broken(kNoConnection, errno);
  const int yes = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // Detects a peer that disappeared silently within a minute, no matter how long an answer may take.
  constexpr int kKeepAliveAfter = 30, kKeepAliveEvery = 10, kKeepAliveProbes = 3;
  setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAliveAfter, sizeof kKeepAliveAfter);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveEvery, sizeof kKeepAliveEvery);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPCNT, &kKeepAliveProbes, sizeof kKeepAliveProbes);
  const int status = ::connect(fd.get(), list->ai_addr, list->ai_addrlen);
  if (status != 0 && errno != EINPROGRESS) return broken(kNoConnection, errno);
  return fd;
}

// The attempts to connect that are under way.
class Race {
 public:
  Race(const std::vector<std::string>& addresses, int port, milliseconds timeout, const WaitLimits& limits)
      : order_(in_turns(addresses)), port_(port), timeout_(timeout), limits_(limits) {}

  struct Winner {
    base::UniqueFd fd;
    std::string address;
  };
  base::Result<Winner> run() {
    while (next_ < order_.size() || !open_.empty()) {
      const SteadyTime now = std::chrono::steady_clock::now();
      if (limits_.deadline && now >= *limits_.deadline) return fail(too_late());
      if (next_ < order_.size() && (open_.empty() || now >= next_at_)) {
        begin(now);
        continue;
      }
      if (const auto waited = wait(now); !waited) return fail(waited.error());
      if (const auto won = std::ranges::find(open_, true, &Attempt::is_connected); won != open_.end())
        return Winner{std::move(won->fd), *won->address};
    }
    return fail(last_);
  }

 private:
  struct Attempt {
    base::UniqueFd fd;
    const std::string* address;
    SteadyTime until;
    bool is_connected = false;
    bool is_over = false;
  };

  static base::Error too_late() {
    return {ErrorCode::deadline_exceeded, "the server took too long to answer", {}};
  }

  void begin(SteadyTime now) {
    const std::string& address = order_[next_++];
    auto fd = begin_to_connect(address, port_);
    if (!fd) return lose(fd.error());
    open_.push_back({std::move(*fd), &address, now + timeout_});
    next_at_ = now + Socket::kRaceDelay;
  }

  // An attempt has failed: the next address need not wait.
  void lose(base::Error why) {
    last_ = std::move(why);
    next_at_ = {};
  }

  // Waits until an attempt has ended, or the next one is due.
  base::Result<void> wait(SteadyTime now) {
    SteadyTime until = next_ < order_.size() ? next_at_ : SteadyTime::max();
    std::vector<pollfd> fds{{limits_.stop_fd, POLLIN, 0}};
    for (const Attempt& one : open_) {
      fds.push_back({one.fd.get(), POLLOUT, 0});
      until = std::min(until, one.until);
    }
    if (limits_.deadline) until = std::min(until, *limits_.deadline);
    const auto left =
        std::clamp<std::int64_t>(std::chrono::ceil<milliseconds>(until - now).count(), 0, 3'600'000);
    const int count = ::poll(fds.data(), fds.size(), static_cast<int>(left));
    if (count < 0 && errno != EINTR) return broken("waiting for the connection failed", errno);
    if (count > 0 && fds[0].revents != 0) return fail(ErrorCode::unavailable, "the request was canceled");
    for (std::size_t at = 0; at < open_.size(); ++at)
      look_at(open_[at], count > 0 && fds[at + 1].revents != 0);
    std::erase_if(open_, [](const Attempt& one) { return one.is_over; });
    return {};
  }

  void look_at(Attempt& one, bool has_ended) {
    if (!has_ended) {
      one.is_over = std::chrono::steady_clock::now() >= one.until;
      if (one.is_over) lose(too_late());
      return;
    }
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(one.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    one.is_connected = error == 0;
    one.is_over = error != 0;
    if (one.is_over) lose(broken(kNoConnection, error).value());
  }

  const std::vector<std::string> order_;
  const int port_;
  const milliseconds timeout_;
  const WaitLimits& limits_;
  std::vector<Attempt> open_;
  std::size_t next_ = 0;
  SteadyTime next_at_{};
  base::Error last_{ErrorCode::unavailable, kNoConnection, {}};
};

}  // namespace

base::Result<std::unique_ptr<Socket>> Socket::connect(const std::vector<std::string>& addresses, int port,
                                                      milliseconds timeout, const WaitLimits& limits) {
  auto winner = Race(addresses, port, timeout, limits).run();
  if (!winner) return fail(winner.error());
  return std::unique_ptr<Socket>(new Socket(std::move(winner->fd), std::move(winner->address), limits));
}

void Socket::begin(const WaitLimits& limits) {
  limits_ = limits;
  longest_wait_ = milliseconds(0);
}

bool Socket::is_quiet() const {
  pollfd fd{fd_.get(), POLLIN | POLLRDHUP, 0};
  return ::poll(&fd, 1, 0) == 0;
}

base::Result<void> Socket::wait(short events, milliseconds idle) {
  std::array<pollfd, 2> fds{pollfd{fd_.get(), events, 0}, pollfd{limits_.stop_fd, POLLIN, 0}};
  const SteadyTime began = std::chrono::steady_clock::now();
  while (true) {
    // A signal may interrupt a wait: the idle time still counts from its start.
    milliseconds left = idle;
    if (idle.count() > 0) {
      left -= std::chrono::floor<milliseconds>(std::chrono::steady_clock::now() - began);
      left = std::max(left, milliseconds(1));
    }
    const std::optional<milliseconds> longest = longest_wait(limits_, left);
    if (longest && longest->count() <= 0) break;
    const int timeout = longest ? static_cast<int>(std::min<std::int64_t>(longest->count(), 3'600'000)) : -1;
    const int count = ::poll(fds.data(), fds.size(), timeout);
    if (count < 0 && errno != EINTR) return broken("waiting for the connection failed", errno);
    if (count == 0) {
      if (longest->count() > timeout) continue;
      break;
    }
    if (count > 0 && fds[1].revents != 0) return fail(ErrorCode::unavailable, "the request was canceled");
    if (count > 0 && fds[0].revents != 0) return {};
  }
  return fail(ErrorCode::deadline_exceeded, "the server took too long to answer");
}

base::Result<std::size_t> Socket::read(char* buffer, std::size_t size) {
  while (true) {
    if (const auto ready = wait(POLLIN, idle()); !ready) return fail(ready.error());
    const ssize_t got = ::recv(fd_.get(), buffer, size, 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR && errno != EAGAIN) return broken("the connection was lost", errno);
  }
}

base::Result<void> Socket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (const auto ready = wait(POLLOUT, idle()); !ready) return fail(ready.error());
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EINTR && errno != EAGAIN) return broken("the connection was lost", errno);
  }
  return {};
}

}  // namespace baton::outbound

#include "outbound/race.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

namespace baton::outbound {
namespace {

using base::ErrorCode;
using std::chrono::milliseconds;

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
  order.resize(std::min(order.size(), Race::kAddressesMax));
  return order;
}

}  // namespace

Race::Race(base::EventLoop& loop, const std::vector<std::string>& addresses, int port, milliseconds timeout,
           Done done)
    : loop_(loop),
      order_(in_turns(addresses)),
      port_(port),
      timeout_(timeout),
      done_(std::move(done)),
      last_{ErrorCode::unavailable, "the connection failed", {}} {}

Race::~Race() {
  close();
}

void Race::close() {
  loop_.cancel(std::exchange(timer_, 0));
  for (const Attempt& one : open_) loop_.forget(one.socket->fd(), one.on_ready);
  open_.clear();
}

void Race::step() {
  loop_.cancel(std::exchange(timer_, 0));
  const SteadyTime now = std::chrono::steady_clock::now();
  drop_late(now);
  while (next_ < order_.size() && (open_.empty() || now >= next_at_)) begin_next(now);
  if (open_.empty()) return end(base::fail(last_));
  SteadyTime until = next_ < order_.size() ? next_at_ : SteadyTime::max();
  for (const Attempt& one : open_) until = std::min(until, one.until);
  timer_ = loop_.after(std::chrono::ceil<milliseconds>(until - now), [this] { step(); });
}

void Race::begin_next(SteadyTime now) {
  auto socket = Socket::begin(order_[next_++], port_);
  if (!socket) return lose(socket.error());
  const auto attempt = open_.insert(open_.end(), {std::move(*socket), now + timeout_, {}});
  attempt->on_ready = [this, attempt](std::uint32_t) { look_at(attempt); };
  loop_.watch(attempt->socket->fd(), EPOLLOUT, attempt->on_ready);
  next_at_ = now + kDelay;
}

void Race::drop_late(SteadyTime now) {
  for (auto one = open_.begin(); one != open_.end();) {
    if (now < one->until) {
      ++one;
      continue;
    }
    loop_.forget(one->socket->fd(), one->on_ready);
    one = open_.erase(one);
    lose(too_late());
  }
}

// The attempt has succeeded or failed.
void Race::look_at(Attempts::iterator attempt) {
  loop_.forget(attempt->socket->fd(), attempt->on_ready);
  auto socket = std::move(attempt->socket);
  open_.erase(attempt);
  const auto connected = socket->connected();
  if (connected) return end(std::move(socket));
  lose(connected.error());
  step();
}

// An attempt has failed: the next address need not wait.
void Race::lose(base::Error why) {
  last_ = std::move(why);
  next_at_ = {};
}

void Race::end(base::Result<std::unique_ptr<Socket>> result) {
  close();
  const Done done = std::move(done_);
  done(std::move(result));
}

}  // namespace baton::outbound

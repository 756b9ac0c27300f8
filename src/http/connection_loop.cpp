#include "http/connection_loop.h"

#include <algorithm>

#include "base/give_back.h"
#include "base/thread_priority.h"

namespace baton::http {
namespace {

constexpr std::size_t kReceiveBuffer = 64 << 10;
constexpr int kAcceptsInARound = 256;
// Bounds for the connections above the limit that are being sent 503 at a time: an eighth of the limit, since
// they need descriptors too. Further ones are closed without an answer.
constexpr int kSurplusMin = 16, kSurplusMax = 256;

}  // namespace

ConnectionLoop::ConnectionLoop(std::shared_ptr<ServerCore> core, Listener listener)
    : core_(std::move(core)), listener_(std::move(listener)), buffer_(kReceiveBuffer) {}

void ConnectionLoop::start() {
  core_->loop.watch(listener_.fd(), EPOLLIN, accept_);
  core_->loop.each_round([this] { return end_round(); });
  core_->loop.post([] { base::set_priority(base::ThreadPriority::prompt); });
  core_->loop.start();
  started_ = true;
}

void ConnectionLoop::stop(std::chrono::milliseconds grace) {
  if (!std::exchange(started_, false)) return;
  core_->draining = true;
  core_->stopping = true;
  core_->loop.post([this, until = std::chrono::steady_clock::now() + grace] {
    core_->loop.forget(listener_.fd(), accept_);
    listener_.close();
    drain_until_ = until;
    next_sweep_ = now();  // idle connections are closed at once
  });
  closed_all_.get_future().wait();
  core_->loop.stop();
}

SteadyTime ConnectionLoop::end_round() {
  if (now() >= next_sweep_) sweep();
  if (drain_until_ && (connections_.empty() || now() >= *drain_until_)) {
    close_all();
    drain_until_.reset();
    closed_all_.set_value();
  }
  return next_sweep_;
}

void ConnectionLoop::on_event(Connection& connection, std::uint32_t events) {
  if (events & (EPOLLERR | EPOLLHUP)) connection.broken = true;
  if (events & EPOLLRDHUP) connection.half_closed = true;
  if (connection.broken && connection.output_owner.withdraw()) return close(connection);
  if (!connection.output_owner.knock()) return;
  if (events & ~EPOLLOUT) connection.readable = true;
  advance(connection);
}

void ConnectionLoop::resume(Connection& connection) {
  // An event before this may already have started the next request.
  if (!connection.output_owner.is_loop()) return;
  connection.readable = true;
  advance(connection);
}

void ConnectionLoop::accept_some() {
  for (int i = 0; i < kAcceptsInARound && listener_.fd() >= 0; ++i) {
    AcceptedSocket accepted = listener_.accept();
    if (accepted.outcome == AcceptedSocket::Outcome::none) return;
    if (accepted.outcome == AcceptedSocket::Outcome::exhausted) {
      // Not polled until the next sweep: it would be ready at once, and fail again.
      core_->loop.forget(listener_.fd(), accept_);
      accepting_ = false;
      return;
    }
    if (accepted.outcome != AcceptedSocket::Outcome::connection) continue;
    try {
      add(std::move(accepted));
    } catch (const std::exception& error) {
      base::report_exception("http-loop", error.what());
    }
  }
}

void ConnectionLoop::add(AcceptedSocket accepted) {
  const Limits& limits = core_->limits;
  auto connection = std::make_shared<Connection>(*this, std::move(accepted.fd), std::move(accepted.address),
                                                 limits, core_->hooks.may_send_body);
  // What follows counts the connection, so it must not throw.
  if (connections_.size() == connections_.capacity()) connections_.reserve(2 * connections_.size() + 64);
  bool too_many = static_cast<int>(connections_.size()) - surplus_ >= limits.connections_max;
  if (!too_many && limits.connections_per_address_max > 0) {
    int& open = per_address_[connection->remote_address];
    too_many = open >= limits.connections_per_address_max;
    if (!too_many) ++open;
  }
  if (too_many && surplus_ >= std::clamp(limits.connections_max / 8, kSurplusMin, kSurplusMax)) return;
  connection->index = connections_.size();
  connection->surplus = too_many;
  connection->since = now();
  connection->ready = [this, to = connection.get()](std::uint32_t events) {
    guarded(connections_[to->index], [&](Connection& open) { on_event(open, events); });
  };
  connections_.push_back(connection);
  core_->loop.watch(connection->fd.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, connection->ready);
  if (!too_many) {
    ++core_->connections;
    return;
  }
  ++surplus_;
  guarded(connection, [&](Connection& open) {
    refuse(open, {503, "too many connections"});
    advance(open);
  });
}

void ConnectionLoop::close(Connection& connection) {
  if (!connection.open) return;
  connection.open = false;
  end_stream(connection);
  count_unsent(connection, 0);
  core_->loop.forget(connection.fd.get(), connection.ready);
  connection.fd.reset();
  base::give_back(connection.output);
  base::give_back(connection.unread);
  connection.held.reset();
  if (connection.surplus) {
    --surplus_;
  } else {
    --core_->connections;
    const auto counted = per_address_.find(connection.remote_address);
    if (counted != per_address_.end() && --counted->second == 0) per_address_.erase(counted);
  }
  auto& place = connections_[connection.index];
  const auto closed = std::move(place);
  if (connection.index + 1 < connections_.size()) {
    place = std::move(connections_.back());
    place->index = connection.index;
  }
  connections_.pop_back();
}

void ConnectionLoop::close_all() {
  while (!connections_.empty()) {
    Connection& connection = *connections_.back();
    // A writer is about to give the output back; do not close its socket meanwhile.
    while (!connection.output_owner.is_loop() && !connection.output_owner.withdraw()) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    close(connection);
  }
}

}  // namespace baton::http

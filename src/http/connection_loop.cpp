#include "http/connection_loop.h"

#include <pthread.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/give_back.h"

namespace baton::http {
namespace {

constexpr std::size_t kReceiveBuffer = 64 << 10;
constexpr int kAcceptsInARound = 256;
// Bounds for the connections above the limit that are being sent 503 at a time: an eighth of the limit, since
// they need descriptors too. Further ones are closed without an answer.
constexpr int kSurplusMin = 16, kSurplusMax = 256;

}  // namespace

ConnectionLoop::ConnectionLoop(std::shared_ptr<ServerCore> core, Listener listener)
    : core_(std::move(core)),
      listener_(std::move(listener)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      buffer_(kReceiveBuffer) {
  if (!epoll_.valid()) std::abort();  // no descriptors at start-up: nothing can run
}

void ConnectionLoop::start() {
  watch(core_->mailbox->fd(), EPOLLIN, core_->mailbox.get());
  watch(listener_.fd(), EPOLLIN, &listener_);
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "http-loop");
}

void ConnectionLoop::stop(std::chrono::milliseconds grace) {
  if (!thread_.joinable()) return;
  drain_until_ = std::chrono::steady_clock::now() + grace;
  core_->draining = true;
  core_->stopping = true;
  core_->mailbox->post({});
  thread_.join();
}

void ConnectionLoop::watch(int fd, std::uint32_t events, void* tag) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = tag;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void ConnectionLoop::run() {
  core_->loop_thread = std::this_thread::get_id();
  std::array<epoll_event, 512> events;
  next_sweep_ = now_ = std::chrono::steady_clock::now();
  while (!finished()) {
    const int count = epoll_wait(epoll_.get(), events.data(), events.size(), milliseconds_to_wait());
    now_ = std::chrono::steady_clock::now();
    bool has_mail = false;
    const base::Burst together;
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.ptr == core_->mailbox.get()) {
        has_mail = true;
      } else if (event.data.ptr == &listener_) {
        accept_some();
      } else {
        Connection& connection = *static_cast<Connection*>(event.data.ptr);
        guarded(connection, [&] { on_event(connection, event.events); });
      }
    }
    run_queued();
    if (has_mail) read_mail();
    if (now_ >= next_sweep_) sweep();
    closed_.clear();
  }
  close_all();
}

bool ConnectionLoop::finished() {
  if (!core_->stopping) return false;
  if (listener_.fd() >= 0) {
    listener_.close();
    next_sweep_ = now_;  // idle connections are closed at once
    return false;
  }
  return connections_.empty() || now_ >= drain_until_.load();
}

int ConnectionLoop::milliseconds_to_wait() const {
  if (!queued_.empty()) return 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_sweep_ - now_).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

void ConnectionLoop::on_event(Connection& connection, std::uint32_t events) {
  if (!connection.open) return;
  if (events & (EPOLLERR | EPOLLHUP)) connection.broken = true;
  if (events & EPOLLRDHUP) connection.half_closed = true;
  if (connection.broken && connection.output_owner.withdraw()) return close(connection);
  if (!connection.output_owner.knock()) return;
  if (events & ~EPOLLOUT) connection.readable = true;
  advance(connection);
}

void ConnectionLoop::read_mail() {
  for (Letter& letter : core_->mailbox->take()) {
    if (!letter.connection || !letter.connection->open) continue;
    guarded(*letter.connection, [&] { read(letter); });
  }
}

void ConnectionLoop::read(const Letter& letter) {
  Connection& connection = *letter.connection;
  switch (letter.kind) {
    case Letter::Kind::look:
      return;
    case Letter::Kind::resume:
      // An event before this letter may already have started the next request.
      if (!connection.output_owner.is_loop()) return;
      connection.readable = true;
      return advance(connection);
    case Letter::Kind::open_stream:
      if (const auto knocked = connection.output_owner.take_from_exchange()) {
        connection.readable = connection.readable || *knocked;
        open_stream(connection, *letter.start);
      }
      return;
    case Letter::Kind::run:
      return letter.work();
    case Letter::Kind::wake:
      if (!connection.stream) return;
      connection.stream->hungry = true;
      return advance(connection);
  }
}

void ConnectionLoop::run_queued() {
  std::vector<std::shared_ptr<Connection>> queued;
  queued.swap(queued_);
  for (const auto& connection : queued) {
    connection->queued_again = false;
    guarded(*connection, [&] { advance(*connection); });
  }
}

void ConnectionLoop::accept_some() {
  for (int i = 0; i < kAcceptsInARound && listener_.fd() >= 0; ++i) {
    Accepted accepted = listener_.accept();
    if (accepted.outcome == Accepted::Outcome::none) return;
    if (accepted.outcome == Accepted::Outcome::exhausted) {
      // Not polled until the next sweep: it would be ready at once, and fail again.
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.fd(), nullptr);
      accepting_ = false;
      return;
    }
    if (accepted.outcome != Accepted::Outcome::connection) continue;
    try {
      add(std::move(accepted));
    } catch (const std::exception& error) {
      base::report_exception("http-loop", error.what());
    }
  }
}

void ConnectionLoop::add(Accepted accepted) {
  const Limits& limits = core_->limits;
  auto connection = std::make_shared<Connection>(std::move(accepted.fd), std::move(accepted.address), limits,
                                                 core_->hooks.may_send_body);
  if (connections_.size() == connections_.capacity()) {
    // Closing a connection must not need memory.
    const std::size_t room = std::max<std::size_t>(64, 2 * connections_.size());
    closed_.reserve(room);
    connections_.reserve(room);
  }
  bool too_many = static_cast<int>(connections_.size()) - surplus_ >= limits.connections_max;
  if (!too_many && limits.connections_per_address_max > 0) {
    int& open = per_address_[connection->remote_address];
    too_many = open >= limits.connections_per_address_max;
    if (!too_many) ++open;
  }
  if (too_many && surplus_ >= std::clamp(limits.connections_max / 8, kSurplusMin, kSurplusMax)) return;
  connection->index = connections_.size();
  connection->surplus = too_many;
  connection->since = now_;
  connections_.push_back(connection);
  watch(connection->fd.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, connection.get());
  if (!too_many) {
    ++core_->connections;
    return;
  }
  ++surplus_;
  guarded(*connection, [&] {
    refuse(*connection, {503, "too many connections"});
    advance(*connection);
  });
}

void ConnectionLoop::close(Connection& connection) {
  if (!connection.open) return;
  connection.open = false;
  if (connection.stream) --core_->streams;
  connection.stream.reset();
  count_unsent(connection, 0);
  // Removed explicitly: while a child process being started still has the descriptor, closing it here would
  // leave it in the set with a dangling pointer.
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.fd.get(), nullptr);
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
  closed_.push_back(std::move(place));
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
  core_->mailbox->close();
  queued_.clear();
  closed_.clear();
}

}  // namespace baton::http

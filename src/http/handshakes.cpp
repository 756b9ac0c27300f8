#include "http/handshakes.h"

#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>
#include <utility>

#include "base/exception_report.h"

namespace baton::http {
namespace {

// The time of a handshake while no further ones are accepted, so that clients that send nothing do not keep
// others out for long.
constexpr std::chrono::milliseconds kHurriedTime{1'000};

// Looks at the first byte, and leaves it in the socket. A record of TLS begins with 22, SSL 2 with 128 or
// more, a request with a letter.
enum class First { none, letter, other, end };
First first_byte(int fd) {
  unsigned char byte = 0;
  const ssize_t seen = ::recv(fd, &byte, 1, MSG_PEEK);
  if (seen == 0) return First::end;
  if (seen < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? First::none : First::end;
  return byte >= 'A' && byte <= 'Z' ? First::letter : First::other;
}

}  // namespace

// One event loop and the sockets whose handshakes it performs.
class Handshakes::Thread {
 public:
  explicit Thread(Handshakes& all) : all_(all) {
    loop_.each_round([this] { return end_round(); });
  }

  void start() { loop_.start(); }
  void stop() { loop_.stop(); }
  void begin(std::shared_ptr<Greeted> socket) {
    loop_.post([this, socket = std::move(socket)]() mutable { add(std::move(socket)); });
  }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Waiting {
    std::shared_ptr<Greeted> socket;
    Time since;
    base::EventLoop::Ready ready;
  };
  using Place = std::list<Waiting>::iterator;

  void add(std::shared_ptr<Greeted> socket) {
    waiting_.push_back({std::move(socket), loop_.now(), {}});
    const Place place = std::prev(waiting_.end());
    place->ready = [this, place](std::uint32_t) { advance(place); };
    loop_.watch(place->socket->fd.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, place->ready);
  }

  void advance(Place place) {
    std::optional<Greeted::Outcome> outcome;
    try {
      outcome = step(*place->socket);
    } catch (const std::exception& error) {  // most likely out of memory
      base::report_exception("tls-handshake", error.what());
      outcome = Greeted::Outcome::failed;
    }
    if (outcome) end(place, *outcome);
  }

  // Returns nullopt if the handshake waits for the client.
  std::optional<Greeted::Outcome> step(Greeted& socket) {
    if (!socket.tls) {
      switch (first_byte(socket.fd.get())) {
        case First::none:
          return std::nullopt;
        case First::end:
          return Greeted::Outcome::failed;
        case First::letter:
          return Greeted::Outcome::plain;
        case First::other:
          socket.tls = std::make_unique<TlsSession>(socket.fd.get(), all_.identity_.contexts());
      }
    }
    switch (socket.tls->shake()) {
      case TlsSession::Shake::done:
        return Greeted::Outcome::secure;
      case TlsSession::Shake::waits:
        return std::nullopt;
      case TlsSession::Shake::failed:
        break;
    }
    spdlog::debug("tls: the handshake with {} failed: {}", socket.address, socket.tls->failure());
    return Greeted::Outcome::failed;
  }

  void end(Place place, Greeted::Outcome outcome) {
    loop_.forget(place->socket->fd.get(), place->ready);
    const std::shared_ptr<Greeted> socket = std::move(place->socket);
    waiting_.erase(place);  // with the function that is running
    socket->outcome = outcome;
    if (outcome != Greeted::Outcome::secure) socket->tls.reset();
    --all_.under_way_;
    all_.done_(socket);
  }

  Time end_round() {
    const auto time =
        all_.is_full() ? std::min(kHurriedTime, all_.limits_.handshake_time) : all_.limits_.handshake_time;
    while (!waiting_.empty() && loop_.now() - waiting_.front().since > time)
      end(waiting_.begin(), Greeted::Outcome::late);
    if (waiting_.empty()) return Time::max();
    // Looks again soon enough to notice that all places are taken.
    return std::min(waiting_.front().since + time, loop_.now() + kHurriedTime) + std::chrono::milliseconds(1);
  }

  Handshakes& all_;
  std::list<Waiting> waiting_;  // the longest wait first
  base::EventLoop loop_{"tls-handshake"};
};

Handshakes::Handshakes(const tls::Identity& identity, const Limits& limits, Done done)
    : identity_(identity), limits_(limits), done_(std::move(done)) {
  for (int i = 0; i < limits_.handshake_threads; ++i) threads_.push_back(std::make_unique<Thread>(*this));
}

Handshakes::~Handshakes() {
  stop();
}

void Handshakes::start() {
  for (const auto& thread : threads_) thread->start();
}

void Handshakes::stop() {
  for (const auto& thread : threads_) thread->stop();
}

void Handshakes::begin(std::shared_ptr<Greeted> socket) {
  threads_[next_++ % threads_.size()]->begin(std::move(socket));
  ++under_way_;
}

}  // namespace baton::http

// ConnectionLoop, the part that keeps time limits: one coarse sweep over all connections, no timer for any.
#include <algorithm>

#include "http/connection_loop.h"

namespace baton::http {
namespace {

using std::chrono::milliseconds;

// How long a client may take to close its side after we have closed ours.
constexpr milliseconds kLingerTime{3'000};
constexpr milliseconds kLingerTimeDraining{200};
constexpr milliseconds kSweepDraining{10};

}  // namespace

milliseconds ConnectionLoop::sweep_period() const {
  if (core_->stopping) return kSweepDraining;
  const Limits& limits = core_->limits;
  const milliseconds shortest = std::min(
      {limits.header_time, limits.body_grace, limits.idle_time, limits.stall_time, limits.keep_awake});
  return std::clamp(shortest / 4, milliseconds(5), accepting_ ? milliseconds(1'000) : milliseconds(100));
}

void ConnectionLoop::sweep() {
  // Backwards: closing a connection moves the last one, already checked, into its place. Advancing a stream
  // may close others.
  for (std::size_t i = connections_.size(); i-- > 0;) {
    if (i < connections_.size() && connections_[i]->output_owner.is_loop()) {
      guarded(connections_[i], [&](Connection& connection) { check_time(connection); });
    }
  }
  bound_bodies();
  if (!accepting_ && listener_.fd() >= 0) {
    core_->loop.watch(listener_.fd(), EPOLLIN, accept_);
    accepting_ = true;
  }
  next_sweep_ = now() + sweep_period();
}

void ConnectionLoop::check_time(Connection& connection) {
  const Limits& limits = core_->limits;
  const auto age = now() - connection.since;
  const bool draining = core_->stopping;
  if (!connection.output.empty()) {
    if (age > limits.stall_time) close(connection);
    return;
  }
  if (connection.stream) return check_stream_time(connection);
  if (connection.lingering) {
    if (age > (draining ? kLingerTimeDraining : kLingerTime)) close(connection);
    return;
  }
  // The answer is written, and `resume` is on its way.
  if (connection.close_after) return;
  const RequestParser::State state = connection.parser.state();
  if (state == RequestParser::State::idle) {
    // Unparsed bytes are a request that arrived in time.
    if (connection.unread.empty() && (draining || age > limits.idle_time)) close(connection);
    return;
  }
  if (draining) {
    refuse(connection, {503, "the server is shutting down"});
  } else if (state == RequestParser::State::head && age > limits.header_time) {
    refuse(connection, {408, "the head of the request took too long"});
  } else if (state == RequestParser::State::body && is_body_too_slow(connection)) {
    refuse(connection, {408, "the body of the request came too slowly"});
  }
  advance(connection);
}

// Bounds the memory of unfinished bodies: above the limit, requests that hold more than an equal share are
// refused.
void ConnectionLoop::bound_bodies() {
  std::size_t held = 0, count = 0;
  const auto unfinished = [](const Connection& connection) {
    return connection.output_owner.is_loop() && !connection.stream && connection.output.empty() &&
           connection.parser.state() == RequestParser::State::body;
  };
  for (const auto& connection : connections_) {
    if (!unfinished(*connection)) continue;
    held += connection->parser.body_bytes();
    ++count;
  }
  const std::size_t most = core_->limits.bodies_max;
  for (std::size_t i = connections_.size(); i-- > 0 && held > most;) {
    const Connection& each = *connections_[i];
    if (!unfinished(each) || each.parser.body_bytes() <= most / count) continue;
    held -= each.parser.body_bytes();
    guarded(connections_[i], [&](Connection& connection) {
      refuse(connection, {503, "too many large requests at once"});
      advance(connection);
    });
  }
}

bool ConnectionLoop::is_body_too_slow(const Connection& connection) const {
  const Limits& limits = core_->limits;
  const auto age = std::chrono::duration_cast<milliseconds>(now() - connection.since);
  if (age <= limits.body_grace) return false;
  const auto wanted = limits.body_rate_min * static_cast<std::size_t>(age.count()) / 1000;
  return connection.parser.body_bytes() < wanted;
}

void ConnectionLoop::check_stream_time(Connection& connection) {
  EventStream& stream = *connection.stream;
  if (now() - stream.last_event < core_->limits.keep_awake) return;
  write_events(stream.source->has_ids() ? kKeepAwake : kKeepAwakeBlock, stream.chunked, connection.output);
  stream.last_event = now();
  connection.since = now();
  advance(connection);
}

}  // namespace baton::http

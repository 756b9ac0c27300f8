// ConnectionLoop, the part that drives event streams.
#include <spdlog/spdlog.h>

#include <exception>
#include <optional>
#include <utility>

#include "base/give_back.h"
#include "http/connection_loop.h"

namespace baton::http {
namespace {

// The room offered to a source per pull, and the capacity the loop's buffer may keep.
constexpr std::size_t kRoom = 16 << 10;
constexpr std::size_t kScratchMax = 256 << 10;

std::unique_ptr<StreamSource> make_source(const StreamOpener& opener, Waker waker) {
  try {
    return opener(std::move(waker));
  } catch (const std::exception& error) {
    spdlog::error("a stream could not be opened: {}", error.what());
  } catch (...) {
    spdlog::error("a stream could not be opened");
  }
  return nullptr;
}

// Pulls everything available, up to kRoom, so that it is sent together.
std::optional<StreamSource::Next> pull_from(StreamSource& source, std::string& out) {
  try {
    while (true) {
      const std::size_t before = out.size();
      const StreamSource::Next next = source.pull(out, kRoom);
      const bool goes_on = next == StreamSource::Next::more && out.size() > before && out.size() < kRoom;
      if (!goes_on) return next;
    }
  } catch (const std::exception& error) {
    spdlog::error("a stream broke off: {}", error.what());
  } catch (...) {
    spdlog::error("a stream broke off");
  }
  return std::nullopt;
}

}  // namespace

void ConnectionLoop::open_stream(Connection& connection, const StreamAnswer& answer) {
  const auto knocked = connection.output_owner.take_from_exchange();
  if (!knocked) return;
  connection.readable = connection.readable || *knocked;
  // The client may have left while the loop did not own the output.
  if (connection.half_closed || connection.broken) return close(connection);
  connection.since = now();
  if (core_->draining) connection.shape.keep_alive = false;
  if (connection.shape.http_1_0 && !connection.shape.head_method) connection.shape.keep_alive = false;
  const Limits& limits = core_->limits;
  const bool is_reserved = answer.uses_reserve && reserved_streams_ < limits.reserved_streams_max;
  if (!is_reserved && core_->streams - reserved_streams_ >= limits.streams_max) {
    write_answer(connection, core_->refusal(answer.about, 503, "too many streams are open"));
    return advance(connection);
  }
  if (!connection.shape.head_method) {
    const auto woken = std::make_shared<std::atomic<bool>>(false);
    auto source = make_source(answer.opener, [core = core_, to = connection.weak_from_this(), woken] {
      if (woken->exchange(true)) return;
      if (auto open = to.lock()) post(core->loop, std::move(open), &ConnectionLoop::wake);
    });
    if (!source) {
      write_answer(connection, core_->refusal(answer.about, 500, "internal error"));
      return advance(connection);
    }
    connection.stream = std::make_unique<EventStream>(
        EventStream{std::move(source), woken, !connection.shape.http_1_0, true, false, is_reserved, now()});
    ++core_->streams;
    if (is_reserved) ++reserved_streams_;
  }
  connection.close_after = !connection.shape.keep_alive;
  connection.output = write_stream_head(answer.headers, connection.shape);
  // The first events are sent together with the head.
  if (connection.stream) pull_events(connection);
  advance(connection);
}

void ConnectionLoop::end_stream(Connection& connection) {
  if (!connection.stream) return;
  --core_->streams;
  if (connection.stream->reserved) --reserved_streams_;
  connection.stream.reset();
}

void ConnectionLoop::wake(Connection& connection) {
  if (!connection.stream) return;
  connection.stream->hungry = true;
  advance(connection);
}

ConnectionLoop::Step ConnectionLoop::drive_stream(Connection& connection) {
  count_unsent(connection, 0);
  EventStream& stream = *connection.stream;
  if (!stream.ended) return stream.hungry ? pull_events(connection) : Step::wait;
  end_stream(connection);
  if (core_->draining) connection.close_after = true;
  connection.since = now();
  return Step::again;
}

void ConnectionLoop::count_unsent(Connection& connection, std::size_t bytes) {
  unsent_ += bytes;
  unsent_ -= std::exchange(connection.unsent, bytes);
}

// Bounds the memory held by slow clients' streams. A client that reads has drained its output before it gets
// more, so the clients that have read nothing for the longest time are the slow ones.
void ConnectionLoop::bound_unsent(const Connection& newest) {
  while (unsent_ > core_->limits.unsent_max) {
    Connection* slowest = nullptr;
    for (const auto& other : connections_) {
      const bool holds = other.get() != &newest && other->unsent > 0 && other->output_owner.is_loop();
      if (holds && (slowest == nullptr || other->since < slowest->since)) slowest = other.get();
    }
    if (slowest == nullptr) return;
    close(*slowest);
  }
}

ConnectionLoop::Step ConnectionLoop::pull_events(Connection& connection) {
  EventStream& stream = *connection.stream;
  stream.woken->store(false);
  scratch_.clear();
  const auto next = pull_from(*stream.source, scratch_);
  if (!next) {
    // Closed without the last chunk, so that the client sees the stream is incomplete.
    close(connection);
    return Step::wait;
  }
  stream.hungry = *next == StreamSource::Next::more;
  stream.ended = *next == StreamSource::Next::end;
  if (!scratch_.empty()) {
    write_events(scratch_, stream.chunked, connection.output);
    stream.last_event = now();
    connection.since = now();
  }
  if (stream.ended && stream.chunked) connection.output.append(kLastChunk);
  if (scratch_.capacity() > kScratchMax) base::give_back(scratch_);
  if (const std::size_t unsent = connection.output.size() + stream.source->held(); unsent > kRoom) {
    count_unsent(connection, unsent);
    bound_unsent(connection);
  }
  return Step::again;
}

}  // namespace baton::http

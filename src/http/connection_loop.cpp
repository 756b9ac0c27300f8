#include "http/connection_loop.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "base/give_back.h"
#include "base/thread_priority.h"
#include "http/exchange.h"
#include "http/socket_io.h"

namespace baton::http {
namespace {

constexpr std::size_t kReceiveBuffer = 64 << 10;
constexpr int kAcceptsInARound = 256;
// Bounds for the number of connections above the limit that are sent 503 at a time. It is an eighth of the
// limit, because they need descriptors too. Further connections are closed without an answer.
constexpr int kSurplusMin = 16, kSurplusMax = 256;

}  // namespace

ConnectionLoop::ConnectionLoop(std::shared_ptr<ServerCore> core, Listener listener,
                               const tls::Identity* identity)
    : core_(std::move(core)), listener_(std::move(listener)), buffer_(kReceiveBuffer) {
  if (identity == nullptr) return;
  handshakes_.emplace(*identity, core_->limits, [this](std::shared_ptr<Greeted> socket) {
    core_->loop.post([this, socket = std::move(socket)] { greeted(*socket); });
  });
}

void ConnectionLoop::start() {
  if (handshakes_) handshakes_->start();
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
  if (handshakes_) handshakes_->stop();
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
  connection.full = false;
  advance(connection);
}

void ConnectionLoop::resume(Connection& connection) {
  // An event before this may already have started the next request.
  if (!connection.output_owner.is_loop()) return;
  connection.readable = true;
  connection.full = false;  // the knock may have been for room in the socket
  advance(connection);
}

void ConnectionLoop::accept_some() {
  for (int i = 0; i < kAcceptsInARound && listener_.fd() >= 0; ++i) {
    if (handshakes_ && handshakes_->is_full()) return pause_accepting();
    AcceptedSocket accepted = listener_.accept();
    if (accepted.outcome == AcceptedSocket::Outcome::none) return;
    if (accepted.outcome == AcceptedSocket::Outcome::exhausted) return pause_accepting();
    if (accepted.outcome != AcceptedSocket::Outcome::connection) continue;
    try {
      add(std::move(accepted));
    } catch (const std::exception& error) {
      base::report_exception("http-loop", error.what());
    }
  }
}

// Until `resume_accepting`, which the next sweep calls at the latest, the listener is not polled: it would be
// ready at once, and nothing could be accepted.
void ConnectionLoop::pause_accepting() {
  if (!std::exchange(accepting_, false)) return;
  core_->loop.forget(listener_.fd(), accept_);
}

void ConnectionLoop::resume_accepting() {
  if (listener_.fd() < 0 || std::exchange(accepting_, true)) return;
  core_->loop.watch(listener_.fd(), EPOLLIN, accept_);
}

std::optional<bool> ConnectionLoop::take_place(const std::string& address) {
  const Limits& limits = core_->limits;
  bool too_many = core_->connections >= limits.connections_max;
  if (!too_many && limits.connections_per_address_max > 0) {
    int& open = per_address_[address];
    too_many = open >= limits.connections_per_address_max;
    if (!too_many) ++open;
  }
  if (too_many && surplus_ >= std::clamp(limits.connections_max / 8, kSurplusMin, kSurplusMax))
    return std::nullopt;
  if (too_many) {
    ++surplus_;
  } else {
    ++core_->connections;
  }
  return too_many;
}

void ConnectionLoop::give_place_back(const std::string& address, bool surplus) {
  if (surplus) {
    --surplus_;
    return;
  }
  --core_->connections;
  const auto counted = per_address_.find(address);
  if (counted != per_address_.end() && --counted->second == 0) per_address_.erase(counted);
}

void ConnectionLoop::add(AcceptedSocket accepted) {
  const auto surplus = take_place(accepted.address);
  if (!surplus) return;
  Greeted socket{std::move(accepted.fd), std::move(accepted.address), *surplus, Greeted::Outcome::secure, {}};
  if (!handshakes_) return open(socket);
  const std::string address = socket.address;
  try {
    handshakes_->begin(std::make_shared<Greeted>(std::move(socket)));
    ++core_->handshakes.under_way;
  } catch (...) {
    give_place_back(address, *surplus);
    throw;
  }
}

// Continues with a connection after its handshake.
void ConnectionLoop::greeted(Greeted& socket) {
  ServerCore::Handshakes& counts = core_->handshakes;
  --counts.under_way;
  const auto outcome = socket.outcome;
  const bool is_plain = outcome == Greeted::Outcome::plain;
  ++(outcome == Greeted::Outcome::secure ? counts.completed
     : is_plain                          ? counts.plain
     : outcome == Greeted::Outcome::late ? counts.late
                                         : counts.failed);
  resume_accepting();
  if (outcome != Greeted::Outcome::secure && !is_plain)
    return give_place_back(socket.address, socket.surplus);
  try {
    open(socket);
  } catch (const std::exception& error) {
    base::report_exception("http-loop", error.what());
  }
}

void ConnectionLoop::open(Greeted& socket) {
  std::shared_ptr<Connection> connection;
  try {
    connection = std::make_shared<Connection>(*this, std::move(socket.fd), socket.address, core_->limits,
                                              bool(core_->hooks.may_send_body));
    if (connections_.size() == connections_.capacity()) connections_.reserve(2 * connections_.size() + 64);
  } catch (...) {
    give_place_back(socket.address, socket.surplus);
    throw;
  }
  connection->index = connections_.size();
  connection->surplus = socket.surplus;
  connection->tls = std::move(socket.tls);
  connection->parser.set_sender(connection->remote_address,
                                connection->tls ? connection->tls->peer() : nullptr);
  connection->since = now();
  connection->ready = [this, to = connection.get()](std::uint32_t events) {
    guarded(connections_[to->index], [&](Connection& open) { on_event(open, events); });
  };
  connections_.push_back(connection);
  core_->loop.watch(connection->fd.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, connection->ready);
  const bool is_plain = socket.outcome == Greeted::Outcome::plain;
  if (!socket.surplus && !is_plain) return;
  guarded(connection, [&](Connection& opened) {
    refuse(opened, is_plain ? Refusal{400, "this port speaks TLS: use https"}
                            : Refusal{503, "too many connections are open; try again later"});
    advance(opened);
  });
}

void ConnectionLoop::close(Connection& connection) {
  if (!connection.open) return;
  connection.open = false;
  // Unless an answer is cut off, the client may see that the connection ended as it should.
  if (connection.tls && !connection.broken && !connection.stream && connection.output.empty())
    connection.tls->end_sending();
  end_stream(connection);
  count_unsent(connection, 0);
  core_->loop.forget(connection.fd.get(), connection.ready);
  connection.tls.reset();
  connection.fd.reset();
  base::give_back(connection.output);
  base::give_back(connection.unread);
  connection.held.reset();
  give_place_back(connection.remote_address, connection.surplus);
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

// ---- Steps of a connection

namespace {

// After this many steps a connection yields to the others.
constexpr int kStepsInARound = 16;

}  // namespace

void ConnectionLoop::advance(Connection& connection) {
  for (int i = 0; i < kStepsInARound; ++i) {
    if (!connection.open || !connection.output_owner.is_loop()) return;
    const Step next = step(connection);
    if (next == Step::wait) return;
    if (next == Step::later) break;
  }
  if (!connection.open) return;
  if (!std::exchange(connection.queued_again, true)) {
    post(core_->loop, connection.shared_from_this(), &ConnectionLoop::advance_again);
  }
  // The connection keeps what it has pulled until its next step. Without output its client is not behind: the
  // source is still looking.
  if (connection.stream && !connection.output.empty()) count_stream(connection);
}

void ConnectionLoop::advance_again(Connection& connection) {
  connection.queued_again = false;
  advance(connection);
}

ConnectionLoop::Step ConnectionLoop::step(Connection& connection) {
  const bool client_left = connection.stream && (connection.half_closed || connection.broken);
  if (!client_left && !connection.output.empty() && !connection.write_failed) {
    if (!connection.full && send_output(connection)) {
      count_unsent(connection, 0);
    } else if (!connection.write_failed) {
      await_reader(connection);
      return Step::wait;
    }
  }
  if (client_left || connection.write_failed) {
    close(connection);
    return Step::wait;
  }
  if (connection.stream) return drive_stream(connection);
  if (connection.lingering) return discard(connection);
  if (!connection.close_after) return read_request(connection);
  // Closing now, with client bytes unread, would reset the connection and could destroy the answer. So close
  // only our side, and read until the client has closed its own.
  end_sending(connection.fd.get(), connection.tls.get());
  connection.lingering = true;
  connection.readable = true;
  base::give_back(connection.unread);
  connection.since = now();
  return Step::again;
}

ConnectionLoop::Step ConnectionLoop::read_request(Connection& connection) {
  if (connection.parser.state() == RequestParser::State::asking) {
    if (connection.broken) close(connection);
    return Step::wait;  // for `decided`
  }
  if (!connection.unread.empty()) {
    const std::string bytes = std::exchange(connection.unread, {});
    parse(connection, bytes);
    return Step::again;
  }
  if (connection.read_ended) return read_end(connection);
  if (!connection.readable) return Step::wait;
  const IoResult got =
      receive_some(connection.fd.get(), connection.tls.get(), buffer_.data(), buffer_.size());
  switch (got.outcome) {
    case IoResult::Outcome::closed:
      return read_end(connection);
    case IoResult::Outcome::crossed:
      return Step::wait;
    case IoResult::Outcome::blocked:
      connection.readable = !got.drained;
      // Records without data, such as changes of keys, cost time and bring nothing.
      return connection.readable ? Step::later : Step::wait;
    case IoResult::Outcome::moved:
      break;
  }
  // An event will report new bytes, unless the event for the end has been seen already.
  connection.readable = !got.drained || connection.half_closed || connection.broken;
  parse(connection, std::string_view(buffer_.data(), got.count));
  return Step::again;
}

ConnectionLoop::Step ConnectionLoop::read_end(Connection& connection) {
  connection.read_ended = true;
  if (connection.parser.state() == RequestParser::State::idle) {
    close(connection);
    return Step::wait;
  }
  refuse(connection, {400, "the request ended before it was complete"});
  return Step::again;
}

void ConnectionLoop::parse(Connection& connection, std::string_view bytes) {
  RequestParser& parser = connection.parser;
  const RequestParser::State before = parser.state();
  std::size_t used = parser.feed(bytes);
  if (parser.state() == RequestParser::State::asking && ask(connection)) {
    used += parser.feed(bytes.substr(used));
  }
  if (used < bytes.size()) connection.unread = bytes.substr(used);
  if (parser.state() != before) connection.since = now();
  if (parser.take_continue()) connection.output = kContinue;
  if (parser.state() == RequestParser::State::complete) dispatch(connection);
  if (parser.state() == RequestParser::State::refused) refuse(connection, parser.refusal());
}

// Asks whether a large body may follow the head. Returns false if that is decided later.
bool ConnectionLoop::ask(Connection& connection) {
  const auto decide = [core = core_, to = connection.weak_from_this()](LargeBody large_body) {
    const auto open = to.lock();
    if (!open) return;
    post(core->loop, open,
         [large_body](ConnectionLoop& loop, Connection& asked) { loop.decided(asked, large_body); });
  };
  const auto large_body = core_->hooks.may_send_body(connection.parser.parsed()->request, decide);
  if (large_body) connection.parser.decide(*large_body);
  return large_body.has_value();
}

void ConnectionLoop::decided(Connection& connection, LargeBody large_body) {
  // The request may have been refused meanwhile.
  if (connection.close_after || connection.parser.state() != RequestParser::State::asking) return;
  connection.parser.decide(large_body);
  connection.since = now();
  const std::string bytes = std::exchange(connection.unread, {});
  parse(connection, bytes);
  advance(connection);
}

void ConnectionLoop::dispatch(Connection& connection) {
  ++core_->requests;
  ParsedRequest parsed = connection.parser.take();
  connection.shape = {parsed.head_method(), parsed.http_1_0, parsed.keep_alive};
  connection.since = now();
  if (answer_at_once(connection, parsed.request)) return;
  auto exchange =
      std::make_shared<ConnectionExchange>(core_, connection.shared_from_this(), std::move(parsed.request));
  // From here on the exchange owns the connection's output.
  connection.output_owner.give_to_exchange();
  const auto& runs_on_loop = core_->hooks.runs_on_loop;
  if (!runs_on_loop || !runs_on_loop(exchange->request())) return ConnectionExchange::serve_later(exchange);
  connection.handling = true;
  ConnectionExchange::serve(exchange);
  connection.handling = false;
}

// Answers without a worker: the requests that the hook answers and, while the server drains, all others.
// Returns false if the request is not answered.
bool ConnectionLoop::answer_at_once(Connection& connection, const Request& request) {
  std::optional<Reply> reply;
  if (core_->hooks.answer_at_once) reply = core_->hooks.answer_at_once(request);
  if (!reply && !core_->draining) return false;
  if (core_->draining) connection.shape.keep_alive = false;
  write_answer(connection,
               reply ? *reply : core_->refusal(request, 503, "the server is shutting down; try again"));
  return true;
}

void ConnectionLoop::refuse(Connection& connection, Refusal refusal) {
  const ParsedRequest* const parsed = connection.parser.parsed();
  connection.shape = {parsed && parsed->head_method(), parsed && parsed->http_1_0, false};
  Request about = parsed ? refusable(parsed->request) : Request();
  about.remote_address = connection.remote_address;
  write_answer(connection, core_->refusal(about, refusal.status, refusal.reason));
}

ConnectionLoop::Step ConnectionLoop::discard(Connection& connection) {
  if (!connection.readable) return Step::wait;
  // Also with TLS the bytes themselves are of no interest.
  const IoResult got = receive_some(connection.fd.get(), nullptr, buffer_.data(), buffer_.size());
  if (got.outcome == IoResult::Outcome::closed) {
    close(connection);
    return Step::wait;
  }
  connection.readable = got.outcome == IoResult::Outcome::moved;
  return connection.readable ? Step::again : Step::wait;
}

// ---- Event streams

namespace {

// The room offered to a source per pull, and the capacity the loop's buffer may keep.
constexpr std::size_t kRoom = 16 << 10;
constexpr std::size_t kScratchMax = 256 << 10;

std::unique_ptr<StreamSource> make_source(const StreamOpener& opener, Waker waker) {
  try {
    return opener(std::move(waker));
  } catch (const std::exception& error) {
    spdlog::error("cannot open a stream: {}", error.what());
  } catch (...) {
    spdlog::error("cannot open a stream: unknown exception");
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
    spdlog::error("a stream ended unexpectedly: {}", error.what());
  } catch (...) {
    spdlog::error("a stream ended unexpectedly: unknown exception");
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
    write_answer(connection, core_->refusal(answer.about, 503, "too many streams are open; try again later"));
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
  count_kept(connection, 0);
  --core_->streams;
  if (connection.stream->reserved) --reserved_streams_;
  connection.stream.reset();
}

void ConnectionLoop::wake(Connection& connection) {
  if (!connection.stream) return;
  connection.stream->woken->store(false);
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
  const std::size_t kept_before = connection.kept;
  count_kept(connection, stream.source->kept());
  if (connection.kept > kept_before) bound_kept(connection);
  if (!connection.open) return Step::wait;
  // The source has worked without a result and is not done.
  const bool is_at_work = stream.hungry && scratch_.empty();
  if (!scratch_.empty()) {
    write_events(scratch_, stream.chunked, connection.output);
    stream.last_event = now();
    connection.since = connection.answered = now();
  }
  if (stream.ended && stream.chunked) connection.output.append(kLastChunk);
  if (scratch_.capacity() > kScratchMax) base::give_back(scratch_);
  return is_at_work ? Step::later : Step::again;
}

// ---- Unsent bytes
//
// They bound the memory that slow clients take. What leaves at once is not counted.

// The client has not taken all of the output.
void ConnectionLoop::await_reader(Connection& connection) {
  // If a wake led here, the source may have more now.
  if (connection.stream) return count_stream(connection);
  if (connection.unsent > 0 || connection.held) return;
  if (connection.output.size() <= kRoom) return;
  // A single large reply, such as a download, must not close all others, or be closed for a small one.
  constexpr std::size_t kParts = 4;
  count_unsent(connection, std::min(connection.output.size(), core_->limits.unsent_max / kParts));
  bound_unsent();
}

void ConnectionLoop::count_stream(Connection& connection) {
  const std::size_t unsent = connection.output.size() + connection.stream->source->held();
  if (unsent <= kRoom) return;
  count_unsent(connection, unsent);
  bound_unsent();
}

void ConnectionLoop::count_unsent(Connection& connection, std::size_t bytes) {
  if (connection.unsent == 0 && bytes > 0) connection.behind = behind_.insert(behind_.end(), &connection);
  if (connection.unsent > 0 && bytes == 0) behind_.erase(connection.behind);
  unsent_ += bytes;
  unsent_ -= std::exchange(connection.unsent, bytes);
}

// A connection that is alone may take the whole limit.
void ConnectionLoop::bound_unsent() {
  while (unsent_ > core_->limits.unsent_max && behind_.size() > 1) close(most_behind());
}

// A client could hold much and read a little now and then, or hold a little on each of many connections. So
// three figures count alike: the time since a client has read, the bytes that wait for it, and the bytes that
// wait for all clients of its address.
Connection& ConnectionLoop::most_behind() const {
  std::unordered_map<std::string_view, double> of_address;
  for (const Connection* each : behind_)
    of_address[each->remote_address] += static_cast<double>(each->unsent);
  const auto weight = [&](const Connection* each) {
    const std::chrono::duration<double> still = now() - each->since;
    const double bytes = static_cast<double>(each->unsent);
    return std::max(still.count(), 0.001) * bytes * of_address[each->remote_address];
  };
  return **std::ranges::max_element(behind_, {}, weight);
}

void ConnectionLoop::count_kept(Connection& connection, std::size_t bytes) {
  constexpr std::size_t kUncounted = 64 << 10;  // what most runs say
  bytes -= std::min(bytes, kUncounted);
  kept_ += bytes;
  kept_ -= std::exchange(connection.kept, bytes);
}

// A client that reads at once could have many large runs kept. Time does not count here: such a client is
// never behind. A connection that is alone may take the whole limit, and more; its events must not cost a
// look at all connections.
void ConnectionLoop::bound_kept(const Connection& grown) {
  while (kept_ > core_->limits.unsent_max && kept_ > grown.kept) {
    std::unordered_map<std::string_view, double> of_address;
    std::size_t count = 0;
    for (const auto& each : connections_) {
      if (each->kept == 0) continue;
      of_address[each->remote_address] += static_cast<double>(each->kept);
      ++count;
    }
    if (count < 2) return;
    const auto weight = [&](const std::shared_ptr<Connection>& each) {
      return each->kept == 0 ? 0 : static_cast<double>(each->kept) * of_address[each->remote_address];
    };
    close(**std::ranges::max_element(connections_, {}, weight));
  }
}

// ---- Time limits
//
// One coarse sweep checks all connections. No connection has a timer.

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
  bound_held();
  resume_accepting();
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
    refuse(connection, {503, "the server is shutting down; try again"});
  } else if (state == RequestParser::State::head && age > limits.header_time) {
    refuse(connection, {408, "the request's headers took too long to arrive"});
  } else if (state == RequestParser::State::asking && age > limits.header_time) {
    refuse(connection, {503, "the request's token could not be checked in time; try again later"});
  } else if (state == RequestParser::State::body && is_body_too_slow(connection)) {
    refuse(connection, {408, "the request's body arrived too slowly"});
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
    if (i >= connections_.size()) continue;  // advancing one may close others
    const Connection& each = *connections_[i];
    if (!unfinished(each) || each.parser.body_bytes() <= most / count) continue;
    held -= each.parser.body_bytes();
    guarded(connections_[i], [&](Connection& connection) {
      refuse(connection, {503, "too many large requests at once; try again later"});
      advance(connection);
    });
  }
}

// A client that takes a little of its answer now and then is not stalled. Without this it would keep from
// others what the answer holds.
void ConnectionLoop::bound_held() {
  if (!core_->hooks.others_wait) return;
  std::shared_ptr<Connection> slowest;
  double least = 0;
  for (const auto& each : connections_) {
    if (!each->output_owner.is_loop() || each->output.empty()) continue;
    if (!each->held && (!each->stream || !each->stream->source->has_share())) continue;
    const std::chrono::duration<double> age = now() - each->answered;
    if (age <= core_->limits.held_time) continue;
    const double rate = static_cast<double>(each->output_sent) / age.count();
    if (slowest && rate >= least) continue;
    slowest = each;
    least = rate;
  }
  if (slowest && core_->hooks.others_wait()) close(*slowest);
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

#include "outbound/call.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "outbound/answer_parser.h"
#include "outbound/dial.h"
#include "outbound/request_rules.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

constexpr std::size_t kReadMax = 16 * 1024;
// Reads in a row, before the other descriptors of the loop get their turn.
constexpr int kReadsMax = 4;
// A body of this size leaves together with the head.
constexpr std::size_t kSmallBody = 16 * 1024;

bool is_before(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::lexicographical_compare(left, right, {}, lower, lower);
}

// The head of the request, with the body if that is small. The headers are in alphabetical order.
std::string text_of(const HttpRequest& request, const Url& url) {
  auto headers = headers_of(request, url);
  if (!request.body.empty() || request.method == "POST")
    headers.emplace_back("Content-Length", std::to_string(request.body.size()));
  if (!request.repeats_safely) headers.emplace_back("Connection", "close");
  std::stable_sort(headers.begin(), headers.end(),
                   [](const auto& left, const auto& right) { return is_before(left.first, right.first); });
  std::string text = request.method + " " + target_of(request, url) + " HTTP/1.1\r\n";
  for (const auto& [name, value] : headers) text.append(name).append(": ").append(value).append("\r\n");
  text += "\r\n";
  if (request.body.size() <= kSmallBody) text += request.body;
  return text;
}

// Memory for the pieces of chunked bodies, shared by the calls of a thread. A callback may make another call.
class Scratch {
 public:
  Scratch() : text_(std::exchange(spare_, {})) {}
  ~Scratch() { spare_ = std::move(text_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string& text() { return text_; }

 private:
  static thread_local std::string spare_;
  std::string text_;
};
thread_local std::string Scratch::spare_;

}  // namespace

class Call::Running : public std::enable_shared_from_this<Running> {
 public:
  Running(base::EventLoop& loop, std::shared_ptr<const HttpRequest> request, milliseconds idle, Events events)
      : loop_(loop), request_(std::move(request)), idle_(idle), events_(std::move(events)) {
    on_ready_ = [this](std::uint32_t) { run([this] { advance(); }); };
  }
  ~Running() { close(); }

  void start() {
    run([this] {
      if (request_->total_timeout.count() > 0)
        deadline_ = std::chrono::steady_clock::now() + request_->total_timeout;
      auto url = parse_url(request_->url);
      if (!url) return end(fail(url.error()));
      if (const auto checked = check_request(*request_); !checked) return end(fail(checked.error()));
      begin_hop(std::move(*url));
    });
  }

  // The caller has no use for the answer.
  void cancel() {
    if (stage_ == Stage::over) return;
    is_stopped_ = true;
    report_loss(canceled());
    close();
  }

  void give_up() {
    run([this] {
      is_stopped_ = true;
      lose(canceled());
    });
  }

  void pause() {
    is_paused_ = true;
    if (stage_ == Stage::receiving) want(0);
  }

  void resume() {
    if (!std::exchange(is_paused_, false) || stage_ != Stage::receiving) return;
    begin_to_wait();
    want(EPOLLIN);
    if (!unread_.empty() || channel_->has_more()) read_soon();
    arm();
  }

 private:
  enum class Stage { dialing, sending, receiving, over };

  // Runs an entry of the state machine. It may end the call, and the end may destroy it.
  template <class F>
  void run(F&& step) {
    const auto self = shared_from_this();
    if (stage_ == Stage::over) return;
    try {
      step();
    } catch (const std::exception& error) {
      end(fail(ErrorCode::unavailable, "the request failed", error.what()));
    }
    if (stage_ != Stage::over) arm();
  }

  // Takes the next step when the descriptor is ready.
  void advance() {
    switch (stage_) {
      case Stage::sending:
        return send();
      case Stage::receiving:
        return is_short_of_room_ ? take_unread() : read_more();
      case Stage::dialing:
      case Stage::over:
        return;
    }
  }

  // Begins a request to `url`.
  void begin_hop(Url url) {
    url_ = std::move(url);
    body_.clear();
    report_.emplace(request_->breakers, request_->counts, origin_of(url_), request_->counted_as);
    if (const auto admitted = admit(*request_, *report_); !admitted) return end(fail(admitted.error()));
    if (request_->repeats_safely) {
      KeptConnections::Connection kept = kept_connections().take(key_of(*request_, url_));
      if (kept.channel) return use(std::move(kept.channel), kept.opened, true);
    }
    dial();
  }

  void dial() {
    stage_ = Stage::dialing;
    dial_.emplace(loop_, *request_, url_, WaitLimits{deadline_, idle_}, [this](auto channel) {
      run([&] {
        dial_.reset();
        if (!channel) return lose(channel.error());
        use(std::move(*channel), std::chrono::steady_clock::now(), false);
      });
    });
    dial_->start();
  }

  // Sends the request over the channel.
  void use(std::unique_ptr<Channel> channel, SteadyTime opened, bool was_kept) {
    watch(-1, 0);
    channel_ = std::move(channel);
    opened_ = opened;
    was_kept_ = was_kept;
    is_connected_ = true;
    has_begun_ = false;
    write_error_.reset();
    answer_ = {};
    parser_ = {};
    shown_.emplace(request_->mask);
    if (request_->intake != nullptr) request_->intake->keep(0);
    if (request_->on_connected) request_->on_connected();
    out_ = text_of(*request_, url_);
    sent_ = body_sent_ = 0;
    stage_ = Stage::sending;
    begin_to_wait();
    send();
  }

  void send() {
    if (!write_some(out_, sent_)) return;
    const std::string& body = request_->body;
    if (body.size() > kSmallBody && !write_some(body, body_sent_)) return;
    const auto flushed = channel_->flush();
    if (!flushed) return hear_out(flushed.error());
    if (!*flushed) return watch(channel_->fd(), EPOLLOUT);
    out_ = {};
    sent_ = 0;
    stage_ = Stage::receiving;
    begin_to_wait();
    watch(channel_->fd(), wanted_to_read());
  }

  // Returns whether all of `text` was taken. Otherwise the call waits, or has ended.
  bool write_some(std::string_view text, std::size_t& sent) {
    if (sent == text.size()) return true;
    const auto written = channel_->write(text.substr(sent));
    if (!written) {
      hear_out(written.error());
      return false;
    }
    if (*written > 0) begin_to_wait();
    sent += *written;
    if (sent == text.size()) return true;
    watch(channel_->fd(), EPOLLOUT);
    return false;
  }

  // The server takes no more of the request. One that refuses a body may have answered before it closed the
  // connection.
  void hear_out(base::Error error) {
    write_error_ = std::move(error);
    out_ = {};
    stage_ = Stage::receiving;
    begin_to_wait();
    watch(channel_->fd(), wanted_to_read());
    receive();
  }

  void receive() {
    std::array<char, kReadMax> buffer;
    for (int reads = 0; stage_ == Stage::receiving && !is_paused_ && !is_short_of_room_; ++reads) {
      if (reads == kReadsMax) return channel_->has_more() ? read_soon() : void();
      const auto got = channel_->read(buffer.data(), buffer.size());
      // TLS may have to write in order to read.
      const auto flushed = got ? channel_->flush() : base::Result<bool>(true);
      if (!got || !flushed) return break_off(got ? flushed.error() : got.error());
      want(*flushed ? EPOLLIN : EPOLLIN | EPOLLOUT);
      if (!*got) return write_error_ ? break_off(*write_error_) : void();
      begin_to_wait();
      if (**got == 0) return end_stream();
      has_begun_ = true;
      take_bytes({buffer.data(), **got});
      // A short read of a plain socket has emptied it.
      if (**got < buffer.size() && stage_ == Stage::receiving && !channel_->has_more()) return;
    }
  }

  // Reads in the next round what the descriptor does not announce.
  void read_soon() {
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->run([&] { self->read_more(); });
    });
  }

  // Parses the bytes that wait; those that come after them are read later.
  void read_more() {
    if (stage_ != Stage::receiving || is_paused_ || is_short_of_room_) return;
    if (!unread_.empty()) parse(std::exchange(unread_, {}));
    if (stage_ == Stage::receiving && !is_paused_) receive();
  }

  // Counts the bytes, and waits if there is no room for them.
  void take_bytes(std::string_view bytes) {
    if (request_->intake != nullptr) {
      const auto taken = request_->intake->try_acquire(bytes.size());
      if (!taken) return lose(taken.error());
      if (!*taken) {
        unread_ += bytes;
        is_short_of_room_ = true;
        return watch(request_->intake->room_fd(), EPOLLIN);
      }
    }
    parse(bytes);
  }

  // There may be room now for the bytes that were read.
  void take_unread() {
    watch(-1, 0);
    const auto taken = request_->intake->try_acquire(unread_.size());
    if (!taken) return lose(taken.error());
    if (!*taken) return watch(request_->intake->room_fd(), EPOLLIN);
    is_short_of_room_ = false;
    begin_to_wait();
    watch(channel_->fd(), wanted_to_read());
    read_more();
  }

  void parse(std::string_view bytes) {
    using State = AnswerParser::State;
    Scratch scratch;
    while (stage_ == Stage::receiving && !bytes.empty()) {
      if (is_paused_) return void(unread_ += bytes);
      std::string_view piece;
      bytes.remove_prefix(parser_.feed(bytes, scratch.text(), piece));
      if (!piece.empty() && !show(request_->mask ? shown_->next(piece) : std::string(), piece)) return;
      if (stage_ != Stage::receiving) return;
      if (parser_.state() == State::malformed) return break_off(malformed_answer());
      if (parser_.state() == State::begun) {
        take_head(*request_, parser_.head().status, parser_.head().headers, answer_, *report_);
        parser_.begin_body();
      }
      if (parser_.state() == State::done) return complete(bytes.empty());
    }
  }

  // Gives a piece of the body away. Returns false if the call has ended.
  bool show(const std::string& masked, std::string_view plain) {
    const std::string_view piece = request_->mask ? masked : plain;
    const bool is_streamed = events_.on_data && answer_.status >= 200 && answer_.status < 300;
    bool goes_on = true;
    if (!is_streamed) {
      goes_on = keep(body_, piece, request_->answer_max);
    } else if (!piece.empty()) {
      goes_on = events_.on_data(piece);
    }
    if (stage_ != Stage::receiving) return false;
    if (!goes_on) take_answer();
    return goes_on;
  }

  // The other side has ended the stream.
  void end_stream() {
    parser_.end();
    if (parser_.state() == AnswerParser::State::done) return complete(false);
    break_off(no_answer());
  }

  // The answer is complete. `is_clean`: nothing follows it.
  void complete(bool is_clean) {
    const std::string rest = request_->mask ? shown_->end() : std::string();
    if (!rest.empty() && !show(rest, {})) return;
    const bool may_keep = is_clean && request_->repeats_safely && parser_.stays_open() && !write_error_ &&
                          !channel_->has_more() && unread_.empty();
    if (may_keep) {
      watch(-1, 0);
      kept_connections().keep(key_of(*request_, url_), {std::move(channel_), opened_});
    }
    take_answer();
  }

  // The connection was lost, or the answer is not valid.
  void break_off(base::Error error) {
    if (write_error_) error = *write_error_;  // which came first
    const bool is_enough = request_->head_suffices && answer_.status != 0;
    if (is_enough) return take_answer();
    const bool was_closed = was_kept_ && !has_begun_ && error.code == ErrorCode::unavailable;
    if (!was_closed) return lose(std::move(error));
    drop_channel();
    is_connected_ = false;
    dial();
  }

  // Returns the answer, or follows its redirect.
  void take_answer() {
    drop_channel();
    answer_.body = std::move(body_);
    body_.clear();
    auto next = is_stopped_ ? std::nullopt : next_hop(*request_, url_, hops_, answer_);
    if (!next) return end(std::move(answer_));
    ++hops_;
    is_connected_ = false;
    begin_hop(std::move(*next));
  }

  void lose(base::Error error) {
    const bool is_enough = request_->head_suffices && answer_.status != 0 && stage_ == Stage::receiving;
    if (is_enough) return take_answer();
    end(fail(std::move(error)));
  }

  void end(base::Result<HttpAnswer> result) {
    if (stage_ == Stage::over) return;
    if (!result) report_loss(result.error());
    close();
    const auto on_end = std::move(events_.on_end);
    on_end(std::move(result));
  }

  // Reports a call that ended without an answer.
  void report_loss(const base::Error& error) {
    if (report_) report_->lost(error, is_connected_, is_stopped_);
  }

  void close() {
    stage_ = Stage::over;
    loop_.cancel(std::exchange(timer_, 0));
    dial_.reset();
    drop_channel();
  }

  void drop_channel() {
    watch(-1, 0);
    channel_.reset();
    unread_ = {};
    if (std::exchange(is_short_of_room_, false)) request_->intake->stop_waiting();
  }

  // Watches this descriptor instead of the one before; -1: none.
  void watch(int fd, std::uint32_t events) {
    if (fd == fd_ && events == watched_) return;
    if (fd_ >= 0 && watched_ != 0) loop_.forget(fd_, on_ready_);
    fd_ = fd;
    watched_ = events;
    if (fd_ >= 0 && watched_ != 0) loop_.watch(fd_, watched_, on_ready_);
  }
  std::uint32_t wanted_to_read() const { return is_paused_ ? 0U : std::uint32_t{EPOLLIN}; }
  void want(std::uint32_t events) { watch(fd_, events); }

  void begin_to_wait() { waits_since_ = std::chrono::steady_clock::now(); }

  // The longest wait in this stage; zero: no limit.
  milliseconds longest_wait() const {
    if (is_paused_ || is_short_of_room_) return milliseconds(0);
    const milliseconds longest = stage_ == Stage::receiving ? longest_silence(*request_) : milliseconds(0);
    if (idle_.count() == 0 || longest.count() == 0) return std::max(idle_, longest);
    return std::min(idle_, longest);
  }

  // When the call has waited for too long; `max`: never. The dial has limits of its own.
  SteadyTime latest() const {
    if (stage_ == Stage::dialing) return SteadyTime::max();
    SteadyTime latest = deadline_.value_or(SteadyTime::max());
    const milliseconds longest = longest_wait();
    if (longest.count() > 0) latest = std::min(latest, waits_since_ + longest);
    return latest;
  }

  // Sets the timer, unless it fires early enough: it is then set anew. So a piece of the answer moves none.
  void arm() {
    const SteadyTime at = latest();
    if (timer_ != 0 && timer_at_ <= at) return;
    loop_.cancel(std::exchange(timer_, 0));
    if (at == SteadyTime::max()) return;
    timer_at_ = at;
    const auto left = std::chrono::ceil<milliseconds>(at - std::chrono::steady_clock::now());
    timer_ = loop_.after(std::max(left, milliseconds(0)), [this] {
      timer_ = 0;
      run([this] {
        if (std::chrono::steady_clock::now() < latest()) return;
        if (is_short_of_room_) return lose(no_room());
        lose(too_late());
      });
    });
  }

  static base::Error no_room() {
    return {ErrorCode::deadline_exceeded,
            "timed out waiting for other answers to free the memory that outbound.bytes_max allows",
            {}};
  }

  base::EventLoop& loop_;
  const std::shared_ptr<const HttpRequest> request_;  // shared with the caller, who may make the call again
  const milliseconds idle_;
  Events events_;
  base::EventLoop::Ready on_ready_;
  Stage stage_ = Stage::dialing;
  bool is_paused_ = false;
  bool is_stopped_ = false;  // by the caller
  std::optional<SteadyTime> deadline_;
  SteadyTime waits_since_{};
  base::EventLoop::TimerId timer_ = 0;
  SteadyTime timer_at_{};
  int fd_ = -1;  // the one watched
  std::uint32_t watched_ = 0;

  // The hop that is being made.
  Url url_;
  int hops_ = 0;
  std::optional<CallReport> report_;
  std::optional<Dial> dial_;

  // The request and the answer on a connection.
  std::unique_ptr<Channel> channel_;
  SteadyTime opened_{};
  bool was_kept_ = false;
  bool is_connected_ = false;
  std::string out_;
  std::size_t sent_ = 0, body_sent_ = 0;
  std::optional<base::Error> write_error_;  // the server takes no more of the request
  AnswerParser parser_;
  bool has_begun_ = false;  // a byte of the answer was read
  HttpAnswer answer_;
  std::string body_;
  std::optional<base::SecretMask::Pieces> shown_;
  std::string unread_;             // bytes of the answer that wait, for room or for `resume`
  bool is_short_of_room_ = false;  // the intake has no room for `unread_`
};

Call::Call(base::EventLoop& loop, std::shared_ptr<const HttpRequest> request, milliseconds idle,
           Events events)
    : running_(std::make_shared<Running>(loop, std::move(request), idle, std::move(events))) {}

Call::~Call() {
  running_->cancel();
}

void Call::start() {
  running_->start();
}

void Call::give_up() {
  running_->give_up();
}

void Call::pause() {
  running_->pause();
}

void Call::resume() {
  running_->resume();
}

}  // namespace baton::outbound

#include "outbound/call.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "base/text.h"
#include "outbound/answer_parser.h"
#include "outbound/call_report.h"
#include "outbound/kept_connections.h"
#include "outbound/race.h"
#include "outbound/resolver.h"
#include "outbound/tls.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

constexpr int kHopsMax = 5;
constexpr std::size_t kReadMax = 16 * 1024;
// Reads in a row, before the other descriptors of the loop get their turn.
constexpr int kReadsMax = 4;
// A body of this size leaves together with the head.
constexpr std::size_t kSmallBody = 16 * 1024;
// The longest silence of a server whose answer holds a part of the byte budget.
constexpr std::chrono::seconds kStallMax{30};
// How long a proxy may take to reach the target.
constexpr std::chrono::seconds kTunnelTime{30};

// Rejects control characters: a line end in a value could inject another header.
bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

// Reserved headers determine where the request goes and where it ends, so only this file sets them.
bool is_reserved_header(std::string_view name) {
  constexpr std::array kReserved{"Host", "Content-Length", "Transfer-Encoding", "Connection",
                                 "Proxy-Authorization"};
  return std::any_of(kReserved.begin(), kReserved.end(),
                     [&](std::string_view reserved) { return base::same_word(name, reserved); });
}

base::Result<void> check(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "POST" && request.method != "DELETE") {
    return fail(ErrorCode::invalid_argument, "only GET, POST and DELETE requests are supported");
  }
  if (!is_header_value(request.content_type)) {
    return fail(ErrorCode::invalid_argument, "the content type contains invalid characters");
  }
  for (const auto& [name, value] : request.headers) {
    if (!base::is_token(name) || is_reserved_header(name) || !is_header_value(value)) {
      return fail(ErrorCode::invalid_argument, "a header contains invalid characters", name);
    }
  }
  return {};
}

std::string host_header(const Url& url) {
  const std::string authority = authority_of(url);
  const bool is_usual = url.port == (url.scheme == "https" ? 443 : 80);
  return is_usual ? authority.substr(0, authority.rfind(':')) : authority;
}

bool is_before(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::lexicographical_compare(left, right, {}, lower, lower);
}

// The head of the request, with the body if that is small. The headers are in alphabetical order.
std::string text_of(const HttpRequest& request, const Url& url) {
  const std::string host = host_header(url);
  const bool is_for_proxy = url.scheme == "http" && request.proxy.serves(url);
  auto headers = request.headers;
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(headers, [&](const auto& one) { return base::same_word(one.first, name); });
  };
  const std::string login = is_for_proxy ? request.proxy.authorization() : "";
  if (!login.empty()) headers.emplace_back("Proxy-Authorization", login);
  if (!has("User-Agent")) headers.emplace_back("User-Agent", "Baton");
  if (!has("Accept")) headers.emplace_back("Accept", "*/*");
  if (!request.content_type.empty()) headers.emplace_back("Content-Type", request.content_type);
  if (!request.body.empty() || request.method == "POST")
    headers.emplace_back("Content-Length", std::to_string(request.body.size()));
  if (!request.repeats_safely) headers.emplace_back("Connection", "close");
  std::ranges::stable_sort(
      headers, is_before, [](const auto& one) -> const auto& { return one.first; });

  std::string text = request.method + " " + (is_for_proxy ? "http://" + host : "") + url.target +
                     " HTTP/1.1\r\nHost: " + host + "\r\n";
  for (const auto& [name, value] : headers) text.append(name).append(": ").append(value).append("\r\n");
  text += "\r\n";
  if (request.body.size() <= kSmallBody) text += request.body;
  return text;
}

// The first hop of a connection: the server, or the proxy that serves it.
struct FirstHop {
  Url place;
  AddressPolicy policy;
  bool is_proxy = false;
};

base::Result<FirstHop> first_hop(const HttpRequest& request, const Url& url) {
  if (!request.proxy.serves(url)) {
    if (const auto checked = check_target(url, request.policy); !checked) return fail(checked.error());
    return FirstHop{url, request.policy};
  }
  if (const auto checked = check_target(url, request.policy, request.proxy); !checked)
    return fail(checked.error());
  auto place = parse_url(request.proxy.url);
  if (!place) return fail(place.error());
  return FirstHop{std::move(*place), AddressPolicy::any(), true};
}

KeptConnections& kept_connections() {
  static KeptConnections kept;
  return kept;
}

// Names what a connection is good for: where it leads, by which way, and which addresses were allowed.
std::string key_of(const HttpRequest& request, const Url& url) {
  const AddressPolicy& policy = request.policy;
  std::string key = origin_of(url);
  for (const bool is_allowed :
       {policy.allow_private, policy.allow_metadata, policy.allow_low_ports, policy.allow_loopback})
    key += is_allowed ? " 1" : " 0";
  if (request.proxy.serves(url)) key += " " + request.proxy.url + " " + request.proxy.secret_env;
  return key;
}

// Returns whether a request with this method may go to the place that an answer with this status names.
bool is_redirect(const std::string& method, int status) {
  if (status == 307 || status == 308) return true;
  return method == "GET" && (status == 301 || status == 302 || status == 303);
}

// Keeps the first `most` bytes of the body. Returns false once there are more.
bool keep(std::string& body, std::string_view piece, std::size_t most) {
  const std::size_t room = most - std::min(most, body.size());
  body.append(piece.substr(0, room));
  return piece.size() <= room;
}

base::Error too_late() {
  return {ErrorCode::deadline_exceeded, "the server took too long to answer", {}};
}

base::Error canceled() {
  return {ErrorCode::unavailable, "the request was canceled", {}};
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
    on_ready_ = [this](std::uint32_t) { run([this] { go_on(); }); };
    on_stop_ = [this](std::uint32_t) {
      run([this] {
        is_stopped_ = true;
        end(fail(canceled()));
      });
    };
  }
  ~Running() { close(); }

  void start() {
    run([this] {
      if (request_->total_timeout.count() > 0)
        deadline_ = std::chrono::steady_clock::now() + request_->total_timeout;
      watches_stop_ = request_->stop_fd >= 0;
      if (watches_stop_) loop_.watch(request_->stop_fd, EPOLLIN, on_stop_);
      auto url = parse_url(request_->url);
      if (!url) return end(fail(url.error()));
      if (const auto checked = check(*request_); !checked) return end(fail(checked.error()));
      begin_hop(std::move(*url));
    });
  }

  // The caller has no use for the answer.
  void cancel() {
    if (stage_ == Stage::over) return;
    is_stopped_ = true;
    tell_of(canceled());
    close();
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
  enum class Stage { resolving, connecting, tunneling, shaking, sending, receiving, over };

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

  // Goes on when the descriptor is ready.
  void go_on() {
    switch (stage_) {
      case Stage::resolving:
        return take_addresses();
      case Stage::tunneling:
        return is_sent() ? read_tunnel() : send_tunnel();
      case Stage::shaking:
        return shake();
      case Stage::sending:
        return send();
      case Stage::receiving:
        return is_short_of_room_ ? take_unread() : read_more();
      case Stage::connecting:
      case Stage::over:
        return;
    }
  }

  // Begins a request to `url`.
  void begin_hop(Url url) {
    url_ = std::move(url);
    body_.clear();
    report_.emplace(request_->breakers, request_->counts, origin_of(url_), request_->counted_as);
    if (const milliseconds held = report_->admit(request_->despite_breaker); held.count() > 0) {
      if (request_->on_held) request_->on_held(held);
      return end(fail(CallReport::held_back()));
    }
    if (request_->repeats_safely) {
      KeptConnections::Connection kept = kept_connections().take(key_of(*request_, url_));
      if (kept.channel) return use(std::move(kept.channel), kept.opened, true);
    }
    dial();
  }

  // Resolves the name once and dials exactly the addresses that were checked.
  void dial() {
    auto hop = first_hop(*request_, url_);
    if (!hop) return lose(hop.error());
    hop_ = std::move(*hop);
    stage_ = Stage::resolving;
    begin_to_wait();
    if (auto literal = literal_address(hop_.place.host)) return check_addresses({std::move(*literal)});
    auto look_up = begin_look_up(hop_.place.host);
    if (!look_up) return lose(look_up.error());
    look_up_ = std::move(*look_up);
    watch(look_up_->fd(), EPOLLIN);
  }

  void take_addresses() {
    watch(-1, 0);
    auto addresses = look_up_->result();
    look_up_.reset();
    if (!addresses) return lose(addresses.error());
    check_addresses(std::move(*addresses));
  }

  void check_addresses(std::vector<std::string> all) {
    auto allowed = allowed_of(std::move(all), hop_.policy);
    if (!allowed) return lose(allowed.error());
    addresses_ = std::move(*allowed);
    connect();
  }

  void connect() {
    stage_ = Stage::connecting;
    race_ = std::make_unique<Race>(loop_, addresses_, hop_.place.port, request_->connect_timeout,
                                   [this](auto socket) { run([&] { take(std::move(socket)); }); });
    race_->start();
  }

  void take(base::Result<std::unique_ptr<Socket>> socket) {
    race_.reset();
    if (!socket && hop_.is_proxy)
      return lose({socket.error().code, "the proxy cannot be reached: " + socket.error().for_caller, {}});
    if (!socket) return lose(socket.error());
    std::erase(addresses_, (*socket)->address());
    socket_ = std::move(*socket);
    if (url_.scheme == "http") return use(std::move(socket_), std::chrono::steady_clock::now(), false);
    // A proxy gets plain requests as a whole (RFC 9112, 3.2.2), and tunnels of TLS: proxies commonly tunnel
    // to port 443 only.
    if (!hop_.is_proxy) return begin_tls();
    stage_ = Stage::tunneling;
    begin_to_wait();
    out_ = tunnel_request(url_, request_->proxy.authorization());
    sent_ = 0;
    tunnel_.clear();
    watch(socket_->fd(), EPOLLOUT);
    send_tunnel();
  }

  bool is_sent() const { return sent_ == out_.size(); }

  void send_tunnel() {
    const auto written = socket_->write(std::string_view(out_).substr(sent_));
    if (!written) return lose_address(written.error());
    sent_ += *written;
    if (is_sent()) want(EPOLLIN);
  }

  void read_tunnel() {
    std::array<char, 2048> buffer;
    const auto got = socket_->read(buffer.data(), buffer.size());
    if (!got) return lose_address(got.error());
    if (!*got) return;
    if (**got == 0) return lose_address(no_tunnel());
    tunnel_.append(buffer.data(), **got);
    const auto opened = opens_tunnel(tunnel_);
    if (!opened) return lose_address(opened.error());
    if (!*opened) return;
    tunnel_ = {};
    begin_tls();
  }

  void begin_tls() {
    watch(-1, 0);
    stage_ = Stage::shaking;
    begin_to_wait();
    auto tls = TlsChannel::over(std::move(socket_), url_.host);
    if (!tls) return lose_address(tls.error());
    tls_ = std::move(*tls);
    watch(tls_->fd(), EPOLLIN);
    shake();
  }

  void shake() {
    const auto shaken = tls_->shake();
    if (!shaken) return lose_address(shaken.error());
    const auto flushed = tls_->flush();
    if (!flushed) return lose_address(flushed.error());
    if (*shaken) return use(std::move(tls_), std::chrono::steady_clock::now(), false);
    want(*flushed ? EPOLLIN : EPOLLIN | EPOLLOUT);
  }

  // An address that accepts the connection but does not speak TLS leaves the others.
  void lose_address(base::Error error) {
    watch(-1, 0);
    socket_.reset();
    tls_.reset();
    if (error.code != ErrorCode::unavailable || addresses_.empty()) return lose(std::move(error));
    connect();
  }

  // Sends the request over the channel.
  void use(std::unique_ptr<Channel> channel, SteadyTime opened, bool was_kept) {
    watch(-1, 0);
    channel_ = std::move(channel);
    opened_ = opened;
    was_kept_ = was_kept;
    is_connected_ = true;
    has_begun_ = false;
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
    if (!flushed) return break_off(flushed.error());
    if (!*flushed) return watch(channel_->fd(), EPOLLIN | EPOLLOUT);
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
      break_off(written.error());
      return false;
    }
    if (*written > 0) begin_to_wait();
    sent += *written;
    if (sent == text.size()) return true;
    watch(channel_->fd(), EPOLLOUT);
    return false;
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
      if (!*got) return;
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

  // Goes on with bytes that wait; those that come after them are read later.
  void read_more() {
    if (stage_ != Stage::receiving || is_paused_ || is_short_of_room_) return;
    if (!unread_.empty()) parse(std::exchange(unread_, {}));
    if (stage_ == Stage::receiving && !is_paused_) receive();
  }

  // Counts the bytes, and waits if there is no room for them.
  void take_bytes(std::string_view bytes) {
    if (request_->intake != nullptr) {
      const auto taken = request_->intake->try_take(bytes.size());
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
    const auto taken = request_->intake->try_take(unread_.size());
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
      if (parser_.state() == State::malformed) return break_off(not_valid());
      if (parser_.state() == State::begun && !take_head()) return;
      if (parser_.state() == State::done) return complete(bytes.empty());
    }
  }

  static base::Error not_valid() {
    return {ErrorCode::unavailable, "the server's answer is not valid HTTP or exceeds its limits", {}};
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

  // Returns false if the call has ended.
  bool take_head() {
    const AnswerParser::Head& head = parser_.head();
    answer_.status = head.status;
    answer_.headers = head.headers;
    answer_.content_type = header_of(answer_, "Content-Type");
    place_ = header_of(answer_, "Location");
    if (request_->mask) {
      answer_.content_type = request_->mask->masked(answer_.content_type);
      for (auto& [name, value] : answer_.headers) value = request_->mask->masked(value);
    }
    report_->answered(answer_.status, retry_after(answer_).count() > 0);
    parser_.go_on();
    return true;
  }

  // The other side has ended the stream.
  void end_stream() {
    parser_.end();
    if (parser_.state() == AnswerParser::State::done) return complete(false);
    break_off({ErrorCode::unavailable, "the server sent no valid answer", {}});
  }

  // The answer is complete. `is_clean`: nothing follows it.
  void complete(bool is_clean) {
    const std::string rest = request_->mask ? shown_->end() : std::string();
    if (!rest.empty() && !show(rest, {})) return;
    const bool may_keep = is_clean && request_->repeats_safely && parser_.stays_open() &&
                          !channel_->has_more() && unread_.empty();
    if (may_keep) {
      watch(-1, 0);
      kept_connections().keep(key_of(*request_, url_), {std::move(channel_), opened_});
    }
    take_answer();
  }

  // The connection was lost, or the answer is not valid.
  void break_off(base::Error error) {
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
    if (answer_.status < 300 || answer_.status > 399) return end(std::move(answer_));
    answer_.moved_to = header_of(answer_, "Location");
    const bool may_follow = request_->follows_redirects && is_redirect(request_->method, answer_.status);
    if (!may_follow || place_.empty() || hops_ == kHopsMax) return end(std::move(answer_));
    auto next = resolved(url_, place_);
    // Credentials and the body go to this origin only.
    if (!next || origin_of(*next) != origin_of(url_)) return end(std::move(answer_));
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
    if (!result) tell_of(result.error());
    close();
    const auto on_end = std::move(events_.on_end);
    on_end(std::move(result));
  }

  // Reports a call that ended without an answer.
  void tell_of(const base::Error& error) {
    if (report_) report_->lost(error, is_connected_, is_stopped_);
  }

  void close() {
    stage_ = Stage::over;
    loop_.cancel(std::exchange(timer_, 0));
    race_.reset();
    drop_channel();
    look_up_.reset();
    socket_.reset();
    tls_.reset();
    if (std::exchange(watches_stop_, false)) loop_.forget(request_->stop_fd, on_stop_);
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
    milliseconds longest = idle_;
    const auto bound = [&](milliseconds most) {
      if (most.count() > 0) longest = longest.count() == 0 ? most : std::min(longest, most);
    };
    if (stage_ == Stage::resolving) return request_->resolve_timeout;
    if (stage_ == Stage::connecting || is_paused_ || is_short_of_room_) return milliseconds(0);
    if (stage_ == Stage::tunneling) bound(kTunnelTime);
    if (stage_ != Stage::receiving) return longest;
    if (request_->intake != nullptr && request_->intake->holds_much()) bound(kStallMax);
    if (request_->patience) bound(request_->patience());
    return longest;
  }

  // The time at which the call has waited for too long; `max` if there is none.
  SteadyTime latest() const {
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
        const bool is_resolving = stage_ == Stage::resolving;
        if (is_resolving)
          return lose({ErrorCode::deadline_exceeded, "resolving the host name took too long", {}});
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
  base::EventLoop::Ready on_ready_, on_stop_;
  Stage stage_ = Stage::resolving;
  bool is_paused_ = false;
  bool is_stopped_ = false;  // by the caller
  bool watches_stop_ = false;
  std::optional<SteadyTime> deadline_;
  SteadyTime waits_since_{};
  base::EventLoop::TimerId timer_ = 0;
  SteadyTime timer_at_{};
  int fd_ = -1;  // the one watched
  std::uint32_t watched_ = 0;

  // The hop that is being made.
  Url url_;
  int hops_ = 0;
  FirstHop hop_;
  std::optional<CallReport> report_;
  std::unique_ptr<Resolver::Waiting> look_up_;
  std::vector<std::string> addresses_;  // that were not tried
  std::unique_ptr<Race> race_;
  std::unique_ptr<Socket> socket_;   // to a proxy that opens a tunnel
  std::string tunnel_;               // its answer so far
  std::unique_ptr<TlsChannel> tls_;  // during the handshake

  // The request and the answer on a connection.
  std::unique_ptr<Channel> channel_;
  SteadyTime opened_{};
  bool was_kept_ = false;
  bool is_connected_ = false;
  std::string out_;
  std::size_t sent_ = 0, body_sent_ = 0;
  AnswerParser parser_;
  bool has_begun_ = false;  // a byte of the answer was read
  HttpAnswer answer_;
  std::string place_;  // of a redirect; may contain a key that the answer must not show
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

void Call::pause() {
  running_->pause();
}

void Call::resume() {
  running_->resume();
}

}  // namespace baton::outbound

#include "outbound/dial.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "outbound/race.h"
#include "outbound/resolver.h"
#include "outbound/tls.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

// How long a proxy may take to reach the target.
constexpr std::chrono::seconds kTunnelTime{30};

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

}  // namespace

class Dial::Running : public std::enable_shared_from_this<Running> {
 public:
  Running(base::EventLoop& loop, const HttpRequest& request, Url url, const WaitLimits& limits, Done done)
      : loop_(loop), request_(request), url_(std::move(url)), limits_(limits), done_(std::move(done)) {
    on_ready_ = [this](std::uint32_t) { run([this] { advance(); }); };
  }
  ~Running() { close(); }

  // Resolves the name once and dials exactly the addresses that were checked.
  void start() {
    run([this] {
      auto hop = first_hop(request_, url_);
      if (!hop) return end(fail(hop.error()));
      hop_ = std::move(*hop);
      if (auto literal = literal_address(hop_.place.host)) return check_addresses({std::move(*literal)});
      auto look_up = begin_look_up(hop_.place.host);
      if (!look_up) return end(fail(look_up.error()));
      look_up_ = std::move(*look_up);
      begin(Stage::resolving, request_.resolve_timeout);
      watch(look_up_->fd(), EPOLLIN);
    });
  }

  void close() {
    stage_ = Stage::over;
    loop_.cancel(std::exchange(timer_, 0));
    watch(-1, 0);
    race_.reset();
    look_up_.reset();
    socket_.reset();
    tls_.reset();
  }

 private:
  enum class Stage { resolving, connecting, tunneling, shaking, over };

  // Runs an entry of the state machine. It may end the dial, and the end may destroy it.
  template <class F>
  void run(F&& step) {
    const auto self = shared_from_this();
    if (stage_ == Stage::over) return;
    try {
      step();
    } catch (const std::exception& error) {
      end(fail(ErrorCode::unavailable, "the request failed", error.what()));
    }
  }

  // Takes the next step when the descriptor is ready.
  void advance() {
    switch (stage_) {
      case Stage::resolving:
        return take_addresses();
      case Stage::tunneling:
        return is_sent() ? read_tunnel() : send_tunnel();
      case Stage::shaking:
        return shake();
      case Stage::connecting:
      case Stage::over:
        return;
    }
  }

  // Begins a stage that may take so long; zero: up to the deadline.
  void begin(Stage stage, milliseconds longest) {
    stage_ = stage;
    loop_.cancel(std::exchange(timer_, 0));
    const SteadyTime now = std::chrono::steady_clock::now();
    SteadyTime latest = limits_.deadline.value_or(SteadyTime::max());
    if (longest.count() > 0) latest = std::min(latest, now + longest);
    if (latest == SteadyTime::max()) return;
    const auto left = std::max(std::chrono::ceil<milliseconds>(latest - now), milliseconds(0));
    timer_ = loop_.after(left, [this] {
      timer_ = 0;
      run([this] {
        if (stage_ != Stage::resolving) return end(fail(too_late()));
        end(fail(ErrorCode::deadline_exceeded, "resolving the host name took too long"));
      });
    });
  }

  void take_addresses() {
    watch(-1, 0);
    auto addresses = look_up_->result();
    look_up_.reset();
    if (!addresses) return end(fail(addresses.error()));
    check_addresses(std::move(*addresses));
  }

  void check_addresses(std::vector<std::string> all) {
    auto allowed = allowed_of(std::move(all), hop_.policy);
    if (!allowed) return end(fail(allowed.error()));
    addresses_ = std::move(*allowed);
    connect();
  }

  void connect() {
    begin(Stage::connecting, milliseconds(0));
    race_ = std::make_unique<Race>(loop_, addresses_, hop_.place.port, request_.connect_timeout,
                                   [this](auto socket) { run([&] { use_socket(std::move(socket)); }); });
    race_->start();
  }

  void use_socket(base::Result<std::unique_ptr<Socket>> socket) {
    race_.reset();
    if (!socket && hop_.is_proxy)
      return end(fail(socket.error().code, "the proxy cannot be reached: " + socket.error().for_caller));
    if (!socket) return end(fail(socket.error()));
    std::erase(addresses_, (*socket)->address());
    socket_ = std::move(*socket);
    if (url_.scheme == "http") return end(std::unique_ptr<Channel>(std::move(socket_)));
    // A proxy gets plain requests as a whole (RFC 9112, 3.2.2), and tunnels of TLS: proxies commonly tunnel
    // to port 443 only.
    if (!hop_.is_proxy) return begin_tls();
    begin(Stage::tunneling,
          limits_.idle.count() > 0 ? std::min<milliseconds>(limits_.idle, kTunnelTime) : kTunnelTime);
    out_ = tunnel_request(url_, request_.proxy.authorization());
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
    begin(Stage::shaking, limits_.idle);
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
    if (*shaken) {
      watch(-1, 0);
      return end(std::unique_ptr<Channel>(std::move(tls_)));
    }
    want(*flushed ? EPOLLIN : EPOLLIN | EPOLLOUT);
  }

  // An address that accepts the connection but does not speak TLS leaves the others.
  void lose_address(base::Error error) {
    watch(-1, 0);
    socket_.reset();
    tls_.reset();
    if (error.code != ErrorCode::unavailable || addresses_.empty()) return end(fail(std::move(error)));
    connect();
  }

  void end(base::Result<std::unique_ptr<Channel>> result) {
    if (stage_ == Stage::over) return;
    close();
    const auto done = std::move(done_);
    done(std::move(result));
  }

  // Watches this descriptor instead of the one before; -1: none.
  void watch(int fd, std::uint32_t events) {
    if (fd == fd_ && events == watched_) return;
    if (fd_ >= 0) loop_.forget(fd_, on_ready_);
    fd_ = fd;
    watched_ = events;
    if (fd_ >= 0) loop_.watch(fd_, watched_, on_ready_);
  }
  void want(std::uint32_t events) { watch(fd_, events); }

  base::EventLoop& loop_;
  const HttpRequest& request_;
  const Url url_;
  const WaitLimits limits_;
  Done done_;
  base::EventLoop::Ready on_ready_;
  Stage stage_ = Stage::resolving;
  base::EventLoop::TimerId timer_ = 0;
  int fd_ = -1;  // the one watched
  std::uint32_t watched_ = 0;
  FirstHop hop_;
  std::unique_ptr<Resolver::Waiting> look_up_;
  std::vector<std::string> addresses_;  // that were not tried
  std::unique_ptr<Race> race_;
  std::unique_ptr<Socket> socket_;  // to a proxy that opens a tunnel
  std::string out_;                 // the request to that proxy
  std::size_t sent_ = 0;
  std::string tunnel_;               // the proxy's answer so far
  std::unique_ptr<TlsChannel> tls_;  // during the handshake
};

Dial::Dial(base::EventLoop& loop, const HttpRequest& request, Url url, const WaitLimits& limits, Done done)
    : running_(std::make_shared<Running>(loop, request, std::move(url), limits, std::move(done))) {}

Dial::~Dial() {
  running_->close();
}

void Dial::start() {
  running_->start();
}

base::Result<std::unique_ptr<Channel>> dial(const HttpRequest& request, const Url& url,
                                            const WaitLimits& limits) {
  base::EventLoop loop("dial");
  std::optional<base::Result<std::unique_ptr<Channel>>> ended;
  const base::EventLoop::Ready on_stop = [&](std::uint32_t) {
    if (!ended) ended = fail(canceled());
  };
  Dial dial(loop, request, url, limits, [&](auto channel) {
    if (!ended) ended = std::move(channel);
  });
  if (limits.stop_fd >= 0) loop.watch(limits.stop_fd, EPOLLIN, on_stop);
  dial.start();
  loop.run_here([&] { return ended.has_value(); });
  if (limits.stop_fd >= 0) loop.forget(limits.stop_fd, on_stop);
  return std::move(*ended);
}

}  // namespace baton::outbound

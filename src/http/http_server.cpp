#include "http/http_server.h"

#include <optional>

#include "base/worker_pool.h"
#include "http/connection_loop.h"
#include "http/http_text.h"
#include "http/listener.h"
#include "http/server_core.h"

namespace baton::http {

std::string_view Request::header(std::string_view name) const {
  for (const auto& [each, value] : headers) {
    if (same_word(each, name)) return value;
  }
  return {};
}

namespace {

class WholeStream final : public StreamSource {
 public:
  WholeStream(std::string events, std::shared_ptr<const void> held)
      : events_(std::move(events)), held_(std::move(held)) {}
  Next pull(std::string& out, std::size_t) override {
    out += events_;
    return Next::end;
  }

 private:
  const std::string events_;
  const std::shared_ptr<const void> held_;
};

}  // namespace

void Exchange::reply_stream(std::vector<std::pair<std::string, std::string>> headers, std::string events,
                            std::shared_ptr<const void> held) {
  open_stream(
      std::move(headers),
      [events = std::move(events), held = std::move(held)](const Waker&) -> std::unique_ptr<StreamSource> {
        return std::make_unique<WholeStream>(events, held);
      });
}

class HttpServer::Impl {
 public:
  Impl(Limits limits, Handler handler, ErrorBody error_body, Hooks hooks)
      : core_(std::make_shared<ServerCore>(limits, std::move(handler), std::move(error_body),
                                           std::move(hooks))) {}
  ~Impl() { stop(std::chrono::milliseconds(0)); }

  base::Result<int> start(const std::string& host, int port, const tls::Identity* identity) {
    if (started_) return base::fail(base::ErrorCode::already_exists, "the server was already started");
    auto listener = Listener::open(host, port);
    if (!listener) return base::fail(std::move(listener.error()));
    started_ = true;
    is_secure_ = identity != nullptr;
    const int bound = listener->port();
    workers_.emplace("http-worker", core_->limits.worker_threads, core_->limits.work_queue_max);
    core_->workers = &*workers_;
    loop_.emplace(core_, std::move(*listener), identity);
    loop_->start();
    return bound;
  }

  void drain() { core_->draining = true; }

  void stop(std::chrono::milliseconds grace) {
    if (!loop_) return;
    loop_->stop(grace);
    core_->stopped = true;
    workers_->stop();
    loop_.reset();
  }

  Counts counts() const {
    Counts counts{core_->connections, core_->streams, core_->requests, core_->refused};
    const ServerCore::Handshakes& shaken = core_->handshakes;
    if (is_secure_)
      counts.handshakes = {shaken.under_way, shaken.completed, shaken.failed, shaken.late, shaken.plain};
    return counts;
  }

 private:
  const std::shared_ptr<ServerCore> core_;  // shared with the exchanges, which may outlive the server
  bool started_ = false;
  bool is_secure_ = false;
  std::optional<base::WorkerPool> workers_;
  std::optional<ConnectionLoop> loop_;
};

HttpServer::HttpServer(Limits limits, Handler handler, ErrorBody error_body, Hooks hooks)
    : impl_(std::make_unique<Impl>(limits, std::move(handler), std::move(error_body), std::move(hooks))) {}
HttpServer::~HttpServer() = default;

base::Result<int> HttpServer::start(const std::string& host, int port, const tls::Identity* identity) {
  return impl_->start(host, port, identity);
}
void HttpServer::drain() {
  impl_->drain();
}
void HttpServer::stop(std::chrono::milliseconds grace) {
  impl_->stop(grace);
}
Counts HttpServer::counts() const {
  return impl_->counts();
}

}  // namespace baton::http

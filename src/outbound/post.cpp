#include "outbound/post.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "outbound/call.h"

namespace baton::outbound {
namespace {

using std::chrono::milliseconds;
using PostEnd = Posted::Kind;

constexpr std::size_t kErrorBodyMax = 64u << 10;  // bytes kept of a refusal
constexpr int kUnauthorized = 401;

Posted without_token(const TokenError& error) {
  Posted posted;
  posted.kind = PostEnd::no_token;
  posted.text = error.text;
  posted.may_come = error.may_come;
  posted.held = error.held;
  posted.retry_after = error.retry_after;
  return posted;
}

// The kind of a request that failed without an answer.
PostEnd kind_of(const base::Error& error, bool was_connected) {
  const bool may_come_back =
      error.code == base::ErrorCode::unavailable || error.code == base::ErrorCode::deadline_exceeded;
  if (!may_come_back) return PostEnd::forbidden;
  return was_connected ? PostEnd::lost : PostEnd::unreachable;
}

// The request without the header for the token.
HttpRequest request_of(const Rules& rules, const Credentials& credentials, Post post) {
  HttpRequest request = rules.request_to(std::move(post.url));
  request.despite_breaker = post.despite_breaker;
  request.body = std::move(post.body);
  request.content_type = "application/json";
  request.headers.emplace_back("Accept", post.accept);
  for (const auto& [name, value] : post.headers) request.headers.emplace_back(name, value);
  if (!post.trace.empty()) request.headers.emplace_back("traceparent", post.trace);
  request.total_timeout = std::max(post.time_max, milliseconds(1));
  request.answer_max = kErrorBodyMax;
  request.mask = credentials.mask();
  request.stop_fd = post.stop_fd;
  request.intake = post.intake;
  request.patience = std::move(post.patience);
  return request;
}

void add_token(const Server& server, const std::string& token, HttpRequest& request) {
  if (token.empty()) return;
  const bool is_key = server.auth == Server::Auth::api_key;
  if (is_key) request.headers.emplace_back(server.auth_header, token);
  if (!is_key) request.headers.emplace_back("Authorization", "Bearer " + token);
}

// The state of a request while it is made.
struct Progress {
  bool was_connected = false;
  bool has_begun = false;
  milliseconds held{0};
};

// `progress` must outlive the request.
void watch(HttpRequest& request, Progress& progress) {
  request.on_connected = [&progress] { progress.was_connected = true; };
  request.on_held = [&progress](milliseconds time) { progress.held = time; };
}

Posted posted_of(base::Result<HttpAnswer> answer, const Progress& progress, std::string token) {
  Posted posted;
  posted.has_begun = progress.has_begun;
  posted.retry_after = progress.held;
  posted.token = std::move(token);
  posted.held = posted.retry_after.count() > 0;
  if (!answer) {
    posted.kind = kind_of(answer.error(), progress.was_connected);
    posted.text = answer.error().for_caller;
    return posted;
  }
  const bool is_good = answer->status >= 200 && answer->status <= 299;
  posted.kind = is_good ? PostEnd::answered : PostEnd::refused;
  posted.retry_after = retry_after(*answer);
  posted.answer = std::move(*answer);
  return posted;
}

}  // namespace

Posted send_post(const Server& server, const Rules& rules, Credentials& credentials, const Post& post,
                 const std::function<bool(std::string_view)>& on_data) {
  for (bool is_second = false;; is_second = true) {
    const auto token = credentials.find(post.stop_fd, post.despite_breaker);
    if (!token) return without_token(token.error());
    Progress progress;
    HttpRequest request = request_of(rules, credentials, post);
    add_token(server, *token, request);
    watch(request, progress);
    auto answer = http_stream(request, milliseconds(0), [&](std::string_view piece) {
      progress.has_begun = true;
      return on_data(piece);
    });
    Posted posted = posted_of(std::move(answer), progress, *token);
    if (posted.answer.status != kUnauthorized || is_second || !credentials.renew(*token)) return posted;
  }
}

class PostCall::Running : public std::enable_shared_from_this<Running> {
 public:
  Running(const Services& services, const Server& server, const Rules& rules,
          std::shared_ptr<Credentials> credentials, Post post, std::function<bool(std::string_view)> on_data,
          std::function<void(Posted)> on_end)
      : services_(services),
        server_(server),
        rules_(rules),
        credentials_(std::move(credentials)),
        request_(std::make_shared<HttpRequest>(request_of(rules_, *credentials_, std::move(post)))),
        headers_(request_->headers.size()),
        on_data_(std::move(on_data)),
        on_end_(std::move(on_end)) {}

  void start() {
    const auto self = shared_from_this();
    find_token();
  }

  void cancel() {
    is_over_ = true;
    wait_.reset();
    call_.reset();
  }

  void pause() {
    is_paused_ = true;
    if (call_) call_->pause();
  }
  void resume() {
    is_paused_ = false;
    if (call_) call_->resume();
  }

 private:
  void find_token() {
    if (!credentials_->reads_file()) return take(credentials_->at_hand());
    const bool is_taken = services_.blocking.try_submit(
        [weak = weak_from_this(), credentials = credentials_, &loop = services_.loop]() mutable {
          auto found = credentials->at_hand();
          // The last owner of the credentials may be the turn, whose thread is the loop's.
          loop.post([weak, credentials = std::move(credentials), found = std::move(found)] {
            const auto self = weak.lock();
            if (self && !self->is_over_) self->take(found);
          });
        });
    if (!is_taken) end(without_token({.text = "too many turns begin at once", .may_come = true}));
  }

  void take(const std::optional<Credentials::Token>& at_hand) {
    if (at_hand) return use(*at_hand);
    auto wait = credentials_->fetch(services_.loop, request_->despite_breaker,
                                    [weak = weak_from_this()](const Credentials::Token& token) {
                                      const auto self = weak.lock();
                                      if (!self || self->is_over_) return;
                                      self->wait_.reset();
                                      self->use(token);
                                    });
    wait_ = std::move(wait);
  }

  void use(const Credentials::Token& token) {
    if (!token) return end(without_token(token.error()));
    token_ = *token;
    progress_ = {};
    request_->headers.resize(headers_);
    add_token(server_, token_, *request_);
    request_->mask = credentials_->mask();
    watch(*request_, progress_);
    call_.emplace(services_.loop, request_, milliseconds(0),
                  Call::Events{[this](std::string_view piece) {
                                 const auto self = shared_from_this();
                                 progress_.has_begun = true;
                                 return on_data_(piece);
                               },
                               [this](base::Result<HttpAnswer> answer) { take(std::move(answer)); }});
    if (is_paused_) call_->pause();
    call_->start();
  }

  void take(base::Result<HttpAnswer> answer) {
    const auto self = shared_from_this();
    call_.reset();
    Posted posted = posted_of(std::move(answer), progress_, token_);
    if (posted.answer.status != kUnauthorized || is_second_ || !credentials_->renew(token_))
      return end(std::move(posted));
    is_second_ = true;
    find_token();
  }

  void end(Posted posted) {
    is_over_ = true;
    const auto on_end = std::move(on_end_);
    on_end(std::move(posted));
  }

  const Services services_;
  const Server& server_;
  const Rules& rules_;
  const std::shared_ptr<Credentials> credentials_;  // shared with other turns
  const std::shared_ptr<HttpRequest> request_;      // shared with the call
  const std::size_t headers_;                       // of the request, without the token
  const std::function<bool(std::string_view)> on_data_;
  std::function<void(Posted)> on_end_;
  std::unique_ptr<Credentials::Wait> wait_;  // for a token
  std::optional<Call> call_;
  std::string token_;
  Progress progress_;
  bool is_second_ = false;
  bool is_paused_ = false;
  bool is_over_ = false;
};

PostCall::PostCall(const Services& services, const Server& server, const Rules& rules,
                   std::shared_ptr<Credentials> credentials, Post post,
                   std::function<bool(std::string_view)> on_data, std::function<void(Posted)> on_end)
    : running_(std::make_shared<Running>(services, server, rules, std::move(credentials), std::move(post),
                                         std::move(on_data), std::move(on_end))) {}

PostCall::~PostCall() {
  running_->cancel();
}

void PostCall::start() {
  running_->start();
}

void PostCall::pause() {
  running_->pause();
}

void PostCall::resume() {
  running_->resume();
}

}  // namespace baton::outbound

#include "outbound/token_call.h"

#include <utility>

#include "outbound/call.h"

namespace baton::outbound {
namespace {

using std::chrono::milliseconds;

constexpr int kRefusedToken = 401;

}  // namespace

class TokenCall::Running : public std::enable_shared_from_this<Running> {
 public:
  Running(const Services& services, HttpRequest request, std::shared_ptr<Credentials> credentials,
          std::string key_header, milliseconds idle, Events events)
      : services_(services),
        credentials_(std::move(credentials)),
        key_header_(std::move(key_header)),
        idle_(idle),
        request_(std::make_shared<HttpRequest>(std::move(request))),
        headers_(request_->headers.size()),
        events_(std::move(events)) {}

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
    if (!credentials_) return send();
    if (!credentials_->reads_file()) return use_or_fetch(credentials_->at_hand());
    const bool is_taken = services_.blocking.try_submit(
        [weak = weak_from_this(), credentials = credentials_, &loop = services_.loop]() mutable {
          auto found = credentials->at_hand();
          // The last owner of the credentials may be the turn, whose thread is the loop's.
          loop.post([weak, credentials = std::move(credentials), found = std::move(found)] {
            const auto self = weak.lock();
            if (self && !self->is_over_) self->use_or_fetch(found);
          });
        });
    if (!is_taken) end_without(TokenError{.text = "too many turns begin at once", .may_come = true});
  }

  void use_or_fetch(const std::optional<Credentials::Token>& at_hand) {
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
    if (!token) return end_without(token.error());
    token_ = *token;
    request_->headers.resize(headers_);
    if (!token_.empty() && key_header_.empty())
      request_->headers.emplace_back("Authorization", "Bearer " + token_);
    if (!token_.empty() && !key_header_.empty()) request_->headers.emplace_back(key_header_, token_);
    request_->mask = credentials_->mask();
    send();
  }

  void send() {
    was_connected_ = has_begun_ = false;
    held_ = milliseconds(0);
    request_->on_connected = [this] { was_connected_ = true; };
    request_->on_held = [this](milliseconds time) { held_ = time; };
    Call::Events events;
    if (events_.on_data) {
      events.on_data = [this](std::string_view piece) {
        const auto self = shared_from_this();
        has_begun_ = true;
        return events_.on_data(piece);
      };
    }
    events.on_end = [this](base::Result<HttpAnswer> answer) { finish(std::move(answer)); };
    call_.emplace(services_.loop, request_, idle_, std::move(events));
    if (is_paused_) call_->pause();
    call_->start();
  }

  void finish(base::Result<HttpAnswer> answer) {
    const auto self = shared_from_this();
    call_.reset();
    const bool is_refused = answer && answer->status == kRefusedToken;
    if (is_refused && credentials_ && !is_second_ && credentials_->renew(token_)) {
      is_second_ = true;
      return find_token();
    }
    std::optional<CallerAsk> asks;
    if (is_refused && credentials_ && is_second_) asks = credentials_->ask_after_refusal();
    end({std::move(answer), {}, was_connected_, has_begun_, held_, token_, std::move(asks)});
  }

  void end_without(const TokenError& error) {
    end({.answer = base::fail(base::ErrorCode::unavailable, error.text),
         .no_token = error,
         .held = error.retry_after});
  }

  void end(End end) {
    is_over_ = true;
    const auto on_end = std::move(events_.on_end);
    on_end(std::move(end));
  }

  const Services services_;
  const std::shared_ptr<Credentials> credentials_;  // shared with other turns
  const std::string key_header_;
  const milliseconds idle_;
  const std::shared_ptr<HttpRequest> request_;  // shared with the call
  const std::size_t headers_;                   // of the request, without the token
  Events events_;
  std::unique_ptr<Credentials::Wait> wait_;  // for a token
  std::optional<Call> call_;
  std::string token_;
  bool was_connected_ = false;
  bool has_begun_ = false;
  milliseconds held_{0};
  bool is_second_ = false;
  bool is_paused_ = false;
  bool is_over_ = false;
};

TokenCall::TokenCall(const Services& services, HttpRequest request, std::shared_ptr<Credentials> credentials,
                     std::string key_header, milliseconds idle, Events events)
    : running_(std::make_shared<Running>(services, std::move(request), std::move(credentials),
                                         std::move(key_header), idle, std::move(events))) {}

TokenCall::~TokenCall() {
  running_->cancel();
}

void TokenCall::start() {
  running_->start();
}

void TokenCall::pause() {
  running_->pause();
}

void TokenCall::resume() {
  running_->resume();
}

}  // namespace baton::outbound

#include "client/remote_call.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/span.h"
#include "base/unique_fd.h"
#include "client/answers.h"
#include "client/call_span.h"
#include "client/decode.h"
#include "outbound/token_call.h"

namespace baton::client {

class RemoteCall::Running {
 public:
  virtual ~Running() = default;
  virtual void start() = 0;
  virtual void cancel() = 0;
  virtual void pause() = 0;
  virtual void resume() = 0;
};

namespace {

using outbound::TokenCall;
using std::chrono::milliseconds;
using Right = RemoteCall::Right;
using Services = RemoteCall::Services;

// Longer texts are decoded elsewhere, so that other calls do not wait.
constexpr std::size_t kDecodedHere = outbound::ByteBudget::kFree;

CallError from_thread(const std::exception& error) {
  return {.text = std::string("the answer cannot be read: ") + error.what()};
}

CallError too_many() {
  return {.text = "too many calls to agents elsewhere are under way; try again later",
          .lost = true,
          .unsent = true};
}

base::Result<Right> right_to_decode(std::string_view text, const outbound::Intake& intake) {
  if (text.size() <= kDecodedHere) return Right();
  auto right = may_decode(text, &intake);
  if (!right) return base::fail(right.error());
  return std::make_shared<const outbound::Intake::Decoding>(std::move(*right));
}

// What calls of both kinds and over both transports have.
class Calling : public RemoteCall::Running {
 protected:
  Calling(const Services& services, const Remote& remote, RemoteCall::For whom)
      : services_(services), remote_(remote), intake_(services.budget, std::move(whom.account)) {
    remote_.access.trace = std::move(whom.trace);
    remote_.access.intake = &intake_;
  }

  const Services services_;
  Remote remote_;
  outbound::Intake intake_;
};

// ---- Over HTTP

// Has the loop or, for a long text, a thread of the pool run `work`, and then the loop `then`. Returns false
// if the pool takes no more. `self` owns all that these use.
template <class Self, class Work, class Then>
bool run_decoding(const std::shared_ptr<Self>& self, const Services& services, std::size_t size, Work work,
                  Then then) {
  if (size <= kDecodedHere) {
    work(*self);
    then(*self);
    return true;
  }
  return services.decoding.try_submit([self, work, then, &loop = services.loop]() mutable {
    work(*self);
    loop.post([self = std::move(self), then] { then(*self); });
  });
}

class HttpCalling : public Calling {
 protected:
  HttpCalling(const Services& services, const Remote& remote, RemoteCall::For whom)
      : Calling(services, remote, std::move(whom)), span_(remote_.access.spans, remote_.access.trace) {}

  void begin(outbound::HttpRequest request, milliseconds idle, TokenCall::Events events) {
    const Access& access = remote_.access;
    call_.emplace(TokenCall::Services{services_.loop, services_.blocking}, std::move(request),
                  access.credentials, access.key_header, idle, std::move(events));
    call_->start();
  }

  // Masks the error once more: a text composed of parts has not been masked yet.
  void end_span(CallError* error) {
    if (error != nullptr) error->text = shown_text(remote_.access, error->text);
    if (span_.wants(error != nullptr)) span_.end(call_span(remote_, error));
  }

  void end_canceled_span() {
    CallError canceled{outbound::canceled().for_caller};
    end_span(&canceled);
  }
  // Empty if the access has credentials.
  std::string token() const { return remote_.access.credentials ? std::string() : remote_.access.token; }

  base::SpanTimer span_;
  std::optional<TokenCall> call_;
  bool is_over_ = false;
};

class HttpAsking final : public HttpCalling, public std::enable_shared_from_this<HttpAsking> {
 public:
  HttpAsking(const Services& services, const Remote& remote, RemoteCall::For whom, RemoteCall::Asking asking)
      : HttpCalling(services, remote, std::move(whom)), asking_(std::move(asking)) {}

  void start() override {
    const auto self = shared_from_this();
    outbound::HttpRequest request = http_request_of(remote_, asking_.request, token(), span_.trace());
    request.total_timeout = std::max(asking_.timeout, milliseconds(1));
    begin(std::move(request), milliseconds(0),
          {nullptr, [this](TokenCall::End end) { decode(std::move(end)); }});
  }

  void cancel() override {
    intake_.stop();
    if (std::exchange(is_over_, true)) return;
    call_.reset();
    end_canceled_span();
  }
  void pause() override {}
  void resume() override {}

 private:
  void decode(TokenCall::End end) {
    const auto self = shared_from_this();
    call_.reset();
    end_.emplace(std::move(end));
    const std::size_t size = end_->answer ? end_->answer->body.size() : 0;
    const bool is_taken = run_decoding(
        self, services_, size, [](HttpAsking& call) { call.read(); },
        [](HttpAsking& call) { call.finish(); });
    if (is_taken) return;
    give(tl::unexpected(too_many()));
    finish();
  }

  void read() {
    try {
      give(result());
    } catch (const std::exception& error) {
      give(tl::unexpected(from_thread(error)));
    }
  }

  tl::expected<task::Json, CallError> result() {
    if (end_->no_token) return tl::unexpected(without_token(*end_->no_token));
    if (!end_->answer)
      return tl::unexpected(from_net(end_->answer.error(), {end_->was_connected, end_->held}));
    auto right = right_to_decode(end_->answer->body, intake_);
    if (!right) return tl::unexpected(from_net(right.error(), {true, milliseconds(0)}));
    right_ = std::move(*right);
    auto result = result_in(*remote_.dialect, *end_->answer);
    if (result) return result;
    add_headers(*end_->answer, result.error());
    result.error().asks = std::move(end_->asks);
    return result;
  }

  void give(tl::expected<task::Json, CallError> result) {
    if (!result) {
      result.error().text = shown_text(remote_.access, result.error().text);
      error_ = result.error();
    }
    asking_.read(result);
  }

  void finish() {
    if (std::exchange(is_over_, true)) return;
    end_.reset();
    intake_.keep(0);
    end_span(error_ ? &*error_ : nullptr);
    const auto on_end = std::move(asking_.on_end);
    on_end(std::move(right_));
  }

  RemoteCall::Asking asking_;
  std::optional<TokenCall::End> end_;
  std::optional<CallError> error_;
  Right right_;
};

class HttpStreaming final : public HttpCalling, public std::enable_shared_from_this<HttpStreaming> {
 public:
  HttpStreaming(const Services& services, const Remote& remote, RemoteCall::For whom,
                RemoteCall::Streaming streaming)
      : HttpCalling(services, remote, std::move(whom)),
        streaming_(std::move(streaming)),
        reading_(remote_.dialect, services.budget != nullptr, std::move(streaming_.read)) {}

  void start() override {
    const auto self = shared_from_this();
    begin(http_request_of(remote_, streaming_.request, token(), span_.trace()), streaming_.request.idle,
          {[this](std::string_view piece) { return feed(piece); },
           [this](TokenCall::End end) { take_end(std::move(end)); }});
  }

  void cancel() override {
    intake_.stop();
    if (std::exchange(is_over_, true)) return;
    call_.reset();
    end_canceled_span();
  }

  void pause() override {
    is_full_ = true;
    if (call_) call_->pause();
  }
  void resume() override {
    if (!std::exchange(is_full_, false) || is_decoding_ || is_over_) return;
    right_.reset();
    const auto self = shared_from_this();
    if (is_ended_) return end_call();
    continue_reading(goes_on_);
  }

 private:
  // Returns whether to read on.
  bool feed(std::string_view piece) {
    if (is_decoding_ || is_full_) {
      late_ += piece;
      return true;
    }
    const auto self = shared_from_this();
    std::vector<StreamReading::Event> events;
    const bool is_good = reading_.feed(piece, events);
    for (StreamReading::Event& event : events) waiting_.push_back(std::move(event));
    return read_waiting() && is_good;
  }

  // Reads the event that the end of the stream completes. Returns false if the stream is over.
  bool feed_end() {
    std::vector<StreamReading::Event> events;
    if (!end_->no_token) reading_.feed_end(end_->answer, events);
    for (StreamReading::Event& event : events) waiting_.push_back(std::move(event));
    return read_waiting();
  }

  // Reads the events that wait, up to a long one or a pause. Returns false if the stream is over.
  bool read_waiting() {
    while (!waiting_.empty() && !is_full_) {
      const std::size_t size = waiting_.front().event.data.size();
      if (size > kDecodedHere) {
        is_decoding_ = true;
        if (call_) call_->pause();
        const bool is_taken = run_decoding(
            shared_from_this(), services_, size, [](HttpStreaming& call) { call.read(); },
            [](HttpStreaming& call) { call.take_read(); });
        if (is_taken) return true;
        is_decoding_ = false;
        goes_on_ = reading_.refuse(too_many());
        return goes_on_;
      }
      read();
      if (!pass_on()) return false;
    }
    if (!is_full_) intake_.keep(reading_.held());
    return true;
  }

  // Decodes the next event.
  void read() {
    try {
      auto right = right_to_decode(waiting_.front().event.data, intake_);
      if (!right) {
        goes_on_ = reading_.refuse(from_net(right.error(), {true, milliseconds(0)}));
        return;
      }
      right_ = std::move(*right);
      goes_on_ = reading_.deliver(waiting_.front());
    } catch (const std::exception& error) {
      goes_on_ = reading_.refuse(from_thread(error));
    }
  }

  // Passes on the event that was decoded. Returns false if the stream is over.
  bool pass_on() {
    if (!waiting_.empty()) waiting_.pop_front();
    const bool is_wanted = streaming_.take(right_);
    if (!is_full_) right_.reset();
    goes_on_ = goes_on_ && is_wanted && !is_over_;
    return goes_on_;
  }

  // Another thread has decoded.
  void take_read() {
    is_decoding_ = false;
    if (!is_over_) continue_reading(pass_on());
  }

  // Reads the bytes that came meanwhile, and more. `goes_on`: the stream is not over.
  void continue_reading(bool goes_on) {
    goes_on = goes_on && read_waiting();
    if (goes_on && !is_busy() && !late_.empty()) goes_on = feed(std::exchange(late_, {}));
    if (goes_on && !is_busy() && end_) goes_on = feed_end();
    if (is_over_ || (goes_on && is_busy())) return;
    if (!goes_on || end_) return finish();
    if (call_) call_->resume();
  }

  // Whether bytes that come now must wait.
  bool is_busy() const { return is_decoding_ || is_full_; }

  void take_end(TokenCall::End end) {
    const auto self = shared_from_this();
    call_.reset();
    end_.emplace(std::move(end));
    if (!is_busy()) continue_reading(goes_on_);
  }

  // All that came is read, or the rest is not wanted.
  void finish() {
    if (is_over_) return;
    call_.reset();
    late_ = {};
    is_decoding_ = true;
    const bool is_taken = run_decoding(
        shared_from_this(), services_, rest().size(), [](HttpStreaming& call) { call.read_rest(); },
        [](HttpStreaming& call) { call.take_rest(); });
    if (is_taken) return;
    reading_.refuse(too_many());
    stream_end_ = reading_.end(stopped(), {true, milliseconds(0)});
    end_call();
  }

  const std::string* whole() const {
    return end_ && !end_->no_token ? reading_.whole(end_->answer) : nullptr;
  }
  // An answer that was no stream, be it an error.
  std::string_view rest() const {
    if (const std::string* const text = whole()) return *text;
    return end_ && end_->answer ? std::string_view(end_->answer->body) : std::string_view();
  }

  // Decodes it.
  void read_rest() {
    try {
      auto right = right_to_decode(rest(), intake_);
      if (!right) reading_.refuse(from_net(right.error(), {true, milliseconds(0)}));
      if (right) right_ = std::move(*right);
      if (right && whole() != nullptr) is_whole_delivered_ = reading_.deliver_whole();
      stream_end_ = how_it_ended();
    } catch (const std::exception& error) {
      stream_end_.error = from_thread(error);
    }
  }

  void take_rest() {
    is_decoding_ = false;
    if (is_over_) return;
    if (is_whole_delivered_) (void)streaming_.take(right_);
    // The end follows once the output has room.
    if (!is_full_) end_call();
    if (is_full_) is_ended_ = true;
  }

  StreamEnd how_it_ended() const {
    if (end_ && end_->no_token) return {.error = without_token(*end_->no_token)};
    if (!end_) return reading_.end(stopped(), {true, milliseconds(0)});
    StreamEnd end = reading_.end(end_->answer, {end_->was_connected, end_->held});
    if (end.error) end.error->asks = end_->asks;
    return end;
  }

  // The answer of a server whose stream we stopped.
  static outbound::HttpAnswer stopped() {
    outbound::HttpAnswer answer;
    answer.status = 200;
    answer.content_type = "text/event-stream";
    return answer;
  }

  void end_call() {
    if (std::exchange(is_over_, true)) return;
    right_.reset();
    intake_.keep(0);
    end_span(stream_end_.error ? &*stream_end_.error : nullptr);
    const auto on_end = std::move(streaming_.on_end);
    on_end(std::move(stream_end_));
  }

  RemoteCall::Streaming streaming_;
  StreamReading reading_;
  std::deque<StreamReading::Event> waiting_;
  std::string late_;  // came while a thread decoded or the output had no room
  std::optional<TokenCall::End> end_;
  Right right_;                      // to the event that was decoded last
  bool goes_on_ = true;              // whether the stream does, after it
  bool is_decoding_ = false;         // another thread has `reading_`, the first event and `right_`
  bool is_full_ = false;             // `pause`
  bool is_whole_delivered_ = false;  // the answer was no stream, but a result
  bool is_ended_ = false;            // `end_call` comes next
  StreamEnd stream_end_;
};

// ---- Over gRPC

// A call that blocks, on a thread of its own.
class ThreadCalling : public Calling, public std::enable_shared_from_this<ThreadCalling> {
 public:
  void start() override {
    const auto self = shared_from_this();
    const bool is_taken = services_.threads.try_submit([self] { self->run(); });
    if (!is_taken) refuse();
  }

  void cancel() override {
    intake_.stop();
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    eventfd_write(stop_.get(), 1);
    changed_.notify_all();
  }

  void pause() override { change_pause(true); }
  void resume() override { change_pause(false); }

 protected:
  using Calling::Calling;

  virtual void run() = 0;
  virtual void refuse() = 0;

  int stop_fd() const { return stop_.get(); }

  // Posts `step` to the loop. It does not run if the call is over by then.
  template <class Step>
  void on_loop(Step step) {
    services_.loop.post([self = shared_from_this(), step] {
      if (!self->is_over()) step();
    });
  }

  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return is_over_;
  }

  // On the loop's thread.
  bool end_once() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(is_over_, true);
  }

  // Waits until `is_done` and the call is not paused, or is over. Returns `result`, or false if it is over.
  // Call from the thread.
  bool wait_until(const bool& is_done, const bool& result) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_over_ || (is_done && !is_paused_); });
    return !is_over_ && result;
  }

  template <class F>
  void change(F how) {
    {
      const std::lock_guard lock(mutex_);
      how();
    }
    changed_.notify_all();
  }

 private:
  void change_pause(bool is_paused) {
    change([&] { is_paused_ = is_paused; });
  }

  const base::UniqueFd stop_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  bool is_paused_ = false;
};

class ThreadAsking final : public ThreadCalling {
 public:
  ThreadAsking(const Services& services, const Remote& remote, RemoteCall::For whom,
               RemoteCall::Asking asking)
      : ThreadCalling(services, remote, std::move(whom)), asking_(std::move(asking)) {}

 private:
  void run() override {
    Right right;
    const auto result = asked(right);
    asking_.read(result);
    intake_.keep(0);
    on_loop([this, right = std::move(right)] { finish(right); });
  }

  tl::expected<task::Json, CallError> asked(Right& right) {
    try {
      const RemoteEndpoint endpoint(remote_, stop_fd());
      auto result = endpoint.call(asking_.request, asking_.timeout);
      if (!result) return result;
      auto found = right_to_decode(result->text, intake_);
      if (!found) return tl::unexpected(from_net(found.error(), {true, milliseconds(0)}));
      right = std::move(*found);
      return result;
    } catch (const std::exception& error) {
      return tl::unexpected(from_thread(error));
    }
  }

  void refuse() override {
    asking_.read(tl::unexpected(too_many()));
    finish({});
  }

  void finish(const Right& right) {
    if (!end_once()) return;
    const auto on_end = std::move(asking_.on_end);
    on_end(right);
  }

  RemoteCall::Asking asking_;
};

class ThreadStreaming final : public ThreadCalling {
 public:
  ThreadStreaming(const Services& services, const Remote& remote, RemoteCall::For whom,
                  RemoteCall::Streaming streaming)
      : ThreadCalling(services, remote, std::move(whom)), streaming_(std::move(streaming)) {}

 private:
  void run() override {
    StreamEnd end;
    try {
      const RemoteEndpoint endpoint(remote_, stop_fd());
      end = endpoint.stream(streaming_.request, [this](std::int64_t number, std::string_view result) {
        const bool is_long = result.size() > kDecodedHere;
        const bool goes_on = streaming_.read(number, result);
        // The endpoint holds the right itself.
        return pass_on(is_long ? std::make_shared<const outbound::Intake::Decoding>() : Right()) && goes_on;
      });
    } catch (const std::exception& error) {
      end.error = from_thread(error);
    }
    intake_.keep(0);
    on_loop([this, end = std::move(end)] { finish(end); });
  }

  // Passes what was read to the loop, and waits until there is room for more.
  bool pass_on(const Right& right) {
    change([this] { is_taken_ = false; });
    on_loop([this, right] {
      const bool is_wanted = streaming_.take(right);
      change([&] {
        is_wanted_ = is_wanted;
        is_taken_ = true;
      });
    });
    return wait_until(is_taken_, is_wanted_);
  }

  void refuse() override {
    StreamEnd end;
    end.error = too_many();
    finish(std::move(end));
  }

  void finish(StreamEnd end) {
    if (!end_once()) return;
    const auto on_end = std::move(streaming_.on_end);
    on_end(std::move(end));
  }

  RemoteCall::Streaming streaming_;
  // Changed by `change`.
  bool is_taken_ = false;
  bool is_wanted_ = false;
};

std::shared_ptr<RemoteCall::Running> running_of(const Services& services, const Remote& remote,
                                                RemoteCall::For whom, RemoteCall::Asking asking) {
  if (remote.over_grpc)
    return std::make_shared<ThreadAsking>(services, remote, std::move(whom), std::move(asking));
  return std::make_shared<HttpAsking>(services, remote, std::move(whom), std::move(asking));
}

std::shared_ptr<RemoteCall::Running> running_of(const Services& services, const Remote& remote,
                                                RemoteCall::For whom, RemoteCall::Streaming streaming) {
  if (remote.over_grpc)
    return std::make_shared<ThreadStreaming>(services, remote, std::move(whom), std::move(streaming));
  return std::make_shared<HttpStreaming>(services, remote, std::move(whom), std::move(streaming));
}

}  // namespace

RemoteCall::RemoteCall(const Services& services, const Remote& remote, For whom, Asking asking)
    : running_(running_of(services, remote, std::move(whom), std::move(asking))) {}

RemoteCall::RemoteCall(const Services& services, const Remote& remote, For whom, Streaming streaming)
    : running_(running_of(services, remote, std::move(whom), std::move(streaming))) {}

RemoteCall::~RemoteCall() {
  running_->cancel();
}

void RemoteCall::start() {
  running_->start();
}

void RemoteCall::pause() {
  running_->pause();
}

void RemoteCall::resume() {
  running_->resume();
}

}  // namespace baton::client

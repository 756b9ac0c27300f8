#include "server/mcp/call.h"

#include <utility>
#include <vector>

#include "base/guarded.h"
#include "http/accept.h"
#include "protocol/sse/sse_writer.h"
#include "server/shared/answers.h"
#include "server/streams/log_stream.h"

namespace baton::server::mcp {

using base::ErrorCode;
using protocol::mcp::Failure;

http::Reply json_reply(int status, std::string body) {
  http::Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  if (status == 429 || status == 503) reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

Failure failure_of(const base::Error& error) {
  const bool is_known = error.code == ErrorCode::invalid_argument || error.code == ErrorCode::too_large ||
                        error.code == ErrorCode::conflict || error.code == ErrorCode::unsupported;
  if (error.code == ErrorCode::not_found || error.code == ErrorCode::task_not_found)
    return {protocol::mcp::kInvalidParams, "there is no such task"};
  if (is_known) return {protocol::mcp::kInvalidParams, error.for_caller};
  if (error.code == ErrorCode::overloaded) return {-32603, error.for_caller, 429};
  if (error.code == ErrorCode::unavailable) return {-32603, error.for_caller, 503};
  return {-32603, error.for_caller.empty() ? "internal error" : error.for_caller};
}

http::Reply failure_reply(std::string_view id, const Failure& failure) {
  std::string body;
  protocol::mcp::write_failure(body, id, failure);
  return json_reply(failure.status, std::move(body));
}

// What callbacks have added and the stream has not sent yet.
class McpCall::Blocks {
 public:
  using Shares = std::vector<AnswerBudget::SharePtr>;
  struct What {
    std::string blocks;
    Shares shares;                    // of the budget of large answers, that the blocks keep
    std::function<void()> when_read;  // may be empty
    bool is_over = false, has_left = false;

    bool is_behind() const {
      constexpr std::size_t kUnsentMax = 64 << 10;
      return blocks.size() > kUnsentMax;
    }
  };

  explicit Blocks(http::Waker waker) : wake_(std::move(waker)) {}

  void add(std::string block, bool is_last, AnswerBudget::SharePtr share) {
    if (share) share->shrink(block.capacity());
    what_.with([&](What& now) {
      if (now.is_over || now.has_left) return;
      if (share) now.shares.push_back(std::move(share));
      now.blocks.empty() ? now.blocks = std::move(block) : now.blocks += block;
      now.is_over = is_last;
    });
    wake_();
  }
  void leave() {
    what_.with([](What& now) {
      What unsent = std::exchange(now, {});
      now.has_left = true;
      return unsent;  // its shares let other answers in, which must not happen under the lock
    });
  }
  bool has_left() const {
    return what_.with([](const What& now) { return now.has_left; });
  }
  bool is_behind() const {
    return what_.with([](const What& now) { return now.is_behind(); });
  }
  void when_read(std::function<void()> then) {
    const bool waits = what_.with([&](What& now) {
      if (now.is_behind()) now.when_read = std::move(then);
      return now.is_behind();
    });
    if (!waits) then();
  }
  std::size_t held() const {
    return what_.with([](const What& now) { return now.blocks.size(); });
  }
  What take() {
    return what_.with([](What& now) {
      What taken = std::exchange(now, {});
      now.is_over = taken.is_over;
      return taken;
    });
  }

 private:
  const http::Waker wake_;
  base::Guarded<What> what_;
};

class McpCall::Stream final : public http::StreamSource {
 public:
  Stream(std::shared_ptr<Blocks> blocks, std::shared_ptr<const void> held)
      : blocks_(std::move(blocks)), held_(std::move(held)) {}
  ~Stream() override { blocks_->leave(); }

  Next pull(std::string& out, std::size_t) override {
    shares_.clear();  // what was pulled before has been sent
    Blocks::What taken = blocks_->take();
    has_ids_ = has_ids_ || taken.blocks.starts_with("id:");
    out += taken.blocks;
    shares_ = std::move(taken.shares);
    if (taken.when_read) taken.when_read();
    if (taken.is_over) return Next::end;
    return shares_.empty() ? Next::wait : Next::more;  // the next pull ends the shares
  }
  bool has_ids() const override { return has_ids_; }
  std::size_t held() const override { return blocks_->held(); }
  bool has_share() const override { return !shares_.empty(); }

 private:
  const std::shared_ptr<Blocks> blocks_;
  const std::shared_ptr<const void> held_;
  Blocks::Shares shares_;
  bool has_ids_ = false;
};

McpCall::McpCall(std::shared_ptr<http::Exchange> exchange, Admitted by, protocol::mcp::Request read)
    : a2a::Call(std::move(by), protocol::a2a::v0_1(), a2a::Binding::json_rpc),
      request([&] {
        read.params = {};
        return std::move(read);
      }()),
      exchange_(std::move(exchange)) {}

McpCall::~McpCall() {
  if (lost && !is_answered_) lost();
}

namespace {

std::string block_of(std::string message, std::string_view event_id) {
  std::string block;
  // Agents' data and schemas are kept byte for byte, and may have line ends.
  make_one_line(message);
  if (!event_id.empty()) protocol::append_sse_field(block, "id", event_id);
  // The clients of Java's SDK and of Spring AI drop an event that does not name its type.
  protocol::append_sse_field(block, "event", "message");
  protocol::append_sse(block, 0, message);
  return block;
}

}  // namespace

void McpCall::reply(std::string body, int status) {
  is_answered_ = true;
  if (stream_) return stream_->add(block_of(std::move(body), {}), true, std::move(share));
  http::Reply made = json_reply(status, std::move(body));
  if (share) share->shrink(made.body.capacity());
  made.held = std::move(share);
  exchange_->reply(std::move(made));
}

void McpCall::fail(const Failure& failure) {
  std::string body;
  protocol::mcp::write_failure(body, request.id, failure);
  reply(std::move(body), failure.status);
}

// A token that lacks a scope gets HTTP's answer for every method, as clients read its challenge.
void McpCall::do_refuse(const base::Error& error, const task::TaskId&) {
  if (!lacked_scope(error)) return fail(failure_of(error));
  is_answered_ = true;
  exchange_->reply(refusal(error));
}

void McpCall::refuse_plainly(int status, std::string_view reason) {
  exchange_->reply(plain_error(status, reason));
}

void McpCall::reply_tool(const task::Task& task) {
  if (note) note->is_about(task);
  reply(result(request, "complete", [&](json::Writer& out) {
    protocol::mcp::write_tool_result(out, task, tasks_url(), request.client.links);
  }));
}

void McpCall::open(std::function<void()> begin, std::shared_ptr<const void> held) {
  open_stream([this, begin = std::move(begin), held = std::move(held)](http::Waker waker) {
    stream_ = std::make_shared<Blocks>(std::move(waker));
    auto source = std::make_unique<Stream>(stream_, held);
    begin();
    return source;
  });
}

void McpCall::add(std::string message, std::string_view event_id, AnswerBudget::SharePtr part) {
  if (stream_) stream_->add(block_of(std::move(message), event_id), false, std::move(part));
}

bool McpCall::has_left() const {
  return stream_ && stream_->has_left();
}

bool McpCall::is_behind() const {
  return stream_ && stream_->is_behind();
}

void McpCall::when_read(std::function<void()> then) {
  stream_ ? stream_->when_read(std::move(then)) : then();
}

bool McpCall::takes_stream() const {
  return http::names_type(head(), "text/event-stream");
}

}  // namespace baton::server::mcp

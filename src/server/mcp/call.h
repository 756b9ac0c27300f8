// McpCall: a request for one agent, and the ways to answer it: with a reply, or with a stream that lasts as
// long as the call.
//
// Threads: as a2a::Call.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/mcp/mcp.h"
#include "server/a2a/call.h"
#include "server/mcp/running_calls.h"

namespace baton::server::mcp {

http::Reply json_reply(int status, std::string body);
protocol::mcp::Failure failure_of(const base::Error& error);
http::Reply failure_reply(std::string_view id, const protocol::mcp::Failure& failure);

// Writes the envelope of a result, with the member that every result of a modern revision has.
template <class F>
std::string result(const protocol::mcp::Request& request, std::string_view type, F&& members) {
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("jsonrpc", "2.0").key("id").raw(request.id);
    out.key("result").object([&] {
      if (request.is_modern) out.member("resultType", type);
      members(out);
    });
  });
  return body;
}

class McpCall final : public a2a::Call {
 public:
  McpCall(std::shared_ptr<http::Exchange> exchange, Admitted by, protocol::mcp::Request read);
  ~McpCall() override;

  const protocol::mcp::Request request;  // without its params
  // A legacy call that its session may cancel; null before its task is stored, and for others.
  RunningCalls::Hold running;
  std::function<RunningCalls::Hold(std::function<void()> cancel)> may_be_canceled;  // adds it; may be empty
  // Called at the end of a call that was not answered, because its client has left; may be empty.
  std::function<void()> lost;

  // The answer; ends the stream if there is one. It takes the call's share, and keeps it until it is sent.
  void reply(std::string body, int status = 200);
  void fail(const protocol::mcp::Failure& failure);
  // Answers a request that is no JSON-RPC.
  void refuse_plainly(int status, std::string_view reason);
  // Answers with the task as the result of the tool.
  void reply_tool(const task::Task& task);

  // Opens a stream as the answer, and calls `begin` on the loop once messages can be added to it. If the
  // server has no place for it, the request is refused and `begin` is never called. `held`: released when the
  // stream has ended.
  void open(std::function<void()> begin, std::shared_ptr<const void> held = nullptr);
  // Adds a message to the stream; ignored once it is over. `event_id`: one line; empty: none. `part`: the
  // message's, of the budget of large answers; kept until the message is sent.
  void add(std::string message, std::string_view event_id = {}, AnswerBudget::SharePtr part = nullptr);
  // Whether the client has closed the stream.
  bool has_left() const;
  // Whether so much of the stream waits for the client that nothing should be added that can be left out.
  bool is_behind() const;
  // Calls `then` once the stream is not behind: now, or on the loop, unless the client leaves before. One
  // such call at a time.
  void when_read(std::function<void()> then);
  // Whether the client reads an event stream as the answer.
  bool takes_stream() const;

  void answer(a2a::Answer) override { fail({-32603, "internal error"}); }
  void answer_stream(std::string) override { fail({-32603, "internal error"}); }
  a2a::ItemWriterPtr items() const override { return nullptr; }
  void block(std::function<void()> work) override { exchange_->block(std::move(work)); }
  void later(std::function<void()> work) override { exchange_->on_loop(std::move(work)); }
  const http::Request& head() const override { return exchange_->request(); }

 private:
  class Blocks;
  class Stream;

  void do_refuse(const base::Error& error, const task::TaskId&) override;
  void do_open(http::StreamOpener opener) override { exchange_->open_stream({}, std::move(opener)); }

  const std::shared_ptr<http::Exchange> exchange_;
  std::atomic<bool> is_answered_{false};
  std::shared_ptr<Blocks> stream_;  // shared with the open stream; set on the loop, before `begin`
};
using McpCallPtr = std::shared_ptr<McpCall>;  // held by pending callbacks

}  // namespace baton::server::mcp

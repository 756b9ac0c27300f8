// HttpCall: a call over JSON-RPC or REST. Answers are the JSON of a dialect, in JSON-RPC within an envelope;
// the items of streams are server-sent events.
//
// Threads: as Call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/a2a/call.h"
#include "server/a2a/operations.h"

namespace baton::server::a2a {

class HttpCall final : public Call {
 public:
  // `rpc_id`: the bytes of the JSON-RPC id.
  HttpCall(std::shared_ptr<http::Exchange> exchange, Admitted by, const protocol::a2a::Dialect& dialect,
           Binding over, std::string rpc_id = "null");

  const protocol::a2a::Dialect& dialect() const { return dialect_; }
  // Frees the request's text except what answers depend on: the call may wait for a long time.
  void forget_request();

  void answer(Answer answer) override;
  void answer_stream(std::string frames) override;
  ItemWriterPtr items() const override;
  void block(std::function<void()> work) override { exchange_->block(std::move(work)); }
  void later(std::function<void()> work) override { exchange_->on_loop(std::move(work)); }
  const http::Request& head() const override { return exchange_->request(); }
  // Refuses with another HTTP status than the error's usual one.
  void refuse_as(int status, const base::Error& error, const task::TaskId& named) const;

 private:
  using HeaderList = std::vector<std::pair<std::string, std::string>>;

  void do_refuse(const base::Error& error, const task::TaskId& named) override;
  void do_open(http::StreamOpener opener) override;
  std::string body_of(const Answer& answer) const;
  void reply(http::Reply reply) const;
  HeaderList headers() const;

  const std::shared_ptr<http::Exchange> exchange_;
  const protocol::a2a::Dialect& dialect_;
  const std::string rpc_id_;
};

// The form of an error, which binding and version decide.
struct ErrorForm {
  bool is_v1 = false;
  std::string_view rpc_id = {};  // the bytes of the JSON-RPC id; empty: REST
};
// The answer with an error. `status`: also stands in the body of REST 1.0.
http::Reply error_reply(const http::Request& head, const ErrorForm& form, const base::Error& error,
                        const task::TaskId& named, int status);

using HttpCallPtr = std::shared_ptr<HttpCall>;  // shared by the binding and the operation

// The media type of REST's answers. 1.0 answers in the type that Accept names, else in the request's type:
// released Go clients send plain JSON and read errors only as that.
std::string_view rest_content_type(const http::Request& request, bool is_v1);

// Calls the operation with the decoded request, or refuses the call.
void run_or_refuse(const HttpCallPtr& call, Operation operation, base::Result<Request> request);

}  // namespace baton::server::a2a

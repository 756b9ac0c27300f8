#include "server/a2a/http_call.h"

#include "http/accept.h"
#include "http/http_text.h"
#include "protocol/a2a/errors.h"
#include "protocol/rpc/json_rpc.h"
#include "protocol/sse/sse_writer.h"
#include "server/shared/answers.h"
#include "server/streams/log_stream.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using json::Writer;
using protocol::a2a::Dialect;

constexpr std::string_view kJson = "application/json", kA2aJson = "application/a2a+json",
                           kEventStream = "text/event-stream";

std::string_view content_type(const http::Request& head, Binding binding, bool is_v1) {
  return binding == Binding::rest ? rest_content_type(head, is_v1) : kJson;
}

void write_error(std::string& out, const ErrorForm& form, const base::Error& error, const task::TaskId& named,
                 int status) {
  if (!form.rpc_id.empty()) {
    if (form.is_v1) return protocol::a2a::write_rpc_error_v1(out, form.rpc_id, error, named);
    return protocol::write_rpc_error(out, form.rpc_id, error);
  }
  if (form.is_v1) return protocol::a2a::write_rest_error_v1(out, error, named, status);
  protocol::a2a::write_rest_error_v0_3(out, error);
}

void add_retry_time(std::vector<std::pair<std::string, std::string>>& headers, const base::Error& error) {
  const int seconds = protocol::retry_after_s(error.code);
  if (seconds > 0) headers.emplace_back("Retry-After", std::to_string(seconds));
}

// Writes each answer as its version does.
struct AnswerWriter {
  Writer& out;
  const Dialect& dialect;
  Binding binding;

  void operator()(const SentAnswer& sent) const {
    if (sent.task.hidden) return dialect.write_message(out, sent.task);
    dialect.write_sent(out, sent.task);
  }
  void operator()(const TaskAnswer& answer) const {
    if (answer.task.hidden) return dialect.write_message(out, answer.task);
    dialect.write_task(out, answer.task);
  }
  void operator()(const ListAnswer& answer) const {
    dialect.write_list(out, answer.request, answer.list.tasks, answer.list.next, answer.list.total);
  }
  void operator()(const PushAnswer& answer) const { dialect.write_push(out, answer.task, answer.config); }
  void operator()(const PushesAnswer& answer) const {
    dialect.write_pushes(out, answer.task, answer.configs, answer.next);
  }
  void operator()(const PushDeleted&) const {
    if (binding == Binding::rest) {
      out.object([] {});
    } else {
      dialect.write_push_deleted(out);
    }
  }
  void operator()(const CardAnswer& answer) const { out.raw(answer.json); }
  void operator()(const ContentAnswer&) const {}  // not JSON of a version
  void operator()(const ViewAnswer&) const {}
};

// Writes a result, in JSON-RPC within its envelope; REST has none.
template <class F>
void wrap(std::string& out, std::string_view rpc_id, F&& write) {
  Writer writer(out);
  if (rpc_id.empty()) return write(writer);
  protocol::write_rpc_result(out, rpc_id, std::forward<F>(write));
}

class SseItems final : public ItemWriter {
 public:
  SseItems(const Dialect& dialect, std::string rpc_id) : dialect_(dialect), rpc_id_(std::move(rpc_id)) {}

  void task(std::string& out, const task::Task& task, bool last) const override {
    wrap(out, rpc_id_, [&](Writer& writer) { dialect_.write_first(writer, task, last); });
  }
  void message(std::string& out, const task::Task& task) const override {
    wrap(out, rpc_id_, [&](Writer& writer) { dialect_.write_message(writer, task); });
  }
  bool event(std::string& out, const protocol::a2a::TaskNames& names, const task::Event& event,
             const protocol::a2a::InStream& place) const override {
    bool shown = false;
    wrap(out, rpc_id_, [&](Writer& writer) { shown = dialect_.write_event(writer, names, event, place); });
    return shown;
  }
  void frame(std::string& out, std::int64_t id, std::string& item) const override {
    LogStream::sse_block(out, id, item);
  }
  void error_frame(std::string& out, const base::Error& error, const task::TaskId& named) const override {
    std::string body;
    write_error(body, {dialect_.is_v1(), rpc_id_}, error, named, protocol::a2a::rest_status(error));
    protocol::append_sse(out, 0, body);
  }

 private:
  const Dialect& dialect_;
  const std::string rpc_id_;  // empty: REST
};

}  // namespace

void run_or_refuse(const HttpCallPtr& call, Operation operation, base::Result<Request> request) {
  const bool is_download = operation == Operation::artifact_bytes || operation == Operation::message_bytes;
  if (!request) return call->refuse(request.error());
  // The refusal of a token that lacks the scope names the scopes of that token.
  if (!is_download && row_of(operation).allows(call->scopes)) call->forget_request();
  run(CallPtr(call), operation, std::move(*request));
}

std::string_view rest_content_type(const http::Request& request, bool is_v1) {
  if (!is_v1) return kJson;
  if (http::names_type(request, kA2aJson) || http::names_type(request, kJson)) {
    return http::preferred_type(request, {kA2aJson, kJson});
  }
  const std::string_view sent = http::media_type(request.header("Content-Type"));
  return http::same_word(sent, kJson) ? kJson : kA2aJson;
}

http::Reply error_reply(const http::Request& head, const ErrorForm& form, const base::Error& error,
                        const task::TaskId& named, int status) {
  http::Reply reply;
  reply.status = status;
  reply.content_type =
      content_type(head, form.rpc_id.empty() ? Binding::rest : Binding::json_rpc, form.is_v1);
  if (std::string challenge = challenge_of(error); !challenge.empty())
    reply.headers.emplace_back("WWW-Authenticate", std::move(challenge));
  add_retry_time(reply.headers, error);
  write_error(reply.body, form, error, named, status);
  return reply;
}

HttpCall::HttpCall(std::shared_ptr<http::Exchange> exchange, Admitted by, const Dialect& dialect,
                   Binding over, std::string rpc_id)
    : Call(std::move(by), dialect, over),
      exchange_(std::move(exchange)),
      dialect_(dialect),
      rpc_id_(over == Binding::json_rpc ? std::move(rpc_id) : std::string()) {}

void HttpCall::forget_request() {
  exchange_->keep_only({"Origin", "Accept", "Content-Type", "Last-Event-ID", "Host", "Range", "If-Range",
                        "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "traceparent"});
}

HttpCall::HeaderList HttpCall::headers() const {
  HeaderList headers;
  if (auto header = extensions_header(); !header.second.empty()) headers.push_back(std::move(header));
  return headers;
}

void HttpCall::reply(http::Reply reply) const {
  for (auto& header : headers()) reply.headers.push_back(std::move(header));
  exchange_->reply(std::move(reply));
}

std::string HttpCall::body_of(const Answer& answer) const {
  std::string body;
  wrap(body, rpc_id_, [&](Writer& out) { std::visit(AnswerWriter{out, dialect_, binding}, answer); });
  return body;
}

void HttpCall::answer(Answer answer) {
  http::Reply made;
  note_task(answer);
  if (auto* content = std::get_if<ContentAnswer>(&answer)) {
    made = download_reply(head(), std::move(content->download), std::to_string(content->version.value));
  } else if (auto* view = std::get_if<ViewAnswer>(&answer)) {
    made = std::move(view->reply);
  } else {
    made.content_type = content_type(head(), binding, rules.is_v1());
    made.body = body_of(answer);
  }
  if (share) share->shrink(made.body.capacity());
  made.held = std::move(share);
  reply(std::move(made));
}

void HttpCall::do_refuse(const base::Error& error, const task::TaskId& named) {
  const auto wants_stream = [&] {
    return http::preferred_type(head(), {kJson, kEventStream}) == kEventStream;
  };
  // Clients learn the lacking scope from the status and the challenge, which a stream does not have.
  const bool may_stream = streams && binding == Binding::json_rpc && !lacked_scope(error);
  if (may_stream && rules.refuses_in_stream() && wants_stream()) {
    std::string frames;
    items()->error_frame(frames, error, named);
    HeaderList all = headers();
    add_retry_time(all, error);
    return exchange_->reply_stream(std::move(all), std::move(frames));
  }
  refuse_as(protocol::a2a::rest_status(error), error, named);
}

void HttpCall::refuse_as(int status, const base::Error& error, const task::TaskId& named) const {
  const bool has_status =
      binding == Binding::rest || error.code == ErrorCode::unauthenticated || lacked_scope(error);
  reply(error_reply(head(), {dialect_.is_v1(), rpc_id_}, error, named, has_status ? status : 200));
}

ItemWriterPtr HttpCall::items() const {
  return std::make_shared<const SseItems>(dialect_, rpc_id_);
}

void HttpCall::answer_stream(std::string frames) {
  if (share) share->shrink(frames.capacity());
  exchange_->reply_stream(headers(), std::move(frames), std::move(share));
}

void HttpCall::do_open(http::StreamOpener opener) {
  exchange_->open_stream(headers(), std::move(opener));
}

}  // namespace baton::server::a2a

#include "server/shared/request_note.h"

#include <algorithm>
#include <utility>

#include "base/api_key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "base/trace_context.h"
#include "http/http_text.h"
#include "task/span_names.h"

namespace baton::server {
namespace {

constexpr std::size_t kPathMax = 256;
constexpr int kServerFailed = 500;

// Returns the name of a failure that concerns the operator; empty for mistakes of the client.
std::string_view failure_of(const base::Error& error) {
  switch (error.code) {
    case base::ErrorCode::internal:
      return "internal";
    case base::ErrorCode::unavailable:
      return "unavailable";
    case base::ErrorCode::overloaded:
      return "overloaded";
    default:
      return {};
  }
}

// The path for people to read. Somebody may have put a whole API key where its id belongs.
std::string noted_path(const http::Request& head) {
  std::string path = base::without_api_keys(head.raw_path);
  // Escaped, a key is not found there.
  if (path.find('%') != std::string::npos && base::without_api_keys(head.path) != head.path)
    path = base::without_api_keys(head.path);
  return base::replaced_utf8(base::beginning_of(path, kPathMax));
}

class NotedSource final : public http::StreamSource {
 public:
  NotedSource(std::unique_ptr<http::StreamSource> source, RequestNotePtr note)
      : source_(std::move(source)), note_(std::move(note)) {}

  Next pull(std::string& out, std::size_t room) override {
    const std::size_t before = out.size();
    const Next next = source_->pull(out, room);
    note_->sent(out.size() - before);
    return next;
  }
  bool has_ids() const override { return source_->has_ids(); }
  std::size_t held() const override { return source_->held(); }
  std::size_t kept() const override { return source_->kept(); }
  bool has_share() const override { return source_->has_share(); }

 private:
  const std::unique_ptr<http::StreamSource> source_;
  const RequestNotePtr note_;
};

}  // namespace

std::string trace_of(const http::Request& request) {
  std::string_view given;
  for (const auto& [name, value] : request.headers) {
    if (!http::same_word(name, "traceparent")) continue;
    if (given.data() != nullptr) return {};
    given = value;
  }
  return base::read_traceparent(given);
}

RequestNote::RequestNote(const RequestWatch& watch, const http::Request& head)
    : watch_(watch), http_method_(head.method), path_(noted_path(head)), client_trace_(trace_of(head)) {}

RequestNote::~RequestNote() {
  try {
    if (watch_.spans != nullptr) add_span();
    if (watch_.log) write_line();
  } catch (const std::exception&) {
    // Out of memory: the span, the line or both are lost.
  }
}

void RequestNote::reached(std::string_view agent, Protocol protocol) {
  agent_ = agent;
  protocol_ = protocol;
}

void RequestNote::is_about(const task::Task& task) {
  if (task.hidden) return;
  task_ = task.id.value;
  context_ = task.context.value;
  state_ = task::name_of(task.status.state);
}

void RequestNote::failed(const base::Error& error) {
  error_ = failure_of(error);
}

void RequestNote::answered(int status, std::size_t bytes) {
  status_ = status;
  bytes_ += bytes;
  if (status >= kServerFailed && error_.empty()) error_ = "server_error";
}

std::string RequestNote::trace_for(const std::string& from_client) {
  if (!std::exchange(is_decided_, true)) {
    if (!from_client.empty()) client_trace_ = from_client;
    if (watch_.spans != nullptr) decide();
  }
  return trace_.empty() ? client_trace_ : trace_;
}

// Called once per request: begin_trace may sample at the second call what it did not sample at the first.
void RequestNote::decide() {
  if (client_trace_.empty()) trace_ = watch_.spans->begin_trace();
  if (base::is_sampled(client_trace_))
    trace_ = base::traceparent_with_span(client_trace_, base::random_number());
}

void RequestNote::add_span() {
  namespace names = task::spans;
  trace_for({});
  const std::string& trace = trace_.empty() ? client_trace_ : trace_;
  if (!base::SpanQueue::takes(trace, !error_.empty())) return;
  base::Span span;
  span.trace = trace_.empty() && !client_trace_.empty()
                   ? base::traceparent_with_span(client_trace_, base::random_number())
                   : trace_;
  span.parent = client_trace_;
  span.name = method_.empty() ? http_method_ + (agent_.empty() ? "" : " " + agent_) : std::string(method_);
  span.kind = base::Span::Kind::server;
  span.took = base::SteadyTime::now() - begin_;
  span.error = error_;
  span.with(names::kProtocol, name_of(protocol_)).with(names::kAgentName, agent_);
  if (protocol_ == Protocol::grpc) {
    span.with(names::kRpcSystem, "grpc");
  } else {
    span.with(names::kHttpMethod, http_method_).with(names::kPath, path_);
  }
  if (status_ != 0) span.with(names::kHttpStatus, std::int64_t{status_});
  span.with(names::kA2aMethod, method_).with(names::kA2aTask, task_).with(names::kA2aState, state_);
  span.with(names::kConversation, context_);
  watch_.spans->add(std::move(span));
}

void RequestNote::write_line() const {
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(base::SteadyTime::now() - begin_);
  base::LogMembers members{{"method", http_method_}, {"path", path_},   {"protocol", name_of(protocol_)},
                           {"status", status_},      {"bytes", bytes_}, {"us", took.count()}};
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) members.emplace_back(name, value);
  };
  add("agent", agent_);
  add("caller", caller_);
  add("call", method_);
  add("task", task_);
  add("trace", base::trace_id_of(trace_.empty() ? client_trace_ : trace_));
  base::log_info(members, "access");
}

http::StreamOpener noted(http::StreamOpener opener, RequestNotePtr note) {
  if (!note) return opener;
  return [opener = std::move(opener), note = std::move(note)](http::Waker waker) {
    return std::unique_ptr<http::StreamSource>(std::make_unique<NotedSource>(opener(std::move(waker)), note));
  };
}

}  // namespace baton::server

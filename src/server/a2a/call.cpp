#include "server/a2a/call.h"

#include <spdlog/spdlog.h>

#include "server/access.h"
#include "wire/a2a/errors.h"
#include "wire/rpc/json_rpc.h"
#include "wire/sse/sse_writer.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;

bool is_rest(Form form) {
  return form == Form::rest_v0_3 || form == Form::rest_v1_0;
}

constexpr std::string_view kA2aJson = "application/a2a+json";

// A2A 1.0 prefers its own content type in REST; a client that asks for plain JSON only gets that.
std::string_view content_type(Form form, const http::Request& request) {
  if (form != Form::rest_v1_0) return "application/json";
  const std::string_view accept = request.header("Accept");
  const bool plain_only = accept.find("application/json") != std::string_view::npos &&
                          accept.find(kA2aJson) == std::string_view::npos;
  return plain_only ? "application/json" : kA2aJson;
}

}  // namespace

void Envelope::begin(std::string& out) const {
  if (is_rest(form)) return;
  out.append(R"({"jsonrpc":"2.0","id":)").append(rpc_id).append(R"(,"result":)");
}

void Envelope::end(std::string& out) const {
  if (!is_rest(form)) out.push_back('}');
}

bool Call::is_rest() const {
  return a2a::is_rest(envelope.form);
}

void Call::forget_params() {
  params = {};
  document.reset();
  exchange->keep_only({"Origin", "Accept", "Last-Event-ID"});
}

std::vector<std::pair<std::string, std::string>> Call::headers() const {
  auto headers = cors_headers(services.options, exchange->request());
  if (!extensions.active.empty()) {
    std::string list;
    for (const std::string& uri : extensions.active) list += (list.empty() ? "" : ", ") + uri;
    headers.emplace_back(extensions.header, std::move(list));
  }
  return headers;
}

void Call::reply_body(std::string body) const {
  http::Reply reply;
  reply.content_type = content_type(envelope.form, exchange->request());
  reply.body = std::move(body);
  reply.headers = headers();
  exchange->reply(std::move(reply));
}

std::string Call::error_body(const base::Error& error, const task::TaskId& named) const {
  std::string body;
  switch (envelope.form) {
    case Form::rpc:
      wire::write_rpc_error(body, envelope.rpc_id, error);
      break;
    case Form::rpc_v1_0:
      wire::a2a::write_rpc_error_v1(body, envelope.rpc_id, error, named);
      break;
    case Form::rest_v0_3:
      wire::a2a::write_rest_error_v0_3(body, error);
      break;
    case Form::rest_v1_0:
      wire::a2a::write_rest_error_v1(body, error, named);
      break;
  }
  return body;
}

void Call::refuse(const base::Error& error, const task::TaskId& named) const {
  if (error.code == ErrorCode::internal || error.code == ErrorCode::unavailable) {
    spdlog::error("agent={} {} {}", agent.name.value, error.for_caller, error.for_log);
  }
  http::Reply reply;
  reply.content_type = content_type(envelope.form, exchange->request());
  if (error.code == ErrorCode::unauthenticated) {
    reply.status = 401;
    reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"baton\"");
  } else if (is_rest()) {
    reply.status = wire::a2a::rest_status(error);
  }
  reply.body = error_body(error, named);
  for (auto& header : headers()) reply.headers.push_back(std::move(header));
  exchange->reply(std::move(reply));
}

void Call::refuse_in_stream(const base::Error& error, const task::TaskId& named) const {
  std::string block;
  wire::append_sse(block, 0, error_body(error, named));
  reply_stream(std::move(block));
}

void Call::reply_stream(std::string events) const {
  exchange->reply_stream(headers(), std::move(events));
}

void Call::open_stream(http::StreamOpener opener) const {
  exchange->open_stream(headers(), std::move(opener));
}

}  // namespace baton::server::a2a

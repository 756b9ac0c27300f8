#include "server/a2a/call.h"

#include <spdlog/spdlog.h>

#include "base/text.h"
#include "server/access.h"
#include "server/http/accept.h"
#include "server/http/http_text.h"
#include "wire/a2a/errors.h"
#include "wire/baton_extension.h"
#include "wire/rpc/json_rpc.h"
#include "wire/sse/sse_writer.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;

bool is_rest(Form form) {
  return form == Form::rest_v0_3 || form == Form::rest_v1_0;
}

constexpr std::string_view kA2aJson = "application/a2a+json";

// REST 1.0 answers in the type that Accept names, else in the request's type: released Go clients send plain
// JSON and read errors only as that.
std::string_view content_type(Form form, const http::Request& request) {
  constexpr std::string_view kJson = "application/json";
  if (form != Form::rest_v1_0) return kJson;
  if (http::names_type(request, kA2aJson) || http::names_type(request, kJson)) {
    return http::preferred_type(request, {kA2aJson, kJson});
  }
  const std::string_view sent = http::media_type(request.header("Content-Type"));
  return http::same_word(sent, kJson) ? kJson : kA2aJson;
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
  exchange->keep_only({"Origin", "Accept", "Content-Type", "Last-Event-ID", "Host", "Range", "If-Range",
                       "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"});
}

std::vector<std::pair<std::string, std::string>> Call::headers() const {
  auto headers = cors_headers(services.options, exchange->request());
  std::string list(extensions.numbers ? wire::kBatonExtension : "");
  for (const std::string& uri : extensions.active) list += (list.empty() ? "" : ", ") + uri;
  if (!list.empty()) headers.emplace_back(extensions.header, std::move(list));
  return headers;
}

std::string Call::tasks_url() const {
  std::string url = card_urls(services.options, exchange->request(), endpoint).rest;
  if (!tenant.empty()) url += "/" + base::percent_encoded(tenant);
  return url;
}

void Call::reply(http::Reply reply) const {
  for (auto& header : headers()) reply.headers.push_back(std::move(header));
  exchange->reply(std::move(reply));
}

void Call::reply_body(std::string body, AnswerBudget::SharePtr share) const {
  http::Reply reply;
  reply.content_type = content_type(envelope.form, exchange->request());
  reply.body = std::move(body);
  reply.headers = headers();
  if (share) share->shrink(reply.body.capacity());
  reply.held = std::move(share);
  exchange->reply(std::move(reply));
}

std::string Call::error_body(const base::Error& error, const task::TaskId& named, int status) const {
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
      wire::a2a::write_rest_error_v1(body, error, named, status);
      break;
  }
  return body;
}

void Call::refuse(const base::Error& error, const task::TaskId& named, std::optional<int> status) const {
  if (error.code == ErrorCode::internal || error.code == ErrorCode::unavailable) {
    spdlog::error("agent={} {} {}", agent.name.value, error.for_caller, error.for_log);
  }
  http::Reply reply;
  reply.content_type = content_type(envelope.form, exchange->request());
  const bool is_unknown = error.code == ErrorCode::unauthenticated;
  if (is_unknown) reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"baton\"");
  if (is_rest() || is_unknown) reply.status = status.value_or(wire::a2a::rest_status(error));
  if (const int seconds = wire::retry_after_s(error.code)) {
    reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  }
  reply.body = error_body(error, named, reply.status);
  for (auto& header : headers()) reply.headers.push_back(std::move(header));
  exchange->reply(std::move(reply));
}

std::string Call::error_event(const base::Error& error, const task::TaskId& named) const {
  std::string block;
  wire::append_sse(block, 0, error_body(error, named, wire::a2a::rest_status(error)));
  return block;
}

void Call::refuse_in_stream(const base::Error& error, const task::TaskId& named) const {
  reply_stream(error_event(error, named));
}

void Call::reply_stream(std::string events) const {
  exchange->reply_stream(headers(), std::move(events));
}

void Call::open_stream(http::StreamOpener opener) {
  exchange->open_stream(headers(), services.options.streams.kept(std::move(hold), std::move(opener)));
}

}  // namespace baton::server::a2a

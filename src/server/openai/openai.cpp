#include "server/openai/openai.h"

#include <array>
#include <utility>

#include "base/log.h"
#include "server/a2a/negotiation.h"
#include "server/openai/models.h"
#include "server/openai/request.h"
#include "server/openai/responses.h"
#include "server/openai/runs.h"
#include "server/shared/answers.h"

namespace baton::server::openai {
namespace {

using base::ErrorCode;
using protocol::openai::Failure;
using Handler = void (*)(const RequestPtr&);

constexpr PathRow row(std::string_view methods, std::string_view pattern, Handler handler,
                      std::optional<Scope> scope) {
  return {Place::root, methods, pattern, OpenAiRoute{handler, scope}};
}

// Says what is served: to clients that call the rest of the API, and to those whose base URL lacks /v1.
void refuse_path(const RequestPtr& request) {
  const std::string_view path = request->head().path;
  std::string why = "nothing is served at this path; ";
  if (!path.starts_with("/v1/")) {
    why += "the base URL must end with /v1";
  } else {
    why += "OpenAI's API is served at /v1/models, /v1/chat/completions and /v1/responses";
    if (path.starts_with("/v1/conversations"))
      why += "; a conversation needs no creation: give a response any id as its conversation";
  }
  request->refuse(Failure{404, "invalid_request_error", "unknown_url", std::move(why)});
}

// A path that is not offered, whatever the method and the body are.
constexpr PathRow absent(std::string_view pattern) {
  return row("", pattern, &refuse_path, std::nullopt);
}

constexpr std::array kPaths{
    row("GET", "/v1/models", &list_models, std::nullopt),
    row("GET", "/v1/models/{id}", &get_model, std::nullopt),
    row("GET", "/v1/models/{id}/{rest...}", &refuse_model, std::nullopt),
    row("POST", "/v1/chat/completions", &create_completion, Scope::send),
    row("POST", "/v1/responses", &create_response, Scope::send),
    row("GET, DELETE", "/v1/responses/{id}", &get_response, Scope::read),
    row("POST", "/v1/responses/{id}/cancel", &cancel_response, Scope::cancel),
    row("GET", "/v1/responses/{id}/input_items", &list_input_items, Scope::read),
    absent("/v1/completions"),
    absent("/v1/embeddings"),
    absent("/v1/conversations"),
    absent("/v1/conversations/{path...}"),
    absent("/v1/files"),
    absent("/v1/moderations"),
    absent("/v1/images/{path...}"),
    absent("/v1/audio/{path...}"),
    absent("/models"),
    absent("/chat/completions"),
    absent("/responses"),
};

void log_if_ours(const base::Error& error, const task::AgentName& agent) {
  if (error.code == ErrorCode::internal || error.code == ErrorCode::unavailable)
    base::log_error({{"agent", agent.value}}, "{} {}", error.for_caller, error.for_log);
}

// The answer to a chat call that cannot be served.
http::Reply chat_error(const base::Error& error, const task::AgentName& agent) {
  log_if_ours(error, agent);
  return error_reply(error);
}

// The same after the run has begun. The AI SDK, LangChain.js and others repeat every request after 429 and
// 5xx, and the agent would do its work once more.
http::Reply late_error(const base::Error& error, const task::AgentName& agent) {
  log_if_ours(error, agent);
  Failure failure = protocol::openai::failure_of(error);
  if (failure.status == 429 || failure.status >= 500)
    failure = {400, "server_error", "no_answer",
               "the agent has begun, but its answer is not there in time or cannot be given"};
  return failure_reply(failure);
}

}  // namespace

std::span<const PathRow> paths() {
  return kPaths;
}

http::Reply failure_reply(const Failure& failure) {
  http::Reply reply;
  reply.status = failure.status;
  protocol::openai::write_failure(reply.body, failure);
  const bool may_come_back = failure.status == 409 || failure.status == 429 || failure.status == 503;
  if (may_come_back) reply.headers.emplace_back("Retry-After", "1");
  // The official clients repeat a request after such an answer, and the task may exist by then.
  if (failure.status >= 500) reply.headers.emplace_back("x-should-retry", "false");
  return reply;
}

http::Reply error_reply(const base::Error& error, int status) {
  Failure failure = protocol::openai::failure_of(error);
  if (status != 0) failure.status = status;
  http::Reply reply = failure_reply(failure);
  if (std::string challenge = challenge_of(error); !challenge.empty())
    reply.headers.emplace_back("WWW-Authenticate", std::move(challenge));
  return reply;
}

void Request::reply(std::string json) const {
  http::Reply reply;
  reply.body = std::move(json);
  exchange->reply(std::move(reply));
}

tl::expected<Admitted, Failure> admitted_for_model(const Request& request, std::string_view name) {
  const auto unknown = [&] { return tl::unexpected(protocol::openai::no_such_model(name)); };
  // Hidden agents have names that no agent's folder can have.
  if (!agents::is_agent_name(name)) return unknown();
  const task::AgentName agent_name{std::string(name)};
  const agents::Catalogue& catalogue = request.services().catalogue;
  const agents::Agent* agent = catalogue.find(agent_name);
  const bool is_elsewhere = agent == nullptr && (agent = catalogue.on_other_node(agent_name)) != nullptr;
  auto by = agent ? admitted_at(request.entry, request.head(), *agent) : std::nullopt;
  if (!by) return unknown();
  if (is_elsewhere)
    return tl::unexpected(
        protocol::openai::failure_of({ErrorCode::unavailable, std::string(kServedElsewhere), {}}));
  return std::move(*by);
}

chat::CallPtr call_for(const RequestPtr& request, Admitted by, bool begins) {
  if (request->entry.reached) request->entry.reached(*by.endpoint.agent);
  const auto call = std::make_shared<chat::ChatCall>(request->exchange, by, request->entry.claims,
                                                     std::move(request->body));
  call->write_error = &chat_error;
  call->write_late_error = &late_error;
  if (!begins) return call;
  call->hold = by.services.options.streams.acquire(call->caller);
  if (call->hold) return call;
  call->refuse(too_many_open_runs());
  return nullptr;
}

void handle(std::shared_ptr<http::Exchange> exchange, Entry entry, const PathMatch& found) {
  const http::Request& head = exchange->request();
  json::Document body = json::Document::view_of({});
  const auto refuse = [&](ErrorCode code, std::string why) {
    exchange->reply(error_reply({code, std::move(why), {}}));
  };
  const bool is_absent = found.row->methods.empty();
  if (head.method == "POST" && !head.body.empty() && !is_absent) {
    if (!a2a::is_json(head))
      return refuse(ErrorCode::content_type_not_supported, "Content-Type: must be application/json");
    auto parsed = json::Document::parse(exchange->take_body());
    if (!parsed) return exchange->reply(error_reply(parsed.error()));
    if (!parsed->root().is_object()) return refuse(ErrorCode::invalid_request, "the body must be an object");
    body = std::move(*parsed);
  }
  const auto request = std::make_shared<Request>(
      Request{std::move(exchange), std::move(entry), std::string(found["id"]), std::move(body)});
  found.answered_by<OpenAiRoute>()->handle(request);
}

}  // namespace baton::server::openai

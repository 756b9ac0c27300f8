#include "server/a2a/rest.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "protocol/a2a/members.h"
#include "server/a2a/http_call.h"
#include "server/a2a/negotiation.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;

constexpr task::VersionRange kV03Alone{task::ProtocolVersion::v0_3, task::ProtocolVersion::v0_3};
constexpr task::VersionRange kV03AndV10{task::ProtocolVersion::v0_3, task::ProtocolVersion::v1_0};
using protocol::a2a::kV10;

constexpr PathRow rest_row(std::string_view methods, std::string_view pattern, Operation operation,
                           task::VersionRange versions, Head head = Head::refused) {
  return {Place::agent_ids, methods, pattern, RestOperation{operation, versions}, head};
}
// A download or one of Baton's own views.
constexpr PathRow view_row(std::string_view pattern, Operation operation) {
  return rest_row("GET", pattern, operation, kV10, Head::served_and_allowed);
}
// A path with a verb precedes the one without.
constexpr std::array kRestPaths{
    rest_row("POST", "/message:send", Operation::send, kV03AndV10),
    rest_row("POST", "/message:stream", Operation::send_stream, kV03AndV10),
    rest_row("GET", "/tasks", Operation::list, kV10),
    rest_row("POST", "/tasks/{task}:cancel", Operation::cancel, kV03AndV10),
    rest_row("POST, GET", "/tasks/{task}:subscribe", Operation::subscribe, kV03AndV10),
    rest_row("GET", "/tasks/{task}", Operation::get, kV03AndV10),
    rest_row("POST", "/tasks/{task}/pushNotificationConfigs", Operation::set_push, kV03AndV10),
    rest_row("GET", "/tasks/{task}/pushNotificationConfigs", Operation::list_push, kV03AndV10),
    rest_row("GET", "/tasks/{task}/pushNotificationConfigs/{config...}", Operation::get_push, kV03AndV10),
    rest_row("DELETE", "/tasks/{task}/pushNotificationConfigs/{config...}", Operation::delete_push,
             kV03AndV10),
    view_row("/tasks/{task}/artifacts/{content}", Operation::artifact_bytes),
    view_row("/tasks/{task}/artifacts/{content}/parts/{#part}", Operation::artifact_bytes),
    view_row("/tasks/{task}/messages/{content}/parts/{#part}", Operation::message_bytes),
    view_row("/tasks/{task}/tree", Operation::task_tree),
    view_row("/tasks/{task}/log", Operation::task_log),
    view_row("/tasks/{task}/plan.svg", Operation::plan_picture),
    rest_row("GET", "/card", Operation::extended_card, kV03Alone),
    rest_row("GET", "/extendedAgentCard", Operation::extended_card, kV10),
};

HttpCallPtr make_call(std::shared_ptr<http::Exchange> exchange, Admitted by, const RestTarget& target) {
  return std::make_shared<HttpCall>(std::move(exchange), std::move(by),
                                    target.is_v1 ? protocol::a2a::v1_0() : protocol::a2a::v0_3_rest(),
                                    Binding::rest);
}

// The content of a request besides its path. Texts and values are views of it.
struct Said {
  std::optional<json::Document> body;
  protocol::a2a::Params params = json::Value();
};

bool has_body(Operation operation) {
  return operation == Operation::send || operation == Operation::send_stream ||
         operation == Operation::set_push;
}

// Reads the body of an operation that has one. For other operations the path names the task; other
// parameters come from the query, or else from a body that a client sends anyway.
base::Result<void> read_said(std::string text, Operation operation, const http::Request& request,
                             const RestTarget& target, Said& said) {
  if (!text.empty() || has_body(operation)) {
    auto document = json::Document::parse(std::move(text));
    if (!document) return base::fail(document.error());
    said.body = std::move(*document);
  }
  const json::Value body = said.body && said.body->root().is_object() ? said.body->root() : json::Value();
  if (has_body(operation)) {
    if (body.missing()) return base::fail(ErrorCode::invalid_request, "the body must be an object");
    said.params = body;
    return {};
  }
  protocol::a2a::Params::Texts texts;
  for (const auto& [name, value] : request.query) texts.emplace_back(name, value);
  if (!target.task.empty()) texts.emplace_back("id", target.task.value);
  said.params = protocol::a2a::Params(body, std::move(texts));
  return {};
}

// The path's tenant, or else the one in the body or query; only 1.0 has tenants.
base::Result<void> enter_tenant(Call& call, const RestTarget& target, const protocol::a2a::Params& params) {
  if (!target.tenant.empty()) return call.enter_tenant(target.tenant);
  const protocol::a2a::Param tenant = params["tenant"];
  if (!target.is_v1) return {};
  if (!tenant.absent() && !tenant.is_string())
    return base::fail(ErrorCode::invalid_argument, "tenant: must be a string");
  return call.enter_tenant(tenant.string());
}

// The request of the target's operation. Ids in the path take precedence.
base::Result<Request> read_request(const protocol::a2a::Dialect& dialect, const RestTarget& target,
                                   const protocol::a2a::Params& params) {
  const Operation operation = target.operation;
  if (!target.content.empty()) {
    return Request(protocol::a2a::ContentRequest{target.task, target.content, target.part});
  }
  if (operation == Operation::get_push || operation == Operation::list_push ||
      operation == Operation::delete_push) {
    protocol::a2a::PushRef ref{target.task, target.config};
    if (operation == Operation::list_push) {
      if (auto page = protocol::a2a::read_push_page(params, ref); !page) return base::fail(page.error());
    }
    return Request(std::move(ref));
  }
  auto request = row_of(operation).decode(dialect, params);
  if (request && operation == Operation::set_push) {
    std::get<protocol::a2a::PushRequest>(*request).task = target.task;
  }
  if (const auto after = params["after"]; request && operation == Operation::task_log && !after.absent()) {
    const auto number = base::number_in<std::int64_t>(after.string());
    if (!number || *number < 0)
      return base::fail(ErrorCode::invalid_argument, "after: must be a whole number of at least 0");
    std::get<protocol::a2a::TaskRequest>(*request).last_event = task::EventNumber{*number};
  }
  return request;
}

}  // namespace

std::span<const PathRow> rest_paths() {
  return kRestPaths;
}

RestTarget rest_target(const PathMatch& match) {
  RestTarget target;
  target.is_v1 = !match.below_v1;
  target.operation = match.answered_by<RestOperation>()->operation;
  target.task.value = match["task"];
  target.config.value = match["config"];
  target.tenant = match.tenant;
  target.content = match["content"];
  target.part = base::number_in<std::size_t>(match["part"]);
  return target;
}

void handle_rest(std::shared_ptr<http::Exchange> exchange, Admitted by, const RestTarget& target) {
  const bool says_type = exchange->request().body.empty() || is_json(exchange->request());
  std::string body = exchange->take_body();
  const HttpCallPtr call = make_call(std::move(exchange), std::move(by), target);
  if (const auto good = call->check_version(); !good) return call->refuse(good.error(), target.task);
  if (!says_type) {
    return call->refuse_as(
        415, {ErrorCode::content_type_not_supported, "Content-Type: must be application/json", {}},
        target.task);
  }
  Said said;
  if (const auto good = read_said(std::move(body), target.operation, call->head(), target, said); !good) {
    return call->refuse(good.error(), target.task);
  }
  if (const auto good = enter_tenant(*call, target, said.params); !good) {
    return call->refuse(good.error(), target.task);
  }
  call->extensions = extensions_of(call->head(), call->agent.card);
  run_or_refuse(call, target.operation, read_request(call->dialect(), target, said.params));
}

http::Reply rest_refusal(const http::Request& request, const RestTarget& target, const base::Error& error,
                         int status) {
  return error_reply(request, {target.is_v1, {}}, error, target.task, status);
}

void refuse_rest(std::shared_ptr<http::Exchange> exchange, Admitted by, const RestTarget& target,
                 const base::Error& error) {
  make_call(std::move(exchange), std::move(by), target)->refuse(error, target.task);
}

}  // namespace baton::server::a2a

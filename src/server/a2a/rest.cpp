#include "server/a2a/rest.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "protocol/a2a/errors.h"
#include "protocol/a2a/members.h"
#include "server/a2a/http_call.h"
#include "server/a2a/negotiation.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;

constexpr std::string_view kTasks = "/tasks/";
constexpr std::string_view kConfigs = "/pushNotificationConfigs";

struct Row {
  std::string_view path;
  std::string_view method;
  Operation operation;
  bool in_v0_3;
  bool in_v1_0;
};
// {t}: task id; {c}: push config id; {a}: artifact or message id; {n}: part number. A path with a verb
// precedes the one without.
constexpr std::array kRows{
    Row{"/message:send", "POST", Operation::send, true, true},
    Row{"/message:stream", "POST", Operation::send_stream, true, true},
    Row{"/tasks", "GET", Operation::list, false, true},
    Row{"/tasks/{t}:cancel", "POST", Operation::cancel, true, true},
    Row{"/tasks/{t}:subscribe", "POST", Operation::subscribe, true, true},
    Row{"/tasks/{t}:subscribe", "GET", Operation::subscribe, true, true},
    Row{"/tasks/{t}", "GET", Operation::get, true, true},
    Row{"/tasks/{t}/pushNotificationConfigs", "POST", Operation::set_push, true, true},
    Row{"/tasks/{t}/pushNotificationConfigs", "GET", Operation::list_push, true, true},
    Row{"/tasks/{t}/pushNotificationConfigs/{c}", "GET", Operation::get_push, true, true},
    Row{"/tasks/{t}/pushNotificationConfigs/{c}", "DELETE", Operation::delete_push, true, true},
    Row{"/tasks/{t}/artifacts/{a}", "GET", Operation::artifact_bytes, false, true},
    Row{"/tasks/{t}/artifacts/{a}", "HEAD", Operation::artifact_bytes, false, true},
    Row{"/tasks/{t}/artifacts/{a}/parts/{n}", "GET", Operation::artifact_bytes, false, true},
    Row{"/tasks/{t}/artifacts/{a}/parts/{n}", "HEAD", Operation::artifact_bytes, false, true},
    Row{"/tasks/{t}/messages/{a}/parts/{n}", "GET", Operation::message_bytes, false, true},
    Row{"/tasks/{t}/messages/{a}/parts/{n}", "HEAD", Operation::message_bytes, false, true},
    Row{"/tasks/{t}/tree", "GET", Operation::task_tree, false, true},
    Row{"/tasks/{t}/tree", "HEAD", Operation::task_tree, false, true},
    Row{"/tasks/{t}/log", "GET", Operation::task_log, false, true},
    Row{"/tasks/{t}/log", "HEAD", Operation::task_log, false, true},
    Row{"/tasks/{t}/plan.svg", "GET", Operation::plan_picture, false, true},
    Row{"/tasks/{t}/plan.svg", "HEAD", Operation::plan_picture, false, true},
    Row{"/card", "GET", Operation::extended_card, true, false},
    Row{"/extendedAgentCard", "GET", Operation::extended_card, false, true},
};

// Empty if the text is not percent-encoded UTF-8.
std::optional<std::string> decoded(std::string_view text) {
  auto out = base::percent_decoded(text);
  if (out && !base::is_utf8(*out)) out.reset();
  return out;
}

// A path's pattern, as in the table, and the ids in it.
struct Shape {
  std::string pattern;
  std::string task, config, content;
  std::optional<std::size_t> part;
};

// For "/artifacts/<id>" and "/artifacts/<id>/parts/<n>", and the same for messages: reads id and number, and
// returns the pattern in the table. Returns any other path unchanged.
std::string content_pattern(std::string_view rest, Shape& shape) {
  for (const std::string_view kind : {"/artifacts/", "/messages/"}) {
    if (!rest.starts_with(kind)) continue;
    const std::string_view after = rest.substr(kind.size());
    const std::size_t slash = std::min(after.find('/'), after.size());
    auto id = decoded(after.substr(0, slash));
    if (!id || id->empty()) break;
    std::string pattern = std::string(kind) + "{a}";
    std::string_view more = after.substr(slash);
    constexpr std::string_view kParts = "/parts/";
    if (more.starts_with(kParts)) {
      shape.part = base::number_in<std::size_t>(more.substr(kParts.size()));
      if (!shape.part) break;
      pattern += "/parts/{n}";
      more = {};
    }
    shape.content = std::move(*id);
    return pattern.append(more);
  }
  return std::string(rest);
}

// A slash in an id is percent-encoded; a verb follows the last colon.
std::optional<Shape> shape_of(std::string_view path, bool with_verb) {
  Shape shape;
  if (!path.starts_with(kTasks)) return Shape{std::string(path), {}, {}, {}, {}};
  path.remove_prefix(kTasks.size());
  const std::size_t slash = std::min(path.find('/'), path.size());
  std::string_view task = path.substr(0, slash);
  const std::string_view rest = path.substr(slash);
  shape.pattern = "/tasks/{t}";
  const std::size_t colon = task.rfind(':');
  if (with_verb && colon != std::string_view::npos && rest.empty()) {
    shape.pattern += task.substr(colon);
    task = task.substr(0, colon);
  }
  std::string_view config;
  if (rest.starts_with(kConfigs) && rest.size() > kConfigs.size() + 1) {
    config = rest.substr(kConfigs.size() + 1);
    shape.pattern.append(kConfigs).append("/{c}");
  } else {
    shape.pattern += content_pattern(rest, shape);
  }
  auto task_id = decoded(task), config_id = decoded(config);
  if (!task_id || !config_id || task_id->empty()) return std::nullopt;
  shape.task = std::move(*task_id);
  shape.config = std::move(*config_id);
  return shape;
}

std::optional<RestTarget> match_shape(std::string_view method, std::string_view path, bool is_v1,
                                      bool with_verb) {
  const auto shape = shape_of(path, with_verb);
  if (!shape) return std::nullopt;
  RestTarget target;
  target.is_v1 = is_v1;
  target.task.value = shape->task;
  target.config.value = shape->config;
  target.content = shape->content;
  target.part = shape->part;
  for (const Row& row : kRows) {
    if (row.path != shape->pattern || !(is_v1 ? row.in_v1_0 : row.in_v0_3)) continue;
    if (row.method == method) target.operation = row.operation;
    target.allow.append(target.allow.empty() ? "" : ", ").append(row.method);
  }
  if (target.allow.empty()) return std::nullopt;
  return target;
}

// Some clients also encode the colon before a verb. The path as it was received is tried first.
std::optional<std::string> with_plain_colon(std::string_view path) {
  const std::size_t percent = path.rfind('%');
  if (percent == std::string_view::npos || !base::begins_with(path.substr(percent), "%3a"))
    return std::nullopt;
  return std::string(path.substr(0, percent)) + ":" + std::string(path.substr(percent + 3));
}

std::optional<RestTarget> match(std::string_view method, std::string_view path, bool is_v1) {
  const auto verb = match_shape(method, path, is_v1, true);
  if (verb && verb->operation) return verb;
  const auto plain = match_shape(method, path, is_v1, false);
  if (plain && plain->operation) return plain;
  if (const auto with_colon = with_plain_colon(path)) {
    if (auto encoded = match_shape(method, *with_colon, is_v1, true); encoded && encoded->operation)
      return encoded;
  }
  return plain && !verb ? plain : verb;
}

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
  const Operation operation = *target.operation;
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
      return base::fail(ErrorCode::invalid_argument, "after: must be a whole number from 0");
    std::get<protocol::a2a::TaskRequest>(*request).last_event = task::EventNumber{*number};
  }
  return request;
}

}  // namespace

std::optional<RestTarget> match_rest(std::string_view method, std::string_view path) {
  constexpr std::string_view kV1 = "/v1/";
  if (path.starts_with(kV1)) return match(method, path.substr(kV1.size() - 1), false);
  if (auto target = match(method, path, true)) return target;
  const std::size_t end = path.find('/', 1);
  if (!path.starts_with('/') || end == std::string_view::npos || end == 1) return std::nullopt;
  auto target = match(method, path.substr(end), true);
  auto tenant = decoded(path.substr(1, end - 1));
  if (!target || !tenant) return std::nullopt;
  target->tenant = std::move(*tenant);
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
  if (const auto good = read_said(std::move(body), *target.operation, call->head(), target, said); !good) {
    return call->refuse(good.error(), target.task);
  }
  if (const auto good = enter_tenant(*call, target, said.params); !good) {
    return call->refuse(good.error(), target.task);
  }
  call->extensions = extensions_of(call->head(), call->agent.card);
  run_or_refuse(call, *target.operation, read_request(call->dialect(), target, said.params));
}

http::Reply rest_refusal(const http::Request& request, const RestTarget& target, const base::Error& error,
                         int status) {
  http::Reply reply;
  reply.status = status;
  reply.content_type = rest_content_type(request, target.is_v1);
  if (target.is_v1) protocol::a2a::write_rest_error_v1(reply.body, error, target.task, status);
  if (!target.is_v1) protocol::a2a::write_rest_error_v0_3(reply.body, error);
  if (status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"baton\"");
  return reply;
}

void refuse_rest(std::shared_ptr<http::Exchange> exchange, Admitted by, const RestTarget& target,
                 const base::Error& error) {
  make_call(std::move(exchange), std::move(by), target)->refuse(error, target.task);
}

}  // namespace baton::server::a2a

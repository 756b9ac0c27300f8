#include "server/a2a/rest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include "base/text.h"
#include "base/utf8.h"
#include "server/a2a/negotiation.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using task::Generation;

constexpr std::string_view kTasks = "/tasks/";
constexpr std::string_view kConfigs = "/pushNotificationConfigs";

struct Row {
  std::string_view path;
  std::string_view method;
  Operation run;
  bool in_v0_3;
  bool in_v1_0;
};
// {t}: task id; {c}: push config id; {a}: artifact or message id; {n}: part number. A path with a verb
// precedes the one without.
constexpr std::array kRows{
    Row{"/message:send", "POST", &send, true, true},
    Row{"/message:stream", "POST", &send_stream, true, true},
    Row{"/tasks", "GET", &list, false, true},
    Row{"/tasks/{t}:cancel", "POST", &cancel, true, true},
    Row{"/tasks/{t}:subscribe", "POST", &subscribe, true, true},
    Row{"/tasks/{t}:subscribe", "GET", &subscribe, true, true},
    Row{"/tasks/{t}", "GET", &get, true, true},
    Row{"/tasks/{t}/pushNotificationConfigs", "POST", &set_push, true, true},
    Row{"/tasks/{t}/pushNotificationConfigs", "GET", &list_push, true, true},
    Row{"/tasks/{t}/pushNotificationConfigs/{c}", "GET", &get_push, true, true},
    Row{"/tasks/{t}/pushNotificationConfigs/{c}", "DELETE", &delete_push, true, true},
    Row{"/tasks/{t}/artifacts/{a}", "GET", &artifact_bytes, false, true},
    Row{"/tasks/{t}/artifacts/{a}", "HEAD", &artifact_bytes, false, true},
    Row{"/tasks/{t}/artifacts/{a}/parts/{n}", "GET", &artifact_bytes, false, true},
    Row{"/tasks/{t}/artifacts/{a}/parts/{n}", "HEAD", &artifact_bytes, false, true},
    Row{"/tasks/{t}/messages/{a}/parts/{n}", "GET", &message_bytes, false, true},
    Row{"/tasks/{t}/messages/{a}/parts/{n}", "HEAD", &message_bytes, false, true},
    Row{"/card", "GET", &extended_card, true, false},
    Row{"/extendedAgentCard", "GET", &extended_card, false, true},
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
      const std::string_view digits = more.substr(kParts.size());
      std::size_t number = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) break;
      shape.part = number;
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
  target.form = is_v1 ? Form::rest_v1_0 : Form::rest_v0_3;
  target.task.value = shape->task;
  target.config.value = shape->config;
  target.content = shape->content;
  target.part = shape->part;
  for (const Row& row : kRows) {
    if (row.path != shape->pattern || !(is_v1 ? row.in_v1_0 : row.in_v0_3)) continue;
    if (row.method == method) target.run = row.run;
    target.allow.append(target.allow.empty() ? "" : ", ").append(row.method);
  }
  if (target.allow.empty()) return std::nullopt;
  return target;
}

std::optional<RestTarget> match(std::string_view method, std::string_view path, bool is_v1) {
  const auto verb = match_shape(method, path, is_v1, true);
  if (verb && verb->run) return verb;
  const auto plain = match_shape(method, path, is_v1, false);
  return plain && (plain->run || !verb) ? plain : verb;
}

const wire::a2a::Dialect& dialect_of(Form form) {
  return form == Form::rest_v1_0 ? wire::a2a::v1_0() : wire::a2a::v0_3_rest();
}

// The request as params of the other bindings: the path's ids, the query, and further members of the body.
std::string params_of(const http::Request& request, const RestTarget& target, wire::Value body) {
  const auto from_path = [](std::string_view name) {
    return name == "id" || name == "name" || name == "A2A-Version";
  };
  std::unordered_set<std::string_view> in_query;
  std::string json;
  wire::Writer out(json);
  out.object([&] {
    for (const auto& [name, value] : request.query) {
      in_query.insert(name);
      if (!from_path(name)) out.member(name, value);
    }
    if (body.is_object()) {
      for (const wire::Value member : body) {
        if (in_query.contains(member.key()) || from_path(member.key())) continue;
        out.key(member.key()).raw(member.raw());
      }
    }
    if (target.task.empty()) return;
    out.member("id", target.task.value).member("name", "tasks/" + target.task.value);
  });
  return json;
}

CallPtr make_call(const Services& services, std::shared_ptr<http::Exchange> exchange,
                  const Endpoint& endpoint, task::Caller caller, const RestTarget& target) {
  auto call = std::make_shared<Call>(std::move(exchange), services, endpoint, std::move(caller),
                                     dialect_of(target.form), target.form);
  call->caller = caller_in(target.tenant, call->identity);
  call->task = target.task;
  call->config = target.config;
  call->tenant = target.tenant;
  call->content = target.content;
  call->part = target.part;
  return call;
}

// Sets the call's params, or fails.
base::Result<void> read_params(const CallPtr& call, const RestTarget& target) {
  std::string body = call->exchange->take_body();
  const bool from_body = target.run == &send || target.run == &send_stream || target.run == &set_push;
  auto document = body.empty() && !from_body ? base::Result<wire::Document>(wire::Document::parse("{}"))
                                             : wire::Document::parse(std::move(body));
  if (document && !from_body) {
    document = wire::Document::parse(params_of(call->exchange->request(), target, document->root()));
  }
  if (!document) return base::fail(document.error());
  call->document = std::move(*document);
  call->params = call->document->root();
  if (from_body && !call->params.is_object()) {
    return base::fail(ErrorCode::invalid_request, "the body must be an object");
  }
  return {};
}

base::Result<void> check_version(const CallPtr& call) {
  const auto asked = version_of(call->exchange->request());
  if (!asked) return base::fail(asked.error());
  const bool is_v1 = call->envelope.form == Form::rest_v1_0;
  const bool agrees = !*asked || (is_v1 ? **asked == Generation::v1_0
                                        : **asked == Generation::v0_3 || **asked == Generation::v0_2);
  if (agrees) return {};
  return base::fail(ErrorCode::version_not_supported, "A2A-Version: the path belongs to another version");
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

void handle_rest(const Services& services, std::shared_ptr<http::Exchange> exchange, const Endpoint& endpoint,
                 task::Caller caller, RestTarget target) {
  const CallPtr call = make_call(services, std::move(exchange), endpoint, std::move(caller), target);
  if (const auto good = check_version(call); !good) return call->refuse(good.error(), call->task);
  if (!call->exchange->request().body.empty() && !is_json(call->exchange->request())) {
    const base::Error wrong{
        ErrorCode::content_type_not_supported, "Content-Type: must be application/json", {}};
    return call->refuse(wrong, call->task, 415);
  }
  if (const auto read = read_params(call, target); !read) return call->refuse(read.error(), call->task);
  if (const auto good = check_tenant(target.tenant); !good) return call->refuse(good.error(), call->task);
  // The path's tenant, or else the one in the body or query; only 1.0 has tenants.
  if (call->envelope.form == Form::rest_v1_0 && target.tenant.empty()) {
    if (const auto good = enter_tenant(*call); !good) return call->refuse(good.error(), call->task);
  }
  call->extensions = extensions_of(call->exchange->request(), call->agent.card);
  target.run(call);
}

void refuse_rest(const Services& services, std::shared_ptr<http::Exchange> exchange, const Endpoint& endpoint,
                 const RestTarget& target, const base::Error& error) {
  make_call(services, std::move(exchange), endpoint, {}, target)->refuse(error, target.task);
}

}  // namespace baton::server::a2a

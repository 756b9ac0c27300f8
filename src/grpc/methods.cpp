#include "grpc/methods.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::grpc {
namespace {

using base::ErrorCode;
using task::Generation;

constexpr Generation kV03 = Generation::v0_3, kV10 = Generation::v1_0;
constexpr std::string_view kTasks = "/tasks/";
constexpr std::string_view kTask = "/tasks/{t}", kCancel = "/tasks/{t}:cancel",
                           kSubscribe = "/tasks/{t}:subscribe",
                           kConfigs = "/tasks/{t}/pushNotificationConfigs",
                           kConfig = "/tasks/{t}/pushNotificationConfigs/{c}";
constexpr std::string_view kPush = "TaskPushNotificationConfig", kEmpty = "google.protobuf.Empty";

constexpr std::array kMethods{
    Method{kV03, "SendMessage", "SendMessageRequest", "SendMessageResponse", "POST", "/message:send"},
    Method{kV03, "SendStreamingMessage", "SendMessageRequest", "StreamResponse", "POST", "/message:stream",
           true},
    Method{kV03, "GetTask", "GetTaskRequest", "Task", "GET", kTask},
    Method{kV03, "CancelTask", "CancelTaskRequest", "Task", "POST", kCancel},
    Method{kV03, "TaskSubscription", "TaskSubscriptionRequest", "StreamResponse", "POST", kSubscribe, true},
    Method{kV03, "CreateTaskPushNotificationConfig", "CreateTaskPushNotificationConfigRequest", kPush, "POST",
           kConfigs},
    Method{kV03, "GetTaskPushNotificationConfig", "GetTaskPushNotificationConfigRequest", kPush, "GET",
           kConfig},
    Method{kV03, "ListTaskPushNotificationConfig", "ListTaskPushNotificationConfigRequest",
           "ListTaskPushNotificationConfigResponse", "GET", kConfigs},
    Method{kV03, "DeleteTaskPushNotificationConfig", "DeleteTaskPushNotificationConfigRequest", kEmpty,
           "DELETE", kConfig},
    Method{kV03, "GetAgentCard", "GetAgentCardRequest", "AgentCard", "GET", "/card"},

    Method{kV10, "SendMessage", "SendMessageRequest", "SendMessageResponse", "POST", "/message:send"},
    Method{kV10, "SendStreamingMessage", "SendMessageRequest", "StreamResponse", "POST", "/message:stream",
           true},
    Method{kV10, "GetTask", "GetTaskRequest", "Task", "GET", kTask},
    Method{kV10, "ListTasks", "ListTasksRequest", "ListTasksResponse", "GET", "/tasks"},
    Method{kV10, "CancelTask", "CancelTaskRequest", "Task", "POST", kCancel},
    Method{kV10, "SubscribeToTask", "SubscribeToTaskRequest", "StreamResponse", "POST", kSubscribe, true},
    Method{kV10, "CreateTaskPushNotificationConfig", kPush, kPush, "POST", kConfigs},
    Method{kV10, "GetTaskPushNotificationConfig", "GetTaskPushNotificationConfigRequest", kPush, "GET",
           kConfig},
    Method{kV10, "ListTaskPushNotificationConfigs", "ListTaskPushNotificationConfigsRequest",
           "ListTaskPushNotificationConfigsResponse", "GET", kConfigs},
    Method{kV10, "DeleteTaskPushNotificationConfig", "DeleteTaskPushNotificationConfigRequest", kEmpty,
           "DELETE", kConfig},
    Method{kV10, "GetExtendedAgentCard", "GetExtendedAgentCardRequest", "AgentCard", "GET",
           "/extendedAgentCard"},
};

std::string_view package_of(Generation generation) {
  return generation == kV10 ? "lf.a2a.v1" : "a2a.v1";
}

// The metadata that is passed to the routes; the rest belongs to the connection.
constexpr std::array<std::string_view, 8> kHeaders{":authority",     "authorization",    "a2a-version",
                                                   "a2a-extensions", "x-a2a-extensions", "last-event-id",
                                                   "traceparent",    "tracestate"};

struct Ids {
  std::string task, config;
};

// "tasks/T" or "tasks/T/pushNotificationConfigs/C"; the C may be missing.
std::optional<Ids> ids_in(std::string_view name) {
  constexpr std::string_view kBelow = "pushNotificationConfigs";
  constexpr std::string_view kPrefix = "tasks/";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::size_t slash = std::min(name.find('/'), name.size());
  Ids ids{std::string(name.substr(0, slash)), {}};
  if (slash == name.size()) return ids;
  name.remove_prefix(slash + 1);
  if (!name.starts_with(kBelow)) return std::nullopt;
  name.remove_prefix(kBelow.size());
  if (name.empty()) return ids;
  if (name.front() != '/' || name.find('/', 1) != std::string_view::npos) return std::nullopt;
  ids.config = name.substr(1);
  return ids;
}

// Where 1.0 has ids, 0.3 has resource names.
base::Result<Ids> ids_of(const Method& method, wire::Value message) {
  const bool has_config = method.path == kConfig, is_push = has_config || method.path == kConfigs;
  Ids ids;
  if (method.path.find("{t}") == std::string_view::npos) return ids;
  const bool is_v1 = method.generation == kV10;
  const std::string_view member = is_v1                       ? (is_push ? "taskId" : "id")
                                  : message["name"].missing() ? "parent"
                                                              : "name";
  if (is_v1) {
    ids = {message[member].str(), has_config ? message["id"].str() : std::string()};
  } else if (auto named = ids_in(message[member].string())) {
    ids = std::move(*named);
  }
  if (ids.task.empty()) {
    return base::fail(ErrorCode::invalid_argument,
                      is_v1 ? std::string(member) + ": must not be empty" : "name: must be tasks/{id}");
  }
  if (has_config && ids.config.empty()) {
    return base::fail(
        ErrorCode::invalid_argument,
        is_v1 ? "id: must not be empty" : "name: must be tasks/{id}/pushNotificationConfigs/{id}");
  }
  return ids;
}

std::string filled(std::string_view path, std::string_view task, std::string_view config) {
  std::string out(path);
  for (const auto& [mark, id] :
       {std::pair<std::string_view, std::string_view>{"{c}", config}, {"{t}", task}}) {
    const std::size_t at = out.find(mark);
    if (at != std::string::npos) out.replace(at, mark.size(), id);
  }
  return out;
}

// Adds the fields that the path lacks to the query, for a request without a body.
void add_query(wire::Value message, server::http::Request& request) {
  constexpr std::array<std::string_view, 4> kInPath{"name", "parent", "id", "taskId"};
  for (const wire::Value value : message) {
    if (std::find(kInPath.begin(), kInPath.end(), value.key()) != kInPath.end()) continue;
    if (value.is_object() || value.is_array()) continue;
    request.query.emplace_back(value.key(), value.is_string() ? value.string() : value.raw());
  }
}

// Writes "a=b&c=d" as members; protobuf's JSON accepts numbers in quotes.
void write_query(wire::Writer& out, std::string_view query) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (equals < pair.size()) {
      const std::string value = base::percent_decoded(pair.substr(equals + 1)).value_or("");
      const bool truth = value == "true" || value == "false";
      out.key(pair.substr(0, equals));
      if (truth) out.raw(value);
      if (!truth) out.string(value);
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
}

base::Result<std::string> agent_path(const Metadata& metadata, std::string_view agent) {
  for (const auto& [name, value] : metadata) {
    if (name == "baton-agent" && !value.empty()) agent = value;
  }
  if (agent.empty()) {
    return base::fail(ErrorCode::not_found,
                      "no agent is the default one; the metadata baton-agent names one");
  }
  if (agent.find('/') != std::string_view::npos) return base::fail(ErrorCode::not_found, "no such agent");
  return "/agents/" + std::string(agent);
}

}  // namespace

std::string Method::full(std::string_view message) const {
  if (message.find('.') != std::string_view::npos) return std::string(message);
  return std::string(package_of(generation)).append(".").append(message);
}

std::string Method::path_of_call() const {
  return "/" + full("A2AService") + "/" + std::string(name);
}

const Method* find_method(std::string_view path) {
  constexpr std::string_view kService = ".A2AService/";
  const auto* found = std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& method) {
    const std::string_view package = package_of(method.generation);
    return path.size() == 1 + package.size() + kService.size() + method.name.size() &&
           path.starts_with('/') && path.substr(1).starts_with(package) && path.ends_with(method.name) &&
           path.substr(1 + package.size()).starts_with(kService);
  });
  return found == kMethods.end() ? nullptr : found;
}

base::Result<server::http::Request> head_of(const Metadata& metadata, std::string_view agent) {
  auto path = agent_path(metadata, agent);
  if (!path) return base::fail(path.error());
  server::http::Request request;
  request.method = "POST";
  request.path = request.raw_path = std::move(*path);
  for (const auto& [name, value] : metadata) {
    const bool passed_on = std::find(kHeaders.begin(), kHeaders.end(), name) != kHeaders.end();
    if (passed_on) request.headers.emplace_back(name, value);
  }
  return request;
}

base::Result<server::http::Request> rest_request(const Method& method, std::string json,
                                                 const Metadata& metadata, std::string_view agent) {
  const auto message = wire::Document::parse_view(json);
  if (!message) return base::fail(message.error());
  const auto ids = ids_of(method, message->root());
  if (!ids) return base::fail(ids.error());
  auto head = head_of(metadata, agent);
  if (!head) return base::fail(head.error());
  server::http::Request request = std::move(*head);
  const std::string prefix = request.path + (method.generation == kV03 ? "/v1" : "");
  request.method = method.verb;
  request.path = prefix + filled(method.path, ids->task, ids->config);
  request.raw_path =
      prefix + filled(method.path, base::percent_encoded(ids->task), base::percent_encoded(ids->config));
  const bool has_body =
      method.path.starts_with("/message:") || (method.path == kConfigs && method.verb == "POST");
  if (has_body) {
    request.headers.emplace_back("content-type", "application/json");
    request.body = std::move(json);
  } else {
    add_query(message->root(), request);
  }
  return request;
}

base::Result<MethodCall> method_call(Generation generation, const wire::a2a::ClientRequest& request,
                                     const std::string& tenant) {
  std::string_view path = request.path;
  if (generation == kV03 && path.starts_with("/v1/")) path.remove_prefix(3);
  const std::size_t mark = std::min(path.find('?'), path.size());
  const std::string_view query = mark < path.size() ? path.substr(mark + 1) : std::string_view();
  path = path.substr(0, mark);
  std::string task;
  std::string_view shape = path;
  if (path.starts_with(kTasks) && path.find('/', kTasks.size()) == std::string_view::npos) {
    // Ids are percent-encoded, so a colon begins the action.
    const std::size_t colon = std::min(path.find(':', kTasks.size()), path.size());
    task = base::percent_decoded(path.substr(kTasks.size(), colon - kTasks.size())).value_or("");
    shape = path.substr(colon) == ":cancel" ? kCancel : colon < path.size() ? kSubscribe : kTask;
  }
  const auto* found = std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& method) {
    return method.generation == generation && method.path == shape;
  });
  if (found == kMethods.end()) return base::fail(ErrorCode::unsupported, "gRPC has no call for this");
  MethodCall call{found, request.body};
  if (!request.body.empty() && tenant.empty()) return call;
  call.message.clear();
  wire::Writer out(call.message);
  const auto body = wire::Document::parse_view(request.body.empty() ? std::string_view("{}") : request.body);
  if (!body) return base::fail(body.error());
  out.object([&] {
    out.optional("tenant", tenant);
    if (!task.empty() && generation == kV03) out.member("name", "tasks/" + task);
    if (!task.empty() && generation == kV10) out.member("id", task);
    for (const wire::Value member : body->root()) out.key(member.key()).raw(member.raw());
    write_query(out, query);
  });
  return call;
}

}  // namespace baton::grpc

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
using server::a2a::Operation;
using task::ProtocolVersion;

constexpr ProtocolVersion kV03 = ProtocolVersion::v0_3, kV10 = ProtocolVersion::v1_0;
constexpr std::string_view kTasks = "/tasks/";
constexpr std::string_view kTask = "/tasks/{t}", kCancel = "/tasks/{t}:cancel",
                           kSubscribe = "/tasks/{t}:subscribe";
constexpr std::string_view kPush = "TaskPushNotificationConfig", kEmpty = "google.protobuf.Empty";

constexpr std::array kMethods{
    Method{kV03, "SendMessage", "SendMessageRequest", "SendMessageResponse", Operation::send,
           "/message:send"},
    Method{kV03, "SendStreamingMessage", "SendMessageRequest", "StreamResponse", Operation::send_stream,
           "/message:stream"},
    Method{kV03, "GetTask", "GetTaskRequest", "Task", Operation::get, kTask},
    Method{kV03, "CancelTask", "CancelTaskRequest", "Task", Operation::cancel, kCancel},
    Method{kV03, "TaskSubscription", "TaskSubscriptionRequest", "StreamResponse", Operation::subscribe,
           kSubscribe},
    Method{kV03,
           "CreateTaskPushNotificationConfig",
           "CreateTaskPushNotificationConfigRequest",
           kPush,
           Operation::set_push,
           {}},
    Method{kV03,
           "GetTaskPushNotificationConfig",
           "GetTaskPushNotificationConfigRequest",
           kPush,
           Operation::get_push,
           {}},
    Method{kV03,
           "ListTaskPushNotificationConfig",
           "ListTaskPushNotificationConfigRequest",
           "ListTaskPushNotificationConfigResponse",
           Operation::list_push,
           {}},
    Method{kV03,
           "DeleteTaskPushNotificationConfig",
           "DeleteTaskPushNotificationConfigRequest",
           kEmpty,
           Operation::delete_push,
           {}},
    Method{kV03, "GetAgentCard", "GetAgentCardRequest", "AgentCard", Operation::extended_card, "/card"},

    Method{kV10, "SendMessage", "SendMessageRequest", "SendMessageResponse", Operation::send,
           "/message:send"},
    Method{kV10, "SendStreamingMessage", "SendMessageRequest", "StreamResponse", Operation::send_stream,
           "/message:stream"},
    Method{kV10, "GetTask", "GetTaskRequest", "Task", Operation::get, kTask},
    Method{kV10, "ListTasks", "ListTasksRequest", "ListTasksResponse", Operation::list, "/tasks"},
    Method{kV10, "CancelTask", "CancelTaskRequest", "Task", Operation::cancel, kCancel},
    Method{kV10, "SubscribeToTask", "SubscribeToTaskRequest", "StreamResponse", Operation::subscribe,
           kSubscribe},
    Method{kV10, "CreateTaskPushNotificationConfig", kPush, kPush, Operation::set_push, {}},
    Method{kV10,
           "GetTaskPushNotificationConfig",
           "GetTaskPushNotificationConfigRequest",
           kPush,
           Operation::get_push,
           {}},
    Method{kV10,
           "ListTaskPushNotificationConfigs",
           "ListTaskPushNotificationConfigsRequest",
           "ListTaskPushNotificationConfigsResponse",
           Operation::list_push,
           {}},
    Method{kV10,
           "DeleteTaskPushNotificationConfig",
           "DeleteTaskPushNotificationConfigRequest",
           kEmpty,
           Operation::delete_push,
           {}},
    Method{kV10, "GetExtendedAgentCard", "GetExtendedAgentCardRequest", "AgentCard", Operation::extended_card,
           "/extendedAgentCard"},
};

std::string_view package_of(ProtocolVersion version) {
  return version == kV10 ? "lf.a2a.v1" : "a2a.v1";
}

// The metadata that the pipeline sees; the rest belongs to the connection.
constexpr std::array<std::string_view, 9> kHeaders{":authority",     "authorization",    "a2a-version",
                                                   "a2a-extensions", "x-a2a-extensions", "last-event-id",
                                                   "traceparent",    "tracestate",       "user-agent"};

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
  return std::string(package_of(version)).append(".").append(message);
}

std::string Method::path_of_call() const {
  return "/" + full("A2AService") + "/" + std::string(name);
}

const Method* find_method(std::string_view path) {
  constexpr std::string_view kService = ".A2AService/";
  const auto* found = std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& method) {
    const std::string_view package = package_of(method.version);
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

base::Result<MethodCall> method_call(ProtocolVersion version, const wire::a2a::ClientRequest& request,
                                     const std::string& tenant) {
  std::string_view path = request.path;
  if (version == kV03 && path.starts_with("/v1/")) path.remove_prefix(3);
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
    return method.version == version && method.rest_path == shape;
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
    if (!task.empty() && version == kV03) out.member("name", "tasks/" + task);
    if (!task.empty() && version == kV10) out.member("id", task);
    for (const wire::Value member : body->root()) out.key(member.key()).raw(member.raw());
    write_query(out, query);
  });
  return call;
}

}  // namespace baton::grpc

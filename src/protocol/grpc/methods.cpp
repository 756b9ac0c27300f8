#include "protocol/grpc/methods.h"

#include <algorithm>
#include <array>

namespace baton::protocol::grpc {
namespace {

using a2a::Operation;
using task::ProtocolVersion;

constexpr ProtocolVersion kV03 = ProtocolVersion::v0_3, kV10 = ProtocolVersion::v1_0;
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

const Method* find_method(ProtocolVersion version, std::string_view rest_path) {
  const auto* found = std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& method) {
    return method.version == version && method.rest_path == rest_path;
  });
  return found == kMethods.end() ? nullptr : found;
}

}  // namespace baton::protocol::grpc

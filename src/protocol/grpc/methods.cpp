#include "protocol/grpc/methods.h"

#include <algorithm>
#include <array>

namespace baton::protocol::grpc {
namespace {

using a2a::Operation;
using task::ProtocolVersion;

constexpr ProtocolVersion kV03 = ProtocolVersion::v0_3, kV10 = ProtocolVersion::v1_0;
constexpr std::string_view kPush = "TaskPushNotificationConfig", kEmpty = "google.protobuf.Empty";
constexpr std::string_view kItem = "StreamResponse", kSent = "SendMessageResponse";

constexpr std::array kMethods{
    Method{kV03, "SendMessage", Operation::send, kSent, "/message:send"},
    Method{kV03, "SendStreamingMessage", Operation::send_stream, kItem, "/message:stream",
           "SendMessageRequest"},
    Method{kV03, "GetTask", Operation::get, "Task", "/tasks/{t}"},
    Method{kV03, "CancelTask", Operation::cancel, "Task", "/tasks/{t}:cancel"},
    Method{kV03, "TaskSubscription", Operation::subscribe, kItem, "/tasks/{t}:subscribe"},
    Method{kV03, "CreateTaskPushNotificationConfig", Operation::set_push, kPush},
    Method{kV03, "GetTaskPushNotificationConfig", Operation::get_push, kPush},
    Method{kV03, "ListTaskPushNotificationConfig", Operation::list_push,
           "ListTaskPushNotificationConfigResponse"},
    Method{kV03, "DeleteTaskPushNotificationConfig", Operation::delete_push, kEmpty},
    Method{kV03, "GetAgentCard", Operation::extended_card, "AgentCard", "/card"},
    Method{kV10, "SendMessage", Operation::send, kSent, "/message:send"},
    Method{kV10, "SendStreamingMessage", Operation::send_stream, kItem, "/message:stream",
           "SendMessageRequest"},
    Method{kV10, "GetTask", Operation::get, "Task", "/tasks/{t}"},
    Method{kV10, "ListTasks", Operation::list, "ListTasksResponse", "/tasks"},
    Method{kV10, "CancelTask", Operation::cancel, "Task", "/tasks/{t}:cancel"},
    Method{kV10, "SubscribeToTask", Operation::subscribe, kItem, "/tasks/{t}:subscribe"},
    Method{kV10, "CreateTaskPushNotificationConfig", Operation::set_push, kPush, {}, kPush},
    Method{kV10, "GetTaskPushNotificationConfig", Operation::get_push, kPush},
    Method{kV10, "ListTaskPushNotificationConfigs", Operation::list_push,
           "ListTaskPushNotificationConfigsResponse"},
    Method{kV10, "DeleteTaskPushNotificationConfig", Operation::delete_push, kEmpty},
    Method{kV10, "GetExtendedAgentCard", Operation::extended_card, "AgentCard", "/extendedAgentCard"},
};

std::string_view package_of(ProtocolVersion version) {
  return version == kV10 ? "lf.a2a.v1" : "a2a.v1";
}

}  // namespace

std::string Method::full(std::string_view message) const {
  if (message.find('.') != std::string_view::npos) return std::string(message);
  return std::string(package_of(version)).append(".").append(message);
}

std::string Method::request_message() const {
  return full(request.empty() ? std::string(name) + "Request" : std::string(request));
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

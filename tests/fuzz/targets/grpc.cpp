// Messages of gRPC. The first byte of an input chooses the method, the rest is the message.
#include <array>

#include "fuzz/sound.h"
#include "fuzz/target.h"
#include "protocol/grpc/methods.h"
#include "protocol/grpc/schema.h"
#include "server/grpc/read_requests.h"
#include "server/grpc/struct_json.h"

namespace baton::fuzz {
namespace {

using protocol::grpc::MessageSchema;
using protocol::grpc::Method;
using protocol::grpc::ProtoJson;

const MessageSchema& schema() {
  static const MessageSchema all;
  return all;
}

const Method& method_of(std::string_view package, std::span<const std::string_view> names, char choice) {
  const std::string_view name = names[static_cast<unsigned char>(choice) % names.size()];
  const auto* method =
      protocol::grpc::find_method("/" + std::string(package) + ".A2AService/" + std::string(name));
  require(method != nullptr, "there is no such method");
  return *method;
}

void read(const Method& method, std::string_view bytes) {
  const auto message = schema().parse(method.request_message(), std::string(bytes));
  if (!message) return;
  const server::grpc::Reading reading(**message);
  static_cast<void>(server::grpc::tenant_in(method, reading));
  for (const bool files_are_text : {false, true}) {
    const auto request = server::grpc::read_request(method, reading, files_are_text);
    if (!request) continue;
    if (const auto* send = std::get_if<protocol::a2a::SendRequest>(&*request)) {
      check_message(send->submission.message);
      check_object(send->submission.metadata, "the metadata of a request is no object");
    }
  }
  // The client's way from JSON to bytes and back.
  static const ProtoJson json(schema());
  const auto text = json.to_json(method.request_message(), std::string(bytes));
  if (!text) return;
  check_json({*text}, "a message as JSON is not JSON");
  const auto again = json.to_bytes(method.request_message(), *text);
  require(again.has_value(), "a message as JSON cannot become a message");
}

void v0_3(std::string_view input) {
  static constexpr std::array<std::string_view, 9> kNames{"SendMessage",
                                                          "SendStreamingMessage",
                                                          "GetTask",
                                                          "CancelTask",
                                                          "TaskSubscription",
                                                          "CreateTaskPushNotificationConfig",
                                                          "GetTaskPushNotificationConfig",
                                                          "ListTaskPushNotificationConfig",
                                                          "DeleteTaskPushNotificationConfig"};
  if (!input.empty()) read(method_of("a2a.v1", kNames, input.front()), input.substr(1));
}

void v1_0(std::string_view input) {
  static constexpr std::array<std::string_view, 10> kNames{"SendMessage",
                                                           "SendStreamingMessage",
                                                           "GetTask",
                                                           "ListTasks",
                                                           "CancelTask",
                                                           "SubscribeToTask",
                                                           "CreateTaskPushNotificationConfig",
                                                           "GetTaskPushNotificationConfig",
                                                           "ListTaskPushNotificationConfigs",
                                                           "DeleteTaskPushNotificationConfig"};
  if (!input.empty()) read(method_of("lf.a2a.v1", kNames, input.front()), input.substr(1));
}

// JSON that becomes a Struct, and its way back.
void structs(std::string_view input) {
  if (!json::Document::parse_view(input)) return;
  google::protobuf::Value value, again;
  server::grpc::read_value(input, value);
  std::string once, twice;
  json::Writer out(once);
  server::grpc::write_value(out, value);
  check_json({once}, "a Value as JSON is not JSON");
  server::grpc::read_value(once, again);
  json::Writer more(twice);
  server::grpc::write_value(more, again);
  require_same(twice, once, "a Value changes on its way");
}

// The JSON of a client's request.
void proto_json(std::string_view input) {
  if (!json::Document::parse_view(input)) return;
  static const ProtoJson json(schema());
  for (const char* name : {"a2a.v1.SendMessageRequest", "lf.a2a.v1.SendMessageRequest", "lf.a2a.v1.Task"}) {
    const auto bytes = json.to_bytes(name, std::string(input));
    if (bytes) require(json.to_json(name, *bytes).has_value(), "a message that was written cannot be read");
  }
}

const Targets kTargets{
    {"grpc-0.3", v0_3}, {"grpc-1.0", v1_0}, {"grpc-struct", structs}, {"grpc-json", proto_json}};

}  // namespace
}  // namespace baton::fuzz

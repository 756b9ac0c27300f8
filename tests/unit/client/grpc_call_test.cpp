#include "client/grpc_call.h"

#include <doctest/doctest.h>

namespace baton::client::grpc_call_test {
namespace {

// The gRPC call made from a REST client's request, as "GetTask {...}", or the error.
std::string call_of(task::ProtocolVersion version, const protocol::a2a::ClientRequest& request,
                    const std::string& tenant = {}) {
  const auto call = method_call(version, request, tenant);
  return call ? std::string(call->method->name) + " " + call->message : call.error().for_caller;
}

TEST_CASE("gRPC call: each REST request of a version becomes the equivalent call") {
  const auto v0_3 = task::ProtocolVersion::v0_3, v1_0 = task::ProtocolVersion::v1_0;
  const auto old = protocol::a2a::client_dialect(v0_3, protocol::Binding::rest);
  const auto now = protocol::a2a::client_dialect(v1_0, protocol::Binding::rest);
  CHECK(call_of(v0_3, old->write_get({{"a:b/c"}, 3, true, {}, {}})) ==
        R"(GetTask {"name":"tasks/a:b/c","historyLength":"3"})");
  CHECK(call_of(v0_3, old->write_cancel({"t"})) == R"(CancelTask {"name":"tasks/t"})");
  CHECK(call_of(v0_3, old->write_subscribe({"t"})) == R"(TaskSubscription {"name":"tasks/t"})");
  CHECK(call_of(v1_0, now->write_get({{"t"}, std::nullopt, true, {}, {}})) == R"(GetTask {"id":"t"})");
  CHECK(call_of(v1_0, now->write_cancel({"t"}), "acme") == R"(CancelTask {"tenant":"acme","id":"t"})");
  CHECK(call_of(v1_0, now->write_subscribe({"t"})) == R"(SubscribeToTask {"id":"t"})");
  protocol::a2a::ListQuery list;
  list.context.value = "a b&c";
  list.artifacts = true;
  CHECK(call_of(v1_0, now->write_list(list).value()) ==
        R"(ListTasks {"contextId":"a b&c","historyLength":"0","includeArtifacts":true})");
  const auto body =
      protocol::a2a::ClientRequest{"POST", "/message:stream", R"({"message":{"messageId":"m"}})"};
  CHECK(call_of(v1_0, body) == R"(SendStreamingMessage {"message":{"messageId":"m"}})");
  CHECK(call_of(v1_0, body, "acme") ==
        R"(SendStreamingMessage {"tenant":"acme","message":{"messageId":"m"}})");
  CHECK(call_of(v0_3, {"POST", "/v1/message:send", "{}"}) == "SendMessage {}");
  CHECK(call_of(v1_0, {"GET", "/tasks/t/pushNotificationConfigs", {}}) ==
        "gRPC does not support this operation");
  CHECK(protocol::grpc::find_method("/lf.a2a.v1.A2AService/GetTask")->path_of_call() ==
        "/lf.a2a.v1.A2AService/GetTask");
}

TEST_CASE("gRPC files: for servers with text in place of bytes they are encoded again, and decoded back") {
  const std::string plain =
      R"({"message":{"messageId":"m","content":[{"file":{"fileWithBytes":"AP8=","name":"f"}},{"data":{"data":{"fileWithBytes":"AP8="}}},{"file":{"fileWithUri":"http://x/"}}],"metadata":{"fileWithBytes":"AP8="}}})";
  const std::string as_text =
      R"({"message":{"messageId":"m","content":[{"file":{"fileWithBytes":"QVA4PQ==","name":"f"}},{"data":{"data":{"fileWithBytes":"AP8="}}},{"file":{"fileWithUri":"http://x/"}}],"metadata":{"fileWithBytes":"AP8="}}})";
  CHECK(files_as_text(plain).value() == as_text);
  CHECK(files_of_text(as_text).value() == plain);
  CHECK_FALSE(files_of_text(R"({"file":{"fileWithBytes":"AP8="}})"));  // bytes, not text
  CHECK_FALSE(files_as_text(R"({"file":{"fileWithBytes":"?"}})"));
}

}  // namespace
}  // namespace baton::client::grpc_call_test

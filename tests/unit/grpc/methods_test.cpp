#include "grpc/methods.h"

#include <doctest/doctest.h>

namespace baton::grpc::methods_test {
namespace {

TEST_CASE("gRPC methods: a path names one method of one version or none") {
  const Method* old = find_method("/a2a.v1.A2AService/GetTask");
  const Method* now = find_method("/lf.a2a.v1.A2AService/GetTask");
  REQUIRE(old);
  REQUIRE(now);
  CHECK(old->version == task::ProtocolVersion::v0_3);
  CHECK(now->version == task::ProtocolVersion::v1_0);
  CHECK(old->full(old->response) == "a2a.v1.Task");
  CHECK(now->full(now->response) == "lf.a2a.v1.Task");
  CHECK(now->full("google.protobuf.Empty") == "google.protobuf.Empty");
  for (const char* path :
       {"", "/", "a2a.v1.A2AService/GetTask", "/a2a.v1.A2AService/ListTasks", "/a2a.v1.A2AService/GetTasks",
        "/lf.a2a.v1.A2AService/GetAgentCard", "/a2a.v2.A2AService/GetTask", "/lf.a2a.v1.A2AServic/GetTask"}) {
    CAPTURE(path);
    CHECK(find_method(path) == nullptr);
  }
}

TEST_CASE("gRPC methods: the metadata of A2A become headers, and one names the agent") {
  const auto head = head_of({{"authorization", "Bearer x"},
                             {"a2a-version", "1.0"},
                             {"x-a2a-extensions", "u"},
                             {"host", "elsewhere"},
                             {"baton-agent", "table report"}},
                            "desk");
  REQUIRE(head);
  CHECK(head->header("Authorization") == "Bearer x");
  CHECK(head->header("A2A-Version") == "1.0");
  CHECK(head->header("X-A2A-Extensions") == "u");
  CHECK(head->header("Host").empty());
  CHECK(head->raw_path == "/agents/table report");
  CHECK(head_of({}, "desk")->path == "/agents/desk");
  for (const auto& refused : {head_of({{"baton-agent", "a/tasks"}}, "desk"), head_of({}, "")}) {
    REQUIRE(!refused);
    CHECK(refused.error().code == base::ErrorCode::not_found);
  }
}

// "GetTask {...}" of the call that a request of the REST client becomes.
std::string call_of(task::ProtocolVersion version, const wire::a2a::ClientRequest& request,
                    const std::string& tenant = {}) {
  const auto call = method_call(version, request, tenant);
  return call ? std::string(call->method->name) + " " + call->message : call.error().for_caller;
}

TEST_CASE("gRPC methods: what the REST client of a version writes becomes the call that it stands for") {
  const auto v0_3 = task::ProtocolVersion::v0_3, v1_0 = task::ProtocolVersion::v1_0;
  const auto old = wire::a2a::client_dialect(v0_3, wire::Binding::rest);
  const auto now = wire::a2a::client_dialect(v1_0, wire::Binding::rest);
  CHECK(call_of(v0_3, old->write_get({{"a:b/c"}, 3, true, {}, {}})) ==
        R"(GetTask {"name":"tasks/a:b/c","historyLength":"3"})");
  CHECK(call_of(v0_3, old->write_cancel({"t"})) == R"(CancelTask {"name":"tasks/t"})");
  CHECK(call_of(v0_3, old->write_subscribe({"t"})) == R"(TaskSubscription {"name":"tasks/t"})");
  CHECK(call_of(v1_0, now->write_get({{"t"}, std::nullopt, true, {}, {}})) == R"(GetTask {"id":"t"})");
  CHECK(call_of(v1_0, now->write_cancel({"t"}), "acme") == R"(CancelTask {"tenant":"acme","id":"t"})");
  CHECK(call_of(v1_0, now->write_subscribe({"t"})) == R"(SubscribeToTask {"id":"t"})");
  wire::a2a::ListQuery list;
  list.context.value = "a b&c";
  list.artifacts = true;
  CHECK(call_of(v1_0, now->write_list(list).value()) ==
        R"(ListTasks {"contextId":"a b&c","historyLength":"0","includeArtifacts":true})");
  const auto body = wire::a2a::ClientRequest{"POST", "/message:stream", R"({"message":{"messageId":"m"}})"};
  CHECK(call_of(v1_0, body) == R"(SendStreamingMessage {"message":{"messageId":"m"}})");
  CHECK(call_of(v1_0, body, "acme") ==
        R"(SendStreamingMessage {"tenant":"acme","message":{"messageId":"m"}})");
  CHECK(call_of(v0_3, {"POST", "/v1/message:send", "{}"}) == "SendMessage {}");
  CHECK(call_of(v1_0, {"GET", "/tasks/t/pushNotificationConfigs", {}}) == "gRPC has no call for this");
  CHECK(find_method("/lf.a2a.v1.A2AService/GetTask")->path_of_call() == "/lf.a2a.v1.A2AService/GetTask");
}

}  // namespace
}  // namespace baton::grpc::methods_test

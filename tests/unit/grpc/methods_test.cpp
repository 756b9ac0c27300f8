#include "grpc/methods.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace baton::grpc::methods_test {
namespace {

using server::http::Request;

base::Result<Request> request_of(std::string_view path, std::string json, const Metadata& metadata = {}) {
  const Method* method = find_method(path);
  REQUIRE(method);
  return rest_request(*method, std::move(json), metadata, "desk");
}

std::string line(std::string_view path, std::string json) {
  const auto request = request_of(path, std::move(json));
  return request ? request->method + " " + request->raw_path : request.error().for_caller;
}

TEST_CASE("gRPC methods: a path names one method of one generation or none") {
  const Method* old = find_method("/a2a.v1.A2AService/GetTask");
  const Method* now = find_method("/lf.a2a.v1.A2AService/GetTask");
  REQUIRE(old);
  REQUIRE(now);
  CHECK(old->generation == task::Generation::v0_3);
  CHECK(now->generation == task::Generation::v1_0);
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

TEST_CASE("gRPC methods: 0.3 names resources, and becomes the paths below /v1") {
  const std::string service = "/a2a.v1.A2AService/";
  CHECK(line(service + "SendMessage", "{}") == "POST /agents/desk/v1/message:send");
  CHECK(line(service + "GetTask", R"({"name":"tasks/t1"})") == "GET /agents/desk/v1/tasks/t1");
  CHECK(line(service + "CancelTask", R"({"name":"tasks/t1"})") == "POST /agents/desk/v1/tasks/t1:cancel");
  CHECK(line(service + "TaskSubscription", R"({"name":"tasks/a:b/"})") == "name: must be tasks/{id}");
  CHECK(line(service + "TaskSubscription", R"({"name":"tasks/a:b"})") ==
        "POST /agents/desk/v1/tasks/a%3Ab:subscribe");
  const std::string configs = "/agents/desk/v1/tasks/t/pushNotificationConfigs";
  CHECK(line(service + "CreateTaskPushNotificationConfig", R"({"parent":"tasks/t","config":{}})") ==
        "POST " + configs);
  CHECK(line(service + "ListTaskPushNotificationConfig", R"({"parent":"tasks/t/pushNotificationConfigs"})") ==
        "GET " + configs);
  CHECK(line(service + "DeleteTaskPushNotificationConfig",
             R"({"name":"tasks/t/pushNotificationConfigs/c"})") == "DELETE " + configs + "/c");
  CHECK(line(service + "GetTaskPushNotificationConfig", R"({"name":"tasks/t/pushNotificationConfigs/"})") ==
        "name: must be tasks/{id}/pushNotificationConfigs/{id}");
  CHECK(line(service + "GetAgentCard", "{}") == "GET /agents/desk/v1/card");
  for (const char* name : {"t1", "tasks", "tasks/", "tasks/t/other", "tasks/t/pushNotificationConfigs/a/b"}) {
    CAPTURE(name);
    CHECK(line(service + "GetTask", R"({"name":")" + std::string(name) + R"("})") ==
          "name: must be tasks/{id}");
  }
}

TEST_CASE("gRPC methods: 1.0 has ids, and what the path does not say is in the query") {
  const std::string service = "/lf.a2a.v1.A2AService/";
  CHECK(line(service + "CancelTask", R"({"id":"a/b:cancel"})") ==
        "POST /agents/desk/tasks/a%2Fb%3Acancel:cancel");
  CHECK(line(service + "GetTask", "{}") == "id: must not be empty");
  CHECK(line(service + "GetTaskPushNotificationConfig", R"({"id":"c"})") == "taskId: must not be empty");
  CHECK(line(service + "GetTaskPushNotificationConfig", R"({"taskId":"t"})") == "id: must not be empty");
  CHECK(line(service + "GetTaskPushNotificationConfig", R"({"taskId":"t","id":"c"})") ==
        "GET /agents/desk/tasks/t/pushNotificationConfigs/c");
  CHECK(line(service + "GetExtendedAgentCard", "{}") == "GET /agents/desk/extendedAgentCard");
  const auto list =
      request_of(service + "ListTasks",
                 R"({"tenant":"x","status":"TASK_STATE_WORKING","pageSize":5,"includeArtifacts":false})");
  REQUIRE(list);
  CHECK(list->path == "/agents/desk/tasks");
  CHECK(list->body.empty());
  using Query = std::vector<std::pair<std::string, std::string>>;
  CHECK(list->query == Query{{"tenant", "x"},
                             {"status", "TASK_STATE_WORKING"},
                             {"pageSize", "5"},
                             {"includeArtifacts", "false"}});
}

TEST_CASE("gRPC methods: a message that has a body is passed on whole") {
  const std::string json = R"({"taskId":"t","url":"http://x/"})";
  const auto request = request_of("/lf.a2a.v1.A2AService/CreateTaskPushNotificationConfig", json);
  REQUIRE(request);
  CHECK(request->body == json);
  CHECK(request->query.empty());
  CHECK(request->header("Content-Type") == "application/json");
}

TEST_CASE("gRPC methods: the metadata of A2A become headers, and one names the agent") {
  const std::string path = "/lf.a2a.v1.A2AService/ListTasks";
  const auto request = request_of(path, "{}",
                                  {{"authorization", "Bearer x"},
                                   {"a2a-version", "1.0"},
                                   {"x-a2a-extensions", "u"},
                                   {"host", "elsewhere"},
                                   {"baton-agent", "table report"}});
  REQUIRE(request);
  CHECK(request->header("Authorization") == "Bearer x");
  CHECK(request->header("A2A-Version") == "1.0");
  CHECK(request->header("X-A2A-Extensions") == "u");
  CHECK(request->header("Host").empty());
  CHECK(request->raw_path == "/agents/table report/tasks");
  const auto refused = request_of(path, "{}", {{"baton-agent", "a/tasks"}});
  REQUIRE(!refused);
  CHECK(refused.error().code == base::ErrorCode::not_found);
}

// "GetTask {...}" of the call that a request of the REST client becomes.
std::string call_of(task::Generation generation, const wire::a2a::ClientRequest& request,
                    const std::string& tenant = {}) {
  const auto call = method_call(generation, request, tenant);
  return call ? std::string(call->method->name) + " " + call->message : call.error().for_caller;
}

TEST_CASE("gRPC methods: what the REST client of a version writes becomes the call that it stands for") {
  const auto v0_3 = task::Generation::v0_3, v1_0 = task::Generation::v1_0;
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

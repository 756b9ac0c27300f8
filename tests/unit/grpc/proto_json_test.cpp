#include "grpc/proto_json.h"

#include <doctest/doctest.h>

#include "wire/json/document.h"

namespace baton::grpc::proto_json_test {
namespace {

// The JSON that comes back after a way through bytes.
std::string there_and_back(const std::string& message, const std::string& json) {
  const ProtoJson messages;
  const auto bytes = messages.to_bytes(message, json);
  REQUIRE(bytes.has_value());
  const auto back = messages.to_json(message, *bytes);
  REQUIRE(back.has_value());
  return *back;
}

TEST_CASE("ProtoJSON: an old task and a new one come back as they were") {
  const std::string old =
      R"({"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_CANCELLED","message":{"messageId":"m","role":"ROLE_AGENT","content":[{"data":{"data":{"n":null,"d":1.5}}}]},"timestamp":"2025-05-01T10:00:00Z"},"artifacts":[{"artifactId":"a1","parts":[{"file":{"fileWithBytes":"aGk=","mimeType":"text/plain","name":"a.txt"}}]}]})";
  CHECK(there_and_back("a2a.v1.Task", old) == old);
  const std::string now =
      R"({"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_CANCELED","timestamp":"2025-05-01T10:00:00.500Z"},"artifacts":[{"artifactId":"a1","parts":[{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"},{"data":null},{"data":[1,"x",{"y":true}]}]}]})";
  CHECK(there_and_back("lf.a2a.v1.Task", now) == now);
}

TEST_CASE("ProtoJSON: what a message does not have is left out, what is no such message is refused") {
  CHECK(there_and_back("lf.a2a.v1.GetTaskRequest", R"({"id":"t","historyLength":0,"else":{"a":[1]}})") ==
        R"({"id":"t","historyLength":0})");
  CHECK(there_and_back("google.protobuf.Empty", "{}") == "{}");
  const ProtoJson messages;
  CHECK(!messages.to_bytes("lf.a2a.v1.Task", R"({"id":[1]})"));
  CHECK(!messages.to_bytes("lf.a2a.v1.Task", "no JSON"));
  CHECK(!messages.to_json("lf.a2a.v1.Task", "\xff\xff\xff"));
  CHECK(!messages.to_json("lf.a2a.v1.Task",
                          "\x0a\x05"
                          "abc"));                                 // cut off
  CHECK(!messages.to_json("lf.a2a.v1.Task", "\x0a\x02\xc3\x28"));  // not UTF-8
  CHECK(!messages.to_json("lf.a2a.v1.Nothing", ""));
}

TEST_CASE("ProtoJSON: a value that protobuf refuses leaves its task readable, and the list with it") {
  const auto task = [](const std::string& data) {
    return R"({"id":"t","history":[{"messageId":"m","parts":[{"data":)" + data +
           R"(},{"text":"\u0001\"é"}]}]})";
  };
  const auto is_said_as = [&](const std::string& data, const std::string& said) {
    CAPTURE(data.substr(0, 40));
    CHECK(there_and_back("lf.a2a.v1.Task", task(data)) == task(said));
    CHECK(there_and_back("lf.a2a.v1.ListTasksResponse", R"({"tasks":[)" + task(data) + "]}") ==
          R"({"tasks":[)" + task(said) + "]}");
  };
  is_said_as(R"({"a":1,"a":2})", R"({"a":2})");
  is_said_as(R"({"a":{"b":1},"c":[null,true],"\u0061":[3]})", R"({"c":[null,true],"a":[3]})");
  is_said_as("1e999", R"("1e999")");
  is_said_as(R"([-1e999,1.5,{"n":1e999}])", R"(["-1e999",1.5,{"n":"1e999"}])");
  const std::string digits(400, '9');
  is_said_as(digits, '"' + digits + '"');
  is_said_as("[1e-999,1e999]", R"([0,"1e999"])");
}

TEST_CASE("ProtoJSON: what is nested deeper than protobuf goes becomes a string inside") {
  std::string deep = "1";
  for (int i = 0; i < 99; ++i) deep = R"({"a":)" + deep + "}";
  const std::string said =
      there_and_back("lf.a2a.v1.Task", R"({"history":[{"parts":[{"data":)" + deep + "}]}]}");
  CHECK(said.find(R"({"a":{"a":"{\"a\":{\"a\":)") != std::string::npos);
}

TEST_CASE("ProtoJSON: a failure does not tell what the text was") {
  const auto failed = ProtoJson().to_bytes("lf.a2a.v1.Task", R"({"id":["secret"]})");
  REQUIRE(!failed);
  CHECK(failed.error().for_log == "no lf.a2a.v1.Task");
  CHECK(failed.error().for_caller.find("secret") == std::string::npos);
}

TEST_CASE("ProtoJSON: the details of a status are messages of their own type") {
  const std::string status =
      R"({"code":5,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R","domain":"d","metadata":{"k":"v"}},{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"f","description":"x"}]}]})";
  CHECK(there_and_back("google.rpc.Status", status) == status);
}

}  // namespace
}  // namespace baton::grpc::proto_json_test

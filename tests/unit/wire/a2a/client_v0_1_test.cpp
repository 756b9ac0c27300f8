#include "wire/a2a/client_v0_1.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace baton::wire::v0_1_client {
namespace {

using task::State;

Document parse(std::string_view text) {
  auto document = Document::parse_view(text);
  REQUIRE(document.has_value());
  return std::move(*document);
}

template <class T>
T update_of(std::string_view text) {
  const Document document = parse(text);
  auto update = read_update(document.root());
  REQUIRE(update.has_value());
  REQUIRE(std::holds_alternative<T>(*update));
  return std::get<T>(*update);
}

TEST_CASE("A2A 0.1 client: a send carries every kind of part") {
  SendParams params;
  params.task.value = "t1";
  params.message.parts = {
      task::Part::of_text("hi \"you\""), task::Part::of_data(task::Json{R"({"a": 1})"}),
      task::Part{task::Part::Kind::raw, "aGk=", "a.txt", "text/plain", {}},
      task::Part{task::Part::Kind::url, "file:///x", "", "text/csv", task::Json{R"({"k":2})"}}};
  CHECK(
      write_send("tasks/send", 7, params) ==
      R"({"jsonrpc":"2.0","id":7,"method":"tasks/send","params":{"id":"t1","message":{"role":"user","parts":[)"
      R"({"type":"text","text":"hi \"you\""},{"type":"data","data":{"a": 1}},)"
      R"({"type":"file","file":{"name":"a.txt","mimeType":"text/plain","bytes":"aGk="}},)"
      R"({"type":"file","file":{"mimeType":"text/csv","uri":"file:///x"},"metadata":{"k":2}}]}}})");
}

TEST_CASE("A2A 0.1 client: session, history and metadata go along only where given") {
  SendParams params;
  params.task.value = "t1";
  params.session.value = "s1";
  params.message.parts = {task::Part::of_text("x")};
  params.history = 3;
  params.metadata.text = R"({"m":1})";
  CHECK(
      write_send("tasks/sendSubscribe", 1, params) ==
      R"({"jsonrpc":"2.0","id":1,"method":"tasks/sendSubscribe","params":{"id":"t1","sessionId":"s1",)"
      R"("message":{"role":"user","parts":[{"type":"text","text":"x"}]},"historyLength":3,"metadata":{"m":1}}})");
  CHECK(write_task_request("tasks/get", 2, {"t1"}, 5) ==
        R"({"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t1","historyLength":5}})");
  CHECK(write_task_request("tasks/cancel", 2, {"t1"}) ==
        R"({"jsonrpc":"2.0","id":2,"method":"tasks/cancel","params":{"id":"t1"}})");
}

TEST_CASE("A2A 0.1 client: an answer is a result or an error, never neither") {
  const Document result = parse(R"({"jsonrpc":"2.0","id":1,"result":{"id":"t"}})");
  const auto good = read_answer(result.root());
  REQUIRE(good.has_value());
  CHECK_FALSE(good->error.has_value());
  CHECK(good->result["id"].string() == "t");

  const Document error = parse(R"({"id":null,"error":{"code":-32001,"message":"Task not found"}})");
  const auto bad = read_answer(error.root());
  REQUIRE(bad.has_value());
  REQUIRE(bad->error.has_value());
  CHECK(bad->error->code == kTaskNotFound);
  CHECK(bad->error->message == "Task not found");

  for (const char* text : {"[]", "5", "{}", R"({"error":"x"})", R"({"error":{"code":"x"}})"}) {
    CAPTURE(text);
    const Document document = parse(text);
    CHECK_FALSE(read_answer(document.root()).has_value());
  }
}

TEST_CASE("A2A 0.1 client: a status event is read with message, final and metadata") {
  const auto update = update_of<StatusUpdate>(
      R"({"id":"t1","status":{"state":"input-required","timestamp":"2025-04-02T16:59:25.331844",
          "message":{"role":"agent","parts":[{"type":"text","text":"which?"}]}},"final":true,"metadata":{"p": 1}})");
  CHECK(update.task.value == "t1");
  CHECK(update.status.state == State::input_required);
  REQUIRE(update.status.message.has_value());
  CHECK(task::text_of(*update.status.message) == "which?");
  CHECK(update.final);
  CHECK(update.metadata.text == R"({"p": 1})");
}

TEST_CASE("A2A 0.1 client: every state has a meaning, an unknown one is a failure") {
  const std::vector<std::pair<std::string, State>> table{
      {"submitted", State::submitted}, {"working", State::working}, {"completed", State::completed},
      {"canceled", State::canceled},   {"failed", State::failed},   {"input-required", State::input_required},
      {"unknown", State::failed},      {"weird", State::failed},
  };
  for (const auto& [name, state] : table) {
    CAPTURE(name);
    CHECK(update_of<StatusUpdate>(R"({"id":"t","status":{"state":")" + name + R"("}})").status.state ==
          state);
  }
}

TEST_CASE("A2A 0.1 client: an artifact event is read with its index and chunk flags") {
  const auto update = update_of<ArtifactUpdate>(
      R"({"id":"t1","artifact":{"index":2,"name":"chart","description":"d","append":true,"lastChunk":true,
          "metadata":{"m":1},"parts":[{"type":"file","file":{"name":"c.svg","mimeType":"image/svg+xml","bytes":"aGk"}},
          {"type":"file","file":{"uri":"https://x/y"}},{"type":"data","data":[1,2]}]}})");
  CHECK(update.artifact.ordinal == 2);
  CHECK(update.artifact.name == "chart");
  CHECK(update.append);
  CHECK(update.last_chunk);
  REQUIRE(update.artifact.parts.size() == 3);
  CHECK(update.artifact.parts[0].kind == task::Part::Kind::raw);
  CHECK(update.artifact.parts[0].content == "aGk=");
  CHECK(update.artifact.parts[0].media_type == "image/svg+xml");
  CHECK(update.artifact.parts[1].kind == task::Part::Kind::url);
  CHECK(update.artifact.parts[2].content == "[1,2]");
}

TEST_CASE("A2A 0.1 client: shapes that only hand-written servers send are understood") {
  const auto message = update_of<StatusUpdate>(
      R"({"id":1,"status":{"state":"working","message":{"data":[{"kind":"text","text":"a"},{"text":"b"}]}}})");
  CHECK(message.task.value == "1");
  REQUIRE(message.status.message.has_value());
  CHECK(message.status.message->role == task::Role::agent);
  CHECK(task::text_of(*message.status.message) == "a\nb");

  const auto file = update_of<ArtifactUpdate>(
      R"({"id":"t","artifact":{"parts":[{"type":"file","file":{"mimeType":"image/png","data":"aGk="}}]}})");
  CHECK(file.artifact.parts.at(0).content == "aGk=");
  CHECK(file.artifact.ordinal == 0);
  CHECK_FALSE(file.append);
}

TEST_CASE("A2A 0.1 client: a task is told from an event by what only a task has") {
  const auto task = update_of<task::Task>(
      R"({"id":"t1","sessionId":"s1","status":{"state":"completed"},"metadata":{},
          "artifacts":[{"index":1,"parts":[{"type":"text","text":"done"}]}],
          "history":[{"role":"user","parts":[{"type":"text","text":"do"}]}]})");
  CHECK(task.context.value == "s1");
  CHECK(task.status.state == State::completed);
  REQUIRE(task.artifacts.size() == 1);
  CHECK(task.artifacts[0].ordinal == 1);
  REQUIRE(task.history.size() == 1);
  CHECK(task.history[0].role == task::Role::user);
}

TEST_CASE("A2A 0.1 client: what makes no sense is refused with the member's name") {
  const std::vector<std::pair<std::string, std::string>> table{
      {R"([])", "not an object"},
      {R"({"id":"t"})", "status: must be an object"},
      {R"({"id":"t","status":{}})", "status.state"},
      {R"({"id":"t","status":{"state":"working","message":5}})", "status.message: must be an object"},
      {R"({"id":"t","status":{"state":"working","message":{}}})", "status.message.parts"},
      {R"({"id":"t","artifact":[]})", "artifact: must be an object"},
      {R"({"id":"t","artifact":{"parts":[5]}})", "artifact.parts[0]: must be an object"},
      {R"({"id":"t","artifact":{"parts":[{"text":"a"},{}]}})",
       "artifact.parts[1]: must have text, file or data"},
      {R"({"id":"t","artifact":{"parts":[{"file":{}}]}})", "must have bytes or uri"},
      {R"({"id":"t","artifact":{"parts":[{"file":{"bytes":"*"}}]}})", "must be base64"},
      {R"({"id":"t","artifact":{"index":-1,"parts":[]}})", "artifact.index"},
      {R"({"id":"t","sessionId":"s","status":{"state":"working"},"artifacts":[{}]})",
       "artifacts[0]: artifact.parts"},
      {R"({"id":"t","sessionId":"s","status":{"state":"working"},"history":[3]})", "history[0]: message"},
  };
  for (const auto& [text, problem] : table) {
    CAPTURE(text);
    const Document document = parse(text);
    const auto update = read_update(document.root());
    REQUIRE_FALSE(update.has_value());
    CAPTURE(update.error().for_caller);
    CHECK(update.error().for_caller.find(problem) != std::string::npos);
  }
}

}  // namespace
}  // namespace baton::wire::v0_1_client

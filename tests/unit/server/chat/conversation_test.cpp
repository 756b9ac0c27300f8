#include "server/chat/conversation.h"

#include <doctest/doctest.h>

namespace conversation_test {

using namespace baton;
using base::ErrorCode;
using protocol::chat::RunRequest;
using server::chat::submissions_for;
using server::chat::WaitingTask;

namespace {

WaitingTask asking(const std::string& task, const std::string& ask, const std::string& schema = {}) {
  WaitingTask waiting;
  waiting.head.id.value = task;
  waiting.head.ask = ask;
  waiting.question.id = ask;
  waiting.question.schema.text = schema;
  return waiting;
}

WaitingTask calling(const std::string& task, const std::string& call) {
  WaitingTask waiting = asking(task, call);
  waiting.question.for_tool = true;
  return waiting;
}

RunRequest saying(const std::string& text) {
  RunRequest request;
  request.message.parts.push_back(task::Part::of_text(text));
  return request;
}

RunRequest answering(const std::string& ask, const std::string& payload) {
  RunRequest request;
  request.answers.push_back({ask, false, {payload}});
  return request;
}

RunRequest with_result(const std::string& call, const std::string& content) {
  RunRequest request;
  request.results.push_back({call, {content}, {}});
  return request;
}

std::vector<task::Submission> good(RunRequest request, const std::vector<WaitingTask>& waiting,
                                   bool in_words = false) {
  auto submissions = submissions_for(request, waiting, in_words);
  REQUIRE(submissions);
  return std::move(*submissions);
}

std::string refused(RunRequest request, const std::vector<WaitingTask>& waiting) {
  const auto submissions = submissions_for(request, waiting, false);
  REQUIRE_FALSE(submissions);
  CHECK(submissions.error().code == ErrorCode::conflict);
  return submissions.error().for_caller;
}

}  // namespace

TEST_CASE("Submissions: a message begins a new task if no task waits, or only one for a client's tool") {
  for (const auto& waiting : {std::vector<WaitingTask>{}, {calling("t1", "c1")}}) {
    const auto submissions = good(saying("hi"), waiting);
    REQUIRE(submissions.size() == 1);
    CHECK(submissions[0].task.empty());
    CHECK(submissions[0].message.parts[0].content == "hi");
  }
}

TEST_CASE("Submissions: a message answers a question only if the protocol allows that") {
  const auto submissions = good(saying("yes"), {calling("t2", "c1"), asking("t1", "a1")}, true);
  REQUIRE(submissions.size() == 1);
  CHECK(submissions[0].task.value == "t1");
  CHECK(refused(saying("yes"), {asking("t1", "a1")}).find("a1") != std::string::npos);
}

TEST_CASE("Submissions: a question that the client's history tells without an id is in it once") {
  WaitingTask waiting = asking("t1", "a1");
  waiting.question.prompt = "which?";
  waiting.message = {{"m1"}, task::Role::agent, {task::Part::of_text("which?")}, {}, {}, {}};
  const auto told = [&](const char* words, const std::string& id) {
    RunRequest request = saying("blue");
    request.history.emplace().push_back({{id}, task::Role::agent, {task::Part::of_text(words)}, {}, {}, {}});
    REQUIRE(submissions_for(request, {waiting}, true));
    std::string all;
    for (const task::Message& message : *request.history) all += task::text_of(message) + "|";
    return all;
  };
  CHECK(told("which?", "") == "which?|");
  CHECK(told("Let me see.\n\nwhich?", "") == "Let me see.|which?|");
  CHECK(told("something else", "") == "something else|which?|");
  CHECK(told("which?", "m1") == "which?|");
  CHECK(told("which?", "m0") == "which?|which?|");
}

TEST_CASE("Submissions: an answer goes to the task that asked, with a string as text and others as data") {
  const auto data = good(answering("a1", R"({"approved":true})"), {asking("t1", "a1")});
  CHECK(data[0].task.value == "t1");
  CHECK(data[0].message.parts[0].kind == task::Part::Kind::data);
  CHECK(data[0].message.parts[0].content == R"({"approved":true})");
  const auto text = good(answering("a1", R"("yes")"), {asking("t1", "a1")});
  CHECK(text[0].message.parts[0] == task::Part::of_text("yes"));

  RunRequest cancelled;
  cancelled.answers.push_back({"a1", true, {}});
  CHECK(good(cancelled, {asking("t1", "a1", "{}")})[0].message.parts[0].content == R"({"cancelled":true})");
}

TEST_CASE("Submissions: answers must match the open questions, all of them") {
  const std::string schema = R"({"type":"object","required":["approved"]})";
  CHECK(refused(answering("a2", "{}"), {asking("t1", "a1")}).find("a2") != std::string::npos);
  CHECK(refused(answering("a1", "{}"), {calling("t1", "a1")}).find("a1") != std::string::npos);
  CHECK(refused(answering("a1", "{}"), {asking("t1", "a1"), asking("t2", "a2")}).find("a2") !=
        std::string::npos);
  // The engine checks the schema. With a schema every payload is passed on as data.
  for (const char* payload : {R"({"approved":false})", R"("yes")"}) {
    const auto checked = good(answering("a1", payload), {asking("t1", "a1", schema)});
    REQUIRE(checked.size() == 1);
    CHECK(checked[0].message.parts[0] == task::Part::of_data({payload}));
  }

  RunRequest both = answering("a1", "1");
  both.answers.push_back({"a2", false, {"2"}});
  const auto submissions = good(both, {asking("t1", "a1"), asking("t2", "a2"), calling("t3", "c1")});
  REQUIRE(submissions.size() == 2);
  CHECK(submissions[1].task.value == "t2");
}

TEST_CASE("Submissions: a call or question with two results is refused before any of them is taken") {
  for (const WaitingTask& waiting : {calling("t1", "c1"), asking("t1", "c1")}) {
    RunRequest request = with_result("c1", R"("blue")");
    request.results.push_back(request.results.front());
    CHECK(refused(request, {waiting}) == "the tool call c1 has more than one result");
  }
  RunRequest both = with_result("c1", "1");
  both.results.push_back({"c2", {"2"}, {}});
  both.results.push_back({"unknown", {"3"}, {}});
  CHECK(good(both, {calling("t1", "c1"), asking("t2", "c2")}).size() == 2);
}

TEST_CASE("Submissions: a question with two answers is refused before any of them is taken") {
  RunRequest request = answering("a1", "1");
  request.answers.push_back({"a1", false, {"2"}});
  CHECK(refused(request, {asking("t1", "a1")}) == "the interrupt a1 has more than one answer");
}

TEST_CASE("Submissions: a tool's result goes to the task that called it, together with the message") {
  RunRequest request = with_result("c1", R"("blue")");
  request.message.parts.push_back(task::Part::of_text("there you are"));
  const auto submissions = good(request, {asking("t2", "a1"), calling("t1", "c1")});
  REQUIRE(submissions.size() == 1);
  CHECK(submissions[0].task.value == "t1");
  REQUIRE(submissions[0].message.parts.size() == 2);
  CHECK(submissions[0].message.parts[0].content == R"({"toolResult":{"id":"c1","content":"blue"}})");
  CHECK(submissions[0].message.parts[1].content == "there you are");
}

TEST_CASE("Submissions: a question shown as a tool call is answered by the call's result") {
  const auto submissions = good(with_result("a1", R"("confirmed")"), {asking("t1", "a1")});
  CHECK(submissions[0].message.parts[0] == task::Part::of_text("confirmed"));
}

TEST_CASE("Submissions: a question shown as a tool call gets no answer if the call failed") {
  RunRequest request = with_result("a1", R"("")");
  request.results.front().error = "the page was closed";
  const auto submissions = good(std::move(request), {asking("t1", "a1")});
  CHECK(submissions[0].message.parts[0] == task::Part::of_data({R"({"cancelled":true})"}));
}

TEST_CASE("Submissions: the client's history gets the answered question, with its data") {
  WaitingTask waiting = asking("t1", "a1");
  waiting.message.id.value = "q1";
  waiting.message.parts = {task::Part::of_text("Shall I?"), task::Part::of_data({"{}"})};
  task::Message copy;
  copy.id.value = "q1";
  copy.parts = {task::Part::of_text("Shall I?")};

  RunRequest with_copy = answering("a1", "1");
  with_copy.history = {copy, task::Message{}};
  REQUIRE(submissions_for(with_copy, {waiting}, false));
  REQUIRE(with_copy.history->size() == 2);
  CHECK(with_copy.history->front() == waiting.message);

  RunRequest without = saying("yes");
  without.history.emplace();
  REQUIRE(submissions_for(without, {waiting}, true));
  CHECK(*without.history == std::vector{waiting.message});

  RunRequest of_tool = with_result("c1", "1");
  of_tool.history.emplace();
  WaitingTask call = calling("t1", "c1");
  call.message = waiting.message;
  REQUIRE(submissions_for(of_tool, {call}, false));
  CHECK(of_tool.history->empty());
}

TEST_CASE("Submissions: a message sent with an answer comes before the question in the history") {
  RunRequest request = answering("a1", "1");
  request.message.id.value = "m1";
  request.message.parts.push_back(task::Part::of_text("Delete it"));
  request.history.emplace();
  WaitingTask waiting = asking("t1", "a1");
  waiting.message.id.value = "q1";
  waiting.message.parts.push_back(task::Part::of_text("Shall I?"));
  CHECK(server::chat::answers_what_is_open(request, {waiting}));
  CHECK_FALSE(server::chat::answers_what_is_open(request, {calling("t1", "a1")}));
  const auto submissions = submissions_for(request, {waiting}, false);
  REQUIRE(submissions);
  CHECK(submissions->size() == 1);
  REQUIRE(request.history->size() == 2);
  CHECK(request.history->front().id.value == "m1");
  CHECK(request.history->back().id.value == "q1");
}

TEST_CASE("Submissions: a result that no task waits for is refused, unless a message comes with it") {
  CHECK(refused(with_result("c9", "1"), {calling("t1", "c1")}).find("c9") != std::string::npos);
  RunRequest request = with_result("c9", "1");
  request.message.parts.push_back(task::Part::of_text("hi"));
  const auto submissions = good(request, {});
  REQUIRE(submissions.size() == 1);
  CHECK(submissions[0].task.empty());
}

TEST_CASE("Submissions: a request without anything new submits nothing") {
  CHECK(good(RunRequest{}, {asking("t1", "a1")}).empty());
}

}  // namespace conversation_test

// How the two views show a run.
#include <doctest/doctest.h>

#include <algorithm>

#include "protocol/openai/names.h"
#include "protocol/openai/protocols.h"

namespace openai_views_test {

using namespace baton;
using json::Document;
using json::Value;
using protocol::chat::Frames;
using protocol::chat::RunFacts;
using task::EventBody;
using task::Part;
using task::State;

namespace {

using Lines = std::vector<std::string>;

task::Message message(task::Role role, std::vector<Part> parts, std::string metadata = {}) {
  return {{"m1"}, role, std::move(parts), {std::move(metadata)}, {}, {}};
}
EventBody asked(std::string metadata = {}) {
  return task::MessageAdded{message(task::Role::user, {Part::of_text("hi")}, std::move(metadata))};
}
EventBody status(State state, const char* text = nullptr, std::string ask = {}) {
  task::Status now{state, {}, {}};
  if (text != nullptr) now.message = message(task::Role::agent, {Part::of_text(text)});
  return task::StatusChanged{std::move(now), {}, std::move(ask)};
}
EventBody waits_for_tool() {
  task::Status now{State::input_required, {}, {}};
  now.message = message(task::Role::agent, {Part::of_data({R"({"toolCall":{"id":"c2"}})"})});
  return task::StatusChanged{std::move(now), {}, "c2"};
}
EventBody text(std::string piece, bool first = false, bool last = false) {
  return task::TextDelta{{"r1"}, 0, std::move(piece), first, last};
}
EventBody artifact(std::vector<Part> parts, bool append = false, bool last = true) {
  task::Artifact made;
  made.id.value = "a1";
  made.parts = std::move(parts);
  return task::ArtifactChunk{std::move(made), append, last};
}
Part file() {
  return {Part::Kind::raw, "aGk=", "a.zip", "application/zip", {}};
}

// A run of a new task: these events between its beginning and its end.
std::vector<EventBody> run(std::vector<EventBody> bodies, EventBody end = status(State::completed),
                           std::string metadata = {}) {
  std::vector<EventBody> all{status(State::submitted), asked(std::move(metadata)), status(State::working)};
  for (EventBody& body : bodies) all.push_back(std::move(body));
  all.push_back(std::move(end));
  return all;
}

Frames shown(const protocol::chat::Protocol& protocol, const std::vector<EventBody>& bodies, bool streams,
             std::string* now = nullptr, std::size_t has = 0) {
  RunFacts facts;
  facts.task.value = "t1";
  facts.conversation.value = "c1";
  facts.model = "echo";
  facts.files_url = "http://h/agents/echo";
  facts.streams = streams;
  const auto view = protocol.view(facts);
  Frames frames;
  frames.skip(static_cast<std::int64_t>(has));
  std::int64_t number = 0;
  for (const EventBody& body : bodies)
    view->show({{++number}, base::from_ms((1000 + number) * 1000), body}, frames);
  if (now != nullptr) view->show_now(*now);
  return frames;
}

Document parsed(const std::string& json) {
  auto document = Document::parse(json);
  REQUIRE_MESSAGE(document, json);
  return std::move(*document);
}

// ---- Responses.

// Checks what holds for every stream, and returns the types of its events.
Lines events(const std::vector<EventBody>& bodies) {
  const Frames frames = shown(protocol::openai::responses(), bodies, true);
  Lines types;
  for (const auto& frame : frames.all()) {
    const Document document = parsed(frame.data);
    CHECK(document.root()["type"].string() == frame.event);
    CHECK(document.root()["sequence_number"].integer() == std::ssize(types));
    types.push_back(frame.event.substr(frame.event.find('.') + 1));
  }
  return types;
}

std::string response(const std::vector<EventBody>& bodies) {
  const Frames whole = shown(protocol::openai::responses(), bodies, false);
  REQUIRE(whole.all().size() == 1);
  const std::string json = whole.all().back().data;
  const Frames streamed = shown(protocol::openai::responses(), bodies, true);
  const Document last = parsed(streamed.all().back().data);
  CHECK(last.root()["response"].raw() == json);
  return json;
}

// The types and texts of a response's output.
Lines output(const std::string& json) {
  const Document document = parsed(json);
  Lines lines;
  for (const Value item : document.root()["output"]) {
    std::string line = item["type"].str();
    for (const Value part : item["content"]) line += " " + part["text"].str();
    for (const Value part : item["summary"]) line += " " + part["text"].str();
    lines.push_back(line + item["name"].str() + item["arguments"].str());
  }
  return lines;
}

}  // namespace

TEST_CASE("OpenAI response: an answer in pieces has these events, numbered from 0") {
  const auto answer = run({text("Hel", true), text("lo"), text("", false, true)});
  CHECK(events(answer) == Lines{"created", "in_progress", "output_item.added", "content_part.added",
                                "output_text.delta", "output_text.delta", "output_text.done",
                                "content_part.done", "output_item.done", "completed"});
  CHECK(output(response(answer)) == Lines{"message Hello"});
}

TEST_CASE("OpenAI response: has every member that Open Responses requires, and repeats the request's") {
  const std::string given = R"({"openai":{"instructions":"Be brief.","temperature":0.5,"metadata":{"a":"b"},)"
                            R"("previous_response_id":"resp_x","background":true}})";
  const Document document = parsed(response(run({text("x", true, true)}, status(State::completed), given)));
  const Value root = document.root();
  for (const char* name : {"id",
                           "object",
                           "created_at",
                           "completed_at",
                           "status",
                           "incomplete_details",
                           "model",
                           "previous_response_id",
                           "instructions",
                           "output",
                           "error",
                           "tools",
                           "tool_choice",
                           "truncation",
                           "parallel_tool_calls",
                           "text",
                           "top_p",
                           "presence_penalty",
                           "frequency_penalty",
                           "top_logprobs",
                           "temperature",
                           "reasoning",
                           "usage",
                           "max_output_tokens",
                           "max_tool_calls",
                           "store",
                           "background",
                           "service_tier",
                           "metadata",
                           "safety_identifier",
                           "prompt_cache_key",
                           "user"}) {
    CHECK_MESSAGE(!root[name].missing(), name);
  }
  CHECK(root["id"].string() == "resp_t1");
  CHECK(root["status"].string() == "completed");
  CHECK(root["created_at"].integer() == 1001);
  CHECK(root["completed_at"].integer() == 1005);
  CHECK(root["instructions"].string() == "Be brief.");
  CHECK(root["temperature"].raw() == "0.5");
  CHECK(root["metadata"]["a"].string() == "b");
  CHECK(root["background"].boolean());
  CHECK(root["conversation"]["id"].string() == "c1");
  CHECK(root["text"]["format"]["type"].string() == "text");
}

TEST_CASE("OpenAI response: the objects of the request that it repeats are whole") {
  const auto repeated = [](const std::string& given) {
    const Document document =
        parsed(response(run({}, status(State::completed), R"({"openai":{)" + given + "}}")));
    return document.root()["text"].json().text + document.root()["reasoning"].json().text +
           document.root()["metadata"].json().text;
  };
  // n8n and LibreChat send an empty "text", Codex one without a format.
  CHECK(repeated(R"("text":{},"reasoning":null)") ==
        R"({"format":{"type":"text"}}{"effort":null,"summary":null}{})");
  CHECK(repeated(R"("text":{"verbosity":"low","format":null},"reasoning":{"effort":"high"})") ==
        R"({"verbosity":"low","format":{"type":"text"}}{"effort":"high","summary":null}{})");
  CHECK(repeated(R"("text":{"format":{"type":"json_object"}},"metadata":{"a":"b"})") ==
        R"({"format":{"type":"json_object"}}{"effort":null,"summary":null}{"a":"b"})");
}

TEST_CASE("OpenAI response: before it has stopped it shows its state without output") {
  std::string queued, working;
  shown(protocol::openai::responses(), {status(State::submitted), asked()}, false, &queued);
  shown(protocol::openai::responses(),
        {status(State::submitted), asked(), status(State::working), text("x", true, true)}, false, &working);
  CHECK(parsed(queued).root()["status"].string() == "queued");
  CHECK(parsed(working).root()["status"].string() == "in_progress");
  CHECK(parsed(working).root()["output"].raw() == "[]");
}

TEST_CASE("OpenAI response: artifacts are texts, data as JSON, and links to files") {
  const auto made = run({artifact({Part::of_text("one "), Part::of_data({R"({"n":1})"})}, false, false),
                         artifact({Part::of_text("two"), file()}, true)});
  const std::string json = response(made);
  CHECK(output(json) ==
        Lines{R"(message one  {"n":1} two [a.zip](http://h/agents/echo/tasks/t1/artifacts/a1/parts/3))"});
  const Document document = parsed(json);
  const Value link = document.root()["output"];
  std::size_t links = 0;
  for (const Value part : (*link.begin())["content"]) {
    for (const Value one : part["annotations"]) {
      CHECK(one["type"].string() == "url_citation");
      CHECK(one["url"].string() == "http://h/agents/echo/tasks/t1/artifacts/a1/parts/3");
      ++links;
    }
  }
  CHECK(links == 1);
}

TEST_CASE("OpenAI response: the place of a link is counted in characters") {
  Part named = file();
  named.filename = "gr\xC3\xBC\xC3\x9F\xF0\x9F\x98\x80.zip";  // 9 characters in 14 bytes
  const std::string json = response(run({artifact({named}, false, true)}));
  const Document document = parsed(json);
  const Value item = *document.root()["output"].begin();
  const Value part = *item["content"].begin();
  const Value link = *part["annotations"].begin();
  CHECK(link["start_index"].integer() == 0);
  CHECK(link["end_index"].integer() == std::ssize(part["text"].string()) - 5);
}

TEST_CASE("OpenAI response: what the agent takes back is not in the finished response") {
  const auto again = run({text("wrong", true), text("right", true, true)});
  CHECK(output(response(again)) == Lines{"message right"});
  const auto withdrawn =
      run({artifact({Part::of_text("old")}), task::Withdrawn{{{"a1"}}}, text("new", true, true)});
  CHECK(output(response(withdrawn)) == Lines{"message new"});
  events(again);
  events(withdrawn);
}

TEST_CASE("OpenAI response: reasoning and progress are items of reasoning") {
  const auto thinks = run({task::ReasoningDelta{{"s1"}, "hm", true, true}, status(State::working, "half"),
                           text("x", true, true)});
  CHECK(output(response(thinks)) == Lines{"reasoning hm", "reasoning half", "message x"});
  CHECK(std::ranges::count(events(thinks), "reasoning_summary_text.delta") == 2);
}

TEST_CASE("OpenAI response: a question is text, or a call of the client's tool of that name") {
  const auto waiting = status(State::input_required, "which colour?", "q1");
  CHECK(output(response(run({}, waiting))) == Lines{"message which colour?"});
  const std::string tools = R"({"openai":{"tools":[{"type":"function","name":"ask"}]}})";
  const auto called = run({}, waiting, tools);
  CHECK(output(response(called)) == Lines{R"(function_callask{"message":"which colour?"})"});
  const Document document = parsed(response(called));
  CHECK((*document.root()["output"].begin())["call_id"].string() == "call_t1_q1");
  CHECK(document.root()["status"].string() == "completed");
  const std::string forbids =
      R"({"openai":{"tools":[{"type":"function","name":"ask"}],"tool_choice":"none"}})";
  CHECK(output(response(run({}, waiting, forbids))) == Lines{"message which colour?"});
  // A login is never asked for by a tool.
  CHECK(output(response(run({}, status(State::auth_required, "log in", "q1"), tools))) ==
        Lines{"message log in"});
}

TEST_CASE("OpenAI response: the client's tools are called, the agent's own are not shown") {
  const auto calls =
      run({task::ToolCall{"c1", "own", {"{}"}, false}, task::ToolCall{"c2", "look", {R"({"n":1})"}, true}},
          waits_for_tool());
  CHECK(output(response(calls)) == Lines{R"(function_calllook{"n":1})"});
  CHECK(std::ranges::count(events(calls), "function_call_arguments.done") == 1);
}

TEST_CASE("OpenAI response: every end has its event and status") {
  const auto ends = [](EventBody end) {
    const auto all = run({}, std::move(end));
    const std::string json = response(all);
    return events(all).back() + " " + parsed(json).root()["status"].str() + " " +
           parsed(json).root()["error"]["message"].str();
  };
  CHECK(ends(status(State::completed)) == "completed completed ");
  CHECK(ends(status(State::failed, "no luck")) == "failed failed no luck");
  CHECK(ends(status(State::rejected, "no")) == "failed failed no");
  CHECK(ends(status(State::canceled)) == "incomplete cancelled ");
}

TEST_CASE("OpenAI response: frames that the client has are not written, and the others are the same") {
  const auto ends_well =
      run({text("a \"quoted\" word\n", true), task::ReasoningDelta{{"s1"}, "hm", true, false},
           text("", false, true), artifact({Part::of_text("one"), file()}, false, false)});
  const auto ends_badly = run({text("Hel", true)}, status(State::failed, "no luck"));
  for (const auto& bodies : {ends_well, ends_badly}) {
    const Frames all = shown(protocol::openai::responses(), bodies, true);
    for (std::size_t has = 0; has <= all.all().size(); ++has) {
      CAPTURE(has);
      const Frames rest = shown(protocol::openai::responses(), bodies, true, nullptr, has);
      REQUIRE(rest.all().size() == all.all().size() - has);
      for (std::size_t i = 0; i < rest.all().size(); ++i)
        CHECK(rest.all()[i].data == all.all()[has + i].data);
    }
  }
}

TEST_CASE("OpenAI response: an item at its end has the texts of all its pieces") {
  const auto frames = shown(
      protocol::openai::responses(),
      run({text("a \"b\"", true), text("\n\xc3\xa9", false, true), artifact({Part::of_text("x"), file()})}),
      true);
  Lines done;
  for (const auto& frame : frames.all()) {
    if (frame.event == "response.output_item.done")
      done.emplace_back(parsed(frame.data).root()["item"].raw());
  }
  const std::string head = R"(","type":"message","status":"completed","role":"assistant","content":[)";
  const std::string link = "http://h/agents/echo/tasks/t1/artifacts/a1/parts/1";
  CHECK(done == Lines{R"({"id":"msg_t1_4)" + head +
                          R"({"type":"output_text","text":"a \"b\"\né","annotations":[],"logprobs":[]}]})",
                      R"({"id":"msg_t1_6)" + head +
                          R"({"type":"output_text","text":"x","annotations":[],"logprobs":[]},)" +
                          R"({"type":"output_text","text":"[a.zip]()" + link + R"x()","annotations":[)x" +
                          R"({"type":"url_citation","url":")" + link + R"(","title":"a.zip",)" +
                          R"("start_index":0,"end_index":59}],"logprobs":[]}]})"});
}

TEST_CASE("OpenAI usage: the models' calls are added up") {
  task::Usage used{{R"({"inputTokens":3,"outputTokens":2,"reasoningTokens":1})"}};
  const auto twice = run({used, used});
  CHECK(parsed(response(twice)).root()["usage"].raw() ==
        R"({"input_tokens":6,"output_tokens":4,"total_tokens":10,)"
        R"("input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},)"
        R"("output_tokens_details":{"reasoning_tokens":2}})");
  const Frames frames = shown(protocol::openai::completions(true), twice, true);
  const Document last = parsed(frames.all().back().data);
  CHECK(last.root()["choices"].raw() == "[]");
  CHECK(last.root()["usage"]["total_tokens"].integer() == 10);
  CHECK(last.root()["usage"]["prompt_tokens_details"].raw() ==
        R"({"cached_tokens":0,"cache_write_tokens":0})");
}

// ---- Chat completions.

namespace {

// The deltas of a stream, and the reason of its end.
Lines deltas(const std::vector<EventBody>& bodies) {
  const Frames frames = shown(protocol::openai::completions(false), bodies, true);
  Lines lines;
  for (const auto& frame : frames.all()) {
    const Document document = parsed(frame.data);
    if (document.root()["choices"].missing()) {
      lines.push_back(document.root()["error"]["code"].str());
      continue;
    }
    CHECK(document.root()["object"].string() == "chat.completion.chunk");
    const Value choice = *document.root()["choices"].begin();
    lines.push_back(choice["finish_reason"].is_null() ? std::string(choice["delta"].raw())
                                                      : choice["finish_reason"].str());
  }
  return lines;
}

Value choice(const Document& document) {
  return *document.root()["choices"].begin();
}

}  // namespace

TEST_CASE("OpenAI completion: an answer in pieces has these chunks, and a whole one is the same text") {
  const auto answer =
      run({text("Hel", true), text("lo", false, true), artifact({Part::of_text("more"), file()})});
  CHECK(deltas(answer) ==
        Lines{R"({"role":"assistant","content":"Hel"})", R"({"content":"lo"})", R"({"content":"\n\nmore"})",
              R"x({"content":"\n\n[a.zip](http://h/agents/echo/tasks/t1/artifacts/a1/parts/1)"})x", "stop"});
  const Frames whole = shown(protocol::openai::completions(false), answer, false);
  REQUIRE(whole.all().size() == 1);
  const Document document = parsed(whole.all().back().data);
  CHECK(document.root()["object"].string() == "chat.completion");
  CHECK(document.root()["id"].string() == "chatcmpl-t1");
  CHECK(document.root()["model"].string() == "echo");
  CHECK(choice(document)["message"]["content"].string() ==
        "Hello\n\nmore\n\n[a.zip](http://h/agents/echo/tasks/t1/artifacts/a1/parts/1)");
  CHECK(choice(document)["finish_reason"].string() == "stop");
  CHECK(document.root()["usage"]["prompt_tokens"].integer() == 0);
}

TEST_CASE("OpenAI completion: progress is reasoning, and a tool's call ends the turn") {
  const auto calls = run({status(State::working, "half"), task::ToolCall{"c2", "look", {R"({"n":1})"}, true}},
                         waits_for_tool());
  CHECK(deltas(calls) == Lines{R"({"role":"assistant","reasoning_content":"half\n"})",
                               R"({"tool_calls":[{"index":0,"id":"call_t1_c2","type":"function",)"
                               R"("function":{"name":"look","arguments":"{\"n\":1}"}}]})",
                               "tool_calls"});
  const Frames whole = shown(protocol::openai::completions(false), calls, false);
  const Document document = parsed(whole.all().back().data);
  CHECK(choice(document)["message"]["content"].is_null());
  CHECK(choice(document)["message"]["reasoning_content"].string() == "half\n");
  CHECK((*choice(document)["message"]["tool_calls"].begin())["id"].string() == "call_t1_c2");
}

TEST_CASE("OpenAI completion: a question is text, or a call of the client's tool of that name") {
  const auto waiting = status(State::input_required, "which?", "q1");
  CHECK(deltas(run({}, waiting)) == Lines{R"({"role":"assistant","content":"which?"})", "stop"});
  const auto called =
      run({}, waiting, R"({"openai":{"tools":[{"type":"function","function":{"name":"ask"}}]}})");
  CHECK(deltas(called).back() == "tool_calls");
  const auto forbidden =
      run({}, waiting,
          R"({"openai":{"tools":[{"type":"function","function":{"name":"ask"}}],"tool_choice":"none"}})");
  CHECK(deltas(forbidden).back() == "stop");
}

TEST_CASE("OpenAI completion: a failed run is an error that clients do not repeat") {
  const auto failed = run({text("Hel", true)}, status(State::failed, "no luck"));
  CHECK(deltas(failed).back() == "agent_failed");
  const Frames whole = shown(protocol::openai::completions(false), failed, false);
  CHECK(whole.status == 400);  // LangChain.js and n8n repeat a request after 422
  CHECK(parsed(whole.all().back().data).root()["error"]["message"].string() == "no luck");
}

}  // namespace openai_views_test

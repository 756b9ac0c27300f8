#include "protocol/openai/requests.h"

#include <doctest/doctest.h>

#include "protocol/openai/content.h"
#include "protocol/openai/errors.h"

namespace openai_requests_test {

using namespace baton;
using namespace baton::protocol::openai;
using task::Part;

namespace {

using Read = base::Result<Asked> (*)(json::Value);

base::Result<Asked> read(Read how, const std::string& body) {
  const auto document = json::Document::parse(body);
  REQUIRE_MESSAGE(document, body);
  return how(document->root());
}

Asked good(Read how, const std::string& members) {
  auto asked = read(how, R"({"model":"echo",)" + members + "}");
  REQUIRE_MESSAGE(asked, (asked ? "" : asked.error().for_caller));
  return std::move(*asked);
}

Asked completion(const std::string& messages, const std::string& more = {}) {
  return good(&read_completion, R"("messages":)" + messages + more);
}
Asked response(const std::string& input, const std::string& more = {}) {
  return good(&read_response, R"("input":)" + input + more);
}

std::string problem(Read how, const std::string& members) {
  const auto asked = read(how, R"({"model":"echo",)" + members + "}");
  REQUIRE_MESSAGE(!asked, members);
  CHECK(asked.error().code == base::ErrorCode::invalid_argument);
  return asked.error().for_caller.substr(0, asked.error().for_caller.find(": "));
}

std::vector<std::string> texts(const Asked& asked) {
  std::vector<std::string> all;
  for (const task::Message& message : asked.run.history.value_or(std::vector<task::Message>()))
    all.push_back((message.role == task::Role::agent ? "agent " : "user ") + message.metadata.text +
                  (message.parts.empty() ? "" : message.parts.front().content));
  return all;
}

}  // namespace

TEST_CASE("OpenAI names: every id gives back its task and its place, whatever they contain") {
  for (const char* task : {"0192-ab", "a_b", "a%_/ ", "\xc3\xa4"}) {
    for (const char* rest : {"", "7", "call_1", "_/"}) {
      const auto name = read_name(name_of(kCall, {task}, rest));
      REQUIRE(name);
      CHECK(name->kind == kCall);
      CHECK(name->task.value == task);
      CHECK(name->rest == rest);
    }
  }
  CHECK(response_id({"t"}, {}) == "resp_t");
  CHECK(response_id({"a_b"}, {4}) == "resp_a%5Fb_4");
  CHECK(read_response_id("resp_a%5Fb_4")->before.value == 4);
  for (const char* wrong : {"", "resp", "resp_", "msg_t", "resp_t_x", "resp_t_-1", "resp_%ff", "resp_%0"})
    CHECK_FALSE(read_response_id(wrong));
}

TEST_CASE("OpenAI errors: the form names the member that is wrong") {
  std::string body;
  write_failure(body, failure_of({base::ErrorCode::invalid_argument, "input[0].role: must be a role", {}}));
  CHECK(body == R"({"error":{"message":"input[0].role: must be a role","type":"invalid_request_error",)"
                R"("param":"input[0].role","code":null}})");
  CHECK(failure_of({base::ErrorCode::invalid_argument, "the body must be an object", {}}).param.empty());
  CHECK(failure_of({base::ErrorCode::overloaded, "later", {}}).status == 429);
  CHECK(failure_of({base::ErrorCode::task_not_found, "gone", {}}).status == 404);
  CHECK(no_such_model("x").code == "model_not_found");
}

TEST_CASE("OpenAI completion: what follows the assistant's last message is new, the rest is history") {
  const Asked asked = completion(R"([{"role":"system","content":"Be kind."},{"role":"user","content":"one"},
    {"role":"assistant","content":"two"},{"role":"user","content":[{"type":"text","text":"three"},
      {"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},
      {"type":"image_url","image_url":"http://h/x.png"},
      {"type":"input_audio","input_audio":{"data":"aGk=","format":"mp3"}},
      {"type":"file","file":{"filename":"a.pdf","file_data":"DATA:application/pdf;BASE64,aGk="}},
      {"type":"file","file":{"file_id":"f1"}}]}])");
  CHECK(asked.model == "echo");
  CHECK(asked.run.message.parts == std::vector{Part::of_text("three"),
                                               Part{Part::Kind::raw, "aGk=", {}, "image/png", {}},
                                               Part{Part::Kind::url, "http://h/x.png", {}, "image/*", {}},
                                               Part{Part::Kind::raw, "aGk=", {}, "audio/mpeg", {}},
                                               Part{Part::Kind::raw, "aGk=", "a.pdf", "application/pdf", {}},
                                               Part::of_data({R"({"file":{"id":"f1"}})"})});
  CHECK(texts(asked) ==
        std::vector<std::string>{R"(user {"role":"system"}Be kind.)", "user one", "agent two"});
  CHECK(asked.last_words == "two");
  CHECK_FALSE(asked.run.streams);
}

TEST_CASE("OpenAI completion: what clients keep of another API in an assistant's content is left out") {
  const Asked asked = completion(R"([{"role":"user","content":"one"},{"role":"assistant","content":[
      {"type":"reasoning","reasoning":"hm"},{"type":"thinking","thinking":"hm","signature":"x"},
      {"type":"redacted_thinking","data":"x"},{"type":"reasoning_content","reasoning_content":{"text":"hm"}},
      {"type":"tool_use","id":"c","name":"look","input":{}},{"type":"tool_call","id":"c","name":"look"},
      {"type":"text","text":"two"}]},{"role":"user","content":"three"}])");
  CHECK(texts(asked) == std::vector<std::string>{"user one", "agent two"});
  CHECK(asked.last_words == "two");
  const std::string unknown =
      R"("messages":[{"role":"user","content":[{"type":"reasoning"},{"type":"smell"}]}])";
  CHECK(problem(&read_completion, unknown) == "messages[0].content[1].type");
}

TEST_CASE("OpenAI completion: a video is a file of the user's message") {
  const Asked asked = completion(R"([{"role":"user","content":[
      {"type":"video_url","video_url":{"url":"data:video/mp4;base64,aGk="}},
      {"type":"video_url","video_url":{"url":"http://h/v"}}]}])");
  CHECK(asked.run.message.parts == std::vector<Part>{{Part::Kind::raw, "aGk=", {}, "video/mp4", {}},
                                                     {Part::Kind::url, "http://h/v", {}, "video/*", {}}});
  CHECK(problem(&read_completion, R"("messages":[{"role":"user","content":[{"type":"video_url"}]}])") ==
        "messages[0].content[0].video_url");
}

TEST_CASE("OpenAI completion: the result of a tool is for the task that its call names") {
  const std::string id = name_of(kCall, {"t1"}, "c7");
  const std::string call = R"({"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":
    [{"id":")" + id + R"(","type":"function","function":{"name":"look","arguments":"{\"n\":1}"}}]},)";
  const Asked asked =
      completion("[" + call + R"({"role":"tool","tool_call_id":")" + id + R"(","content":"42"}])",
                 R"(,"tools":[{"type":"function","function":{"name":"look",
    "parameters":{"type":"object"}}},{"type":"web_search"}])");
  REQUIRE(asked.run.results.size() == 1);
  CHECK(asked.run.results[0].call == "c7");
  CHECK(asked.run.results[0].content.text == R"("42")");
  CHECK(asked.named.value == "t1");
  CHECK(asked.run.message.parts.empty());
  CHECK(texts(asked) ==
        std::vector<std::string>{"user go",
                                 R"(agent {"toolCall":{"id":"c7","name":"look","arguments":{"n":1}}})"});
  CHECK(asked.run.tools.text == R"([{"name":"look","parameters":{"type":"object"}}])");
}

TEST_CASE("OpenAI requests: the result of a tool may be any JSON") {
  const auto given = [](const std::string& result) {
    const std::string line = R"([{"role":"tool","tool_call_id":"c","content":)" + result + "}]";
    const std::string item = R"([{"type":"function_call_output","call_id":"c","output":)" + result + "}]";
    const std::string content = completion(line).run.results.at(0).content.text;
    CHECK(response(item).run.results.at(0).content.text == content);
    return content;
  };
  CHECK(given(R"("42")") == R"("42")");
  CHECK(given(R"([{"type":"text","text":"4"},{"type":"input_text","text":"2"}])") == R"("4\n2")");
  for (const char* json :
       {R"([{"type":"text","text":"see"},{"type":"image","data":"aGk=","mimeType":"image/png"}])",
        R"([{"type":"resource_link","uri":"http://h/x"}])", R"({"n":[1]})", "42"})
    CHECK(given(json) == json);
}

TEST_CASE("OpenAI requests: the agent gets no tools if the client forbids it to call them") {
  const std::string hi = R"([{"role":"user","content":"hi"}])", look = R"({"type":"function","name":"look"})";
  for (const char* choice : {"\"auto\"", "\"required\"", "null", R"({"type":"function","name":"look"})"}) {
    const std::string more = ",\"tools\":[" + look + "],\"tool_choice\":" + choice;
    CHECK(completion(hi, more).run.tools.text == R"([{"name":"look"}])");
    CHECK(response(hi, more).run.tools.text == R"([{"name":"look"}])");
  }
  const std::string none = ",\"tools\":[" + look + "],\"tool_choice\":\"none\"";
  CHECK(completion(hi, none).run.tools.empty());
  CHECK(response(hi, none).run.tools.empty());
}

TEST_CASE("OpenAI completion: arguments that are nested too deep to be given on as JSON stay a text") {
  const auto given = [](std::size_t levels) {
    const std::string nested = std::string(levels, '[') + std::string(levels, ']');
    const Asked asked = completion(
        R"([{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":")" +
        nested + R"("}}]},{"role":"tool","tool_call_id":"c","content":"x"}])");
    const std::string& part = asked.run.history->front().parts.front().content;
    const auto document = json::Document::parse(part);
    REQUIRE(document);
    const json::Value arguments = document->root()["toolCall"]["arguments"];
    CHECK(arguments.is_string() == (levels > 90));
    return arguments.is_string() ? arguments.str() : std::string(arguments.raw());
  };
  for (const std::size_t levels : {1, 90, 91, 100})
    CHECK(given(levels) == std::string(levels, '[') + std::string(levels, ']'));
}

TEST_CASE("OpenAI completion: the id of a call may be as long as the server makes it") {
  const auto result = [](const std::string& id) {
    return R"([{"role":"assistant","content":"x"},{"role":"tool","content":"x","tool_call_id":")" + id +
           R"("}])";
  };
  const std::string ask(protocol::chat::kAskMax, '?'), task(protocol::chat::kIdMax, '_');
  const Asked asked = completion(result(name_of(kCall, {task}, ask)));
  CHECK(asked.run.results.at(0).call == ask);
  CHECK(asked.named.value == task);
  for (const std::string& id : {name_of(kCall, {task}, ask + "?"), std::string(513, 'x')})
    CHECK(problem(&read_completion, R"("messages":)" + result(id)) == "messages[1].content");
}

TEST_CASE("OpenAI requests: a reply knows the request that led to its question by what was said") {
  const auto said = [](const std::string& messages, const std::string& more = {}) {
    return completion("[" + messages + "]", more);
  };
  const std::string hello = R"({"role":"user","content":"hello"})";
  const std::string asked =
      hello + R"(,{"role":"assistant","content":"who?"},{"role":"user","content":"ann"})";
  const std::string first = turns_in(said(hello).run.about);
  CHECK_FALSE(first.empty());
  CHECK(said(hello).turns_before.empty());
  CHECK(said(asked).turns_before == first);
  CHECK(said(R"({"role":"system","content":"It is noon."},)" + asked).turns_before == first);
  CHECK(said(asked, R"(,"user":"u1")").turns_before != first);
  const std::string again =
      asked + R"(,{"role":"assistant","content":"why?"},{"role":"user","content":"so"})";
  CHECK(said(again).turns_before == turns_in(said(asked).run.about));
  // A client cannot name the digest itself.
  CHECK(turns_in(said(hello, R"(,"turns":"x")").run.about) == first);
  const std::string dated = R"({"role":"user","content":[{"type":"text","text":"It is noon."},
    {"type":"text","text":"hello"}]})";
  CHECK(turns_in(said(dated).run.about) == first);
  // A summary that a client asks for on the side offers other tools.
  const std::string look = R"({"type":"function","function":{"name":"look"}})", tools = R"(,"tools":[)";
  const std::string note = R"({"type":"function","function":{"name":"note"}})";
  CHECK(said(asked, tools + look + "]").turns_before != first);
  CHECK(said(asked, tools + look + "," + note + "]").turns_before ==
        turns_in(said(hello, tools + note + "," + look + "]").run.about));
  // Or it offers the same tools, to keep the beginning of the request the same, and forbids to call them.
  CHECK(said(asked, tools + look + R"(],"tool_choice":"none")").turns_before !=
        turns_in(said(hello, tools + look + "]").run.about));

  const Asked begun = response(R"("hello")"), replied = response("[" + asked + "]");
  CHECK(turns_in(begun.run.about) == first);
  CHECK(replied.turns_before == first);
  CHECK(replied.last_words == "who?");
  // What the server has of a conversation is not in the request.
  for (const char* more : {R"(,"previous_response_id":"resp_t1")", R"(,"conversation":"c1")"}) {
    CHECK(turns_in(response(R"("hello")", more).run.about).empty());
    CHECK(response("[" + asked + "]", more).turns_before.empty());
  }
}

TEST_CASE("OpenAI requests: an instruction without a message is what the agent is asked, and no answer") {
  const std::string first = R"({"role":"user","content":"hello"},{"role":"assistant","content":"who?"},)";
  for (const char* role : {"system", "developer"}) {
    const std::string sum = R"({"role":")" + std::string(role) + R"(","content":"Sum up."})";
    for (const Asked& alone : {completion("[" + sum + "]"), response("[" + sum + "]")}) {
      CHECK(alone.run.message.parts == std::vector{Part::of_text("Sum up.")});
      CHECK_FALSE(alone.run.history);
    }
    const Asked after = completion("[" + first + sum + "]");
    CHECK(after.run.message.parts == std::vector{Part::of_text("Sum up.")});
    CHECK(texts(after) == std::vector<std::string>{"user hello", "agent who?"});
    CHECK(after.turns_before.empty());
    CHECK(after.run.answers_only == task::TaskId{});
    const Asked with_ids =
        response(R"([{"type":"message","role":"assistant","id":"msg_t2_3","content":"who?"},)" + sum + "]");
    CHECK(with_ids.named.empty());
    // In a conversation that the server has it could answer a question.
    CHECK(problem(&read_response, R"("conversation":"c1","input":[)" + sum + "]") == "input");
    const Asked before = completion("[" + first + sum + R"(,{"role":"user","content":"ann"}])");
    CHECK(before.run.message.parts == std::vector{Part::of_text("ann")});
    CHECK_FALSE(before.turns_before.empty());
  }
}

TEST_CASE("OpenAI response: items that stand for what the server has name its task") {
  const Asked asked = response(R"([{"role":"developer","content":"Be kind."},{"role":"user","content":"one"},
    {"type":"item_reference","id":"msg_t1_5"},{"type":"reasoning","id":"rs_t1_4","summary":[]},
    {"type":"message","role":"user","content":[{"type":"input_text","text":"two"},
      {"type":"input_image","image_url":"http://h/i","detail":"auto"},
      {"type":"input_file","filename":"a","file_url":"http://h/f"}]}])");
  CHECK(asked.named.value == "t1");
  CHECK(asked.is_partial);
  CHECK(asked.run.message.parts.size() == 3);
  const Asked whole = response(R"([{"role":"user","content":"one"},{"type":"message","role":"assistant",
    "id":"msg_t2_3","content":[{"type":"output_text","text":"yes","annotations":[]}]},
    {"type":"function_call_output","call_id":"call_t3_a","output":"done"}])");
  CHECK(whole.named.value == "t3");
  CHECK_FALSE(whole.is_partial);
  CHECK(whole.run.results.at(0).call == "a");
  CHECK(texts(whole) == std::vector<std::string>{"user one", "agent yes"});
}

TEST_CASE("OpenAI response: tools among the items do not end what is new") {
  const std::string tools =
      R"({"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"f"}]})";
  const std::string hi = R"({"role":"user","content":"hi"})";
  for (const std::string& input : {hi + "," + tools, tools + "," + hi}) {
    const Asked asked = response("[" + input + "]");
    CHECK(asked.run.message.parts == std::vector{Part::of_text("hi")});
    CHECK_FALSE(asked.run.history);
    CHECK(asked.last_words.empty());
  }
  CHECK(problem(&read_response, R"("input":[)" + tools + R"(,{"role":"x"}])") == "input[1].role");
  CHECK(problem(&read_response, R"("input":[)" + tools + "]") == "input");
}

TEST_CASE("OpenAI response: members that are no part of the conversation go to the agent") {
  const Asked asked =
      response(R"("hi")", R"(,"instructions":"Be brief.","metadata":{"a":"b"},"temperature":0.5,
    "store":true,"background":true,"stream":true,"conversation":{"id":"c1"},"max_output_tokens":null,"x":[1])");
  CHECK(asked.run.about.text ==
        R"({"openai":{"instructions":"Be brief.","metadata":{"a":"b"},"temperature":0.5,"store":true,)"
        R"("background":true,"conversation":{"id":"c1"},"x":[1]}})");
  CHECK(asked.run.background);
  CHECK(asked.run.streams);
  CHECK(asked.run.conversation.value == "c1");
  CHECK(is_kept(asked.run.about));
  CHECK_FALSE(is_kept(response(R"("hi")", R"(,"store":false)").run.about));
  CHECK(is_kept({}));
}

TEST_CASE("OpenAI requests: errors name the member") {
  CHECK(problem(&read_completion, R"("messages":7)") == "messages");
  CHECK(problem(&read_completion, R"("messages":[])") == "messages");
  CHECK(problem(&read_completion, R"("messages":[{"role":"user","content":"x"}],"n":2)") == "n");
  CHECK(problem(&read_completion, R"("messages":[{"role":"x"}])") == "messages[0].role");
  CHECK(problem(&read_completion, R"("messages":[{"role":"user","content":[{"type":"x"}]}])") ==
        "messages[0].content[0].type");
  CHECK(problem(&read_completion,
                R"("messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}])") == "tools[0]");
  CHECK(problem(&read_completion, R"("messages":[],"stream":1)") == "stream");
  CHECK(problem(&read_response, R"("input":7)") == "input");
  CHECK(problem(&read_response, R"("input":[{"role":"assistant","content":"x"}])") == "input");
  CHECK(problem(&read_response, R"("input":[{"role":"user","content":[{"type":"input_image"}]}])") ==
        "input[0].content[0].image_url");
  CHECK(problem(&read_response, R"("input":"x","background":true,"store":false)") == "background");
  CHECK(problem(&read_response, R"("input":"x","previous_response_id":"r","conversation":"c")") ==
        "conversation");
  CHECK(problem(&read_response, R"("input":"x","metadata":{"a":1})") == "metadata");
  CHECK(problem(&read_response, R"("input":"x","previous_response_id":7)") == "previous_response_id");
}

}  // namespace openai_requests_test

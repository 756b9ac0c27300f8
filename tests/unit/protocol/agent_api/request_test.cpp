#include "protocol/agent_api/request.h"

#include "agent_api_bench.h"

namespace agent_api_request_test {

using namespace baton;
using namespace baton::test::agent_api;
using protocol::chat::RunRequest;

namespace {

std::vector<std::string> texts(const RunRequest& request) {
  std::vector<std::string> texts;
  for (const Part& part : request.message.parts) texts.push_back(part.content);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("AgentRequest: the example of the documents is read") {
  const RunRequest read = request(R"({
    "input": [{
      "role": "user",
      "content": [{"type": "text", "text": "描述这张图片"}],
      "type": "message"
    }],
    "stream": true,
    "model": "gpt-4-vision"
  })");
  CHECK(texts(read) == Texts{"描述这张图片"});
  CHECK(read.message.role == task::Role::user);
  CHECK(read.streams);
  CHECK(read.metadata.text == R"({"agent_api":{"model":"gpt-4-vision"}})");
  CHECK(read.conversation.empty());
  CHECK(read.run.empty());
  CHECK(read.tools.empty());
  CHECK(read.state.empty());
  CHECK_FALSE(read.history);
}

TEST_CASE("AgentRequest: ids and stream are read, and null counts as absent") {
  const RunRequest read = request(R"({"input":[{"id":"u1","content":"hi"}],"id":"run1","session_id":"s1",
      "user_id":"ann","response_id":"response_0","stream":false,"unheard_of":[]})");
  CHECK(read.conversation.value == "s1");
  CHECK(read.metadata.text == R"({"agent_api":{"user_id":"ann"}})");
  CHECK(read.run == "run1");
  CHECK(read.after_response == "response_0");
  CHECK(read.message.id.value == "u1");
  CHECK_FALSE(read.streams);

  const RunRequest nulls = request(R"({"input":[{"id":null,"role":null,"type":null,"content":"hi"}],"id":null,
      "session_id":null,"user_id":null,"response_id":null,"stream":null,"tools":null,"model":null,"n":null})");
  CHECK(nulls.conversation.empty());
  CHECK(nulls.streams);
  CHECK(nulls.metadata.empty());
  CHECK(nulls.tools.empty());
  CHECK(texts(nulls) == Texts{"hi"});
}

TEST_CASE("AgentRequest: several items of the user are one message, in their order") {
  const RunRequest read = request(R"({"input":[
      {"role":"user","content":[{"type":"text","text":"a"},{"type":"image","image_url":"https://x/c"}]},
      {"role":"user","type":"message","content":"b","id":"u2"}]})");
  CHECK(texts(read) == Texts{"a", "https://x/c", "b"});
  CHECK(read.message.id.value == "u2");
  CHECK(read.metadata.empty());
}

TEST_CASE("AgentRequest: in a whole conversation only items after the agent's last one are new") {
  const RunRequest read = request(R"({"input":[
      {"role":"system","content":"be brief"},{"role":"user","content":"old"},
      {"role":"assistant","type":"reasoning","content":[]},{"role":"assistant","content":"hello"},
      {"role":"system","content":"be long"},{"role":"user","content":"new"}]})");
  CHECK(texts(read) == Texts{"new"});
  CHECK(read.metadata.text ==
        R"({"agent_api":{"input":[{"role":"system","content":"be brief"},{"role":"user","content":"old"},)"
        R"({"role":"assistant","type":"reasoning","content":[]},{"role":"assistant","content":"hello"},)"
        R"({"role":"system","content":"be long"}]}})");
}

TEST_CASE("AgentRequest: outputs of client tools are results") {
  const RunRequest read = request(R"({"input":[
      {"type":"function_call_output","role":"tool","content":[
        {"type":"data","data":{"call_id":"c1","output":"22 °C"}},
        {"type":"data","data":{"call_id":"c2","output":{"t":22},"error":"half broken"}}]},
      {"type":"component_call_output","content":[{"type":"data","data":{"call_id":"c3"}}]},
      {"type":"function_call_output","call_id":"c4","output":"x"},
      {"type":"plugin_call_output","content":[{"type":"data","data":{"call_id":"c5","output":"5"}}]},
      {"type":"mcp_call_output","content":[{"type":"data","data":{"call_id":"c6","output":"6"}}]},
      {"role":"tool","tool_call_id":"c7","content":"y"}]})");
  REQUIRE(read.results.size() == 7);
  const Texts contents{R"("22 °C")", R"({"t":22})", R"("")", R"("x")", R"("5")", R"("6")", R"("y")"};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    CHECK(read.results[i].call == "c" + std::to_string(i + 1));
    CHECK(read.results[i].content.text == contents[i]);
    CHECK(read.results[i].error == (i == 1 ? "half broken" : ""));
  }
  CHECK(read.message.parts.empty());
  CHECK(read.answers.empty());
}

TEST_CASE("AgentRequest: a client tool's output after its call is new, an agent tool's output is not") {
  const RunRequest client = request(R"({"input":[{"role":"user","content":"weather?"},
      {"type":"function_call","role":"assistant","content":[{"type":"data","data":{"call_id":"c1"}}]},
      {"type":"function_call_output","content":[{"type":"data","data":{"call_id":"c1","output":"sun"}}]}]})");
  REQUIRE(client.results.size() == 1);
  CHECK(client.results[0].call == "c1");
  CHECK(client.message.parts.empty());

  const RunRequest server = request(R"({"input":[
      {"type":"plugin_call","role":"assistant","content":[{"type":"data","data":{"call_id":"c1"}}]},
      {"type":"plugin_call_output","role":"tool","content":[{"type":"data","data":{"call_id":"c1"}}]},
      {"role":"user","content":"and now?"}]})");
  CHECK(server.results.empty());
  CHECK(texts(server) == Texts{"and now?"});
}

TEST_CASE("AgentRequest: approvals are answers") {
  const RunRequest read = request(R"({"input":[
      {"type":"mcp_approval_response","role":"user","content":[{"type":"data",
        "data":{"approval_request_id":"q1","approve":true}}]},
      {"type":"mcp_approval_response","role":"user","content":[{"type":"data",
        "data":{"id":"q2","approved":false,"reason":"too dear"}}]},
      {"type":"mcp_approval_response","approval_request_id":"q3","approve":false}]})");
  REQUIRE(read.answers.size() == 3);
  CHECK(read.answers[0].ask == "q1");
  CHECK(read.answers[0].payload.text == R"({"approved":true})");
  CHECK(read.answers[1].ask == "q2");
  CHECK(read.answers[1].payload.text == R"({"approved":false,"reason":"too dear"})");
  CHECK(read.answers[2].ask == "q3");
  for (const auto& answer : read.answers) CHECK_FALSE(answer.cancelled);
  CHECK(read.results.empty());
  CHECK(read.message.parts.empty());
}

TEST_CASE("AgentRequest: the ids of questions and calls may be as long as the server makes them") {
  const std::string ask(protocol::chat::kAskMax, 'x');
  const auto approval = [](const std::string& id) {
    return R"({"input":[{"type":"mcp_approval_response","approval_request_id":")" + id +
           R"(","approve":true}]})";
  };
  const auto output = [](const std::string& id) {
    return R"({"input":[{"type":"function_call_output","call_id":")" + id + R"(","output":"x"}]})";
  };
  CHECK(request(approval(ask)).answers.at(0).ask == ask);
  CHECK(request(output(ask)).results.at(0).call == ask);
  CHECK(request_error(approval(ask + "x")) ==
        "input[0].approval_request_id must not be longer than 2000 bytes");
  CHECK(request_error(output(ask + "x")) == "input[0].call_id must not be longer than 2000 bytes");
}

TEST_CASE("AgentRequest: tools of either form are read into one form") {
  const RunRequest read = request(R"({"input":[{"content":"hi"}],"tools":[
      {"type":"function","function":{"name":"a","description":"does a","parameters":{"type":"object"}}},
      {"name":"b","extra":1},{"type":"web_search"},{"function":{"name":"c","description":null}}]})");
  CHECK(read.tools.text ==
        R"([{"name":"a","description":"does a","parameters":{"type":"object"}},{"name":"b"},{"name":"c"}])");
  CHECK(request(R"({"input":[{"content":"hi"}],"tools":[]})").tools.empty());
}

TEST_CASE("AgentRequest: hints are copied into the metadata unchanged") {
  const RunRequest read = request(R"({"input":[{"content":"hi"}],"model":"m","top_p":0.90,"temperature":1,
      "frequency_penalty":-1.5,"presence_penalty":0,"max_tokens":10,"stop":["a","b"],"n":5,"seed":7})");
  CHECK(read.metadata.text ==
        R"({"agent_api":{"model":"m","top_p":0.90,"temperature":1,"frequency_penalty":-1.5,)"
        R"("presence_penalty":0,"max_tokens":10,"stop":["a","b"],"n":5,"seed":7}})");
  CHECK(request(R"({"input":[{"content":"hi"}],"stop":"x","n":1})").metadata.text ==
        R"({"agent_api":{"stop":"x","n":1}})");
}

TEST_CASE("AgentRequest: hints of the wrong type are refused by name") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {R"("model":1)", "model must be a string"},
      {R"("top_p":"1")", "top_p must be a number"},
      {R"("temperature":[])", "temperature must be a number"},
      {R"("frequency_penalty":true)", "frequency_penalty must be a number"},
      {R"("presence_penalty":{})", "presence_penalty must be a number"},
      {R"("max_tokens":1.5)", "max_tokens must be a whole number"},
      {R"("stop":[1])", "stop must be a string or a list of strings"},
      {R"("stop":1)", "stop must be a string or a list of strings"},
      {R"("n":0)", "n must be a whole number from 1 to 5"},
      {R"("n":6)", "n must be a whole number from 1 to 5"},
      {R"("n":"2")", "n must be a whole number from 1 to 5"},
      {R"("seed":"x")", "seed must be a whole number"},
  };
  for (const auto& [member, error] : wrong) {
    CHECK(request_error(R"({"input":[{"content":"hi"}],)" + member + "}") == error);
  }
}

TEST_CASE("AgentRequest: errors name the wrong member") {
  const std::string long_id(257, 'x');
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"[]", "the request must be an object"},
      {"{}", "input is missing"},
      {R"({"input":"hi"})", "input must be a list"},
      {R"({"input":[]})", "input must end with a message, a tool output or an approval"},
      {R"({"input":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})",
       "input must end with a message, a tool output or an approval"},
      {R"({"input":["hi"]})", "input[0] must be an object"},
      {R"({"input":[{"role":1,"content":"a"}]})", "input[0].role must be a string"},
      {R"({"input":[{"type":1,"content":"a"}]})", "input[0].type must be a string"},
      {R"({"input":[{"role":"user"}]})", "input[0].content is missing"},
      {R"({"input":[{"content":"a"},{"content":7}]})", "input[1].content must be a list"},
      {R"({"input":[{"content":[{"type":"text"},{"type":"text","text":1}]}]})",
       "input[0].content[1].text must be a string"},
      {R"({"input":[{"type":"function_call_output","content":[]}]})", "input[0].call_id is missing"},
      {R"({"input":[{"type":"function_call_output","content":[{"type":"data","data":{"output":"x"}}]}]})",
       "input[0].content[0].data.call_id is missing"},
      {R"({"input":[{"type":"mcp_approval_response","content":[{"data":{"approve":true}}]}]})",
       "input[0].content[0].data.approval_request_id is missing"},
      {R"({"input":[{"type":"mcp_approval_response","content":[{"data":{"id":"q"}}]}]})",
       "input[0].content[0].data.approve is missing"},
      {R"({"input":[{"type":"mcp_approval_response","content":[{"data":{"id":"q","approve":"yes"}}]}]})",
       "input[0].content[0].data.approve must be true or false"},
      {R"({"input":[{"content":"a"}],"stream":"no"})", "stream must be true or false"},
      {R"({"input":[{"content":"a"}],"session_id":7})", "session_id must be a string"},
      {R"({"input":[{"content":"a"}],"user_id":[]})", "user_id must be a string"},
      {R"({"input":[{"content":"a"}],"id":")" + long_id + R"("})", "id must not be longer than 256 bytes"},
      {R"({"input":[{"content":"a"}],"response_id":1})", "response_id must be a string"},
      {R"({"input":[{"content":"a"}],"tools":{}})", "tools must be a list"},
      {R"({"input":[{"content":"a"}],"tools":[1]})", "tools[0] must be an object"},
      {R"({"input":[{"content":"a"}],"tools":[{"type":1}]})", "tools[0].type must be a string"},
      {R"({"input":[{"content":"a"}],"tools":[{"name":"a"},{"type":"function","function":{}}]})",
       "tools[1].function.name is missing"},
      {R"({"input":[{"content":"a"}],"tools":[{"name":"a","parameters":"{}"}]})",
       "tools[0].parameters must be an object"},
  };
  for (const auto& [json, error] : wrong) CHECK(request_error(json) == error);
}

TEST_CASE("Agent API: plain messages are answers, runs are exclusive, and leaving does not cancel") {
  const protocol::chat::Protocol& protocol = protocol::chat::agent_api_protocol();
  CHECK(protocol.answers_in_words());
  CHECK(protocol.one_run_at_a_time());
  CHECK_FALSE(protocol.leaving_cancels());
  protocol::chat::Frames frames;
  CHECK_FALSE(protocol.show_refusal(facts(), {base::ErrorCode::conflict, "busy", {}}, frames));
  const std::vector messages{said({Part::of_text("hi")})};
  protocol.show_conversation(facts(), &messages, {}, frames);
  CHECK(frames.empty());
}

}  // namespace agent_api_request_test

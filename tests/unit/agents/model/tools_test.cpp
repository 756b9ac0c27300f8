#include "agents/model/tools.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace baton::agents::tools_test {
namespace {

using Kind = ModelToolUse::Kind;

ModelTools tools_of(const std::string& client_tools, std::vector<std::string> agents = {}) {
  ModelSettings settings;
  settings.tools = std::move(agents);
  return ModelTools(settings, {client_tools});
}

std::vector<std::string> names_of(const ModelTools& tools) {
  std::vector<std::string> names;
  for (const auto& function : tools.functions()) names.push_back(function.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("ModelTools: functions have names of their own that strict servers accept") {
  const std::string longest(64, 'x');
  const ModelTools tools = tools_of(R"([{"name":"a b"},{"name":"a/b"},{"name":"a_b_2"},{"name":")" + longest +
                                        R"(1"},{"name":")" + longest + R"(2"}])",
                                    {"team.a"});
  CHECK(names_of(tools) == Names{"team_a", "a_b", "a_b_2", "a_b_2_2", longest, longest.substr(0, 62) + "_2"});
}

TEST_CASE("ModelTools: a call has the client's own name of its tool, and earlier calls the function's") {
  const ModelTools tools = tools_of(R"([{"name":"look up"},{"name":"look.up"}])");
  CHECK(tools.use_of({"c", "look_up_2", "{}"}).tool == "look.up");
  CHECK(tools.use_of({"c", "look.up", "{}"}).kind == Kind::wrong);
  std::vector<protocol::models::ChatMessage> messages(1);
  messages.front().calls = {{"c", "look.up", "{}"}, {"d", "gone", "{}"}};
  tools.rename(messages);
  CHECK(messages.front().calls[0].name == "look_up_2");
  CHECK(messages.front().calls[1].name == "gone");
}

TEST_CASE("ModelTools: a client's tool is offered once, and not if an agent has its name") {
  const ModelTools tools = tools_of(R"([{"name":"echo"},{"name":"f"},{"name":"f"},{"name":""}])", {"echo"});
  CHECK(names_of(tools) == Names{"echo", "f"});
  CHECK(tools.use_of({"c", "echo", R"({"message":"hi"})"}).kind == Kind::agent);
}

TEST_CASE("ModelTools: a tool's schema is completed to that of an object") {
  const ModelTools tools = tools_of(
      R"([{"name":"f","parameters":{"$schema":"s","required":["x"],"additionalProperties":null}},{"name":"g"}])");
  CHECK(tools.functions()[0].parameters.text == R"({"type":"object","properties":{},"required":["x"]})");
  CHECK(tools.functions()[1].parameters.empty());
}

TEST_CASE("ModelTools: parameters that consist of several schemas become one object with all properties") {
  const ModelTools tools = tools_of(
      R"([{"name":"f","parameters":{"anyOf":[{"$ref":"#/$defs/A"},{"properties":{"kind":{"const":"b"},)"
      R"("y":{"type":"array"}}}],"$defs":{"A":{"properties":{"kind":{"const":"a"},"x":{}}}}}},)"
      R"({"name":"g","parameters":{"type":"object","properties":{"x":{}},"required":["x"],"not":{},)"
      R"("allOf":[{"properties":{"x":{}}},{"if":{}},true]}}])");
  CHECK(tools.functions()[0].parameters.text ==
        R"({"type":"object","properties":{"kind":{"anyOf":[{"const":"a"},{"const":"b"}]},"x":{},)"
        R"("y":{"type":"array","items":{}}},"$defs":{"A":{"properties":{"kind":{"const":"a"},"x":{}}}}})");
  CHECK(tools.functions()[1].parameters.text ==
        R"({"properties":{"x":{}},"type":"object","required":["x"]})");
}

TEST_CASE("ModelTools: alternatives that all refer to the same schema read it once") {
  std::string references, properties;
  for (int i = 0; i < 5'000; ++i) {
    references += std::string(i == 0 ? "" : ",") + R"({"$ref":"#/$defs/A","properties":{"own":{}}})";
    properties += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\":{}";
  }
  const ModelTools tools = tools_of(R"([{"name":"f","parameters":{"anyOf":[)" + references +
                                    R"(],"$defs":{"A":{"properties":{)" + properties + "}}}}}]");
  CHECK(tools.functions()[0].parameters.text.starts_with(R"({"type":"object","properties":{"own":{},)" +
                                                         properties + "}"));
}

TEST_CASE("ModelTools: arrays in a tool's schema get items, and a schema that is true becomes an object") {
  const auto shown = [](const std::string& properties) {
    const std::string begin = R"({"type":"object","properties":)";
    const ModelTools tools = tools_of(R"([{"name":"f","parameters":)" + begin + properties + "}}]");
    const std::string& text = tools.functions()[0].parameters.text;
    REQUIRE(text.starts_with(begin));
    return text.substr(begin.size(), text.size() - begin.size() - 1);
  };
  CHECK(shown(R"({"a":{"type":"array"}})") == R"({"a":{"type":"array","items":{}}})");
  CHECK(shown(R"({"a":{"anyOf":[{"type":["array","null"]},{"items":true,"type":"array"}]}})") ==
        R"({"a":{"anyOf":[{"type":["array","null"],"items":{}},{"items":{},"type":"array"}]}})");
  CHECK(shown(R"({"model":true,"b":{"additionalProperties":{"type":"array"}}})") ==
        R"({"model":{},"b":{"additionalProperties":{"type":"array","items":{}}}})");
  // What only looks like a schema stays as it is.
  const std::string same =
      R"({"type":{"default":{"type":"array"},"enum":[true]},"b":{"additionalProperties":true}})";
  CHECK(shown(same) == same);
}

TEST_CASE("ModelTools: arguments that are nested too deep for a store are wrong") {
  const ModelTools tools = tools_of(R"([{"name":"f"}])");
  const auto kind_of = [&](std::size_t levels) {
    return tools.use_of({"c", "f", R"({"a":)" + std::string(levels, '[') + std::string(levels, ']') + "}"})
        .kind;
  };
  CHECK(kind_of(80) == Kind::client);
  CHECK(kind_of(90) == Kind::wrong);
}

TEST_CASE(
    "ModelTools: tools of servers have unambiguous names, and a call of one is for the agent of calls") {
  const auto server_at = [](const std::string& url, const std::string& name) {
    static base::EventLoop loop("unused");
    static base::WorkerPool pool("unused", 1, 1);
    ToolServer settings{name, {}, {}};
    settings.server.url = url;
    return std::make_shared<const McpServer>(McpServer{settings, {}, nullptr, {loop, pool, pool}});
  };
  const auto one = server_at("https://one/mcp", ""), two = server_at("https://two/mcp", "two");
  const protocol::mcp::ListedTool look{
      "look.up", "d", {R"({"type":"object"})"}, true, {{"Mcp-Param-A", "a"}}};
  const ModelTools tools({}, {R"([{"name":"look_up"}])"}, "me", {{one, look}, {two, look}});
  CHECK(names_of(tools) == Names{"look_up", "two__look_up", "look_up_2"});
  CHECK(tools.use_of({"c", "look_up_2", "{}"}).tool == "look_up");
  const ModelToolUse use = tools.use_of({"c", "two__look_up", R"({"a":"x"})"});
  CHECK(use.kind == Kind::mcp);
  CHECK(use.agent == kToolAgent);
  const auto call = read_tool_call(use.message);
  REQUIRE(call);
  CHECK(call->agent == "me");
  CHECK(call->url == "https://two/mcp");
  CHECK(call->tool == "look.up");
  CHECK(call->may_repeat);
  CHECK(call->headers == protocol::mcp::Headers{{"Mcp-Param-A", "x"}});
  CHECK(call->arguments.text == R"({"a":"x"})");
}

}  // namespace baton::agents::tools_test

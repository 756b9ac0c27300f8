// Processing what agents, models and remote servers send must cost time linear in its length, all the way
// from the text to the turn's sink. Covers long lists in one answer and long sequences of events
// (support/growth.h).
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/agui/run_relay.h"
#include "agents/command/agent_output.h"
#include "agents/model/conversation.h"
#include "agents/model/tools.h"
#include "agents/remote/relay.h"
#include "client/remote.h"
#include "protocol/a2a/client/client_dialect.h"
#include "protocol/models/chat_completions/answer.h"
#include "protocol/models/dialects.h"
#include "support/agent_bench.h"
#include "support/growth.h"

namespace answers_time_test {

using namespace baton;
using test::GrowingText;

namespace {

// Small enough that even eight times this size stays within all limits on the number of elements.
constexpr std::size_t kSize = 1 << 16;

class NullSink final : public agents::TurnSink {
 public:
  void emit(task::EventBody) override {}
  void text(std::string) override {}
  void reply(agents::ReplyPiece) override {}
  void reasoning(std::string) override {}
  bool ready(std::function<void()>) override { return true; }
  void delegate(agents::DelegateRequest) override {}
  void finish(agents::Outcome) override {}
};

using Texts = std::vector<std::string>;

// `of(size)` makes events of about `size` bytes in total: `begin`, then each of `elements` repeated equally
// often, one after the other, then `end`.
struct Events {
  Texts begin, elements, end;

  Texts of(std::size_t size) const {
    Texts texts = begin;
    std::size_t length = 1;
    for (const std::string& element : elements) length += element.size();
    for (const std::string& element : elements) {
      for (std::size_t i = 0; i < size / length; ++i) texts.push_back(test::with_index(element, i));
    }
    texts.insert(texts.end(), end.begin(), end.end());
    return texts;
  }
};
// The parts of a GrowingText: one event with a list that grows.
Events one(std::string before, std::string element, std::string after) {
  return {{std::move(before), std::move(element), std::move(after)}, {}, {}};
}

struct Case {
  std::string name;
  Events events;
  bool is_one = false;  // `begin` holds the parts of a GrowingText

  Texts of(std::size_t size) const {
    if (!is_one) return events.of(size);
    return {GrowingText{events.begin[0], events.begin[1], events.begin[2]}.of(size)};
  }
};

// Processes the events within a turn.
using Feed = std::function<void(const agents::Turn& turn, const Texts& events)>;

void check_all(const std::vector<Case>& cases, const Feed& feed, const std::string& tools = {}) {
  test::keep_memory();
  agents::Turn turn = test::AgentBench::turn_of("hi");
  turn.tools.text = tools;
  for (const Case& each : cases) {
    test::check_growth(each.name, kSize,
                       [&](std::size_t size) { return [&, events = each.of(size)] { feed(turn, events); }; });
  }
}

// ---- A2A.

void feed_a2a(const agents::Turn& turn, const Texts& events) {
  static const auto dialect =
      protocol::a2a::client_dialect(task::ProtocolVersion::v1_0, protocol::Binding::json_rpc, {}, 100'000);
  agents::SinkGate gate(std::make_shared<NullSink>());
  agents::TurnOutput output(gate, turn.reply_ids);
  agents::Relay relay(output, {});
  for (const std::string& text : events) {
    const auto document = json::Document::parse_view(text);
    REQUIRE_MESSAGE(document.has_value(), text.substr(0, 300));
    auto update = dialect->read_update(document->root());
    REQUIRE_MESSAGE(update, (update ? "" : update.error().for_caller));
    relay.tell(*update);
  }
}

std::vector<Case> a2a() {
  const std::string task = R"({"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},)",
                    artifact = R"({"artifactUpdate":{"taskId":"t","contextId":"c",)",
                    status = R"({"statusUpdate":{"taskId":"t","contextId":"c",)";
  const std::string named =
      R"({"artifactId":"a#","name":"n","description":"what was found","parts":[{"text":"x"}]})";
  return {
      {"artifacts of a task", one(task + R"("artifacts":[)", named, "]}}"), true},
      {"replies of a task",
       one(task + R"("artifacts":[)", R"({"artifactId":"a#","parts":[{"text":"word and word and word"}]})",
           "]}}"),
       true},
      {"parts of an artifact",
       one(task + R"("artifacts":[{"artifactId":"a","name":"n","parts":[)", R"({"text":"x#"})", "]}]}}"),
       true},
      {"messages of a task",
       one(task + R"("history":[)", R"({"messageId":"m#","role":"ROLE_AGENT","parts":[{"text":"x"}]})",
           "]}}"),
       true},
      {"metadata of a task", one(task + R"("metadata":{)", R"("m#":1)", "}}}"), true},
      {"artifacts", {{}, {artifact + R"("artifact":)" + named + "}}"}, {}}},
      {"artifacts again",
       {{}, {artifact + R"("artifact":)" + named + "}}", artifact + R"("artifact":)" + named + "}}"}, {}}},
      {"pieces of an artifact",
       {{},
        {artifact + R"("append":true,"artifact":{"artifactId":"a","name":"n","parts":[{"text":"x"}]}}})"},
        {}}},
      {"pieces of a reply",
       {{}, {artifact + R"("append":true,"artifact":{"artifactId":"a","parts":[{"text":"x"}]}}})"}, {}}},
      {"replies",
       {{}, {artifact + R"("lastChunk":true,"artifact":{"artifactId":"a#","parts":[{"text":"x"}]}}})"}, {}}},
      {"notes",
       {{},
        {status +
         R"("status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","parts":[{"text":"n#"}]}}}})"},
        {}}},
  };
}

// ---- AG-UI.

void feed_agui(const agents::Turn& turn, const Texts& events) {
  protocol::agui::RunReader reader;
  agents::SinkGate gate(std::make_shared<NullSink>());
  agents::TurnOutput output(gate, turn.reply_ids);
  agents::RunRelay relay(turn, output, 8u << 20);
  for (const std::string& text : events) {
    auto pieces = reader.take(text);
    REQUIRE_MESSAGE(pieces, (pieces ? "" : pieces.error().for_caller));
    for (protocol::agui::RunPiece& piece : *pieces) relay.tell(std::move(piece));
    if (relay.refusal().ends_with("are open")) return;  // the rest is not taken
  }
  REQUIRE(relay.refusal().empty());
  if (reader.end()) relay.finish(*reader.end());
}

constexpr const char* kClientTools = R"([{"name":"client"}])";

std::vector<Case> ag_ui() {
  const std::string end = R"({"type":"RUN_FINISHED","threadId":"t","runId":"r"})";
  const std::string call = R"({"type":"TOOL_CALL_START","toolCallId":"c#","toolCallName":")";
  const std::string chunk = R"({"type":"TOOL_CALL_CHUNK","toolCallId":"c#","delta":"{}","toolCallName":")";
  const std::string result = R"({"type":"TOOL_CALL_RESULT","toolCallId":"c#","messageId":"m","content":"x"})";
  return {
      {"texts", {{}, {R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"m#","delta":"x"})"}, {end}}},
      {"texts of others", {{}, {R"({"type":"TEXT_MESSAGE_START","messageId":"m#","role":"user"})"}, {end}}},
      {"arguments",
       {{R"({"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"})"},
        {R"({"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"x"})"},
        {end}}},
      {"chunks of a call",
       {{}, {R"({"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"x"})"}, {end}}},
      {"calls", {{}, {call + R"(f"})"}, {end}}},
      {"calls and their results", {{}, {chunk + R"(f"})", result}, {end}}},
      {"its client tool calls", {{}, {chunk + R"(client"})"}, {end}}},
      {"its client tool calls, with results", {{}, {chunk + R"(client"})", result}, {end}}},
      {"steps",
       {{},
        {R"({"type":"STEP_STARTED","stepName":"s#"})", R"({"type":"STEP_FINISHED","stepName":"s#"})"},
        {end}}},
      {"open steps", {{}, {R"({"type":"STEP_STARTED","stepName":"s#"})"}, {end}}},
      {"activities",
       {{}, {R"({"type":"ACTIVITY_SNAPSHOT","messageId":"a#","activityType":"t","content":{}})"}, {end}}},
      {"artifacts",
       {{},
        {R"({"type":"CUSTOM","name":"artifact","value":{"artifact":{"artifactId":"a#","parts":[{"url":"u"}]}}})"},
        {end}}},
      {"patches", one(R"({"type":"STATE_DELTA","delta":[)", R"({"op":"add","path":"/p#","value":1})", "]}"),
       true},
      {"interrupts",
       one(R"({"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[)",
           R"({"id":"i#","message":"sure?"})", "]}}"),
       true},
      {"messages of a snapshot",
       one(R"({"type":"MESSAGES_SNAPSHOT","messages":[)", R"({"id":"m#","role":"assistant","content":"x"})",
           "]}"),
       true},
  };
}

// ---- Language models.

void feed_model(const agents::Turn&, const Texts& events) {
  protocol::models::chat_completions::Reader reader({std::size_t{1} << 30});
  for (const std::string& text : events) {
    const auto piece = reader.take(text);
    REQUIRE_MESSAGE(piece, (piece ? "" : piece.error().for_caller));
  }
  agents::ModelSettings settings;
  const agents::ModelTools tools(settings, {});
  for (const protocol::models::CalledTool& call : reader.calls()) (void)tools.use_of(call);
}

// Reads an answer and writes the request that gives it back.
template <protocol::models::Api api>
void feed_dialect(const agents::Turn&, const Texts& events) {
  const protocol::models::Dialect& dialect = protocol::models::dialect_of(api);
  const auto reader = dialect.reader({std::size_t{1} << 30, protocol::models::ThinkTags::reasoning});
  for (const std::string& text : events) {
    const auto piece = reader->take(text);
    REQUIRE_MESSAGE(piece, (piece ? "" : piece.error().for_caller));
  }
  using protocol::models::ChatMessage;
  ChatMessage said = ChatMessage::of_text(ChatMessage::Role::assistant, reader->text());
  said.calls = reader->calls();
  said.others = reader->others();
  REQUIRE(!dialect.write_request({"m", {}, {said}, {}}).empty());
}

std::vector<Case> tagged_thoughts() {
  const std::string delta = R"({"choices":[{"index":0,"delta":{"content":")";
  return {{"thoughts", {{delta + R"(<think>"}}]})"}, {delta + R"(</x#"}}]})"}, {}}},
          {"spaces", {{}, {delta + R"(   "}}]})"}, {}}}};
}

std::vector<Case> responses() {
  const std::string done = R"({"type":"response.output_item.done","item":{)";
  return {
      {"texts", {{}, {R"({"type":"response.output_text.delta","delta":"x#"})"}, {}}},
      {"messages", {{}, {done + R"("type":"message","id":"m#","content":[{"text":"x"}]}})"}, {}}},
      {"reasoning", {{}, {done + R"("type":"reasoning","id":"r#","encrypted_content":"x"}})"}, {}}},
      {"parts of reasoning",
       {{}, {R"({"type":"response.reasoning_summary_text.delta","summary_index":#,"delta":"x"})"}, {}}},
      {"items of a whole response",
       one(R"({"object":"response","output":[)", R"({"type":"reasoning","id":"r#","encrypted_content":"x"})",
           "]}"),
       true},
  };
}

std::vector<Case> anthropic() {
  const std::string start = R"({"type":"content_block_start","index":)",
                    delta = R"({"type":"content_block_delta","index":)";
  const std::string thinking = start + R"(#,"content_block":{"type":"thinking","thinking":""}})";
  const std::string tool = start + R"(0,"content_block":{"type":"tool_use","id":"t","name":"f"}})";
  return {
      {"texts", {{}, {delta + R"(0,"delta":{"type":"text_delta","text":"x#"}})"}, {}}},
      {"blocks", {{}, {thinking}, {}}},
      {"blocks and their pieces",
       {{}, {thinking, delta + R"(#,"delta":{"type":"thinking_delta","thinking":"x"}})"}, {}}},
      {"texts of blocks", {{}, {start + R"(#,"content_block":{"type":"text","text":"x"}})", thinking}, {}}},
      {"input", {{tool}, {delta + R"(0,"delta":{"type":"input_json_delta","partial_json":"[#"}})"}, {}}},
      {"blocks of a whole message",
       one(R"({"type":"message","content":[)", R"({"type":"redacted_thinking","data":"#"})", "]}"), true},
  };
}

std::vector<Case> models() {
  const std::string delta = R"({"choices":[{"index":0,"delta":{)";
  const std::string piece = delta + R"("tool_calls":[{"index":0,"function":{)";
  return {
      {"texts", {{}, {delta + R"("content":"x#"}}]})"}, {}}},
      {"arguments", {{}, {piece + R"("arguments":"[#"}}]}}]})"}, {}}},
      // Some servers repeat the name with every piece, and give no id.
      {"arguments with names",
       {{piece + R"("name":"f","arguments":"{"}}]}}]})"},
        {piece + R"("name":"f","arguments":"[#]"}}]}}]})"},
        {}}},
      {"members that are not known", {{}, {delta + R"("m#":"x"}}]})"}, {}}},
      {"members that are not known, in one chunk", one(delta, R"("m#":"x")", "}}]}"), true},
      {"members of one that is not known", one(delta + R"("m":{)", R"("m#":"x")", "}}}]}"), true},
      {"parts that are not known", {{}, {delta + R"("content":[{"type":"t#"}]}}]})"}, {}}},
      {"pieces of reasoning",
       {{}, {delta + R"("reasoning_details":[{"type":"reasoning.text","text":"x","index":#}]}}]})"}, {}}},
      {"pieces in one chunk",
       one(delta + R"("tool_calls":[)", R"({"index":0,"function":{"name":"f","arguments":"[#"}})", "]}}]}"),
       true},
  };
}

// Offers many tools of a client, each event one, and uses them.
void feed_tools(const agents::Turn&, const Texts& tools) {
  std::string list = "[";
  for (const std::string& tool : tools) list.append(list.size() > 1 ? "," : "").append(tool);
  const agents::ModelTools offered({}, {list + "]"});
  std::vector<protocol::models::ChatMessage> messages(1);
  for (const std::string& tool : tools) {
    const auto document = json::Document::view_of(tool);
    messages.front().calls.push_back({"c", document.root()["name"].str(), "{}"});
  }
  offered.rename(messages);
  REQUIRE(offered.functions().size() == tools.size());
}

std::vector<Case> tools() {
  return {{"names", {{}, {R"({"name":"f#"})"}, {}}},
          {"names that become the same when they are cut",
           {{}, {R"({"name":")" + std::string(64, 'f') + R"(#"})"}, {}}}};
}

// Builds a conversation with many calls of a client's tools and their results. Each event is the id of a
// call.
void feed_conversation(const agents::Turn&, const Texts& ids) {
  agents::Turn turn = test::AgentBench::turn_of("");
  turn.message.parts.clear();
  task::Message called;
  called.role = task::Role::agent;
  for (const std::string& id : ids) {
    called.parts = {
        task::Part::of_data({R"({"toolCall":{"id":")" + id + R"(","name":"f","arguments":{}}})"})};
    turn.history.push_back(called);
    turn.message.parts.push_back(
        task::Part::of_data({R"({"toolResult":{"id":")" + id + R"(","content":"x"}})"}));
  }
  const auto messages = agents::conversation_of(turn, agents::ModelSettings(), "");
  REQUIRE(messages.size() == 1 + 2 * ids.size());  // the first is a note, because no call may be
}

// ---- Agents' lines.

void feed_lines(const agents::Turn& turn, const Texts& events) {
  agents::SinkGate gate(std::make_shared<NullSink>());
  agents::AgentOutput output(turn, agents::AgentSettings{}, gate);
  for (const std::string& text : events) {
    auto line = agents::line::decode(text);
    REQUIRE_MESSAGE(line, (line ? "" : line.error().for_caller));
    REQUIRE(output.forward(std::move(line->message)));
  }
  output.finish(agents::Done{});
}

std::vector<Case> lines() {
  const std::string call = R"({"type":"tool-call","id":"c#","name":"f","arguments":{}})";
  return {
      {"texts", {{}, {R"({"type":"text","delta":"x#"})"}, {}}},
      {"calls", {{}, {call}, {}}},
      {"calls and their results", {{}, {call, R"({"type":"tool-result","id":"c#","content":1})"}, {}}},
      {"steps",
       {{},
        {R"({"type":"step","name":"s#","phase":"start"})", R"({"type":"step","name":"s#","phase":"finish"})"},
        {}}},
      {"open steps", {{}, {R"({"type":"step","name":"s#","phase":"start"})"}, {}}},
      {"artifacts",
       {{}, {R"({"type":"artifact","artifact":{"artifactId":"a#","parts":[{"text":"x"}]}})"}, {}}},
      {"parts",
       one(R"({"type":"artifact","artifact":{"artifactId":"a","parts":[)", R"({"text":"x#"})", "]}}"), true},
  };
}

// ---- Cards.

void feed_card(const agents::Turn&, const Texts& events) {
  const auto card = protocol::read_remote_card(events.front());
  REQUIRE_MESSAGE(card, (card ? "" : card.error().for_caller));
  (void)client::choose_remotes(*card, "", client::Purpose::tasks);
}

std::vector<Case> cards() {
  const std::string card =
      R"({"name":"a","description":"d","version":"1","defaultInputModes":["x/y"],"defaultOutputModes":["x/y"],)"
      R"("url":"http://x/","protocolVersion":"0.3.0",)";
  return {
      {"skills", one(card + R"("skills":[)", R"({"id":"s#","name":"n","description":"d","tags":[]})", "]}"),
       true},
      {"interfaces",
       one(card + R"("skills":[],"additionalInterfaces":[)", R"({"url":"http://x/#","transport":"GRPC"})",
           "]}"),
       true},
  };
}

}  // namespace

TEST_CASE("Answers: whatever a remote A2A agent sends, processing it takes linear time") {
  check_all(a2a(), feed_a2a);
}

TEST_CASE("Answers: whatever an AG-UI endpoint sends, processing it takes linear time") {
  check_all(ag_ui(), feed_agui, kClientTools);
}

TEST_CASE("Answers: whatever a language model sends, processing it takes linear time") {
  check_all(models(), feed_model);
}

TEST_CASE("Answers: each API of a model is read and given back in linear time") {
  using protocol::models::Api;
  check_all(tagged_thoughts(), feed_dialect<Api::chat>);
  check_all(responses(), feed_dialect<Api::responses>);
  check_all(anthropic(), feed_dialect<Api::anthropic>);
}

TEST_CASE("Answers: whatever tools a client offers a model, offering them takes linear time") {
  check_all(tools(), feed_tools);
}

TEST_CASE("Answers: a model's conversation is built in time linear in its calls and results") {
  check_all({{"calls", {{}, {"the call with the number #"}, {}}}}, feed_conversation);
}

TEST_CASE("Answers: whatever lines an agent prints, processing them takes linear time") {
  check_all(lines(), feed_lines);
}

TEST_CASE("Answers: lists in a remote agent's card are read in linear time") {
  check_all(cards(), feed_card);
}

}  // namespace answers_time_test

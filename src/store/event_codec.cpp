#include "store/event_codec.h"

#include <array>
#include <cstdint>

#include "json/document.h"
#include "json/writer.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::store::codec {
namespace {

using base::Result;
using task::EventBody;

// Input was nested within the limit of its protocol; the stored form adds a few levels.
constexpr json::ParseOptions kParse{.depth_max = 1000};

tl::unexpected<base::Error> broken(std::string what) {
  return base::fail(base::ErrorCode::internal, "stored data cannot be read",
                    "stored event: " + std::move(what));
}
tl::unexpected<base::Error> broken(const base::Error& error) {
  return broken(error.for_caller);
}

// A message without parts is not valid A2A, but a status may have one. It is stored with a placeholder part
// and a flag that marks the placeholder.
void write_message(json::Writer& out, const task::Message& message) {
  if (!message.parts.empty()) {
    out.key("m");
    protocol::v1::write_message(out, message);
    return;
  }
  task::Message padded = message;
  padded.parts.push_back(task::Part::of_text({}));
  out.member("e", true).key("m");
  protocol::v1::write_message(out, padded);
}

Result<task::Message> read_message(json::Value root) {
  auto message = protocol::v1::read_message(root["m"]);
  if (!message) return broken(message.error());
  if (root["e"].boolean()) message->parts.clear();
  return message;
}

// ---- Writing, one function for each kind of event. They write the members of one object.

void write_reply_parts(json::Writer& out, int parts) {
  if (parts > 0) out.member("rp", parts);
}

void write(json::Writer& out, const task::StatusChanged& event) {
  out.member("s", task::name_of(event.status.state)).member("at", base::to_ms(event.status.at));
  if (event.status.message) write_message(out, *event.status.message);
  out.optional("md", event.metadata).optional("ask", event.ask);
  write_reply_parts(out, event.status.reply_parts);
  if (event.status.taken.tokens != 0) out.member("u", event.status.taken.tokens);
  if (event.status.taken.children != 0) out.member("below", event.status.taken.children);
  if (event.status.asked_by.empty()) return;
  out.key("by").array([&] {
    for (const task::Asker& asker : event.status.asked_by) {
      out.object(
          [&] { out.member("a", asker.agent.value).member("t", asker.task.value).member("q", asker.ask); });
    }
  });
}

void write(json::Writer& out, const task::MessageAdded& event) {
  write_message(out, event.message);
  write_reply_parts(out, event.reply_parts);
  if (event.leaving != task::Leaving::goes_on) out.member("lv", static_cast<std::int64_t>(event.leaving));
  if (event.for_child) out.member("fc", true);
}

void write(json::Writer& out, const task::TextDelta& event) {
  out.member("i", event.reply.value).member("o", event.ordinal).member("t", event.text);
  if (event.first) out.member("f", true);
  if (event.last) out.member("l", true);
  if (event.in_status) out.member("s", true);
}

void write(json::Writer& out, const task::ArtifactChunk& event) {
  out.member("o", event.artifact.ordinal);
  if (event.append) out.member("ap", true);
  if (event.last_chunk) out.member("l", true);
  out.key("a");
  protocol::v1::write_artifact(out, event.artifact);
}

void write(json::Writer& out, const task::ToolCall& event) {
  out.member("i", event.id).member("n", event.name).optional("args", event.arguments);
  if (event.by_client) out.member("c", true);
}

void write(json::Writer& out, const task::ToolResult& event) {
  out.member("i", event.id).optional("r", event.content).optional("err", event.error);
}

void write(json::Writer& out, const task::StateSnapshot& event) {
  out.optional("v", event.snapshot);
}

void write(json::Writer& out, const task::StateDelta& event) {
  out.optional("v", event.patch);
}

void write(json::Writer& out, const task::Step& event) {
  out.member("n", event.name);
  if (event.phase == task::Step::Phase::finish) out.member("f", true);
}

void write(json::Writer& out, const task::Withdrawn& event) {
  out.key("a").array([&] {
    for (const task::ArtifactId& id : event.artifacts) out.string(id.value);
  });
}

void write(json::Writer& out, const task::Custom& event) {
  out.member("n", event.name).optional("v", event.value);
}

void write(json::Writer& out, const task::ReasoningDelta& event) {
  out.member("i", event.span.value).member("t", event.text);
  if (event.first) out.member("f", true);
  if (event.last) out.member("l", true);
}

void write(json::Writer& out, const task::Activity& event) {
  out.member("i", event.id).member("n", event.type);
  out.optional("v", event.content).optional("p", event.patch);
}

void write(json::Writer& out, const task::Subagent& event) {
  out.member("i", event.id).member("n", event.name);
  if (event.phase == task::Subagent::Phase::finished) out.member("f", true);
  if (event.phase == task::Subagent::Phase::failed) out.member("err", event.error);
  if (event.phase == task::Subagent::Phase::asks) out.member("q", 1);
  if (event.phase == task::Subagent::Phase::answered) out.member("q", 2);
  if (event.phase == task::Subagent::Phase::passed) out.member("q", 3);
  if (!event.call.empty()) out.member("c", event.call);
  if (event.task) out.member("k", event.task.value);
  if (event.after) out.member("a", event.after.value);
  if (event.asks_agent) out.member("qa", true);
  if (event.is_detached) out.member("d", true);
  if (event.tokens != 0) out.member("u", event.tokens);
  if (event.children != 0) out.member("below", event.children);
  if (event.shows_replies) out.member("r", true);
}

void write(json::Writer& out, const task::Usage& event) {
  out.optional("v", event.used);
}

void write(json::Writer& out, const task::ExecutorState& event) {
  out.optional("v", event.state).optional("t", event.taken).optional("err", event.errors);
}

void write(json::Writer& out, const task::Intervention& event) {
  out.member("by", event.actor).member("n", event.action).member("r", event.reason);
  out.optional("d", event.detail);
}

// ---- Reading.

// The value of a required string member.
Result<std::string> need_string(json::Value root, std::string_view name) {
  if (!root[name].is_string()) return broken("no text in " + std::string(name));
  return root[name].str();
}

Result<int> need_ordinal(json::Value root) {
  const auto number = root["o"].integer();
  if (!number || *number < 0 || *number > INT32_MAX) return broken("no ordinal");
  return static_cast<int>(*number);
}

int read_reply_parts(json::Value root) {
  return static_cast<int>(std::clamp<std::int64_t>(root["rp"].integer().value_or(0), 0, INT32_MAX));
}

Result<EventBody> read_status(json::Value root) {
  task::StatusChanged event;
  const auto state = task::state_named(root["s"].string());
  const auto at = root["at"].integer();
  if (!state || !at) return broken("no state or no time");
  event.status.state = *state;
  event.status.at = base::from_ms(*at);
  if (!root["m"].missing()) {
    auto message = read_message(root);
    if (!message) return base::fail(message.error());
    event.status.message = std::move(*message);
  }
  event.metadata = root["md"].json();
  event.ask = root["ask"].str();
  event.status.reply_parts = read_reply_parts(root);
  event.status.taken = {root["u"].integer().value_or(0), root["below"].integer().value_or(0)};
  for (const json::Value asker : root["by"]) {
    event.status.asked_by.push_back({{asker["a"].str()}, {asker["t"].str()}, asker["q"].str()});
  }
  return event;
}

Result<EventBody> read_message_added(json::Value root) {
  auto message = read_message(root);
  if (!message) return base::fail(message.error());
  const auto leaving = root["lv"].integer().value_or(0);
  if (leaving < 0 || leaving > static_cast<std::int64_t>(task::Leaving::cancels))
    return broken("no such leaving");
  return task::MessageAdded{std::move(*message), static_cast<task::Leaving>(leaving), read_reply_parts(root),
                            root["fc"].boolean()};
}

Result<EventBody> read_text(json::Value root) {
  auto id = need_string(root, "i");
  auto text = need_string(root, "t");
  const auto ordinal = need_ordinal(root);
  if (!id || !text || !ordinal) return broken("text without id, ordinal or text");
  return task::TextDelta{{std::move(*id)},    *ordinal,           std::move(*text), root["f"].boolean(),
                         root["l"].boolean(), root["s"].boolean()};
}

Result<EventBody> read_chunk(json::Value root) {
  auto artifact = protocol::v1::read_artifact(root["a"]);
  if (!artifact) return broken(artifact.error());
  const auto ordinal = need_ordinal(root);
  if (!ordinal) return base::fail(ordinal.error());
  artifact->ordinal = *ordinal;
  return task::ArtifactChunk{std::move(*artifact), root["ap"].boolean(), root["l"].boolean()};
}

Result<EventBody> read_tool_call(json::Value root) {
  auto id = need_string(root, "i");
  auto name = need_string(root, "n");
  if (!id || !name) return broken("tool call without id or name");
  return task::ToolCall{std::move(*id), std::move(*name), root["args"].json(), root["c"].boolean()};
}

Result<EventBody> read_tool_result(json::Value root) {
  auto id = need_string(root, "i");
  if (!id) return base::fail(id.error());
  return task::ToolResult{std::move(*id), root["r"].json(), root["err"].str()};
}

// Reads an event that consists of one value.
template <class Event>
Result<EventBody> read_value(json::Value root) {
  return Event{root["v"].json()};
}
constexpr auto read_snapshot = read_value<task::StateSnapshot>, read_delta = read_value<task::StateDelta>,
               read_usage = read_value<task::Usage>;

Result<EventBody> read_step(json::Value root) {
  auto name = need_string(root, "n");
  if (!name) return base::fail(name.error());
  return task::Step{std::move(*name),
                    root["f"].boolean() ? task::Step::Phase::finish : task::Step::Phase::start};
}

Result<EventBody> read_withdrawn(json::Value root) {
  task::Withdrawn event;
  if (!root["a"].is_array()) return broken("no list of artifacts");
  for (const json::Value id : root["a"]) {
    if (!id.is_string()) return broken("an artifact id that is no text");
    event.artifacts.push_back({id.str()});
  }
  return event;
}

Result<EventBody> read_custom(json::Value root) {
  auto name = need_string(root, "n");
  if (!name) return base::fail(name.error());
  return task::Custom{std::move(*name), root["v"].json()};
}

Result<EventBody> read_reasoning(json::Value root) {
  auto id = need_string(root, "i");
  auto text = need_string(root, "t");
  if (!id || !text) return broken("reasoning without id or text");
  return task::ReasoningDelta{{std::move(*id)}, std::move(*text), root["f"].boolean(), root["l"].boolean()};
}

Result<EventBody> read_activity(json::Value root) {
  auto id = need_string(root, "i");
  auto type = need_string(root, "n");
  if (!id || !type) return broken("activity without id or type");
  return task::Activity{std::move(*id), std::move(*type), root["v"].json(), root["p"].json()};
}

Result<EventBody> read_subagent(json::Value root) {
  using Phase = task::Subagent::Phase;
  auto id = need_string(root, "i");
  auto name = need_string(root, "n");
  if (!id || !name) return broken("subagent without id or name");
  const Phase phase = root["f"].boolean()        ? Phase::finished
                      : root["err"].is_string()  ? Phase::failed
                      : root["q"].integer() == 1 ? Phase::asks
                      : root["q"].integer() == 2 ? Phase::answered
                      : root["q"].integer() == 3 ? Phase::passed
                                                 : Phase::started;
  return task::Subagent{std::move(*id),
                        std::move(*name),
                        phase,
                        root["err"].str(),
                        root["c"].str(),
                        {root["k"].integer().value_or(0)},
                        {root["a"].integer().value_or(0)},
                        root["qa"].boolean(),
                        root["d"].boolean(),
                        root["u"].integer().value_or(0),
                        root["below"].integer().value_or(0),
                        root["r"].boolean()};
}

Result<EventBody> read_executor_state(json::Value root) {
  task::ExecutorState event{root["v"].json()};
  for (const json::Value call : root["t"]) event.taken.push_back(call.str());
  event.errors = root["err"].str();
  return event;
}

Result<EventBody> read_intervention(json::Value root) {
  return task::Intervention{root["by"].str(), root["n"].str(), root["r"].str(), root["d"].str()};
}

// In the order of EventBody's alternatives and of Kind.
using Read = Result<EventBody> (*)(json::Value);
constexpr std::array<Read, 17> kReaders{
    read_status,   read_message_added, read_text,  read_chunk,          read_tool_call,   read_tool_result,
    read_snapshot, read_delta,         read_step,  read_withdrawn,      read_custom,      read_reasoning,
    read_activity, read_subagent,      read_usage, read_executor_state, read_intervention};
static_assert(kReaders.size() == std::variant_size_v<EventBody>);
static_assert(static_cast<int>(Kind::intervention) == static_cast<int>(kReaders.size()));

}  // namespace

Kind kind_of(const EventBody& body) {
  return static_cast<Kind>(body.index() + 1);
}

std::string encode(const EventBody& body) {
  std::string text;
  json::Writer out(text);
  out.object([&] { std::visit([&](const auto& event) { write(out, event); }, body); });
  return text;
}

Result<EventBody> decode(int kind, std::string_view body) {
  if (kind < 1 || kind > static_cast<int>(kReaders.size())) return broken("kind " + std::to_string(kind));
  const auto document = json::Document::parse_view(body, kParse);
  if (!document) return broken(document.error());
  if (!document->root().is_object()) return broken("no object");
  return kReaders[static_cast<std::size_t>(kind - 1)](document->root());
}

std::string encode_messages(const std::vector<task::Message>& messages) {
  std::string text;
  json::Writer out(text);
  out.array([&] {
    for (const task::Message& message : messages) out.object([&] { write_message(out, message); });
  });
  return text;
}

Result<std::vector<task::Message>> decode_messages(std::string_view text) {
  const auto document = json::Document::parse_view(text, kParse);
  if (!document) return broken(document.error());
  if (!document->root().is_array()) return broken("no list");
  std::vector<task::Message> messages;
  for (const json::Value item : document->root()) {
    auto message = read_message(item);
    if (!message) return base::fail(message.error());
    messages.push_back(std::move(*message));
  }
  return messages;
}

std::string encode_strings(const std::vector<std::string>& strings) {
  std::string text;
  json::Writer out(text);
  out.array([&] {
    for (const std::string& item : strings) out.string(item);
  });
  return text;
}

Result<std::vector<std::string>> decode_strings(std::string_view text) {
  const auto document = json::Document::parse_view(text, kParse);
  if (!document) return broken(document.error());
  if (!document->root().is_array()) return broken("no list");
  std::vector<std::string> strings;
  for (const json::Value item : document->root()) {
    if (!item.is_string()) return broken("a list with something that is no text");
    strings.push_back(item.str());
  }
  return strings;
}

}  // namespace baton::store::codec

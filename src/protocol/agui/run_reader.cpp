#include "protocol/agui/run_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "json/fields.h"
#include "json/json_patch.h"
#include "json/writer.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::protocol::agui {
namespace {

using json::Value;
using task::EventBody;

constexpr std::size_t kOpenMax = 1'000;  // open calls, and messages of others than the agent, in a run
constexpr std::size_t kMessageIdMax = 1'024;
constexpr std::size_t kMadeMax = 32;              // calls kept for questions about them
constexpr std::size_t kMadeNamesMax = 1'024;      // bytes of the id and the name of each
constexpr std::size_t kMadeArgumentsMax = 8'192;  // bytes of its arguments

// Servers in Python that do not use the SDK's encoder write the members of events in snake_case.
Value message_id(Value event) {
  return json::first_of(event, {"messageId", "message_id"});
}
Value call_id(Value event) {
  return json::first_of(event, {"toolCallId", "tool_call_id"});
}

// Returns the JSON of any value; "null" if it is missing.
task::Json json_of(Value value) {
  return value.missing() ? task::Json{"null"} : value.json();
}

task::Json arguments_of(std::string text) {
  if (text.empty()) return {"{}"};
  if (!json::Document::parse_view(text, json::kInString)) return {json::string_of(text)};
  return {std::move(text)};
}

// Returns a text, also one in parts, as a tool's result may be in AG-UI 1.0, or the JSON of anything else.
std::string text_of(Value content) {
  if (content.absent()) return {};
  if (content.is_string()) return content.str();
  if (!content.is_array() || content.size() == 0) return std::string(content.raw());
  std::string text;
  for (const Value part : content) {
    if (part["type"].string() != "text" || !part["text"].is_string()) return std::string(content.raw());
    text.append(text.empty() ? "" : "\n").append(part["text"].string());
  }
  return text;
}

void add_shown_calls(Value message, std::vector<task::ToolCall>& calls) {
  const Value list = json::first_of(message, {"toolCalls", "tool_calls"});
  if (!list.is_array()) return;
  for (const Value call : list) {
    const Value function = call["function"];
    std::string id = call["id"].str(), name = function["name"].str();
    if (id.empty() || name.empty()) continue;
    calls.push_back({std::move(id), std::move(name), arguments_of(text_of(function["arguments"])), false});
  }
}

RunSnapshot snapshot_of(Value messages) {
  RunSnapshot snapshot;
  if (!messages.is_array()) return snapshot;
  std::set<std::string> answered;  // calls
  std::size_t place = 0;
  for (const Value message : messages) {
    ++place;
    const std::string_view role = message["role"].string();
    if (role == "user") {
      snapshot = {};
      snapshot.has_user = true;
      answered.clear();
    }
    if (role == "tool") answered.insert(call_id(message).str());
    if (role != "assistant") continue;
    add_shown_calls(message, snapshot.calls);
    const std::string_view content = message["content"].string();
    if (content.empty()) continue;
    std::string id = message["id"].str();
    if (id.empty() || id.size() > kMessageIdMax) id = "message " + std::to_string(place);
    snapshot.said.push_back({std::move(id), std::string(content), true});
  }
  std::erase_if(snapshot.calls, [&](const task::ToolCall& call) { return answered.contains(call.id); });
  return snapshot;
}

// Returns what an interrupt's metadata shows of its subject: all of it, but LangGraph's adapter wraps it. The
// URL for authorisation is shown by itself.
task::Json about_in(Value metadata) {
  const Value raw = metadata["langgraph"]["raw"];
  if (!raw.absent()) return raw.json();
  task::Json about;
  if (!metadata.is_object()) return about;
  json::Writer out(about.text);
  out.object([&] {
    for (const Value member : metadata) {
      if (member.key() != "url" && !member.is_null()) out.key(member.key()).raw(member.raw());
    }
  });
  return about.text == "{}" ? task::Json{} : about;
}

// Reads an interrupt, also in the forms before outcomes were objects: {id, value} of Microsoft's Agent
// Framework, and {id, reason, payload} of the protocol's draft.
Interrupt interrupt_in(Value one) {
  Interrupt interrupt{one["id"].str(), one["message"].str(), {}};
  const Value schema = json::first_of(one, {"responseSchema", "response_schema"});
  if (schema.is_object()) interrupt.schema = schema.json();
  if (one["metadata"]["url"].is_string()) interrupt.url = one["metadata"]["url"].json();
  interrupt.for_auth = one["reason"].string() == "baton:auth";
  interrupt.about = about_in(one["metadata"]);
  const Value older = json::first_of(one, {"value", "payload"});
  if (interrupt.about.empty() && !older.absent()) interrupt.about = older.json();
  return interrupt;
}

// Reads a progress note in the form of Baton's own servers: {message?, and other members}.
EventBody note_in(Value value) {
  task::StatusChanged note;
  note.status.state = task::State::working;
  if (const std::string text = value["message"].str(); !text.empty()) {
    task::Message& message = note.status.message.emplace();
    message.role = task::Role::agent;
    message.parts.push_back(task::Part::of_text(text));
  }
  if (value["progress"].real()) {
    json::Writer out(note.metadata.text);
    out.object([&] { out.key("progress").raw(value["progress"].raw()); });
  }
  return note;
}

}  // namespace

base::Result<std::vector<RunPiece>> RunReader::take(std::string_view json) {
  const auto document = json::Document::parse_view(json);
  if (!document) return base::fail(document.error());
  const Value event = document->root();
  if (!event.is_object() || !event["type"].is_string())
    return base::fail(base::ErrorCode::invalid_argument, "an event has no type");
  if (message_id(event).string().size() > kMessageIdMax) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "an event's messageId is longer than " + std::to_string(kMessageIdMax) + " bytes");
  }
  const std::string_view type = event["type"].string();
  if (type == "RUN_STARTED" && end_ && end_->kind != RunEnd::Kind::failed) begin_another();
  Pieces out;
  if (!end_) take_event(type, event, out);
  if (arguments_bytes_ + asked_bytes_ <= arguments_max_) return out;
  return base::fail(base::ErrorCode::too_large, "the arguments of its tool calls are larger than " +
                                                    std::to_string(arguments_max_) +
                                                    " bytes (outbound.tool_arguments_max)");
}

// How the run before ended no longer matters.
void RunReader::begin_another() {
  end_.reset();
  asked_.clear();
  asked_bytes_ = 0;
}

void RunReader::take_event(std::string_view type, Value event, Pieces& out) {
  // These say nothing about the call, as in AG-UI's own client.
  const bool may_be_between =
      type == "RAW" || type.starts_with("ACTIVITY_") || type == "REASONING_ENCRYPTED_VALUE";
  if (type != "TOOL_CALL_CHUNK" && !may_be_between) end_chunks(out);
  if (take_text(type, event, out) || take_call(type, event, out) || take_shown(type, event, out)) return;
  if (type == "MESSAGES_SNAPSHOT") {
    for (const std::string& message : std::exchange(chunked_, {})) out.push_back(RunText{message, {}, true});
    RunSnapshot snapshot = snapshot_of(event["messages"]);
    for (const task::ToolCall& call : snapshot.calls) remember(call);
    out.push_back(std::move(snapshot));
  }
  if (type == "RUN_FINISHED") take_end(event, out);
  if (type != "RUN_ERROR") return;
  take_usage(event["usage"], out);
  end_ = RunEnd{RunEnd::Kind::failed, {}, {}, event["message"].str(), event["code"].str()};
}

bool RunReader::take_text(std::string_view type, Value event, Pieces& out) {
  const std::string id = message_id(event).str(), delta = event["delta"].str();
  if (type.starts_with("REASONING_") || type.starts_with("THINKING_")) {
    const bool has_words = type.ends_with("_CONTENT") || type.ends_with("_CHUNK");
    if (has_words && !delta.empty()) out.push_back(RunReasoning{delta});
    return true;
  }
  if (!type.starts_with("TEXT_MESSAGE_")) return false;
  const bool is_chunk = type == "TEXT_MESSAGE_CHUNK";
  const bool begins = type == "TEXT_MESSAGE_START" || (is_chunk && !id.empty());
  if (is_chunk && !id.empty()) chunk_text_ = id;
  const std::string& message = is_chunk ? chunk_text_ : id;
  const std::string_view role = event["role"].string();
  if (begins && !role.empty() && role != "assistant" && not_said_.size() < kOpenMax) not_said_.insert(id);
  const bool has_words = is_chunk || type == "TEXT_MESSAGE_CONTENT";
  const bool last = type == "TEXT_MESSAGE_END";
  const bool is_news = ((has_words && !delta.empty()) || last) && !not_said_.contains(message);
  if (!is_news) return true;
  if (is_chunk && chunked_.size() < kOpenMax) chunked_.insert(message);
  out.push_back(RunText{message, last ? std::string() : delta, last});
  return true;
}

bool RunReader::take_call(std::string_view type, Value event, Pieces& out) {
  if (!type.starts_with("TOOL_CALL_")) return false;
  if (type == "TOOL_CALL_CHUNK") return take_call_chunk(event, out), true;
  const std::string id = call_id(event).str();
  if (id.empty()) return true;
  if (type == "TOOL_CALL_START" && calls_.size() < kOpenMax) {
    begin_call(id, event);
  } else if (type == "TOOL_CALL_ARGS") {
    add_arguments(id, event);
  } else if (type == "TOOL_CALL_END") {
    end_call(id, out);
  } else if (type == "TOOL_CALL_RESULT") {
    end_call(id, out);
    std::erase_if(made_, [&](const task::ToolCall& call) { return call.id == id; });
    const Value content = event["content"];
    out.push_back(EventBody{task::ToolResult{id, {json::string_of(text_of(content))}, event["error"].str()}});
  }
  return true;
}

void RunReader::take_call_chunk(Value event, Pieces& out) {
  const std::string id = call_id(event).str();
  if (!id.empty() && id != chunk_call_) {
    end_chunks(out);
    if (calls_.contains(id)) return add_arguments(id, event);  // begun by TOOL_CALL_START
    if (calls_.size() >= kOpenMax) return;
    chunk_call_ = id;
    begin_call(id, event);
  }
  add_arguments(chunk_call_, event);
}

void RunReader::begin_call(const std::string& id, Value event) {
  const std::string name = json::first_of(event, {"toolCallName", "tool_call_name"}).str();
  const auto [call, is_new] = calls_.try_emplace(id, Call{id, name, {}});
  if (is_new) arguments_bytes_ += call->second.bytes();
}

void RunReader::add_arguments(const std::string& id, Value event) {
  const auto call = calls_.find(id);
  if (call == calls_.end()) return;
  const std::string_view delta = event["delta"].string();
  call->second.arguments += delta;
  arguments_bytes_ += delta.size();
}

void RunReader::end_chunks(Pieces& out) {
  if (!chunk_call_.empty()) end_call(std::exchange(chunk_call_, {}), out);
}

void RunReader::end_call(const std::string& id, Pieces& out) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  Call call = std::move(found->second);
  calls_.erase(found);
  arguments_bytes_ -= call.bytes();
  if (call.name.empty()) return;
  task::ToolCall made{call.id, call.name, arguments_of(std::move(call.arguments)), false};
  remember(made);
  out.push_back(EventBody{std::move(made)});
}

// Keeps the call for an interrupt that names it, in place of an earlier one with its id. Arguments that are
// too long to show are cut off.
void RunReader::remember(const task::ToolCall& call) {
  std::erase_if(made_, [&](const task::ToolCall& earlier) { return earlier.id == call.id; });
  if (call.id.size() + call.name.size() > kMadeNamesMax) return;
  const std::string& text = call.arguments.text;
  const bool is_short = text.size() <= kMadeArgumentsMax;
  const std::string shown(is_short ? "" : json::string_of(base::beginning_of(text, kMadeArgumentsMax)));
  made_.push_back({call.id, call.name, is_short ? call.arguments : task::Json{shown}});
  if (made_.size() > kMadeMax) made_.pop_front();
}

// An interrupt may name the call that it is about, instead of showing it. Not for each of very many: the text
// of one call would take the memory of all.
void RunReader::show_call(Value one, Interrupt& interrupt) const {
  const std::string id = call_id(one).str();
  const auto call = std::ranges::find(made_, id, &task::ToolCall::id);
  if (call == made_.end()) return;
  const auto document = json::Document::view_of(interrupt.about.text);
  const Value more = document.root();
  task::Json about;
  json::Writer out(about.text);
  out.object([&] {
    out.member("tool", call->name).member("arguments", call->arguments);
    if (!more.is_object() && !more.absent()) out.key("about").raw(more.raw());
    if (!more.is_object()) return;
    for (const Value member : more) {
      if (member.key() != "tool" && member.key() != "arguments") out.key(member.key()).raw(member.raw());
    }
  });
  interrupt.about = std::move(about);
}

bool RunReader::take_shown(std::string_view type, Value event, Pieces& out) {
  const auto add = [&](EventBody body) { out.emplace_back(std::move(body)); };
  if (type == "STATE_SNAPSHOT") {
    add(task::StateSnapshot{json_of(event["snapshot"])});
  } else if (type == "STATE_DELTA") {
    task::Json patch = json_of(event["delta"]);
    if (json::is_patch(patch)) add(task::StateDelta{std::move(patch)});
  } else if (type == "STEP_STARTED" || type == "STEP_FINISHED") {
    const auto phase = type == "STEP_STARTED" ? task::Step::Phase::start : task::Step::Phase::finish;
    const std::string name = json::first_of(event, {"stepName", "step_name"}).str();
    if (!name.empty()) add(task::Step{name, phase});
  } else if (type == "ACTIVITY_SNAPSHOT" || type == "ACTIVITY_DELTA") {
    const Value kind = json::first_of(event, {"activityType", "activity_type"});
    task::Activity activity{message_id(event).str(), kind.str(), {}, {}};
    if (event["content"].is_object()) activity.content = event["content"].json();
    if (type == "ACTIVITY_DELTA") activity.patch = json_of(event["patch"]);
    const bool is_whole = !activity.content.empty() || json::is_patch(activity.patch);
    if (is_whole && !activity.id.empty() && !activity.type.empty()) add(std::move(activity));
  } else if (type == "CUSTOM") {
    take_custom(event, out);
  } else {
    return false;
  }
  return true;
}

// Baton's own servers show artifacts without text, and progress notes, as custom events.
void RunReader::take_custom(Value event, Pieces& out) {
  const std::string name = event["name"].str();
  const Value value = event["value"];
  if (name == "artifact" && value["artifact"].is_object()) {
    auto artifact = v1::read_artifact(value["artifact"]);
    if (artifact) {
      return out.push_back(EventBody{task::ArtifactChunk{std::move(*artifact), value["append"].boolean(),
                                                         value["lastChunk"].boolean()}});
    }
  }
  if (name == "status" && value.is_object()) return out.push_back(note_in(value));
  if (name == kOnInterrupt) return take_on_interrupt(value);
  if (!name.empty()) out.push_back(EventBody{task::Custom{name, json_of(value)}});
}

// The value is the argument of LangGraph's interrupt(), as JSON or as a text that holds JSON.
void RunReader::take_on_interrupt(Value value) {
  const auto inner = json::Document::view_of(value.string(), json::kInString);
  const Value asked = inner.root().is_object() || inner.root().is_array() ? inner.root() : value;
  Interrupt interrupt{std::string(kOnInterrupt), {}, {}};
  if (asked.is_string()) interrupt.message = asked.str();
  for (const char* member : {"question", "message", "prompt", "description"}) {
    if (interrupt.message.empty()) interrupt.message = asked[member].str();
  }
  if (!asked.is_string() && !asked.absent()) interrupt.about = asked.json();
  asked_bytes_ += value.raw().size();
  asked_.push_back(std::move(interrupt));
}

void RunReader::take_usage(Value list, Pieces& out) {
  constexpr std::size_t kMost = 100;
  constexpr std::int64_t kWholeMax = std::int64_t{1} << 53;
  constexpr std::array kNumbers{"inputTokens", "outputTokens", "totalTokens", "reasoningTokens",
                                "cachedInputTokens"};
  if (!list.is_array() || list.size() > kMost) return;
  for (const Value used : list) {
    task::Usage usage;
    json::Writer writer(usage.used.text);
    writer.object([&] {
      writer.optional("provider", used["provider"].string()).optional("model", used["model"].string());
      for (const char* name : kNumbers) {
        const auto count = used[name].integer();
        if (count && *count >= 0 && *count <= kWholeMax) writer.member(name, *count);
      }
    });
    if (usage.used.text != "{}") out.push_back(EventBody{std::move(usage)});
  }
}

void RunReader::take_end(Value event, Pieces& out) {
  while (!calls_.empty()) end_call(std::string(calls_.begin()->first), out);
  take_usage(event["usage"], out);
  RunEnd end;
  const Value outcome = event["outcome"], older = event["interrupt"];
  const std::string_view kind = outcome.is_object() ? outcome["type"].string() : outcome.string();
  if (kind == "cancelled" || kind == "canceled") end.kind = RunEnd::Kind::cancelled;
  const auto add = [&](Value one) {
    Interrupt interrupt = interrupt_in(one);
    if (interrupt.id.empty()) return;
    if (end.interrupts.size() < kMadeMax) show_call(one, interrupt);
    end.interrupts.push_back(std::move(interrupt));
  };
  if (outcome.is_object() && kind == "interrupt") {
    for (const Value one : outcome["interrupts"]) add(one);
  } else if (!outcome.is_object() && older.is_array()) {
    for (const Value one : older) add(one);
  } else if (!outcome.is_object() && older.is_object()) {
    add(older);
  }
  if (!end.interrupts.empty()) end.kind = RunEnd::Kind::interrupted;
  if (end.kind == RunEnd::Kind::finished && !asked_.empty()) {
    end.kind = RunEnd::Kind::interrupted;
    end.interrupts = std::move(asked_);
  }
  // An unknown outcome is not a success.
  if (end.kind == RunEnd::Kind::finished && !kind.empty() && kind != "success") {
    end.kind = RunEnd::Kind::failed;
    end.error = kind == "interrupt" ? "it asks a question that has no id, so that it cannot be answered"
                                    : "its run ended with the outcome \"" + std::string(kind) + "\"";
  }
  if (!event["result"].absent()) end.result = event["result"].json();
  end_ = std::move(end);
}

}  // namespace baton::protocol::agui

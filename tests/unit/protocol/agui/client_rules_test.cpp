#include "client_rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

namespace baton::test {
namespace {

using json::Value;

const std::set<std::string> kOlder{"RUN_STARTED",
                                   "RUN_FINISHED",
                                   "RUN_ERROR",
                                   "STEP_STARTED",
                                   "STEP_FINISHED",
                                   "TEXT_MESSAGE_START",
                                   "TEXT_MESSAGE_CONTENT",
                                   "TEXT_MESSAGE_END",
                                   "TOOL_CALL_START",
                                   "TOOL_CALL_ARGS",
                                   "TOOL_CALL_END",
                                   "TOOL_CALL_RESULT",
                                   "STATE_SNAPSHOT",
                                   "STATE_DELTA",
                                   "MESSAGES_SNAPSHOT",
                                   "ACTIVITY_SNAPSHOT",
                                   "ACTIVITY_DELTA",
                                   "CUSTOM",
                                   "THINKING_START",
                                   "THINKING_END",
                                   "THINKING_TEXT_MESSAGE_START",
                                   "THINKING_TEXT_MESSAGE_CONTENT",
                                   "THINKING_TEXT_MESSAGE_END"};

bool is_of_1_0(const std::string& type) {
  return type.starts_with("SUBAGENT_");
}

bool has_null(Value event) {
  for (const Value member : event) {
    if (member.is_null() && member.key() != "value" && member.key() != "snapshot") return true;
  }
  return false;
}

std::string missing(Value event, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!event[name].is_string()) return std::string(name) + " is no string";
  }
  return {};
}

}  // namespace

std::string ClientRules::take(const protocol::chat::Frames::Frame& frame) {
  if (!frame.event.empty()) return "a frame with an event name";
  if (frame.data.find_first_of("\r\n") != std::string::npos) return "a frame of several lines";
  const auto document = json::Document::parse_view(frame.data);
  if (!document || !document->root().is_object()) return "no JSON object: " + frame.data;
  const Value event = document->root();
  const std::string type = event["type"].str();
  const bool known = kOlder.contains(type) || type.starts_with("REASONING_");
  if (!known && !(newer_ && is_of_1_0(type))) return "unknown type " + type;
  if (newer_ && type.starts_with("THINKING_")) return "a type that 1.0 has given up";
  if (has_null(event)) return "a null in " + frame.data;
  if (!event["timestamp"].missing() && !event["timestamp"].integer()) return "a timestamp that is no integer";
  if (!started_ && type != "RUN_STARTED" && type != "RUN_ERROR") return "first event " + type;
  if (over_) return "after the end: " + type;
  if (started_ && type == "RUN_STARTED") return "a second RUN_STARTED";
  if (auto wrong = check(type, event); !wrong.empty()) return wrong + " in " + frame.data;
  return {};
}

std::string ClientRules::end() const {
  return over_ ? std::string() : "the stream ends without an end of the run";
}

std::string ClientRules::check(const std::string& type, Value event) {
  if (type == "RUN_STARTED") {
    started_ = true;
    if (!newer_ && !event["protocolVersion"].missing()) return "a version for an older client";
    return missing(event, {"threadId", "runId"});
  }
  if (type.starts_with("TEXT_")) return check_text(type, event);
  if (type.starts_with("TOOL_")) return check_tool(type, event);
  if (type.starts_with("REASONING_")) return check_reasoning(type, event);
  if (type.starts_with("THINKING_")) return check_thinking(type, event);
  if (type.starts_with("STEP_") || type.starts_with("SUBAGENT_")) return check_work(type, event);
  if (type.starts_with("RUN_")) return check_end(type, event);
  if (type == "CUSTOM") return event["value"].missing() ? "no value" : missing(event, {"name"});
  if (type == "STATE_SNAPSHOT") return event["snapshot"].missing() ? "no snapshot" : "";
  if (type == "MESSAGES_SNAPSHOT") return check_messages(event["messages"]);
  if (type == "STATE_DELTA") return event["delta"].is_array() ? "" : "no list";
  if (type == "ACTIVITY_SNAPSHOT") {
    const std::string id = event["messageId"].str();
    if (!known_message(id)) messages_.push_back({id, "activity", {}, {}});
    return event["content"].is_object() ? missing(event, {"messageId", "activityType"}) : "no content";
  }
  return {};
}

bool ClientRules::known_message(const std::string& id) const {
  return std::ranges::any_of(messages_, [&](const Message& message) { return message.id == id; });
}

std::string ClientRules::check_messages(Value messages) {
  // Replaces all messages but those of kinds that snapshots do not have.
  std::erase_if(messages_, [](const Message& message) {
    return message.role != "activity" && message.role != "reasoning";
  });
  for (const Value message : messages) {
    if (auto wrong = missing(message, {"id", "role"}); !wrong.empty()) return wrong;
    if (known_message(message["id"].str())) return "a message's id used again";
    messages_.push_back({message["id"].str(), message["role"].str(), message["content"].str(), {}});
    if (has_null(message)) return "a null in a message";
    if (message["role"].string() == "tool") answered_.insert(message["toolCallId"].str());
    for (const Value call : message["toolCalls"]) {
      const std::string arguments = call["function"]["arguments"].str();
      const auto known = arguments_.try_emplace(call["id"].str(), arguments).first;
      if (known->second != arguments || !json::Document::parse_view(arguments))
        return "a call that is no call, or another one";
    }
  }
  const bool all_open = std::ranges::all_of(texts_, [&](const std::string& id) { return known_message(id); });
  return all_open ? "" : "an open message that is gone";
}

std::string ClientRules::check_text(const std::string& type, Value event) {
  if (auto wrong = missing(event, {"messageId"}); !wrong.empty()) return wrong;
  const std::string id = event["messageId"].str();
  if (type == "TEXT_MESSAGE_START") {
    if (known_message(id)) return "a message's id used again";
    texts_.insert(id);
    messages_.push_back({id, event["role"].str(), {}, {}});
    return {};
  }
  if (!texts_.contains(id)) return "no open message";
  if (type == "TEXT_MESSAGE_END") return texts_.erase(id), "";
  if (event["delta"].string().empty()) return "an empty delta";
  for (Message& message : messages_) {
    if (message.id == id) message.content += event["delta"].string();
  }
  return {};
}

// Like client 0.0.42: a call is added to its parent message only if that is the last message.
std::string ClientRules::start_call(const std::string& id, const std::string& parent) {
  if (arguments_.contains(id)) return "a call's id used again";
  calls_.insert(id);
  arguments_[id];
  if (!parent.empty()) {
    if (messages_.empty() || messages_.back().id != parent) return "a parent that is not the last message";
    if (messages_.back().role != "assistant") return "a parent that cannot call";
    messages_.back().calls.push_back(id);
    return {};
  }
  if (known_message(id)) return "a call's id that is a message's";
  messages_.push_back({id, "assistant", {}, {id}});
  return {};
}

std::string ClientRules::check_tool(const std::string& type, Value event) {
  if (auto wrong = missing(event, {"toolCallId"}); !wrong.empty()) return wrong;
  const std::string id = event["toolCallId"].str();
  if (type == "TOOL_CALL_START") {
    if (auto wrong = missing(event, {"toolCallName"}); !wrong.empty()) return wrong;
    return start_call(id, event["parentMessageId"].str());
  }
  if (type == "TOOL_CALL_RESULT") {
    if (calls_.contains(id)) return "a result before the call's end";
    if (known_message(event["messageId"].str())) return "a result's id used again";
    if (!answered_.insert(id).second) return "a second result";
    messages_.push_back({event["messageId"].str(), "tool", event["content"].str(), {}});
    return missing(event, {"messageId", "content"});
  }
  if (!calls_.contains(id)) return "no open call";
  if (type == "TOOL_CALL_ARGS") return arguments_[id] += event["delta"].string(), "";
  calls_.erase(id);
  return json::Document::parse_view(arguments_[id]) ? "" : "arguments that are not JSON: " + arguments_[id];
}

std::string ClientRules::check_reasoning(const std::string& type, Value event) {
  if (auto wrong = missing(event, {"messageId"}); !wrong.empty()) return wrong;
  const std::string id = event["messageId"].str();
  if (type == "REASONING_START") return spans_.insert(id).second ? "" : "an open span";
  if (type == "REASONING_END") return spans_.erase(id) == 1 ? "" : "no open span";
  if (type == "REASONING_MESSAGE_START") {
    if (event["role"].string() != "reasoning") return "the wrong role";
    if (known_message(id)) return "a message's id used again";
    messages_.push_back({id, "reasoning", {}, {}});
    return thoughts_.insert(id).second ? "" : "an open thought";
  }
  if (!thoughts_.contains(id)) return "no open thought";
  if (type == "REASONING_MESSAGE_END") return thoughts_.erase(id), "";
  return event["delta"].string().empty() ? "an empty delta" : "";
}

std::string ClientRules::check_thinking(const std::string& type, Value event) {
  if (type == "THINKING_START") return std::exchange(thinking_, true) ? "two at once" : "";
  if (type == "THINKING_END") return std::exchange(thinking_, false) && !thinking_message_ ? "" : "not open";
  if (!thinking_) return "outside of a span";
  if (type == "THINKING_TEXT_MESSAGE_START") return std::exchange(thinking_message_, true) ? "open" : "";
  if (!thinking_message_) return "no open thought";
  if (type == "THINKING_TEXT_MESSAGE_END") return thinking_message_ = false, "";
  return event["delta"].string().empty() ? "an empty delta" : "";
}

std::string ClientRules::check_work(const std::string& type, Value event) {
  if (type == "STEP_STARTED") return steps_.insert(event["stepName"].str()).second ? "" : "an open step";
  if (type == "STEP_FINISHED") return steps_.erase(event["stepName"].str()) == 1 ? "" : "no open step";
  const std::string id = event["subagentRunId"].str();
  if (type == "SUBAGENT_STARTED") {
    if (ended_subagents_.contains(id)) return "a subagent's id used again";
    return subagents_.insert(id).second ? missing(event, {"subagentRunId", "name"}) : "an open subagent";
  }
  ended_subagents_.insert(id);
  if (type == "SUBAGENT_ERROR" && !event["message"].is_string()) return "no message";
  return subagents_.erase(id) == 1 ? "" : "no open subagent";
}

bool ClientRules::nothing_open() const {
  const std::array all{&texts_, &calls_, &steps_, &spans_, &thoughts_, &subagents_};
  return std::ranges::all_of(all, [](const auto* open) { return open->empty(); });
}

std::string ClientRules::check_end(const std::string& type, Value event) {
  over_ = true;
  for (const Value used : event["usage"]) {
    for (const Value member : used) {
      if (member.key() == "provider" || member.key() == "model") continue;
      const auto count = member.integer();
      if (!count || *count < 0) return "a count that is none";
    }
  }
  if (type == "RUN_ERROR") return missing(event, {"message"});
  if (!nothing_open() || thinking_) return "something is open";
  if (auto wrong = missing(event, {"threadId", "runId"}); !wrong.empty()) return wrong;
  return check_outcome(event["outcome"]);
}

std::string ClientRules::check_outcome(Value outcome) const {
  if (outcome.missing()) return {};
  const std::string type = outcome["type"].str();
  if (type == "interrupt") {
    if (outcome["interrupts"].size() == 0) return "no interrupts";
    for (const Value interrupt : outcome["interrupts"]) {
      if (!interrupt["id"].is_string() || !interrupt["reason"].is_string()) return "half an interrupt";
      if (has_null(interrupt)) return "a null in an interrupt";
    }
    return outcome.size() == 2 ? "" : "more than an interrupt";
  }
  if (type != "success" && type != "cancelled") return "an unknown outcome";
  if (!newer_) return type == "success" && outcome.size() == 1 ? "" : "an outcome of 1.0";
  for (const Value call : outcome["pendingToolCallIds"]) {
    if (!arguments_.contains(call.str()) || answered_.contains(call.str())) return "a call that is not open";
  }
  return {};
}

}  // namespace baton::test

namespace {

// The first problem in the frames, or the problem of a stream that ends after them.
std::string said_of(bool newer, std::initializer_list<const char*> frames) {
  baton::test::ClientRules rules(newer);
  for (const char* frame : frames) {
    if (auto wrong = rules.take({{}, frame}); !wrong.empty()) return wrong;
  }
  return rules.end();
}

constexpr const char* kStart = R"({"type":"RUN_STARTED","threadId":"t","runId":"r"})";
constexpr const char* kFinish = R"({"type":"RUN_FINISHED","threadId":"t","runId":"r"})";

}  // namespace

TEST_CASE("ClientRules: a breach of each rule is found") {
  CHECK(said_of(false, {kStart, kFinish}).empty());
  CHECK_FALSE(said_of(false, {kStart}).empty());
  CHECK_FALSE(said_of(false, {kFinish}).empty());
  CHECK_FALSE(said_of(false, {kStart, kStart, kFinish}).empty());
  CHECK_FALSE(said_of(false, {kStart, kFinish, kFinish}).empty());
  const char* text = R"({"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"})";
  const char* text_end = R"({"type":"TEXT_MESSAGE_END","messageId":"m"})";
  CHECK(said_of(false, {kStart, text, text_end, kFinish}).empty());
  CHECK_FALSE(said_of(false, {kStart, text, kFinish}).empty());
  CHECK_FALSE(said_of(false, {kStart, text, text_end, text, text_end, kFinish}).empty());
  CHECK_FALSE(said_of(false, {kStart, text_end, kFinish}).empty());
  const char* empty = R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":""})";
  CHECK_FALSE(said_of(false, {kStart, text, empty, text_end, kFinish}).empty());
  const char* step = R"({"type":"STEP_STARTED","stepName":"s"})";
  CHECK_FALSE(said_of(true, {kStart, step, kFinish}).empty());
  CHECK_FALSE(said_of(true, {kStart, step, step}).empty());
  const char* thought = R"({"type":"REASONING_START","messageId":"s"})";
  CHECK(said_of(false, {kStart, thought, R"({"type":"REASONING_END","messageId":"s"})", kFinish}).empty());
  CHECK_FALSE(
      said_of(true, {kStart, R"({"type":"THINKING_START"})", R"({"type":"THINKING_END"})", kFinish}).empty());
  CHECK_FALSE(said_of(true, {kStart, thought, kFinish}).empty());
  const char* cancelled =
      R"({"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}})";
  CHECK_FALSE(said_of(false, {kStart, cancelled}).empty());
  CHECK(said_of(true, {kStart, cancelled}).empty());
  const char* call =
      R"({"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n","parentMessageId":"m"})";
  CHECK_FALSE(said_of(true, {kStart, call}).empty());
}

// For tests of the Agent API: reads requests and shows runs.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "json/document.h"
#include "protocol/chat/protocol.h"

namespace baton::test::agent_api {

using json::Document;
using json::Value;
using task::EventBody;
using task::Part;
using task::State;

inline Document parsed(std::string json) {
  auto document = Document::parse(json);
  REQUIRE_MESSAGE(document, json);
  return std::move(*document);
}

inline protocol::chat::RunRequest request(const std::string& json) {
  const Document document = parsed(json);
  auto read = protocol::chat::agent_api_protocol().read(document.root());
  REQUIRE_MESSAGE(read, (read ? "" : read.error().for_caller));
  return std::move(*read);
}

inline std::string request_error(const std::string& json) {
  const Document document = parsed(json);
  const auto read = protocol::chat::agent_api_protocol().read(document.root());
  if (read) return "";
  CHECK(read.error().code == base::ErrorCode::invalid_argument);
  return read.error().for_caller;
}

// A request with one user message with the given content.
inline std::string with_content(const std::string& content) {
  return R"({"input":[{"role":"user","content":)" + content + "}]}";
}

inline task::Message said(std::vector<Part> parts, task::Role role = task::Role::agent) {
  task::Message message;
  message.id.value = "m1";
  message.role = role;
  message.parts = std::move(parts);
  return message;
}

inline EventBody status(State state, std::optional<task::Message> message = {}, std::string ask = {}) {
  return task::StatusChanged{{state, std::move(message), {}}, {}, std::move(ask)};
}

inline EventBody status(State state, const char* text, std::string ask = {}) {
  return status(state, said({Part::of_text(text)}), std::move(ask));
}

inline EventBody text(std::string piece, bool first = false, bool last = false, std::string reply = "r1") {
  return task::TextDelta{{std::move(reply)}, 0, std::move(piece), first, last};
}

inline EventBody artifact(std::vector<Part> parts, bool append = false, bool last = true,
                          std::string id = "a1") {
  task::Artifact made;
  made.id.value = std::move(id);
  made.parts = std::move(parts);
  return task::ArtifactChunk{std::move(made), append, last};
}

inline protocol::chat::RunFacts facts(std::string run = {}) {
  protocol::chat::RunFacts facts;
  facts.task.value = "t1";
  facts.conversation.value = "s1";
  facts.run = std::move(run);
  return facts;
}

// The events of a log, numbered from `first`, one second apart, the first one in second 1000.
inline std::vector<task::Event> log(std::vector<EventBody> bodies, std::int64_t first = 1) {
  std::vector<task::Event> events;
  for (EventBody& body : bodies) {
    const auto place = static_cast<std::int64_t>(events.size());
    events.push_back({{first + place}, base::from_ms((1000 + place) * 1000 + 250), std::move(body)});
  }
  return events;
}

inline std::vector<std::string> shown(const std::vector<task::Event>& events,
                                      const protocol::chat::RunFacts& about = facts()) {
  const auto view = protocol::chat::agent_api_protocol().view(about);
  protocol::chat::Frames frames;
  for (const task::Event& event : events) view->show(event, frames);
  std::vector<std::string> all;
  for (const auto& frame : frames.all()) {
    CHECK(frame.event.empty());
    CHECK(frame.data.find('\n') == std::string::npos);
    all.push_back(frame.data);
  }
  return all;
}

// Like `shown`, with the states submitted and working in front, which every run begins with.
inline std::vector<std::string> shown_run(std::vector<EventBody> bodies,
                                          const protocol::chat::RunFacts& about = facts()) {
  bodies.insert(bodies.begin(), {status(State::submitted), status(State::working)});
  return shown(log(std::move(bodies)), about);
}

// A frame's kind in words, such as "message in_progress plugin_call" or "content completed text".
inline std::string kind_of(const std::string& frame) {
  const Document document = parsed(frame);
  const Value root = document.root();
  std::string kind = root["object"].str() + " " + root["status"].str();
  if (root["object"].string() != "response") kind += " " + root["type"].str();
  if (root["delta"].boolean()) kind += " delta";
  return kind;
}

inline std::vector<std::string> kinds_of(const std::vector<std::string>& frames) {
  std::vector<std::string> kinds;
  for (const std::string& frame : frames) kinds.push_back(kind_of(frame));
  return kinds;
}

}  // namespace baton::test::agent_api

// Builds a run's log for a test, and the frames that show it.
#pragma once

#include <string>
#include <vector>

#include "protocol/chat/protocol.h"
#include "task/event.h"

namespace baton::test {

inline protocol::chat::RunFacts facts_of(bool newer) {
  protocol::chat::RunFacts facts;
  facts.task = {"task-1"};
  facts.conversation = {"thread-1"};
  facts.run = "run-1";
  facts.newer = newer;
  return facts;
}

inline task::Message message_of(const std::string& id, std::vector<task::Part> parts) {
  task::Message message;
  message.id = {id};
  message.role = task::Role::agent;
  message.parts = std::move(parts);
  return message;
}

inline task::StatusChanged status_of(task::State state, std::optional<task::Message> message = {},
                                     std::string ask = {}) {
  return task::StatusChanged{{state, std::move(message), base::from_ms(1000)}, {}, std::move(ask)};
}

// Numbers the events from 1, one millisecond apart.
inline std::vector<task::Event> log_of(const std::vector<task::EventBody>& bodies) {
  std::vector<task::Event> log;
  for (const task::EventBody& body : bodies) {
    const auto number = static_cast<std::int64_t>(log.size()) + 1;
    log.push_back({task::EventNumber{number}, base::from_ms(number), body});
  }
  return log;
}

// The data of all frames without the timestamps, which have their own tests.
inline std::vector<std::string> shown(const protocol::chat::RunFacts& facts,
                                      const std::vector<task::EventBody>& bodies) {
  protocol::chat::Frames frames;
  const auto view = protocol::chat::agui_protocol().view(facts);
  std::vector<std::string> data;
  for (const task::Event& event : log_of(bodies)) view->show(event, frames);
  for (const auto& frame : frames.all()) {
    const auto time = frame.data.rfind(",\"timestamp\":");
    data.push_back(frame.data.substr(0, time) + "}");
  }
  return data;
}

}  // namespace baton::test

// View: a run as one response of the Agent API.
//
// It shows what is said, thought, called and made. Shared state, steps, progress notes, activities and custom
// events are left out: the protocol has no place for them, and its clients draw every message.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/agent_api/messages.h"
#include "protocol/chat/run_view.h"

namespace baton::protocol::agent_api {

class View final : public chat::RunView {
 public:
  explicit View(const chat::RunFacts& facts);

  void show(const task::Event& event, chat::Frames& out) override;

 private:
  void begin(const task::Event& event);
  Messages::Open& begin_message(MessageKind kind);

  void on(const task::StatusChanged& changed);
  void on(const task::MessageAdded& added);
  void on(const task::TextDelta& piece);
  void on(const task::ReasoningDelta& piece);
  void on(const task::ArtifactChunk& chunk);
  void on(const task::ToolCall& call);
  void on(const task::ToolResult& result);
  void on(const task::Withdrawn& withdrawn);
  void on(const task::Usage& usage);
  template <class Other>
  void on(const Other&) {}

  template <class Delta>
  void show_piece(const Delta& piece, MessageKind kind);
  void show_said(const task::Message& message);
  void show_question(const task::StatusChanged& waiting);
  // Shows a message whose only content is an object of data.
  void show_data(MessageKind kind, task::Json data);

  void go_on();
  void finish(const task::StatusChanged& stopped);
  void show_response(std::string_view status, const task::StatusChanged* stopped = nullptr);

  const chat::RunFacts facts_;
  Messages messages_;
  std::string id_;
  std::int64_t created_at_ = 0, now_ = 0;  // seconds
  bool begun_ = false, going_on_ = false, over_ = false;
  std::map<std::string, std::string> calls_;  // tool names by call id
  std::vector<task::Json> used_;
  chat::Frames* out_ = nullptr;
};

}  // namespace baton::protocol::agent_api

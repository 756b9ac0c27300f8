// ClientRules: the rules that the verifiers and reducers of AG-UI clients enforce. Requests of 0.0.42 and
// 0.0.59 look alike, so the rules of older clients are those of both.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "json/document.h"
#include "protocol/chat/run_view.h"

namespace baton::test {

class ClientRules {
 public:
  explicit ClientRules(bool newer) : newer_(newer) {}

  // Checks the next frame. Returns the problem, or an empty text.
  std::string take(const protocol::chat::Frames::Frame& frame);
  // The problem if the stream ends here, or an empty text.
  std::string end() const;

  // A message as client 0.0.42 builds it.
  struct Message {
    std::string id, role, content;
    std::vector<std::string> calls;
  };
  const std::vector<Message>& messages() const { return messages_; }
  const std::map<std::string, std::string>& arguments() const { return arguments_; }

 private:
  std::string check(const std::string& type, json::Value event);
  std::string check_messages(json::Value messages);
  std::string check_text(const std::string& type, json::Value event);
  std::string check_tool(const std::string& type, json::Value event);
  std::string check_reasoning(const std::string& type, json::Value event);
  std::string check_thinking(const std::string& type, json::Value event);
  std::string check_work(const std::string& type, json::Value event);
  std::string check_end(const std::string& type, json::Value event);
  std::string check_outcome(json::Value event) const;
  std::string start_call(const std::string& id, const std::string& parent);
  bool nothing_open() const;
  bool known_message(const std::string& id) const;

  const bool newer_;
  bool started_ = false, over_ = false;
  std::set<std::string> texts_, calls_, steps_, spans_, thoughts_, subagents_, ended_subagents_;
  bool thinking_ = false, thinking_message_ = false;
  std::vector<Message> messages_;
  std::map<std::string, std::string> arguments_;  // by call id
  std::set<std::string> answered_;
};

}  // namespace baton::test

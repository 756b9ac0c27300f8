// Conversations of `baton test`: what is sent to an agent, and what must come. `agent-cards/README.md`
// describes the file.
//
// Pure: nothing here talks to an agent.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "protocol/a2a/client/updates.h"
#include "task/task.h"

namespace baton::cli {

// What an agent has said to one message.
struct Reply {
  task::State state = task::State::working;
  std::string text;               // of all artifacts; or else of its message
  std::vector<std::string> data;  // JSON
  std::vector<std::string> files;
};

// Makes a reply of the updates of a stream.
class ReplyReader {
 public:
  void take(const protocol::a2a::Update& update);
  // Begins anew: what was said is known from now on.
  Reply end();

 private:
  void add(const task::Artifact& artifact, bool append);

  std::set<std::string> known_;  // artifacts of earlier replies
  std::vector<std::pair<std::string, std::vector<task::Part>>> artifacts_;
  std::vector<task::Part> message_;
  std::optional<task::State> state_;
};

struct ExpectedTurn {
  std::string says;  // in a word, for reports
  std::vector<task::Part> parts;
  std::optional<task::State> state;
  std::optional<std::string> text;
  std::vector<std::string> contains, lacks;
  std::optional<std::string> data;  // JSON
  std::optional<std::vector<std::string>> files;
};

struct Conversation {
  std::string name;
  std::vector<ExpectedTurn> turns;
};

// Fails with invalid_argument; for_caller has the place: "<line>:<column>: <JSON pointer>: <reason>".
base::Result<std::vector<Conversation>> read_conversations(std::string_view text);

// What the reply lacks, a line or more for each; empty: nothing.
std::vector<std::string> differences(const ExpectedTurn& expected, const Reply& reply);

}  // namespace baton::cli

// Conversations of `baton test`: the messages to send to an agent, and the replies to expect.
// `agent-cards/FIRST-AGENT.md` describes the file.
//
// Pure: does not communicate with an agent.
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

// An agent's reply to one message.
struct Reply {
  task::State state = task::State::working;
  std::string text;  // of all artifacts, and of the message of a question or if they have no text
  std::vector<std::string> data;  // JSON
  std::vector<std::string> files;
};

// Collects the updates of a stream into a reply.
class ReplyReader {
 public:
  void read(const protocol::a2a::Update& update);
  // Returns the reply and starts the next one, which leaves out the artifacts of all earlier replies.
  Reply end();

 private:
  void add(const task::Artifact& artifact, bool append);

  std::set<std::string> known_;  // artifacts of earlier replies
  std::vector<std::pair<std::string, std::vector<task::Part>>> artifacts_;
  std::vector<task::Part> message_;
  std::optional<task::State> state_;
};

struct ExpectedTurn {
  std::string says;  // the message in short, for reports
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

// Fails with invalid_argument; `for_caller` has the position: "<line>:<column>: <JSON pointer>: <reason>".
base::Result<std::vector<Conversation>> read_conversations(std::string_view text);

// Returns how the reply differs from the expected turn, in one or more lines for each difference.
std::vector<std::string> differences(const ExpectedTurn& expected, const Reply& reply);

}  // namespace baton::cli

// Reads messages of an AG-UI client as task::Message.
//
// What a Message has no member for goes into data parts and metadata, as in protocol/chat/run_request.h.
// Reading fails with invalid_argument and a text that names the member by its full path. Threads: any;
// stateless.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "json/document.h"
#include "protocol/chat/run_request.h"
#include "task/message.h"

namespace baton::protocol::agui {

enum class Speaker { system, developer, user, assistant, tool, reasoning, activity };

struct ReadMessage {
  Speaker speaker = Speaker::user;
  task::Message message;                     // without parts for an activity
  std::optional<chat::ClientResult> result;  // of a tool message
};

base::Result<ReadMessage> read_message(json::Value message, const std::string& name);

}  // namespace baton::protocol::agui

// Messages of an AG-UI client as the vocabulary has them.
//
// What has no place in a Message stands in data parts and metadata as wire/chat/run_request.h says. Reading
// fails with invalid_argument and a text that names the member by its whole path. Threads: any; stateless.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "task/message.h"
#include "wire/chat/run_request.h"
#include "wire/json/document.h"

namespace baton::wire::agui {

enum class Speaker { system, developer, user, assistant, tool, reasoning, activity };

struct ReadMessage {
  Speaker speaker = Speaker::user;
  task::Message message;                     // of an activity: without parts
  std::optional<chat::ClientResult> result;  // what a tool message says
};

base::Result<ReadMessage> read_message(Value message, const std::string& name);

}  // namespace baton::wire::agui

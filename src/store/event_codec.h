// The stored form of event bodies: a small number for the kind, and compact JSON.
//
// Messages, parts and artifacts are in their A2A 1.0 shapes. `decode` restores exactly the value that
// `encode` wrote, including the bytes of embedded JSON. Numbers and names may be added but never changed:
// stored data contains them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "task/event.h"

namespace baton::store::codec {

enum class Kind {
  status = 1,
  message = 2,
  text = 3,
  artifact = 4,
  tool_call = 5,
  tool_result = 6,
  state_snapshot = 7,
  state_delta = 8,
  step = 9,
  withdrawn = 10,
  custom = 11,
  reasoning = 12,
  activity = 13,
  subagent = 14,
  usage = 15,
  executor_state = 16,
  intervention = 17,
};

Kind kind_of(const task::EventBody& body);

std::string encode(const task::EventBody& body);

// Fails with `internal` if `encode` cannot have written the body.
base::Result<task::EventBody> decode(int kind, std::string_view body);

// A list of messages as JSON, and back.
std::string encode_messages(const std::vector<task::Message>& messages);
base::Result<std::vector<task::Message>> decode_messages(std::string_view text);

// A list of strings as JSON, and back.
std::string encode_strings(const std::vector<std::string>& strings);
base::Result<std::vector<std::string>> decode_strings(std::string_view text);

}  // namespace baton::store::codec

// Builds the message that `baton send` sends from its command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "task/message.h"

namespace baton::cli {

struct OutgoingParts {
  std::vector<std::string> text = {};       // words; a single "-" means standard input
  std::vector<std::string> files = {};      // sent with their bytes; "name" or "name:media/type"
  std::vector<std::string> file_uris = {};  // sent as they are, for the agent to fetch
  std::vector<std::string> data = {};       // JSON texts
};

// Reads standard input and files as needed. Fails with invalid_argument and the reason.
base::Result<task::Message> make_message(const OutgoingParts& parts);

// Returns the media type for the name's extension; "application/octet-stream" if it is unknown.
std::string_view media_type_of(std::string_view file_name);

}  // namespace baton::cli

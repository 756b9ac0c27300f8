// Converts content parts of the Agent API to task::Part and back.
//
// The API distinguishes files by the part's type, task::Part by media type: an image without a media type is
// `image/*`. A part of an unknown type is read as a data part that holds the whole part. A refusal is a text
// with the metadata {"refusal":true}.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "json/writer.h"
#include "task/message.h"

namespace baton::protocol::agent_api {

// `where` names the part in errors: "input[0].content[1]". Fails with invalid_argument.
base::Result<task::Part> read_content(json::Value content, const std::string& where);

// Reads a whole `content`: a list of parts, or a text.
base::Result<std::vector<task::Part>> read_contents(json::Value contents, const std::string& where);

// Writes `type` and the members of that type into an open object.
void write_content(json::Writer& out, const task::Part& part);

// Whether the part is shown as content of type text, which can be sent in pieces.
bool is_plain_text(const task::Part& part);

}  // namespace baton::protocol::agent_api

// The content of AG-UI messages: a string, or parts in the form of 0.0.x ("binary") or 1.0 (image, audio,
// video, document).
//
// Reading fails with invalid_argument and a text that names the member by its full path. Threads: any;
// stateless.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "json/writer.h"
#include "task/message.h"

namespace baton::protocol::agui {

// Reads a string or a list of parts; absent content has no parts. Parts of unknown types are skipped. A file
// kept by a provider becomes a data part {"file":{"id","provider"?}}.
base::Result<std::vector<task::Part>> read_content(json::Value content, const std::string& name);

// Reads the content of a tool's result: as a JSON string if it is only text, otherwise as unchanged JSON.
base::Result<task::Json> read_result_content(json::Value content, const std::string& name);

// Writes a string if there are only texts, otherwise a list of parts in the form of the client's generation.
// Data that is not a file is left out.
void write_content(json::Writer& out, const std::vector<task::Part>& parts, bool newer);

// Whether write_content writes this part.
bool shows_in_content(const task::Part& part);

}  // namespace baton::protocol::agui

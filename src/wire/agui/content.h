// The content of AG-UI messages: a text, or parts as 0.0.x ("binary") and 1.0 (image, audio, video, document)
// write them.
//
// Reading fails with invalid_argument and a text that names the member by its whole path. Threads: any;
// stateless.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "task/message.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::wire::agui {

// A string, a list of parts, or absent: no parts. Parts of unknown types are skipped. A file that a provider
// keeps is a data part {"file":{"id","provider"?}}.
base::Result<std::vector<task::Part>> read_content(Value content, const std::string& name);

// The content of a tool's result as any JSON: a string, also where parts of text say it.
base::Result<task::Json> read_result_content(Value content, const std::string& name);

// As a string where there are only texts, otherwise a list of parts in the form that the client's generation
// knows. Data that is no file is left out.
void write_content(Writer& out, const std::vector<task::Part>& parts, bool newer);

// Whether write_content has anything to write.
bool shows_in_content(const task::Part& part);

}  // namespace baton::wire::agui

// The content of a message in OpenAI's API: a string, or parts in the form of chat completions (text,
// image_url, input_audio, file) or of Responses (input_text, output_text, input_image, input_file).
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

namespace baton::protocol::openai {

// Reads a string or a list of parts; absent content has no parts. A file that the client has uploaded
// elsewhere becomes a data part {"file":{"id"}}. Reasoning is left out, as it is where it is an item, and so
// are calls, which are no content here.
base::Result<std::vector<task::Part>> read_content(json::Value content, const std::string& name);

// Writes the parts as the content of an input item of Responses. Data is written as text.
void write_input_content(json::Writer& out, const std::vector<task::Part>& parts);

}  // namespace baton::protocol::openai

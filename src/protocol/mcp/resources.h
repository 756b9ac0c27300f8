// Resources: the parts of tasks that results link to. Their URIs are the URLs of their bytes.
//
// Threads: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/writer.h"
#include "task/ids.h"
#include "task/message.h"

namespace baton::protocol::mcp {

struct ResourceName {
  enum class Kind { artifact, message };
  task::TaskId task;
  Kind kind = Kind::artifact;
  std::string id;  // of the artifact or the message
  std::size_t part = 0;
};

// The path after the URL of the agent's tasks.
std::string resource_path(const ResourceName& name);
// Reads a URI that ends with such a path; nullopt if it does not.
std::optional<ResourceName> read_resource_uri(std::string_view uri);

// The text of a file that a model reads as it is; nullopt: it is larger than 64 KiB, or no text.
std::optional<std::string> text_in(const task::Part& part);
// Writes the members of the part's content: "mimeType", and "text" or "blob".
void write_resource(json::Writer& out, const task::Part& part);

}  // namespace baton::protocol::mcp

#include "task/message.h"

#include "base/text.h"

namespace baton::task {
namespace {

std::size_t weight(const std::vector<Part>& parts) {
  std::size_t bytes = 0;
  for (const Part& part : parts) {
    bytes += sizeof(part) + part.content.size() + part.filename.size() + part.media_type.size() +
             part.metadata.text.size();
  }
  return bytes;
}

}  // namespace

std::size_t content_size(const Part& part) {
  if (part.kind != Part::Kind::raw) return part.content.size();
  const std::size_t padding = part.content.ends_with("==") ? 2 : part.content.ends_with('=') ? 1 : 0;
  return part.content.size() / 4 * 3 - padding;
}

std::string file_url(const Part& part) {
  if (part.kind == Part::Kind::url) return part.content;
  return "data:" + base::essence_of(part.media_type) + ";base64," + part.content;
}

std::string text_of(std::span<const Part> parts) {
  std::string text;
  for (const Part& part : parts) {
    if (part.kind != Part::Kind::text) continue;
    if (!text.empty()) text += '\n';
    text += part.content;
  }
  return text;
}

std::string text_of(const Message& message) {
  return text_of(message.parts);
}

std::size_t weight_of(const Message& message) {
  std::size_t bytes = sizeof(message) + message.id.value.size() + weight(message.parts) +
                      message.metadata.text.size() + weight_of(message.extensions);
  for (const TaskId& id : message.reference_tasks) bytes += sizeof(id) + id.value.size();
  return bytes;
}

std::size_t weight_of(const Artifact& artifact) {
  return sizeof(artifact) + artifact.id.value.size() + artifact.name.size() + artifact.description.size() +
         weight(artifact.parts) + artifact.metadata.text.size() + weight_of(artifact.extensions);
}

std::size_t weight_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(text) + text.size();
  return bytes;
}

}  // namespace baton::task

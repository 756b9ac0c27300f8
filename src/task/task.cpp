#include "task/task.h"

namespace baton::task {

bool webhook_hears(ProtocolVersion version, const EventBody& body) {
  if (std::holds_alternative<StatusChanged>(body)) return true;
  if (version != ProtocolVersion::v1_0 && version != ProtocolVersion::none) return false;
  if (const auto* text = std::get_if<TextDelta>(&body)) return !text->in_status;
  return std::holds_alternative<ArtifactChunk>(body) || std::holds_alternative<ToolCall>(body) ||
         std::holds_alternative<ToolResult>(body);
}

PushConfigId id_for_unnamed(const PushConfig& config, const TaskId& task) {
  const bool told = config.version == ProtocolVersion::v1_0 || config.version == ProtocolVersion::none;
  return {told ? base::make_uuid() : task.value};
}

std::size_t weight_of(const Task& task) {
  std::size_t bytes = sizeof(task) + task.metadata.text.size();
  if (task.status.message) bytes += weight_of(*task.status.message);
  for (const Artifact& artifact : task.artifacts) bytes += weight_of(artifact);
  for (const Message& message : task.history) bytes += weight_of(message);
  return bytes;
}

std::size_t weight_of(const Submission& submission) {
  std::size_t bytes = sizeof(submission) + weight_of(submission.message) + submission.metadata.text.size() +
                      submission.tools.text.size() + submission.state.text.size() +
                      weight_of(submission.extensions) + weight_of(submission.hops);
  if (submission.history) {
    for (const Message& message : *submission.history) bytes += weight_of(message);
  }
  return bytes;
}

}  // namespace baton::task

#include "task/task.h"

namespace baton::task {

bool webhook_hears(Generation generation, const EventBody& body) {
  if (std::holds_alternative<StatusChanged>(body)) return true;
  if (generation != Generation::v1_0) return false;
  return std::holds_alternative<TextDelta>(body) || std::holds_alternative<ArtifactChunk>(body) ||
         std::holds_alternative<ToolCall>(body) || std::holds_alternative<ToolResult>(body);
}

}  // namespace baton::task

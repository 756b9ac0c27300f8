#include "task/event.h"

namespace baton::task {
namespace {

std::size_t weight(const std::vector<Part>& parts) {
  std::size_t bytes = 0;
  for (const Part& part : parts) bytes += sizeof(part) + part.content.size() + part.metadata.text.size();
  return bytes;
}

std::size_t weight(const Message& message) {
  return sizeof(message) + weight(message.parts) + message.metadata.text.size();
}

struct Weigh {
  std::size_t operator()(const StatusChanged& event) const {
    return event.metadata.text.size() + (event.status.message ? weight(*event.status.message) : 0);
  }
  std::size_t operator()(const MessageAdded& event) const { return weight(event.message); }
  std::size_t operator()(const TextDelta& event) const { return event.text.size(); }
  std::size_t operator()(const ArtifactChunk& event) const {
    return weight(event.artifact.parts) + event.artifact.metadata.text.size();
  }
  std::size_t operator()(const ToolCall& event) const { return event.arguments.text.size(); }
  std::size_t operator()(const ToolResult& event) const {
    return event.content.text.size() + event.error.size();
  }
  std::size_t operator()(const StateSnapshot& event) const { return event.snapshot.text.size(); }
  std::size_t operator()(const StateDelta& event) const { return event.patch.text.size(); }
  std::size_t operator()(const Custom& event) const { return event.value.text.size(); }
  std::size_t operator()(const Step& event) const { return event.name.size(); }
  std::size_t operator()(const Withdrawn& event) const { return event.artifacts.size() * sizeof(ArtifactId); }
};

}  // namespace

std::size_t weight_of(const EventBody& body) {
  return sizeof(body) + std::visit(Weigh{}, body);
}

}  // namespace baton::task

#include "task/event.h"

namespace baton::task {
namespace {

struct Weigh {
  std::size_t operator()(const StatusChanged& event) const {
    return event.metadata.text.size() + event.ask.size() +
           (event.status.message ? weight_of(*event.status.message) : 0);
  }
  std::size_t operator()(const MessageAdded& event) const { return weight_of(event.message); }
  std::size_t operator()(const TextDelta& event) const { return event.text.size(); }
  std::size_t operator()(const ArtifactChunk& event) const { return weight_of(event.artifact); }
  std::size_t operator()(const ToolCall& event) const { return event.arguments.text.size(); }
  std::size_t operator()(const ToolResult& event) const {
    return event.content.text.size() + event.error.size();
  }
  std::size_t operator()(const StateSnapshot& event) const { return event.snapshot.text.size(); }
  std::size_t operator()(const StateDelta& event) const { return event.patch.text.size(); }
  std::size_t operator()(const Custom& event) const { return event.value.text.size(); }
  std::size_t operator()(const Step& event) const { return event.name.size(); }
  std::size_t operator()(const Withdrawn& event) const { return event.artifacts.size() * sizeof(ArtifactId); }
  std::size_t operator()(const ReasoningDelta& event) const { return event.text.size(); }
  std::size_t operator()(const Activity& event) const {
    return event.content.text.size() + event.patch.text.size();
  }
  std::size_t operator()(const Subagent& event) const { return event.name.size() + event.error.size(); }
  std::size_t operator()(const Usage& event) const { return event.used.text.size(); }
};

}  // namespace

std::size_t weight_of(const EventBody& body) {
  return sizeof(body) + std::visit(Weigh{}, body);
}

}  // namespace baton::task

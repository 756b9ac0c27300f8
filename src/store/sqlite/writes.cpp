#include "store/sqlite/writes.h"

namespace baton::store::sqlite {
namespace {

std::size_t weight_of(const std::vector<task::Part>& parts) {
  std::size_t bytes = 0;
  for (const task::Part& part : parts)
    bytes += sizeof(part) + part.content.size() + part.metadata.text.size();
  return bytes;
}

std::size_t weight_of(const task::Message& message) {
  return sizeof(message) + weight_of(message.parts) + message.metadata.text.size();
}

struct Weigh {
  std::size_t operator()(const task::StatusChanged& event) const {
    return event.metadata.text.size() + (event.status.message ? weight_of(*event.status.message) : 0);
  }
  std::size_t operator()(const task::MessageAdded& event) const { return weight_of(event.message); }
  std::size_t operator()(const task::TextDelta& event) const { return event.text.size(); }
  std::size_t operator()(const task::ArtifactChunk& event) const {
    return weight_of(event.artifact.parts) + event.artifact.metadata.text.size();
  }
  std::size_t operator()(const task::ToolCall& event) const { return event.arguments.text.size(); }
  std::size_t operator()(const task::ToolResult& event) const { return event.content.text.size(); }
  std::size_t operator()(const task::StateSnapshot& event) const { return event.snapshot.text.size(); }
  std::size_t operator()(const task::StateDelta& event) const { return event.patch.text.size(); }
  std::size_t operator()(const task::Custom& event) const { return event.value.text.size(); }
  std::size_t operator()(const task::Step& event) const { return event.name.size(); }
  std::size_t operator()(const task::Withdrawn& event) const { return event.artifacts.size() * 64; }
};

}  // namespace

std::size_t weight_of(const Change& change) {
  std::size_t bytes = sizeof(change);
  for (const task::EventBody& body : change.events) bytes += sizeof(body) + std::visit(Weigh{}, body);
  if (change.create) bytes += change.create->metadata.text.size();
  if (change.request) {
    bytes += change.request->metadata.text.size() + change.request->tools.text.size() +
             change.request->client_state.text.size();
  }
  return bytes;
}

void CommitChange::undo() {
  if (result_ && *result_) {
    change_.events.clear();
    for (task::Event& event : (*result_)->events) change_.events.push_back(std::move(event.body));
  }
  result_.reset();
}

void CommitChange::refuse(const base::Error& error) {
  change_ = Change{};
  result_ = base::fail(error);
}

void SetPush::finish() {
  if (result_) return done_(std::move(config_));
  done_(base::fail(std::move(result_.error())));
}

}  // namespace baton::store::sqlite

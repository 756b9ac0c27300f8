#include "task/event.h"

namespace baton::task {
namespace {

struct Weigh {
  std::size_t operator()(const StatusChanged& event) const {
    std::size_t bytes = event.metadata.text.size() + event.ask.size();
    if (event.status.message) bytes += weight_of(*event.status.message);
    for (const Asker& asker : event.status.asked_by)
      bytes += sizeof(asker) + asker.agent.value.size() + asker.task.value.size() + asker.ask.size();
    return bytes;
  }
  std::size_t operator()(const MessageAdded& event) const { return weight_of(event.message); }
  std::size_t operator()(const TextDelta& event) const {
    return event.reply.value.size() + event.text.size();
  }
  std::size_t operator()(const ArtifactChunk& event) const { return weight_of(event.artifact); }
  std::size_t operator()(const ToolCall& event) const {
    return event.id.size() + event.name.size() + event.arguments.text.size();
  }
  std::size_t operator()(const ToolResult& event) const {
    return event.id.size() + event.content.text.size() + event.error.size();
  }
  std::size_t operator()(const StateSnapshot& event) const { return event.snapshot.text.size(); }
  std::size_t operator()(const StateDelta& event) const { return event.patch.text.size(); }
  std::size_t operator()(const Custom& event) const { return event.name.size() + event.value.text.size(); }
  std::size_t operator()(const Step& event) const { return event.name.size(); }
  std::size_t operator()(const Withdrawn& event) const {
    std::size_t bytes = 0;
    for (const ArtifactId& id : event.artifacts) bytes += sizeof(id) + id.value.size();
    return bytes;
  }
  std::size_t operator()(const ReasoningDelta& event) const {
    return event.span.value.size() + event.text.size();
  }
  std::size_t operator()(const Activity& event) const {
    return event.id.size() + event.type.size() + event.content.text.size() + event.patch.text.size();
  }
  std::size_t operator()(const Subagent& event) const {
    return event.id.size() + event.name.size() + event.error.size() + event.call.size();
  }
  std::size_t operator()(const Usage& event) const { return event.used.text.size(); }
  std::size_t operator()(const ExecutorState& event) const {
    return event.state.text.size() + event.errors.size() + weight_of(event.taken);
  }
  std::size_t operator()(const Intervention& event) const {
    return event.actor.size() + event.action.size() + event.reason.size() + event.detail.size();
  }
};

}  // namespace

std::size_t weight_of(const EventBody& body) {
  return sizeof(body) + std::visit(Weigh{}, body);
}

namespace {

std::optional<Message> without_first(const Message& message, int count) {
  if (static_cast<std::size_t>(count) >= message.parts.size()) return std::nullopt;
  Message rest = message;
  rest.parts.erase(rest.parts.begin(), rest.parts.begin() + count);
  return rest;
}

}  // namespace

std::optional<Message> own_message(const Status& status) {
  if (!status.message || status.reply_parts <= 0) return status.message;
  return without_first(*status.message, status.reply_parts);
}

const Event* without_repeated_reply(const Event& event, std::optional<Event>& changed) {
  const auto* added = std::get_if<MessageAdded>(&event.body);
  const StatusChanged* status = status_in(event);
  if (added != nullptr && added->reply_parts > 0) {
    auto rest = without_first(added->message, added->reply_parts);
    if (!rest) return nullptr;
    changed.emplace(Event{event.number, event.at, MessageAdded{std::move(*rest)}});
  } else if (status != nullptr && status->status.reply_parts > 0) {
    StatusChanged own{{status->status.state, own_message(status->status), status->status.at},
                      status->metadata,
                      status->ask};
    changed.emplace(Event{event.number, event.at, std::move(own)});
  } else {
    return &event;
  }
  return &*changed;
}

const std::string* taken_id_in(const EventBody& body) {
  if (const auto* call = std::get_if<ToolCall>(&body)) return &call->id;
  const auto* status = std::get_if<StatusChanged>(&body);
  return status != nullptr && !status->ask.empty() ? &status->ask : nullptr;
}

}  // namespace baton::task

#include "protocol/chat/transcript.h"

#include <algorithm>

#include "json/document.h"
#include "protocol/chat/tools.h"

namespace baton::protocol::chat {
namespace {

using task::Part;

std::string source_of_reply(const task::ArtifactId& id) {
  return "reply " + id.value;
}
std::string source_of_artifact(const task::ArtifactId& id) {
  return "artifact " + id.value;
}

bool is_call(const Part& part) {
  if (part.kind != Part::Kind::data) return false;
  return json::Document::view_of(part.content).root()["toolCall"].is_object();
}

}  // namespace

void Transcript::add(const task::Event& event) {
  at_ = std::max(at_, event.at);
  number_ = event.number;
  std::optional<task::Event> changed;
  const task::Event* said = task::without_repeated_reply(event, changed);
  if (said != nullptr) std::visit([&](const auto& body) { add_one(body); }, said->body);
}

std::vector<Transcript::Entry> Transcript::take() {
  std::vector<Entry> entries;
  for (Line& line : lines_) {
    if (!line.gone && !line.entry.message.parts.empty()) entries.push_back(std::move(line.entry));
  }
  lines_.clear();
  shown_.clear();
  end_run();
  return entries;
}

std::vector<task::Message> Transcript::without(const task::EventBody& next) {
  if (const auto* piece = std::get_if<task::TextDelta>(&next)) forget(source_of_reply(piece->reply));
  if (const auto* chunk = std::get_if<task::ArtifactChunk>(&next))
    forget(source_of_artifact(chunk->artifact.id));
  std::vector<task::Message> messages;
  for (const Line& line : lines_) {
    const task::Message& message = line.entry.message;
    if (!line.gone && !message.parts.empty() && (message.role == task::Role::agent || line.by_tool))
      messages.push_back(message);
  }
  return messages;
}

void Transcript::end_run() {
  names_ = {};
  run_begins_ = lines_.size();
  open_.clear();
  parent_.reset();
  calls_.clear();
  answered_.clear();
  client_calls_.clear();
}

Transcript::Line& Transcript::append(task::Message message) {
  return lines_.emplace_back(Line{{at_, std::move(message)}});
}

// ---- Messages.

void Transcript::add_one(const task::MessageAdded& event) {
  if (event.message.role == task::Role::agent) return add_whole(event.message);
  for (const task::ToolResult& result : tool_results_in(event.message)) answered_.insert(result.id);
  task::Message& message = append(event.message).entry.message;
  if (message.id.empty()) message.id.value = name_of(task_, number_);
  parent_.reset();
}

void Transcript::add_whole(const task::Message& said) {
  task::Message& message = append(said).entry.message;
  if (message.id.empty()) message.id.value = name_of(task_, number_);
  if (task::text_of(message).empty()) return;
  message.id.value = names_.fresh(message.id.value);
  parent_ = lines_.size() - 1;
}

void Transcript::add_one(const task::TextDelta& event) {
  add_text({source_of_reply(event.reply), event.reply.value, event.text, event.first, event.last});
}

void Transcript::add_one(const task::ArtifactChunk& event) {
  const std::string& id = event.artifact.id.value;
  const std::string wanted = is_unique(id, task_) ? id : id + "~" + name_of(task_, number_);
  const bool has_text = std::ranges::count(event.artifact.parts, Part::Kind::text, &Part::kind) > 0;
  if (!has_text && !event.append) return forget(source_of_artifact(event.artifact.id));
  add_text({source_of_artifact(event.artifact.id), wanted, task::text_of(event.artifact.parts),
            has_text && !event.append, event.last_chunk});
}

void Transcript::add_text(const Piece& piece) {
  if (piece.first) forget(piece.source);
  auto open = open_.find(piece.source);
  if (open == open_.end()) {
    if (piece.text.empty()) return;  // the end of a closed line; a line begins with its first words
    task::Message message;
    message.id.value = names_.fresh(piece.wanted);
    message.role = task::Role::agent;
    append(std::move(message));
    parent_ = lines_.size() - 1;
    shown_.emplace(piece.source, lines_.size() - 1);
    open = open_.emplace(piece.source, lines_.size() - 1).first;
  }
  auto& parts = lines_[open->second].entry.message.parts;
  if (!parts.empty() && parts.front().kind == Part::Kind::text) {
    parts.front().content += piece.text;
  } else if (!piece.text.empty()) {
    parts.insert(parts.begin(), Part::of_text(piece.text));
  }
  if (piece.last) open_.erase(open);
}

void Transcript::forget(const std::string& source) {
  open_.erase(source);
  const auto [first, last] = shown_.equal_range(source);
  for (auto place = first; place != last; ++place) {
    // A call made in the meantime stays.
    auto& parts = lines_[place->second].entry.message.parts;
    std::erase_if(parts, [](const Part& part) { return part.kind == Part::Kind::text; });
    if (parts.empty() && parent_ == place->second) parent_.reset();
  }
  shown_.erase(first, last);
}

// ---- Tools.

void Transcript::add_one(const task::ToolCall& event) {
  if (tools_ == Tools::left_out) return;
  task::ToolCall call = event;
  answered_.erase(event.id);
  if (event.by_client) {
    // An attempt that was withdrawn may have made the call already.
    if (!client_calls_.insert(event.id).second) return;
    (void)names_.fresh(event.id);
  } else {
    call.id = calls_[event.id] = names_.fresh(event.id);
  }
  if (parent_) return lines_[*parent_].entry.message.parts.push_back(part_of(call));
  task::Message message;
  message.id.value = call.id;
  message.role = task::Role::agent;
  message.parts.push_back(part_of(call));
  append(std::move(message)).by_tool = true;
}

void Transcript::add_one(const task::ToolResult& event) {
  if (tools_ == Tools::left_out) return;
  if (client_calls_.contains(event.id) || !answered_.insert(event.id).second) return;
  const auto [call, unknown] = calls_.try_emplace(event.id, event.id);
  if (unknown) (void)names_.fresh(event.id);
  parent_.reset();
  task::Message message;
  message.id.value = names_.fresh(name_of(task_, number_));
  message.metadata.text = R"({"role":"tool"})";
  message.parts.push_back(part_of(ClientResult{call->second, event.content, event.error}));
  append(std::move(message)).by_tool = true;
}

void Transcript::add_one(const task::Activity& event) {
  if (json::Document::view_of(event.content.text).root().is_object()) parent_.reset();
}

// ---- Ends.

void Transcript::add_one(const task::Withdrawn& event) {
  for (const task::ArtifactId& id : event.artifacts) {
    forget(source_of_reply(id));
    forget(source_of_artifact(id));
  }
  for (std::size_t i = run_begins_; i < lines_.size(); ++i) {
    Line& line = lines_[i];
    line.gone = line.gone || line.by_tool;
    if (line.entry.message.role == task::Role::agent) std::erase_if(line.entry.message.parts, is_call);
  }
  open_.clear();
  parent_.reset();
  client_calls_.clear();
}

void Transcript::add_one(const task::StatusChanged& event) {
  const task::State state = event.status.state;
  if (!task::is_stopped(state)) return;
  const bool is_call = task::is_waiting(state) && question_in(event).for_tool;
  if (event.status.message && !is_call) add_whole(*event.status.message);
  end_run();
}

}  // namespace baton::protocol::chat

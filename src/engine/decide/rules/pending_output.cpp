#include "engine/decide/rules/pending_output.h"

#include <iterator>
#include <utility>

#include "base/id.h"

namespace baton::engine {
namespace {

using ReplyAs = agents::AgentSettings::ReplyAs;

// The most that one turn may make. The ids of a context's tool calls are in memory during each of its turns.
constexpr std::size_t kArtifactsMax = 10'000, kToolCallsMax = 10'000;

std::size_t bytes_of(const std::vector<task::Part>& parts) {
  std::size_t bytes = 0;
  for (const task::Part& part : parts) bytes += task::content_size(part) + part.metadata.text.size();
  return bytes;
}

template <class... Kinds>
bool is_one_of(const task::EventBody& body) {
  return (std::holds_alternative<Kinds>(body) || ...);
}

// Events with content end the open reply or span; notes about the work do not.
bool ends_stream(const task::EventBody& body) {
  return !is_one_of<task::StatusChanged, task::StateSnapshot, task::StateDelta, task::Custom, task::Subagent,
                    task::Usage, task::ExecutorState>(body);
}

task::ArtifactId& id_in(task::TextDelta& piece) {
  return piece.reply;
}
task::ArtifactId& id_in(task::ReasoningDelta& piece) {
  return piece.span;
}

// An executor's status only reports progress; its outcome says how the turn ends.
void make_note(task::StatusChanged& change, base::Timestamp now) {
  change.status.state = task::State::working;
  change.status.at = now;
  if (!change.status.message) return;
  change.status.message->role = task::Role::agent;
  if (change.status.message->id.empty()) change.status.message->id.value = base::make_uuid();
}

}  // namespace

PendingOutput::PendingOutput(std::string task, std::int64_t turn, std::size_t artifact_bytes_max,
                             agents::AgentSettings::ReplyAs reply_as)
    : task_(std::move(task)), turn_(turn), artifact_bytes_max_(artifact_bytes_max), reply_as_(reply_as) {}

std::string PendingOutput::id(char kind, int number) const {
  return task_ + "-" + kind + std::to_string(turn_) + "." + std::to_string(number);
}

void PendingOutput::set_earlier(UnfinishedSubagents open, std::vector<agents::SaidReply> said) {
  subagents_ = std::move(open);
  if (said.empty()) return;
  is_reply_alone_ = false;
  if (reply_as_ == ReplyAs::artifact) return;
  for (const agents::SaidReply& one : said) add_to_whole(one.id, one.text, true);
}

std::vector<task::Part> PendingOutput::reply() const {
  std::vector<task::Part> parts;
  for (const std::string& text : replies_whole_) {
    if (!text.empty()) parts.push_back(task::Part::of_text(text));
  }
  return parts;
}

std::vector<task::ArtifactId> PendingOutput::begun() const {
  std::vector<task::ArtifactId> all;
  for (int reply = 1; reply <= replies_; ++reply) all.push_back({id('r', reply)});
  for (const std::string& reply : own_replies_) all.push_back({reply});
  for (const auto& [artifact, bytes] : artifact_bytes_) all.push_back({artifact});
  return all;
}

void PendingOutput::put(task::EventBody body) {
  bytes_ += task::weight_of(body);
  is_streamed_ = is_streamed_ && is_one_of<task::TextDelta, task::ReasoningDelta, task::ArtifactChunk>(body);
  waiting_.push_back(std::move(body));
}

std::optional<std::string> PendingOutput::add(task::EventBody body, base::Timestamp now) {
  if (const auto* subagent = std::get_if<task::Subagent>(&body); subagent && !subagents_.follow(*subagent)) {
    return std::nullopt;
  }
  if (std::holds_alternative<task::ToolCall>(body) && ++tool_calls_ > kToolCallsMax) {
    return "the agent made more than " + std::to_string(kToolCallsMax) + " tool calls in a turn";
  }
  if (ends_stream(body)) close_stream();
  if (auto* chunk = std::get_if<task::ArtifactChunk>(&body)) {
    if (auto wrong = prepare_artifact(*chunk)) return wrong;
  }
  if (auto* change = std::get_if<task::StatusChanged>(&body)) make_note(*change, now);
  is_reply_alone_ = is_reply_alone_ && is_one_of<task::Usage, task::ExecutorState>(body);
  put(std::move(body));
  return std::nullopt;
}

std::optional<std::string> PendingOutput::prepare_artifact(task::ArtifactChunk& chunk) {
  if (chunk.artifact.id.empty()) chunk.artifact.id.value = id('a', ++artifacts_);
  if (artifact_bytes_.size() >= kArtifactsMax && !artifact_bytes_.contains(chunk.artifact.id.value)) {
    return "the agent created more than " + std::to_string(kArtifactsMax) + " artifacts";
  }
  std::size_t& total = artifact_bytes_[chunk.artifact.id.value];
  if (!chunk.append) total = 0;
  total += bytes_of(chunk.artifact.parts);
  if (total <= artifact_bytes_max_) return std::nullopt;
  return "the agent created an artifact larger than " + std::to_string(artifact_bytes_max_) + " bytes";
}

void PendingOutput::mark(task::TextDelta& piece) const {
  piece.in_status = reply_as_ == ReplyAs::status;
}

// The last waiting event, if it is a piece of the open reply or span.
template <class Delta>
Delta* PendingOutput::open_piece() {
  auto* last = waiting_.empty() ? nullptr : std::get_if<Delta>(&waiting_.back());
  return last && id_in(*last) == open_ ? last : nullptr;
}

template <class Delta>
void PendingOutput::append(std::string text, bool first) {
  if (Delta* last = first ? nullptr : open_piece<Delta>()) {
    bytes_ += text.size();
    last->text += text;
    return;
  }
  Delta piece;
  id_in(piece) = open_;
  piece.text = std::move(text);
  piece.first = first;
  mark(piece);
  put(std::move(piece));
}

template <class Delta>
void PendingOutput::close() {
  if (Delta* last = open_piece<Delta>()) {
    last->last = true;
    return;
  }
  Delta piece;
  id_in(piece) = open_;
  piece.last = true;
  mark(piece);
  put(std::move(piece));
}

void PendingOutput::add_text(std::string delta) {
  if (thinks_) close_stream();
  const bool first = open_.empty();
  if (first) open_.value = id('r', ++replies_);
  add_to_whole(open_, delta, first);
  append<task::TextDelta>(std::move(delta), first);
}

void PendingOutput::add_reply(agents::ReplyPiece piece) {
  close_stream();
  const bool withdraws = piece.anew && piece.text.empty();
  const bool last = piece.last || withdraws;
  if (piece.text.empty() && !last) return;
  add_to_whole(piece.id, piece.text, piece.anew);
  if (piece.anew) own_replies_.insert(piece.id.value);
  last ? void(open_replies_.erase(piece.id.value)) : void(open_replies_.insert(piece.id.value));
  auto* before = waiting_.empty() ? nullptr : std::get_if<task::TextDelta>(&waiting_.back());
  if (before != nullptr && before->reply == piece.id && !before->last && !piece.anew) {
    bytes_ += piece.text.size();
    before->text += piece.text;
    before->last = last;
    return;
  }
  task::TextDelta event;
  event.reply = std::move(piece.id);
  event.text = std::move(piece.text);
  event.first = piece.anew;
  event.last = last;
  mark(event);
  put(std::move(event));
}

// Adds to a reply's text for the message that ends the turn.
void PendingOutput::add_to_whole(const task::ArtifactId& reply, const std::string& delta, bool anew) {
  if (reply_as_ == ReplyAs::artifact) return;
  const auto [place, is_new] = whole_places_.try_emplace(reply.value, replies_whole_.size());
  std::string& whole = is_new ? replies_whole_.emplace_back() : replies_whole_[place->second];
  if (anew) replies_bytes_ -= std::exchange(whole, {}).size();
  whole += delta;
  replies_bytes_ += delta.size();
}

void PendingOutput::add_reasoning(std::string delta) {
  if (!thinks_) close_stream();
  const bool first = open_.empty();
  if (first) open_.value = id('t', ++spans_);
  thinks_ = true;
  append<task::ReasoningDelta>(std::move(delta), first);
}

void PendingOutput::close_stream() {
  if (open_.empty()) return;
  thinks_ ? close<task::ReasoningDelta>() : close<task::TextDelta>();
  open_ = {};
  thinks_ = false;
}

void PendingOutput::close_streams() {
  close_stream();
  for (const std::string& reply : std::exchange(open_replies_, {})) {
    auto* last = waiting_.empty() ? nullptr : std::get_if<task::TextDelta>(&waiting_.back());
    if (last != nullptr && last->reply.value == reply) {
      last->last = true;
      continue;
    }
    task::TextDelta piece;
    piece.reply.value = reply;
    piece.last = true;
    mark(piece);
    put(std::move(piece));
  }
}

void PendingOutput::close_all() {
  close_streams();
  open_before_ = subagents_;
  for (task::Subagent& left : subagents_.close_all("left unfinished")) {
    put(std::move(left));
    ++closed_;
  }
}

std::vector<task::EventBody> PendingOutput::take() {
  on_its_way_ = waiting_;
  is_streamed_ = true;
  bytes_on_their_way_ = std::exchange(bytes_, 0);
  return std::exchange(waiting_, {});
}

void PendingOutput::put_back() {
  bytes_ += std::exchange(bytes_on_their_way_, 0);
  is_streamed_ = is_streamed_ && on_its_way_.empty();
  // The next decision decides anew whether the task ends.
  for (; closed_ > 0 && !on_its_way_.empty(); --closed_) {
    bytes_ -= task::weight_of(on_its_way_.back());
    on_its_way_.pop_back();
    subagents_ = open_before_;
  }
  on_its_way_.insert(on_its_way_.end(), std::make_move_iterator(waiting_.begin()),
                     std::make_move_iterator(waiting_.end()));
  waiting_ = std::exchange(on_its_way_, {});
}

void PendingOutput::drop_all() {
  put_back();
  for (auto body = waiting_.rbegin(); body != waiting_.rend(); ++body) {
    if (const auto* subagent = std::get_if<task::Subagent>(&*body)) subagents_.undo(*subagent);
  }
  waiting_.clear();
  is_streamed_ = true;
  open_replies_.clear();
  open_ = {};
  thinks_ = false;
  bytes_ = 0;
}

}  // namespace baton::engine

#include "app/task_log.h"

#include <cstdio>
#include <string_view>
#include <variant>

#include "base/log.h"
#include "base/loggable.h"
#include "base/text.h"

namespace baton::app {
namespace {

constexpr std::size_t kAskedMax = 80, kSaidMax = 200;  // bytes

void append(std::string& words, std::string_view more, std::size_t size_max) {
  if (!words.empty() && !more.empty() && words.back() != ' ' && more.front() != ' ') words += ' ';
  words += base::beginning_of(more, size_max + 1);
  // One byte more than is shown, so that the cut shows.
  if (words.size() > size_max + 1) words.resize(base::beginning_of(words, size_max + 1).size());
}

template <class Parts>
void append_parts(std::string& words, const Parts& parts, std::size_t size_max) {
  using Kind = task::Part::Kind;
  for (const task::Part& part : parts) {
    const bool is_shown = part.kind == Kind::text || part.kind == Kind::data;
    append(words, is_shown ? part.content : "[" + (part.filename.empty() ? "file" : part.filename) + "]",
           size_max);
  }
}

std::string shown(std::string_view words, std::size_t size_max) {
  std::string line;
  for (const char c : words.substr(0, base::beginning_of(words, size_max).size())) {
    const bool is_space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!is_space) line += c;
    if (is_space && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return base::loggable(line) + (words.size() > size_max ? "..." : "");
}

// Returns how the turn ended; empty for a state in which it goes on.
std::string_view ending(task::State state) {
  if (state == task::State::submitted || state == task::State::working) return {};
  if (state == task::State::input_required) return "needs input";
  return state == task::State::auth_required ? "needs authorization" : task::name_of(state);
}

}  // namespace

void TaskLog::log_ends(const store::Committed& committed) {
  for (const task::EventPtr& event : committed.events) {
    Turn& turn = turns_[committed.head.key.value];
    add(turn, *event);
    const auto* changed = task::status_in(*event);
    const std::string_view end = changed == nullptr ? std::string_view() : ending(changed->status.state);
    if (end.empty()) continue;
    const bool was_asked = turn.begun != base::Timestamp{};
    char time[32] = "";
    if (was_asked) {
      const std::chrono::duration<double> took = event->at - turn.begun;
      std::snprintf(time, sizeof time, " %s %.1f s", end == "completed" ? "in" : "after", took.count());
    }
    const std::string asked = shown(turn.asked, kAskedMax), said = shown(turn.said, kSaidMax);
    base::log_info({{"agent", committed.head.agent.value}, {"task", committed.head.id.value}}, "{}{}: {}{}{}",
                   end, time, asked, asked.empty() || said.empty() ? "" : " -> ", said);
    turns_.erase(committed.head.key.value);
  }
}

void TaskLog::add(Turn& turn, const task::Event& event) {
  if (const auto* added = std::get_if<task::MessageAdded>(&event.body)) {
    if (added->message.role != task::Role::user || added->for_child) return;
    if (turn.begun == base::Timestamp{}) turn.begun = event.at;
    append_parts(turn.asked, added->message.parts, kAskedMax);
  } else if (const auto* piece = std::get_if<task::TextDelta>(&event.body)) {
    const bool is_again = piece->first && turn.reply == piece->reply.value;
    if (is_again) turn.said.clear();
    turn.reply = piece->reply.value;
    if (turn.said.size() <= kSaidMax) turn.said += base::beginning_of(piece->text, kSaidMax + 1);
  } else if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event.body)) {
    append_parts(turn.said, chunk->artifact.parts, kSaidMax);
  } else if (std::holds_alternative<task::Withdrawn>(event.body)) {
    turn.said.clear();
  } else if (const auto* changed = task::status_in(event); changed != nullptr) {
    const auto own = task::own_message(changed->status);
    if (!own || ending(changed->status.state).empty()) return;
    // The schema of a question goes without saying.
    const std::string text = task::text_of(*own);
    if (!text.empty()) append(turn.said, text, kSaidMax);
    if (text.empty()) append_parts(turn.said, own->parts, kSaidMax);
  }
}

}  // namespace baton::app

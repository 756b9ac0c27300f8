#include "store/task_filter.h"

#include <algorithm>

#include "base/text.h"
#include "task/short_id.h"

namespace baton::store {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Cuts the text to at most `most` bytes, between characters.
void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  text.resize(most);
}

}  // namespace

bool is_listed(const task::TaskHead& head) {
  return !head.hidden || head.turn_state != task::TurnState::none;
}

bool is_of(const task::Caller& caller, const task::Caller& named) {
  return caller == named || task::account_of(caller) == named.value;
}

bool passes(const TaskFilter& filter, const task::TaskHead& head) {
  if (!is_listed(head)) return false;
  const bool has_turn = head.turn_state != task::TurnState::none;
  if (filter.unfinished && !has_turn) return false;
  if (!filter.turns.empty() && std::ranges::find(filter.turns, head.turn_state) == filter.turns.end())
    return false;
  if (!filter.states.empty() && std::ranges::find(filter.states, head.state) == filter.states.end())
    return false;
  if (!filter.agent.empty() && head.agent != filter.agent) return false;
  if (!filter.caller.empty() && !is_of(head.caller, filter.caller)) return false;
  if (!filter.context.empty() && head.context != filter.context) return false;
  if (filter.parent && head.parent != filter.parent) return false;
  if (filter.roots && head.parent) return false;
  if (filter.status_until && head.status_at > *filter.status_until) return false;
  if (!task::is_named_by(head.id.value, filter.id)) return false;
  return head.attempt >= filter.attempts_min;
}

bool is_counted(const TaskFilter& filter) {
  const bool at_rest = filter.turns == std::vector{task::TurnState::none};
  return (filter.turns.empty() || at_rest) && filter.context.empty() && !filter.parent && !filter.roots &&
         filter.schedule.empty() && !filter.status_until && filter.attempts_min <= 0 && !filter.undelivered &&
         !filter.retried && filter.error.empty() && filter.id.empty();
}

bool may_have_turn(const TaskFilter& filter) {
  if (filter.turns == std::vector{task::TurnState::none}) return false;
  return filter.states.empty() || !std::ranges::all_of(filter.states, task::is_terminal);
}

task::AuditEntry with_subject(task::AuditEntry entry, const task::TaskHead& head) {
  if (entry.task && entry.task != head.key && entry.detail.empty())
    entry.detail = std::to_string(head.key.value);  // a retry's new task
  if (entry.task) return entry;
  entry.task = head.key;
  entry.agent = head.agent;
  entry.caller = head.caller;
  entry.id = head.id;
  return entry;
}

bool is_done_retry(const task::AuditEntry& entry) {
  return entry.action == "retry" && entry.outcome == task::kDone;
}

task::TaskKey made_by_retry(std::string_view detail) {
  return {base::number_in<std::int64_t>(detail).value_or(0)};
}

std::string line_text(const task::EventBody& status) {
  const auto* changed = std::get_if<task::StatusChanged>(&status);
  if (changed == nullptr || !changed->status.message) return {};
  std::string text = task::text_of(*changed->status.message);
  cut(text, kLineTextMax);
  return text;
}

bool has_words(std::string_view text, std::string_view words) {
  const auto found = std::ranges::search(text, words, [](char a, char b) { return lower(a) == lower(b); });
  return words.empty() || !found.empty();
}

}  // namespace baton::store

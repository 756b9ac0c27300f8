#include "store/postgres/nodes/bus_words.h"

#include <charconv>

namespace baton::store::postgres {
namespace {

// PostgreSQL's limit is 8,000 bytes.
constexpr std::size_t kPayloadMax = 7'900;

// Removes the number at the front of the text and returns it; 0 if there is none.
std::int64_t take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

std::string with_number(char mark, const Grown& grown) {
  std::string word(" ");
  if (mark != 0) word += mark;
  return word + std::to_string(grown.task.value) + ":" + std::to_string(grown.last.value);
}

void read_words(std::string_view text, Words& words) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
    if (text.starts_with('*')) {
      text.remove_prefix(1);
      words.asks_all = true;
      continue;
    }
    const bool is_marked = text.starts_with('?') || text.starts_with('!') || text.starts_with('+');
    const char mark = is_marked ? text.front() : ':';
    if (is_marked) text.remove_prefix(1);
    const task::TaskKey task{take_number(text)};
    if (!task) return;
    if (mark == '?') words.asked.push_back(task);
    if (mark == '!') words.answered.push_back(task);
    if (mark == '?' || mark == '!') continue;
    if (!text.starts_with(':')) return;
    text.remove_prefix(1);
    (mark == '+' ? words.followed : words.tasks).push_back({task, {take_number(text)}});
  }
}

}  // namespace

std::string word_of_change(const Grown& grown) {
  return with_number(0, grown);
}
std::string word_of_follower(const Grown& grown) {
  return with_number('+', grown);
}
std::string word_of_question(task::TaskKey task) {
  return " ?" + std::to_string(task.value);
}
std::string word_of_answer(task::TaskKey task) {
  return " !" + std::to_string(task.value);
}

std::vector<std::string> payloads_of(std::int64_t node, const std::vector<std::string>& words) {
  const std::string sender = std::to_string(node);
  std::vector<std::string> payloads;
  for (const std::string& word : words) {
    if (payloads.empty() || payloads.back().size() + word.size() > kPayloadMax) payloads.push_back(sender);
    payloads.back() += word;
  }
  return payloads;
}

std::int64_t read_payload(std::string_view payload, std::int64_t self, Words& words) {
  const std::int64_t node = take_number(payload);
  if (node == self) return node;
  if (!payload.starts_with(' ')) words.is_call = true;
  read_words(payload, words);
  return node;
}

}  // namespace baton::store::postgres

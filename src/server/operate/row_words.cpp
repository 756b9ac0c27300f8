#include "server/operate/row_words.h"

#include <algorithm>
#include <span>

#include "base/text.h"

namespace baton::server::operate {
namespace {

constexpr std::size_t kWordsMax = 1'200;  // bytes; the row shows fewer characters
constexpr int kEventsMax = 16;

void append_words(std::string& words, std::string_view more) {
  if (words.size() >= kWordsMax) return;
  words += base::beginning_of(more, kWordsMax - words.size());
}

std::string words_in(std::span<const task::Part> parts) {
  using Kind = task::Part::Kind;
  std::string words;
  for (const task::Part& part : parts) {
    if (!words.empty()) append_words(words, " ");
    if (part.kind == Kind::text || part.kind == Kind::data) {
      append_words(words, part.content);
    } else {
      append_words(words, part.filename.empty() ? "(file)" : part.filename);
    }
  }
  return words;
}

class Words {
 public:
  void add(const task::Event& event) {
    if (const auto* message = std::get_if<task::MessageAdded>(&event.body)) {
      const bool is_request = message->message.role == task::Role::user && !message->for_child;
      if (!is_request) return;
      if (words.request.empty()) words.request = words_in(message->message.parts);
      words.result.clear();
      reply_ = {};
    } else if (const auto* piece = std::get_if<task::TextDelta>(&event.body)) {
      if (piece->first) words.result.clear();
      if (piece->first) reply_ = piece->reply;
      if (piece->reply == reply_ || reply_.empty()) append_words(words.result, piece->text);
    } else if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event.body)) {
      if (words.result.empty()) words.result = words_in(chunk->artifact.parts);
    }
  }

  RowWords words;

 private:
  task::ArtifactId reply_;
};

}  // namespace

RowWords words_of(const engine::TaskReader& reader, const task::TaskHead& head) {
  Words words;
  const auto add = [&](task::EventNumber after) {
    const auto events = reader.events(head.key, after, kEventsMax);
    if (!events) return;
    for (const task::Event& event : *events) words.add(event);
  };
  add({0});
  const bool has_more = head.last_event.value > kEventsMax;
  if (head.state == task::State::completed && words.words.result.empty() && has_more)
    add({head.last_event.value - kEventsMax});
  if (head.state != task::State::completed) words.words.result.clear();
  return std::move(words.words);
}

}  // namespace baton::server::operate

#include "protocol/agui/open_texts.h"

#include <algorithm>

namespace baton::protocol::agui {
namespace {

void end(const std::string& id, Out& out) {
  out.event("TEXT_MESSAGE_END", "messageId", id);
}

// Never writes an empty delta: 0.0.42 fails the run for one.
void content(const std::string& id, const std::string& text, Out& out) {
  if (text.empty()) return;
  out.event("TEXT_MESSAGE_CONTENT",
            [&](json::Writer& w) { w.member("messageId", id).member("delta", text); });
}

}  // namespace

std::string OpenTexts::start(const std::string& wanted, Out& out) {
  std::string id = names_.fresh(wanted);
  out.event("TEXT_MESSAGE_START",
            [&](json::Writer& w) { w.member("messageId", id).member("role", "assistant"); });
  last_message_ = id;
  return id;
}

void OpenTexts::show(const Piece& piece, Out& out) {
  if (piece.first) close(piece.key, out);
  const auto same = [&](const Open& open) { return open.key == piece.key; };
  auto open = std::ranges::find_if(open_, same);
  if (open == open_.end()) {
    if (!piece.first && piece.text.empty()) return;  // the end of a closed message
    open_.push_back({piece.key, start(piece.wanted, out)});
    open = std::prev(open_.end());
  }
  content(open->id, piece.text, out);
  if (piece.last) close(piece.key, out);
}

void OpenTexts::show_whole(const std::string& wanted, const std::string& text, Out& out) {
  const std::string id = start(wanted, out);
  content(id, text, out);
  end(id, out);
}

void OpenTexts::close(const std::string& key, Out& out) {
  const auto open = std::ranges::find_if(open_, [&](const Open& o) { return o.key == key; });
  if (open == open_.end()) return;
  end(open->id, out);
  open_.erase(open);
}

void OpenTexts::close_all(Out& out) {
  for (const Open& open : open_) end(open.id, out);
  open_.clear();
}

}  // namespace baton::protocol::agui

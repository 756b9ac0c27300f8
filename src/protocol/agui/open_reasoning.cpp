#include "protocol/agui/open_reasoning.h"

namespace baton::protocol::agui {
namespace {

constexpr auto kNothing = [](json::Writer&) {};

}  // namespace

void OpenReasoning::show(const task::ReasoningDelta& piece, Out& out) {
  const bool goes_on = !piece.first && span_ == piece.span.value;
  if (!goes_on) {
    if (!piece.first && piece.text.empty()) return;  // the end of a closed span
    close(out);
    start(piece.span.value, out);
  }
  content(piece.text, out);
  if (piece.last) close(out);
}

void OpenReasoning::start(const std::string& span, Out& out) {
  span_ = span;
  if (!has_ids_) {
    out.event("THINKING_START", kNothing);
    out.event("THINKING_TEXT_MESSAGE_START", kNothing);
    return;
  }
  id_ = names_.fresh(span);
  out.event("REASONING_START", "messageId", id_);
  out.event("REASONING_MESSAGE_START",
            [&](json::Writer& w) { w.member("messageId", id_).member("role", "reasoning"); });
}

void OpenReasoning::content(const std::string& text, Out& out) {
  if (text.empty()) return;
  if (has_ids_) {
    out.event("REASONING_MESSAGE_CONTENT",
              [&](json::Writer& w) { w.member("messageId", id_).member("delta", text); });
  } else {
    out.event("THINKING_TEXT_MESSAGE_CONTENT", "delta", text);
  }
}

void OpenReasoning::close(Out& out) {
  if (span_.empty()) return;
  span_.clear();
  if (has_ids_) {
    out.event("REASONING_MESSAGE_END", "messageId", id_);
    out.event("REASONING_END", "messageId", id_);
  } else {
    out.event("THINKING_TEXT_MESSAGE_END", kNothing);
    out.event("THINKING_END", kNothing);
  }
}

}  // namespace baton::protocol::agui

#include "protocol/agent_api/messages.h"

#include <algorithm>
#include <utility>

#include "protocol/agent_api/content.h"

namespace baton::protocol::agent_api {

void Messages::begin_event(task::EventNumber event, chat::Frames& out) {
  event_ = event;
  out_ = &out;
  begun_ = 0;
}

// The id names the event that the message began with. So it is unique in the task, and the same when the
// message is shown again.
Messages::Open& Messages::begin(MessageKind kind) {
  std::string id = "msg_" + task_ + "-" + std::to_string(event_.value);
  if (++begun_ > 1) id += "." + std::to_string(begun_);
  open_.push_back(Open(std::move(id), std::move(kind)));
  Open& message = open_.back();
  // The documentation's example begins with `created`, the reference server with `in_progress`; for tools
  // only the latter is known.
  const bool speaks = message.kind_.type == "message" || message.kind_.type == "reasoning";
  if (speaks) show_message(message, "created");
  show_message(message, "in_progress");
  return message;
}

Messages::Open* Messages::find(std::string_view source) {
  for (Open& message : open_) {
    if (message.kind_.source == source) return &message;
  }
  return nullptr;
}

void Messages::show_message(Open& message, std::string_view status) {
  std::string& frame = out_->add();
  json::Writer out(frame);
  out.object([&] {
    out.member("sequence_number", next_number()).member("object", "message").member("status", status);
    out.member("id", message.id_).member("type", message.kind_.type).member("role", message.kind_.role);
    if (!message.contents_.empty()) {
      out.key("content").array([&] {
        for (const std::string& content : message.contents_) out.raw(content);
      });
    }
    out.optional("metadata", message.kind_.metadata);
  });
  if (status == "completed") completed_.push_back({message.kind_.source, frame});
}

template <class F>
const std::string& Messages::show_content(const Open& message, std::string_view status, bool delta,
                                          F&& members) {
  std::string& frame = out_->add();
  json::Writer out(frame);
  out.object([&] {
    out.member("sequence_number", next_number()).member("object", "content").member("status", status);
    out.member("index", static_cast<std::int64_t>(message.contents_.size())).member("delta", delta);
    out.member("msg_id", message.id_);
    members(out);
  });
  return frame;
}

void Messages::add_text(Open& message, std::string_view piece) {
  if (piece.empty()) return;
  message.text_open_ = true;
  message.text_ += piece;
  show_content(message, "in_progress", true,
               [&](json::Writer& out) { out.member("type", "text").member("text", piece); });
}

void Messages::close_text(Open& message, std::string_view status) {
  if (!message.text_open_) return;
  message.contents_.push_back(show_content(message, status, false, [&](json::Writer& out) {
    out.member("type", "text").member("text", message.text_);
  }));
  message.text_.clear();
  message.text_open_ = false;
}

void Messages::add_part(Open& message, const task::Part& part) {
  if (is_plain_text(part)) {
    add_text(message, part.content);
    end_text(message);
    return;
  }
  end_text(message);
  message.contents_.push_back(
      show_content(message, "completed", false, [&](json::Writer& out) { write_content(out, part); }));
}

void Messages::add_parts(Open& message, const std::vector<task::Part>& parts) {
  for (const task::Part& part : parts) add_part(message, part);
}

void Messages::end(Open& message, std::string_view status) {
  close_text(message, status);
  show_message(message, status);
  open_.erase(open_.begin() + (&message - open_.data()));
}

void Messages::complete(Open& message) {
  end(message, "completed");
}

void Messages::give_up(Open& message) {
  end(message, "incomplete");
}

void Messages::complete_all() {
  while (!open_.empty()) complete(open_.front());
}

void Messages::give_up_all() {
  while (!open_.empty()) give_up(open_.front());
}

void Messages::forget(std::string_view source) {
  if (Open* message = find(source)) give_up(*message);
  completed_.erase(std::remove_if(completed_.begin(), completed_.end(),
                                  [&](const Completed& done) { return done.source == source; }),
                   completed_.end());
}

void Messages::write_output(json::Writer& out) const {
  out.key("output").array([&] {
    for (const Completed& message : completed_) out.raw(message.json);
  });
}

}  // namespace baton::protocol::agent_api

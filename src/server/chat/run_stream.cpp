#include "server/chat/run_stream.h"

#include <algorithm>
#include <utility>

#include "base/give_back.h"
#include "base/text.h"
#include "protocol/sse/sse_writer.h"
#include "server/streams/log_stream.h"

namespace baton::server::chat {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& to) {
  const auto number = base::number_in<Number>(text);
  to = number.value_or(-1);
  return to >= 0;
}

}  // namespace

std::optional<SseId> read_sse_id(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto task = base::percent_decoded(text.substr(0, colon));
  const std::string_view place = text.substr(colon + 1);
  const std::size_t dot = place.find('.');
  SseId id;
  if (!task || task->empty() || !read_number(place.substr(0, dot), id.position.event.value)) {
    return std::nullopt;
  }
  if (dot != std::string_view::npos && !read_number(place.substr(dot + 1), id.position.frames)) {
    return std::nullopt;
  }
  id.task.value = std::move(*task);
  return id;
}

void append_frame(std::string& out, protocol::chat::Frames::Frame& frame, std::string_view id) {
  make_one_line(frame.data);
  if (!frame.event.empty()) protocol::append_sse_field(out, "event", frame.event);
  if (!id.empty()) protocol::append_sse_field(out, "id", id);
  protocol::append_sse_field(out, "data", frame.data);
  out.push_back('\n');
}

RunStream::RunStream(const Services& services, Start start, http::Waker waker)
    : start_(std::move(start)),
      id_prefix_(start_.id_begins + base::percent_encoded(start_.task.value) + ":"),
      log_(std::in_place, services, start_.key, start_.before, std::move(waker)),
      over_(start_.nothing_follows) {
  frames_.skip(start_.skipped);
}

RunStream::~RunStream() {
  log_.reset();  // stop following the task first
  if (!over_ && start_.left) start_.left();
}

std::optional<int> RunStream::frames_shown(task::EventNumber event) const {
  if (!start_.shown || event > start_.shown->event) return 0;
  if (event < start_.shown->event || start_.shown->frames == 0) return std::nullopt;
  return start_.shown->frames;
}

// `frame` counts from 1; 0: the event's last frame.
std::string RunStream::id_of(task::EventNumber event, std::size_t frame) const {
  std::string id = id_prefix_ + std::to_string(event.value);
  if (frame > 0) id += "." + std::to_string(frame);
  return id;
}

std::size_t RunStream::held() const {
  return (log_ ? log_->held() : 0) + frames_bytes_ + kept_bytes_;
}

// Appends frames of the last event, at least one, until the room is used up. Returns whether none are left.
bool RunStream::send_frames() {
  auto& frames = frames_.all();
  for (bool any = false; next_frame_ < frames.size(); any = true) {
    if (any && out_->size() >= room_) return false;
    auto& frame = frames[next_frame_++];
    frames_bytes_ -= frame.data.size();
    const std::size_t place = next_frame_ < frames.size() ? next_frame_ : 0;
    append_frame(*out_, frame, start_.has_ids ? id_of(number_, place) : std::string());
    base::give_back(frame.data);
    has_ids_ |= start_.has_ids;
  }
  frames_.clear();
  return true;
}

bool RunStream::accept(const task::Event& event) {
  const std::optional<int> had = frames_shown(event.number);
  frames_.skip_all(!had);
  std::optional<task::Event> changed;
  if (const task::Event* shown = task::without_repeated_reply(event, changed))
    start_.view->show(*shown, frames_);
  const task::StatusChanged* status = task::status_in(event);
  over_ = status != nullptr && task::is_stopped(status->status.state);
  number_ = event.number;
  const std::int64_t count = std::ssize(frames_.all());
  const std::int64_t shown = had.value_or(count);
  const std::int64_t first = std::max(shown, frames_.skip_added());
  next_frame_ = static_cast<std::size_t>(first);
  frames_bytes_ = 0;
  for (std::size_t i = next_frame_; i < frames_.all().size(); ++i)
    frames_bytes_ += frames_.all()[i].data.size();
  // The view keeps the content of the event, not the event.
  if (start_.view->keeps_output()) kept_bytes_ += task::weight_of(event.body) - sizeof event.body;
  if (over_) {
    start_.view.reset();
    kept_bytes_ = 0;
  }
  // Events without frames cost time like any other.
  if (first >= count) unseen_ += task::weight_of(event.body);
  return send_frames() && out_->size() + unseen_ < room_ && !over_;
}

http::StreamSource::Next RunStream::end(std::string& out) {
  if (start_.last_words.empty()) return Next::end;
  protocol::chat::Frames::Frame last{{}, std::string(std::exchange(start_.last_words, {}))};
  append_frame(out, last, {});
  return Next::end;
}

http::StreamSource::Next RunStream::pull(std::string& out, std::size_t room) {
  out_ = &out;
  room_ = room;
  unseen_ = 0;
  if (!frames_.empty()) {
    send_frames();
    return Next::more;
  }
  if (over_) return end(out);
  switch (log_->read(*this, false)) {
    case LogReader::Found::events:
      return Next::more;
    case LogReader::Found::nothing:
    case LogReader::Found::later:
      return Next::wait;
    case LogReader::Found::failed:
      break;
  }
  return Next::end;
}

}  // namespace baton::server::chat

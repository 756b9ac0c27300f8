#include "server/streams/log_stream.h"

#include <algorithm>
#include <utility>

#include "base/give_back.h"
#include "protocol/sse/sse_writer.h"

namespace baton::server {

void make_one_line(std::string& json) {
  // Two searches for one byte are faster than one search for both.
  if (json.find('\n') == std::string::npos && json.find('\r') == std::string::npos) return;
  std::replace_if(
      json.begin(), json.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

namespace {

bool is_over_at(const LogStream::Start& start, const task::Event& event) {
  const task::StatusChanged* status = task::status_in(event);
  return status && start.ends_at && start.ends_at(status->status.state);
}

// `shown`: the last number covered; updated if the view shows this event.
bool append_block(const LogStream::Start& start, const task::Event& event, bool last,
                  task::EventNumber& shown, std::string& scratch, std::string& out) {
  scratch.clear();
  if (!start.view(event, last, {shown.value + 1}, scratch)) return false;
  start.framing(out, start.numbered ? event.number.value : 0, scratch);
  shown = event.number;
  return true;
}

}  // namespace

void LogStream::sse_block(std::string& out, std::int64_t id, std::string& item) {
  make_one_line(item);
  protocol::append_sse(out, id, item);
}

LogStream::LogStream(const Services& services, Start start, http::Waker waker)
    : start_(std::move(start)),
      shown_(start_.after),
      ended_(start_.ended_there),
      log_(services, start_.task, start_.after, std::move(waker), std::exchange(start_.page, {})) {}

std::optional<std::string> LogStream::whole(const Start& start) {
  const auto last =
      std::ranges::find_if(start.page, [&](const task::Event& event) { return is_over_at(start, event); });
  if (last == start.page.end()) return std::nullopt;
  std::string out = start.first_block, scratch;
  task::EventNumber shown = start.after;
  for (auto event = start.page.begin(); event <= last; ++event) {
    append_block(start, *event, event == last, shown, scratch, out);
  }
  return out;
}

bool LogStream::accept(const task::Event& event) {
  const task::StatusChanged* status = task::status_in(event);
  ended_ = status && task::is_terminal(status->status.state);
  over_ = is_over_at(start_, event);
  const bool last = start_.ends_at ? over_ : ended_;
  const bool shown = append_block(start_, event, last, shown_, scratch_, *out_);
  has_ids_ |= shown && start_.numbered;
  return out_->size() < room_ && !over_;
}

http::StreamSource::Next LogStream::pull(std::string& out, std::size_t room) {
  if (!start_.first_block.empty()) {
    has_ids_ = start_.first_block.starts_with("id:");
    out += std::exchange(start_.first_block, {});
    return Next::more;
  }
  start_.share.reset();  // the first block has been sent
  if (over_) return Next::end;
  out_ = &out;
  room_ = room;
  const LogReader::Found found = log_.read(*this, ended_);
  base::give_back(scratch_);  // an idle stream holds no buffer
  switch (found) {
    case LogReader::Found::events:
      return Next::more;
    case LogReader::Found::nothing:
      return ended_ ? Next::end : Next::wait;
    case LogReader::Found::later:
      return Next::wait;
    case LogReader::Found::failed:
      break;
  }
  return Next::end;
}

}  // namespace baton::server

#include "protocol/sse/sse_reader.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace baton::protocol {
namespace {

constexpr std::size_t kMovedFrom = 64 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::optional<std::chrono::milliseconds> read_retry(std::string_view value) {
  const auto ms = base::number_in<std::int64_t>(value);
  if (!ms || *ms < 0) return std::nullopt;
  return std::chrono::milliseconds(*ms);
}

}  // namespace

bool is_aside(const SseEvent& event) {
  if (event.type == "ping" || event.data.starts_with("[DONE]")) return true;
  const std::size_t first = event.data.find_first_not_of(" \t\r\n");
  return has_own_name(event) && (first == std::string::npos || event.data[first] != '{');
}

bool has_own_name(const SseEvent& event) {
  return event.type != "message" && event.type != "error";
}

base::Result<bool> SseReader::feed(std::string_view piece, const OnEvent& on_event) {
  while (!stopped_ && !piece.empty()) {
    // The LF of a CR LF whose CR has already ended the line.
    if (std::exchange(after_cr_, false) && piece.front() == '\n') {
      piece.remove_prefix(1);
      continue;
    }
    const std::size_t end = piece.find_first_of("\r\n");
    const std::string_view part = piece.substr(0, end);
    block_bytes_ += part.size();
    if (block_bytes_ > event_max_) {
      stopped_ = true;
      return base::fail(base::ErrorCode::too_large, "an event of the stream is too large");
    }
    line_.append(part);
    if (end == std::string_view::npos) break;
    after_cr_ = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    if (line_.empty()) {
      stopped_ = !finish_block(on_event);
    } else {
      take_line();
      line_.clear();
    }
    first_line_ = false;
  }
  return !stopped_;
}

bool SseReader::feed_end(const OnEvent& on_event) {
  if (stopped_) return false;
  if (!line_.empty()) take_line();
  line_.clear();
  if (has_data_ || !bare_.empty()) stopped_ = !finish_block(on_event);
  return !stopped_;
}

void SseReader::take_line() {
  std::string_view line = line_;
  if (first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (error_field_ == ErrorField::event && is_bare(line)) {
    bare_.append(line).push_back('\n');
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return take_field(line, {});
  std::string_view value = line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  const bool is_all_data = line.substr(0, colon) == "data" && !has_data_ && value.size() > kMovedFrom;
  if (!is_all_data) return take_field(line.substr(0, colon), value);
  // Moves the line instead of copying it, so that a large value is in memory only once.
  const std::size_t before = line_.size() - value.size();
  event_.data = std::exchange(line_, {});
  event_.data.erase(0, before);
  has_data_ = true;
}

// Whether the line is a part of JSON that has no field.
bool SseReader::is_bare(std::string_view line) {
  // A comment has an empty name.
  constexpr std::array<std::string_view, 6> kFields{"", "data", "error", "event", "id", "retry"};
  const bool is_field = std::ranges::count(kFields, line.substr(0, line.find(':'))) > 0;
  has_field_ |= is_field;
  return !is_field && has_field_ && (!bare_.empty() || line.starts_with('{') || line.starts_with('['));
}

// Unknown names, and the empty name of a comment, are ignored.
void SseReader::take_field(std::string_view name, std::string_view value) {
  const bool is_error = name == "error" && error_field_ == ErrorField::event;
  if (is_error) event_.type = name;
  if (name == "data" || is_error) {
    if (has_data_) event_.data.push_back('\n');
    event_.data.append(value);
    has_data_ = true;
  } else if (name == "id") {
    if (value.find('\0') != std::string_view::npos) return;
    id_ = value;
    event_.numbered = true;
  } else if (name == "event") {
    if (!value.empty()) event_.type = value;
  } else if (name == "retry") {
    if (const auto retry = read_retry(value)) retry_ = retry;
  }
}

bool SseReader::finish_block(const OnEvent& on_event) {
  SseEvent event = std::exchange(event_, SseEvent{});
  block_bytes_ = 0;
  if (event.numbered) last_id_ = id_;
  const bool has_data = std::exchange(has_data_, false);
  if (!bare_.empty()) {
    const std::string bare = std::exchange(bare_, {});
    const bool is_utf8 = base::is_utf8(bare);
    if (!on_event({"error", is_utf8 ? bare : base::replaced_utf8(bare), false, true})) return false;
  }
  if (!has_data || event.data.find_first_not_of(" \t\n") == std::string::npos) return true;
  if (!base::is_utf8(event.data)) event.data = base::replaced_utf8(event.data);
  return on_event(event);
}

}  // namespace baton::protocol

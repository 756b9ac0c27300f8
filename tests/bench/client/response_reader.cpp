#include "client/response_reader.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace baton::bench {
namespace {

constexpr std::size_t kTailMax = 200;
constexpr std::string_view kData = "data:";

bool begins_with(std::string_view line, std::string_view name) {
  return line.size() >= name.size() && strncasecmp(line.data(), name.data(), name.size()) == 0;
}

std::size_t number_in(std::string_view text, int base) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

}  // namespace

std::size_t ResponseReader::take(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && state_ != State::whole) {
    const std::string_view rest = bytes.substr(taken);
    taken += state_ == State::body || state_ == State::chunk ? take_body(rest) : take_line(rest);
  }
  return taken;
}

void ResponseReader::end() {
  if (state_ == State::body && until_end_) state_ = State::whole;
  keeps_open_ = false;
}

std::size_t ResponseReader::take_line(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  line_.append(bytes.substr(0, end));
  if (end == std::string_view::npos) return bytes.size();
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  on_line();
  line_.clear();
  return end + 1;
}

std::size_t ResponseReader::take_body(std::string_view bytes) {
  const std::size_t size = until_end_ ? bytes.size() : std::min(left_, bytes.size());
  see(bytes.substr(0, size));
  left_ -= until_end_ ? 0 : size;
  if (!until_end_ && left_ == 0) state_ = chunked_ ? State::chunk_end : State::whole;
  return size;
}

void ResponseReader::on_line() {
  switch (state_) {
    case State::head:
      return line_.empty() ? on_head_end() : on_head_line(line_);
    case State::chunk_size:
      return on_chunk_size();
    case State::chunk_end:
      state_ = State::chunk_size;
      return;
    case State::trailer:
      if (line_.empty()) state_ = State::whole;
      return;
    default:
      return;
  }
}

void ResponseReader::on_head_line(std::string_view line) {
  if (status_ == 0) {
    status_ = static_cast<int>(number_in(line.substr(std::min<std::size_t>(9, line.size())), 10));
  } else if (begins_with(line, "content-length:")) {
    left_ = number_in(line.substr(15), 10);
    until_end_ = false;
  } else if (begins_with(line, "transfer-encoding: chunked")) {
    chunked_ = true;
    until_end_ = false;
  } else if (begins_with(line, "connection: close")) {
    keeps_open_ = false;
  }
}

void ResponseReader::on_head_end() {
  if (chunked_) {
    state_ = State::chunk_size;
  } else {
    state_ = !until_end_ && left_ == 0 ? State::whole : State::body;
  }
}

void ResponseReader::on_chunk_size() {
  left_ = number_in(line_, 16);
  state_ = left_ == 0 ? State::trailer : State::chunk;
}

// Counts the lines that begin with "data:"; every server in the bench writes one for each event.
void ResponseReader::see(std::string_view body) {
  tail_.append(body.substr(body.size() - std::min(body.size(), kTailMax)));
  if (tail_.size() > kTailMax) tail_.erase(0, tail_.size() - kTailMax);
  while (!body.empty()) {
    const std::size_t end = body.find('\n');
    if (in_field_) {
      field_.append(body.substr(0, std::min(end, kData.size() - field_.size())));
      if (field_.size() == kData.size() || end != std::string_view::npos) in_field_ = false;
      if (!in_field_ && field_ == kData) ++events_;
    }
    if (end == std::string_view::npos) return;
    body.remove_prefix(end + 1);
    field_.clear();
    in_field_ = true;
  }
}

}  // namespace baton::bench

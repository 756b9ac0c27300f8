#include "server/http/request_gatherer.h"

#include <algorithm>

namespace baton::server::http {
namespace {

// The library refuses longer lines (CPPHTTPLIB_HEADER_MAX_LENGTH is 8192) without saying why.
constexpr std::size_t kLineMax = 8000;
// RFC 9112, 2.2: blank lines before a request are skipped. Some old clients send one after a body.
constexpr int kBlankLinesMax = 4;
// A body's buffer starts no larger than this, whatever length was announced.
constexpr std::size_t kFirstReserve = 1 << 20;

bool is_bad_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t' && byte != '\r' && byte != '\n') || byte == 0x7f;
}

}  // namespace

std::size_t RequestGatherer::feed(std::string_view bytes) {
  std::size_t used = 0;
  if (state_ == State::idle || state_ == State::head) used = feed_head(bytes);
  if (state_ == State::body) used += feed_body(bytes.substr(used));
  return used;
}

std::size_t RequestGatherer::feed_head(std::string_view bytes) {
  std::string& text = gathered_.head.text;
  std::size_t used = 0;
  while ((state_ == State::idle || state_ == State::head) && used < bytes.size()) {
    state_ = State::head;
    const auto end = bytes.find('\n', used);
    const std::string_view piece = bytes.substr(used, end == std::string_view::npos ? end : end - used + 1);
    used += piece.size();
    text.append(piece);
    // Checked at once, not at the end of the line: a TLS greeting has no lines.
    if (std::any_of(piece.begin(), piece.end(), is_bad_byte)) {
      refuse({400, "a control character in the head"});
    } else if (text.size() > limits_->header_bytes_max) {
      refuse({431, "the head is too large"});
    } else if (text.size() - line_start_ > kLineMax) {
      refuse(has_request_line_ ? Refusal{431, "a header line is too long"}
                               : Refusal{414, "the request line is too long"});
    } else if (end != std::string_view::npos) {
      end_line();
    }
  }
  return used;
}

void RequestGatherer::end_line() {
  std::string& text = gathered_.head.text;
  std::string_view line = std::string_view(text).substr(line_start_);
  line.remove_suffix(1);
  // With a bare LF or a CR inside a line, two parsers may see two different requests.
  if (!line.ends_with('\r')) return refuse({400, "a line does not end with CR LF"});
  line.remove_suffix(1);
  if (line.find('\r') != std::string_view::npos) return refuse({400, "a CR within a line"});
  if (line.empty()) return end_head();
  const auto refusal = has_request_line_ ? reader_.add_header_line(line, gathered_.head, *limits_)
                                         : reader_.add_request_line(line, gathered_.head);
  if (refusal) return refuse(*refusal);
  has_request_line_ = true;
  line_start_ = text.size();
}

void RequestGatherer::end_head() {
  RequestHead& head = gathered_.head;
  head.text.resize(line_start_);
  if (!has_request_line_) {
    state_ = State::idle;
    if (++blank_lines_ > kBlankLinesMax) refuse({400, "too many blank lines before the request"});
    return;
  }
  if (const auto refusal = reader_.finish(head)) return refuse(*refusal);
  from_stranger_ = is_stranger();
  if (head.body_length > body_max()) return refuse_too_large();
  state_ = head.chunked || head.body_length > 0 ? State::body : State::complete;
  owes_continue_ = state_ == State::body && head.expects_continue;
}

// Called only when the answer matters: most bodies are small.
bool RequestGatherer::is_stranger() const {
  const RequestHead& head = gathered_.head;
  const bool may_be_large = head.chunked || head.body_length > limits_->stranger_body_max;
  return may_be_large && may_send_body_ && *may_send_body_ && !(*may_send_body_)(head.text);
}

std::size_t RequestGatherer::body_max() const {
  return from_stranger_ ? std::min(limits_->stranger_body_max, limits_->body_max) : limits_->body_max;
}

void RequestGatherer::refuse_too_large() {
  refuse(from_stranger_ ? Refusal{401, "a body of this size needs a valid bearer token"}
                        : Refusal{413, "the body is too large"});
}

std::size_t RequestGatherer::feed_body(std::string_view bytes) {
  if (bytes.empty()) return 0;
  owes_continue_ = false;
  std::string& body = gathered_.body;
  if (!gathered_.head.chunked) {
    const std::size_t length = gathered_.head.body_length;
    if (body.empty()) body.reserve(std::min(length, kFirstReserve));
    const std::size_t count = std::min(length - body.size(), bytes.size());
    body.append(bytes.substr(0, count));
    if (body.size() == length) state_ = State::complete;
    return count;
  }
  const std::size_t used = chunks_.feed(bytes, body, body_max());
  switch (chunks_.state()) {
    case ChunkedBody::State::reading:
      break;
    case ChunkedBody::State::done:
      state_ = State::complete;
      break;
    case ChunkedBody::State::malformed:
      refuse({400, "the chunked body is malformed"});
      break;
    case ChunkedBody::State::too_large:
      refuse_too_large();
      break;
  }
  return used;
}

void RequestGatherer::refuse(Refusal refusal) {
  state_ = State::refused;
  refusal_ = refusal;
  owes_continue_ = false;
  // head_method and http_1_0 are kept: the answer's shape depends on them.
  gathered_.head.text = {};
  gathered_.body = {};
}

bool RequestGatherer::take_continue() {
  return std::exchange(owes_continue_, false);
}

Gathered RequestGatherer::take() {
  Gathered gathered = std::move(gathered_);
  *this = RequestGatherer(*limits_, may_send_body_);
  return gathered;
}

}  // namespace baton::server::http

#include "http/request_parser.h"

#include <algorithm>
#include <utility>

namespace baton::http {
namespace {

// The limits of a line with its CRLF. RFC 9112, 3, recommends at least the first for request lines. A header
// line has room for the largest access token (16 KiB).
constexpr std::size_t kRequestLineMax = 8'000, kHeaderLineMax = 20'000;
// RFC 9112, 2.2: blank lines before a request are skipped. Some old clients send one after a body.
constexpr int kBlankLinesMax = 4;
// The largest initial buffer of a body, even if the announced length is larger.
constexpr std::size_t kFirstReserve = 1 << 20;

bool is_bad_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 ? byte != '\t' && byte != '\r' && byte != '\n' : byte == 0x7f;
}

}  // namespace

std::size_t RequestParser::feed(std::string_view bytes) {
  std::size_t used = 0;
  if (state_ == State::idle || state_ == State::head) used = feed_head(bytes);
  if (state_ == State::body) used += feed_body(bytes.substr(used));
  return used;
}

std::size_t RequestParser::feed_head(std::string_view bytes) {
  std::size_t used = 0;
  while ((state_ == State::idle || state_ == State::head) && used < bytes.size()) {
    state_ = State::head;
    const auto end = bytes.find('\n', used);
    const std::string_view piece = bytes.substr(used, end == std::string_view::npos ? end : end - used + 1);
    used += piece.size();
    const std::size_t line_room = (parsed_ ? kHeaderLineMax : kRequestLineMax) - line_.size();
    const std::size_t head_room = limits_->header_bytes_max - head_bytes_;
    const std::string_view fitting = piece.substr(0, std::min(line_room, head_room));
    head_bytes_ += fitting.size();
    // Checked before the end of the line, because a TLS greeting has no lines. The first byte that is wrong
    // decides, in whatever pieces the bytes arrive.
    if (std::any_of(fitting.begin(), fitting.end(), is_bad_byte)) {
      refuse({400, "the request's headers contain a control character"});
    } else if (fitting.size() < piece.size()) {
      refuse_long_line(head_room < line_room);
    } else if (end == std::string_view::npos) {
      line_.append(piece);
    } else if (line_.empty()) {
      end_line(piece);
    } else {
      end_line(std::exchange(line_, {}).append(piece));
    }
  }
  return used;
}

void RequestParser::refuse_long_line(bool is_head_full) {
  if (!parsed_) return refuse({414, "the request line is too long"});
  refuse({431, is_head_full ? "the request's headers are too large" : "a header line is too long"});
}

void RequestParser::end_line(std::string_view line) {
  line.remove_suffix(1);
  // With a bare LF or a CR inside a line, two parsers may see two different requests.
  if (!line.ends_with('\r')) return refuse({400, "a header line does not end with CR LF"});
  line.remove_suffix(1);
  if (line.find('\r') != std::string_view::npos) return refuse({400, "a header line contains a CR"});
  if (line.empty()) return end_head();
  const bool is_first = !parsed_;
  if (is_first) {
    parsed_ = std::make_unique<ParsedRequest>();
    parsed_->request.remote_address = address_;
    parsed_->request.certificate = certificate_;
  }
  const auto refusal =
      is_first ? head_.add_request_line(line, *parsed_) : head_.add_header_line(line, *parsed_, *limits_);
  if (refusal) refuse(*refusal);
}

void RequestParser::end_head() {
  if (!parsed_) {
    state_ = State::idle;
    head_bytes_ = 0;
    if (++blank_lines_ > kBlankLinesMax) refuse({400, "too many blank lines before the request"});
    return;
  }
  if (const auto refusal = head_.finish(*parsed_)) return refuse(*refusal);
  // Most bodies are small, and nobody is asked about them.
  const bool may_be_large = parsed_->chunked || parsed_->body_length > limits_->stranger_body_max;
  if (!asks_ || !may_be_large) return begin_body();
  state_ = State::asking;
}

void RequestParser::decide(LargeBody large_body) {
  large_body_ = large_body;
  begin_body();
}

void RequestParser::begin_body() {
  if (parsed_->body_length > body_max()) return refuse_too_large();
  state_ = parsed_->chunked || parsed_->body_length > 0 ? State::body : State::complete;
  owes_continue_ = state_ == State::body && parsed_->expects_continue;
}

std::size_t RequestParser::body_max() const {
  return large_body_ == LargeBody::allowed ? limits_->body_max
                                           : std::min(limits_->stranger_body_max, limits_->body_max);
}

void RequestParser::refuse_too_large() {
  switch (large_body_) {
    case LargeBody::allowed:
      return refuse({413, "the body is too large"});
    case LargeBody::refused:
      return refuse({401, "a body of this size needs a valid bearer token"});
    case LargeBody::unclear:
      return refuse({503, "the request's token cannot be checked at the moment; try again later"});
  }
}

std::size_t RequestParser::feed_body(std::string_view bytes) {
  if (bytes.empty()) return 0;
  owes_continue_ = false;
  std::string& body = parsed_->request.body;
  if (!parsed_->chunked) {
    const std::size_t length = parsed_->body_length;
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

void RequestParser::refuse(Refusal refusal) {
  state_ = State::refused;
  refusal_ = refusal;
  owes_continue_ = false;
  line_ = {};
  // Keeps the parts that the answer's form depends on, including http_1_0.
  if (parsed_) parsed_->request = refusable(parsed_->request);
}

bool RequestParser::take_continue() {
  return std::exchange(owes_continue_, false);
}

ParsedRequest RequestParser::take() {
  ParsedRequest parsed = std::move(*parsed_);
  RequestParser next(*limits_, asks_);
  next.set_sender(address_, std::move(certificate_));
  *this = std::move(next);
  return parsed;
}

}  // namespace baton::http

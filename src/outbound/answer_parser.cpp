#include "outbound/answer_parser.h"

#include <algorithm>

#include "base/text.h"
#include "http/http_text.h"
#include "outbound/answer_rules.h"

namespace baton::outbound {
namespace {

constexpr std::size_t kChunkMax = std::size_t{1} << 58;  // so that sixteen times as much can be counted

// 101 changes the protocol, so it is not interim.
bool is_interim(int status) {
  return status >= 100 && status < 200 && status != 101;
}

}  // namespace

std::size_t AnswerParser::feed(std::string_view bytes, std::string& buffer, std::string_view& piece) {
  piece = {};
  if (state_ == State::head) return feed_head(bytes);
  if (state_ != State::body) return 0;
  if (framing_ == Framing::chunks) {
    buffer.clear();
    const std::size_t used = chunks_.feed(bytes, buffer, kChunkMax);
    if (chunks_.state() == http::ChunkedBody::State::done)
      state_ = State::done;
    else if (chunks_.state() != http::ChunkedBody::State::reading)
      state_ = State::malformed;
    piece = buffer;
    return used;
  }
  if (framing_ == Framing::length) {
    piece = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
    left_ -= piece.size();
    if (left_ == 0) state_ = State::done;
  } else {
    piece = bytes;
  }
  return piece.size();
}

void AnswerParser::end() {
  const bool may_end = state_ == State::body && framing_ == Framing::until_close;
  if (state_ != State::done) state_ = may_end ? State::done : State::malformed;
}

bool AnswerParser::stays_open() const {
  const bool has_end = framing_ != Framing::until_close || has_no_body();
  return outbound::stays_open(head_.is_http_1_1, has_end, header("Connection"));
}

std::size_t AnswerParser::feed_head(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ == State::head) {
    const std::string_view rest = bytes.substr(used);
    const std::size_t end = rest.find('\n');
    const std::size_t taken = end == rest.npos ? rest.size() : end + 1;
    head_size_ += taken;
    const std::size_t line_max = lines_ == 0 ? kFirstLineMax : kLineMax;
    if (line_.size() + taken > line_max || head_size_ > kHeadMax) {
      state_ = State::malformed;
      break;
    }
    used += taken;
    line_.append(rest.substr(0, taken));
    if (end == rest.npos) break;
    line_.pop_back();
    if (line_.ends_with('\r')) line_.pop_back();
    take_line(line_);
    line_.clear();
  }
  return used;
}

void AnswerParser::take_line(std::string_view line) {
  if (++lines_ > kLinesMax) {
    state_ = State::malformed;
  } else if (lines_ == 1) {
    take_first_line(line);
  } else if (line.empty()) {
    end_head();
  } else {
    take_header(line);
  }
}

void AnswerParser::take_first_line(std::string_view line) {
  constexpr std::string_view kVersion = "HTTP/1.";
  constexpr std::size_t kShortest = 12;  // HTTP/1.1 200
  const bool is_good = line.size() >= kShortest && line.starts_with(kVersion) &&
                       (line[7] == '0' || line[7] == '1') && line[8] == ' ' &&
                       (line.size() == kShortest || line[kShortest] == ' ');
  head_.status = is_good ? base::number_in<int>(line.substr(9, 3)).value_or(0) : 0;
  head_.is_http_1_1 = is_good && line[7] == '1';
  if (head_.status < 100) state_ = State::malformed;
}

// Ignores lines that are not headers or that continue one.
void AnswerParser::take_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || colon == 0 || line.front() == ' ' || line.front() == '\t') return;
  head_.headers.emplace_back(line.substr(0, colon), http::trimmed(line.substr(colon + 1)));
}

void AnswerParser::end_head() {
  line_.shrink_to_fit();
  if (is_interim(head_.status)) {
    state_ = ++interims_ <= kInterimsMax ? State::head : State::malformed;
    head_ = {};
    head_size_ = 0;
    lines_ = 0;
    return;
  }
  state_ = State::begun;
  const std::string_view length = header("Content-Length");
  if (http::list_has(header("Transfer-Encoding"), "chunked")) {
    framing_ = Framing::chunks;
  } else if (!length.empty() && header("Transfer-Encoding").empty()) {
    framing_ = Framing::length;
    const auto bytes = base::number_in<std::uint64_t>(length);
    left_ = bytes.value_or(0);
    if (!bytes) state_ = State::malformed;
  }
}

std::string_view AnswerParser::header(std::string_view name) const {
  const auto found = std::ranges::find_if(
      head_.headers, [&](const auto& header) { return base::same_word(header.first, name); });
  return found == head_.headers.end() ? std::string_view() : found->second;
}

}  // namespace baton::outbound

#include "wire/json/document.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace baton::wire {
namespace {

constexpr std::size_t kTextMax = std::size_t{1} << 31;  // offsets are 32 bits wide

constexpr unsigned kAscii = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
constexpr unsigned kStrict = kAscii | rapidjson::kParseValidateEncodingFlag;
// Of short texts, how many values are expected; long ones are mostly long strings.
constexpr std::size_t kExpectedFrom = 8 << 10;

// The reader checks the encoding byte by byte; most texts have nothing to check.
bool is_ascii(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, text.data() + i, 8);
    if ((eight & 0x8080808080808080u) != 0) return false;
  }
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// A JSON number at the beginning of the text: its length, or 0.
std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - begin;
  };
  const auto next_is = [&](std::string_view any) {
    return at < text.size() && any.find(text[at]) != any.npos;
  };
  if (next_is("-")) ++at;
  const std::size_t whole_begin = at;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && text[whole_begin] == '0')) return 0;
  if (next_is(".") && (++at, digits() == 0)) return 0;
  if (next_is("eE")) {
    ++at;
    if (next_is("+-")) ++at;
    if (digits() == 0) return 0;
  }
  return at;
}

// The text with every number outside strings replaced by a small one of the same length. RapidJSON's reader
// refuses numbers that no double can hold even where it is asked not to convert them.
std::string with_small_numbers(std::string_view text) {
  std::string masked(text);
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && (text[i] == '-' || (text[i] >= '0' && text[i] <= '9'))) {
      // All that may belong to the number is looked at once, whether it is one or not.
      const std::size_t end = std::min(text.find_first_not_of("0123456789+-.eE", i), text.size());
      const std::size_t length = number_length(text.substr(i, end - i));
      if (length != end - i) return masked;  // no number: the reader will say where
      // "1.000": one digit, a point, zeros; a sign stays.
      const std::size_t digit = text[i] == '-' ? i + 1 : i;
      for (std::size_t j = digit; j < i + length; ++j) masked[j] = j == digit + 1 ? '.' : '0';
      if (i + length == digit + 2) masked[digit + 1] = '0', masked[digit] = '1';
      i += length - 1;
    }
  }
  return masked;
}

}  // namespace

// RapidJSON's events, made into nodes. The reader's stream tells where each value ends; where it begins
// follows from where the one before ended, since only white space, ',' and ':' lie between.
class DocumentBuilder {
 public:
  using Ch = char;
  using Size = rapidjson::SizeType;

  DocumentBuilder(Document& document, const rapidjson::MemoryStream& stream, ParseOptions options)
      : document_(document), stream_(stream), options_(options) {}

  bool too_deep() const { return too_deep_; }

  bool Null() { return scalar(Value::Type::null); }
  bool Bool(bool truth) {
    scalar(Value::Type::boolean);
    document_.nodes_.back().truth = truth;
    return true;
  }
  bool RawNumber(const Ch*, Size, bool) { return scalar(Value::Type::number); }
  bool String(const Ch* text, Size length, bool) {
    const std::uint32_t begin = value_begin();
    push(Value::Type::string, begin);
    Document::Node& node = document_.nodes_.back();
    node.end = position();
    node.string = keep(text, length, node.begin, node.end);
    return finish_value(node.end);
  }
  bool Key(const Ch* text, Size length, bool) {
    const std::uint32_t begin = value_begin();
    key_ = keep(text, length, begin, position());
    last_end_ = position();
    return true;
  }
  bool StartObject() { return open(Value::Type::object); }
  bool StartArray() { return open(Value::Type::array); }
  bool EndObject(Size) { return close(); }
  bool EndArray(Size) { return close(); }

  // With kParseNumbersAsStringsFlag these are never called; the reader wants them to exist.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  std::uint32_t position() const { return static_cast<std::uint32_t>(stream_.Tell()); }

  std::uint32_t value_begin() const {
    const std::string_view text = document_.text_;
    std::uint32_t at = last_end_;
    while (at < text.size()) {
      const char c = text[at];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':') {
        ++at;
      } else if (c == '/' && options_.comments) {
        at = after_comment(at);
      } else {
        break;
      }
    }
    return at;
  }

  std::uint32_t after_comment(std::uint32_t at) const {
    const std::string_view text = document_.text_;
    const bool line = text.substr(at, 2) == "//";
    const std::size_t close = line ? text.find('\n', at) : text.find("*/", at + 2);
    return static_cast<std::uint32_t>(close == std::string_view::npos ? text.size() : close + (line ? 1 : 2));
  }

  // The decoded string: a view of the text where nothing was escaped, a copy otherwise.
  std::string_view keep(const Ch* text, Size length, std::uint32_t begin, std::uint32_t end) {
    if (length + 2 == end - begin) return document_.text_.substr(begin + 1, length);
    return document_.decoded_.emplace_front(text, length);
  }

  void push(Value::Type type, std::uint32_t begin) {
    Document::Node node;
    node.type = type;
    node.begin = begin;
    if (!open_.empty()) {
      Document::Node& parent = document_.nodes_[open_.back()];
      ++parent.count;
      if (parent.type == Value::Type::object) node.key = key_;
    }
    document_.nodes_.push_back(node);
    document_.nodes_.back().next = static_cast<std::uint32_t>(document_.nodes_.size());
  }

  bool finish_value(std::uint32_t end) {
    last_end_ = end;
    return true;
  }

  bool scalar(Value::Type type) {
    push(type, value_begin());
    document_.nodes_.back().end = position();
    return finish_value(position());
  }

  bool open(Value::Type type) {
    if (static_cast<int>(open_.size()) >= options_.depth_max) {
      too_deep_ = true;
      return false;
    }
    const std::uint32_t begin = value_begin();
    push(type, begin);
    open_.push_back(static_cast<std::uint32_t>(document_.nodes_.size() - 1));
    return finish_value(begin + 1);
  }

  bool close() {
    Document::Node& node = document_.nodes_[open_.back()];
    open_.pop_back();
    // The iterative reader reports the end before it takes the bracket.
    node.end = position() + 1;
    node.next = static_cast<std::uint32_t>(document_.nodes_.size());
    return finish_value(node.end);
  }

  Document& document_;
  const rapidjson::MemoryStream& stream_;
  const ParseOptions options_;
  std::vector<std::uint32_t> open_;
  std::string_view key_;
  std::uint32_t last_end_ = 0;
  bool too_deep_ = false;
};

base::Result<Document> Document::parse(std::string text, ParseOptions options) {
  auto owned = std::make_unique<const std::string>(std::move(text));
  auto document = parse_view(*owned, options);
  if (document) document->owned_ = std::move(owned);
  return document;
}

base::Result<Document> Document::parse_view(std::string_view text, ParseOptions options) {
  if (text.size() > kTextMax) return base::fail(base::ErrorCode::too_large, "the JSON text is too long");
  bool number_too_big = false;
  auto document = read(text, text, options, number_too_big);
  if (!number_too_big) return document;
  const std::string masked = with_small_numbers(text);
  return read(text, masked, options, number_too_big);
}

// Builds the document of `text` from what the reader finds in `readable`, which has the same values in the
// same places.
base::Result<Document> Document::read(std::string_view text, std::string_view readable, ParseOptions options,
                                      bool& number_too_big) {
  Document document;
  document.text_ = text;
  document.nodes_.reserve(16 + std::min(text.size(), kExpectedFrom) / 32);
  rapidjson::MemoryStream stream(readable.data(), readable.size());
  rapidjson::Reader reader;
  DocumentBuilder builder(document, stream, options);
  const rapidjson::ParseResult result =
      options.comments     ? reader.Parse<kStrict | rapidjson::kParseCommentsFlag>(stream, builder)
      : is_ascii(readable) ? reader.Parse<kAscii>(stream, builder)
                           : reader.Parse<kStrict>(stream, builder);
  if (!result) {
    number_too_big = result.Code() == rapidjson::kParseErrorNumberTooBig;
    std::string reason = builder.too_deep() ? "nested deeper than " + std::to_string(options.depth_max)
                                            : std::string(rapidjson::GetParseError_En(result.Code()));
    return base::fail(base::ErrorCode::parse_error,
                      "at byte " + std::to_string(result.Offset()) + ": " + reason);
  }
  // The reader takes a NUL byte for the end of the text.
  if (stream.Tell() != text.size()) {
    return base::fail(base::ErrorCode::parse_error,
                      "at byte " + std::to_string(stream.Tell()) + ": a NUL byte after the value");
  }
  return document;
}

Value::Type Value::type() const {
  return missing() ? Type::missing : document_->nodes_[node_].type;
}

std::string_view Value::string() const {
  return is_string() ? document_->nodes_[node_].string : std::string_view();
}

bool Value::boolean() const {
  return is_bool() && document_->nodes_[node_].truth;
}

std::optional<std::int64_t> Value::integer() const {
  if (!is_number()) return std::nullopt;
  const std::string_view text = raw();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  // Past 2^53 a double no longer says which integer was meant.
  constexpr double kExactMax = 9007199254740992.0;
  const std::optional<double> value = real();
  if (!value || std::trunc(*value) != *value || std::fabs(*value) > kExactMax) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<double> Value::real() const {
  if (!is_number()) return std::nullopt;
  const std::string_view text = raw();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view Value::raw() const {
  if (missing()) return {};
  const Document::Node& node = document_->nodes_[node_];
  return document_->text_.substr(node.begin, node.end - node.begin);
}

Value Value::operator[](std::string_view name) const {
  Value found;
  if (!is_object()) return found;
  for (const Value member : *this) {
    if (member.key() == name) found = member;
  }
  return found;
}

bool Value::repeats(std::string_view name) const {
  int count = 0;
  if (!is_object()) return false;
  for (const Value member : *this) count += member.key() == name ? 1 : 0;
  return count > 1;
}

std::size_t Value::size() const {
  return missing() ? 0 : document_->nodes_[node_].count;
}

Value::Iterator Value::begin() const {
  if (!is_array() && !is_object()) return Iterator(document_, 0);
  return Iterator(document_, size() == 0 ? document_->nodes_[node_].next : node_ + 1);
}

Value::Iterator Value::end() const {
  if (!is_array() && !is_object()) return Iterator(document_, 0);
  return Iterator(document_, document_->nodes_[node_].next);
}

Value::Iterator& Value::Iterator::operator++() {
  node_ = document_->nodes_[node_].next;
  return *this;
}

std::string_view Value::key() const {
  return missing() ? std::string_view() : document_->nodes_[node_].key;
}

}  // namespace baton::wire

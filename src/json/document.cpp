#include "json/document.h"

#include "base/text.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

namespace baton::json {
namespace {

constexpr std::size_t kTextMax = (std::size_t{1} << 31) - 1;  // an offset has 31 bits, and one bit is a mark

constexpr unsigned kAscii = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
constexpr unsigned kStrict = kAscii | rapidjson::kParseValidateEncodingFlag;
// Up to this size the number of values is estimated from the size. In longer texts, which are mostly long
// strings, the values are counted.
constexpr std::size_t kExpectedFrom = 8 << 10;

// RapidJSON does not check the result of an allocation: with its own allocator, running out of memory becomes
// a write to address 0. This allocator throws instead.
struct CheckedAllocator {
  static constexpr bool kNeedFree = true;

  void* Malloc(std::size_t size) { return size > 0 ? checked(std::malloc(size)) : nullptr; }
  void* Realloc(void* old, std::size_t, std::size_t size) {
    if (size > 0) return checked(std::realloc(old, size));
    std::free(old);
    return nullptr;
  }
  static void Free(void* memory) { std::free(memory); }

 private:
  static void* checked(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
};

// Returns an estimate of the number of nodes; for long texts, an upper bound. Each value or key follows one
// of the counted characters, or begins the text, and takes at least two bytes together with the next
// character. So nodes of 16 bytes take at most 8 bytes per byte of text.
std::size_t nodes_expected(std::string_view text) {
  if (text.size() <= kExpectedFrom) return 16 + text.size() / 32;
  const auto count =
      std::ranges::count_if(text, [](char c) { return (c == ',') | (c == ':') | (c == '[') | (c == '{'); });
  return std::min(static_cast<std::size_t>(count) + 1, text.size() / 2 + 1);
}

// The reader checks the encoding byte by byte; for ASCII that check is skipped.
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

// The length of the JSON number at the beginning of the text, or 0.
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

// Replaces every number outside strings with a small one of the same length. RapidJSON's reader refuses
// numbers that no double can hold, even when its flags disable the conversion.
std::string with_small_numbers(std::string_view text) {
  std::string masked(text);
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && (text[i] == '-' || (text[i] >= '0' && text[i] <= '9'))) {
      // Looks once at everything that may belong to the number, whether it is valid or not.
      const std::size_t end = std::min(text.find_first_not_of("0123456789+-.eE", i), text.size());
      const std::size_t length = number_length(text.substr(i, end - i));
      if (length != end - i) return masked;  // not a number: the reader will report the place
      // "1.000": one digit, a point, zeros; a sign stays.
      const std::size_t digit = text[i] == '-' ? i + 1 : i;
      for (std::size_t j = digit; j < i + length; ++j) masked[j] = j == digit + 1 ? '.' : '0';
      if (i + length == digit + 2) masked[digit + 1] = '0', masked[digit] = '1';
      i += length - 1;
    }
  }
  return masked;
}

// Returns the unit of UTF-16 that the text begins with as an escape, such as "\\ud83d"; 0 if it does not.
unsigned escaped_unit(std::string_view text) {
  if (!text.starts_with("\\u") || text.size() < 6) return 0;
  unsigned unit = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
  return end == text.data() + 6 && error == std::errc() ? unit : 0;
}

// Replaces each escape of half a surrogate pair with that of U+FFFD, which has the same length.
std::string with_whole_pairs(std::string_view text) {
  std::string mended(text);
  for (std::size_t i = text.find('\\'); i < text.size(); i = text.find('\\', i)) {
    const unsigned unit = escaped_unit(text.substr(i));
    const bool is_first = unit >= 0xd800 && unit <= 0xdbff, is_second = unit >= 0xdc00 && unit <= 0xdfff;
    const unsigned next = is_first ? escaped_unit(text.substr(i + 6)) : 0;
    const bool is_pair = next >= 0xdc00 && next <= 0xdfff;
    if ((is_first && !is_pair) || is_second) mended.replace(i, 6, "\\ufffd");
    i += is_pair ? 12 : unit != 0 ? 6 : 2;
  }
  return mended;
}

// Whether decoded text has the bytes that the reader makes of the second half of a pair alone.
bool has_half_pair(std::string_view decoded) {
  for (std::string_view rest = decoded;;) {
    const std::size_t at = rest.find('\xed');
    if (at == rest.npos || at + 1 == rest.size()) return false;
    if (static_cast<unsigned char>(rest[at + 1]) >= 0xa0) return true;
    rest.remove_prefix(at + 1);
  }
}

std::string where(std::string_view text, std::size_t offset, const ParseOptions& options) {
  if (!options.lines) return "at byte " + std::to_string(offset) + ": ";
  const TextPlace place = place_at(text, offset);
  return std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
}

}  // namespace

// Turns RapidJSON's events into nodes. The position of the reader's stream is the end of each value. Its
// beginning follows from the end of the previous one, since only white space, comments, ',' and ':' lie
// between.
class DocumentBuilder {
 public:
  using Ch = char;
  using Size = rapidjson::SizeType;

  DocumentBuilder(Document& document, const rapidjson::MemoryStream& stream, ParseOptions options)
      : document_(document), stream_(stream), options_(options) {}

  bool too_deep() const { return too_deep_; }
  bool found_half_pair() const { return found_half_pair_; }

  bool Null() { return scalar(); }
  bool Bool(bool) { return scalar(); }
  bool RawNumber(const Ch*, Size, bool) { return scalar(); }
  bool String(const Ch* text, Size length, bool) { return keep(text, length, 0); }
  bool Key(const Ch* text, Size length, bool) { return keep(text, length, Document::kMark); }
  bool StartObject() { return open(); }
  bool StartArray() { return open(); }
  bool EndObject(Size) { return close(); }
  bool EndArray(Size) { return close(); }

  // Never called with kParseNumbersAsStringsFlag, but required by the reader.
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

  // Keeps a string, or with `mark` a key. Refers to the text if it has no escapes; otherwise keeps a copy.
  bool keep(const Ch* text, Size length, std::uint32_t mark) {
    const std::uint32_t begin = value_begin(), end = position();
    if (mark == 0) count_child();
    const bool is_plain = length + 2 == end - begin;
    const auto kept_at = is_plain ? begin + 1 : static_cast<std::uint32_t>(document_.decoded_.size());
    if (!is_plain) {
      if (has_half_pair({text, length})) return !(found_half_pair_ = true);
      document_.decoded_.append(text, length);
    }
    document_.nodes_.push_back({begin, end | mark, kept_at, is_plain ? length : length | Document::kMark});
    last_end_ = end;
    return true;
  }

  void count_child() {
    if (!open_.empty()) ++document_.nodes_[open_.back()].second;
  }

  bool scalar() {
    count_child();
    document_.nodes_.push_back({value_begin(), position(), 0, 0});
    last_end_ = position();
    return true;
  }

  bool open() {
    if (static_cast<int>(open_.size()) >= options_.depth_max) {
      too_deep_ = true;
      return false;
    }
    const std::uint32_t begin = value_begin();
    count_child();
    open_.push_back(static_cast<std::uint32_t>(document_.nodes_.size()));
    document_.nodes_.push_back({begin, 0, 0, 0});
    last_end_ = begin + 1;
    return true;
  }

  bool close() {
    Document::Node& node = document_.nodes_[open_.back()];
    open_.pop_back();
    // The iterative reader reports the end before it consumes the bracket.
    node.end = position() + 1;
    node.first = static_cast<std::uint32_t>(document_.nodes_.size());
    last_end_ = node.end;
    return true;
  }

  Document& document_;
  const rapidjson::MemoryStream& stream_;
  const ParseOptions options_;
  std::vector<std::uint32_t> open_;
  std::uint32_t last_end_ = 0;
  bool too_deep_ = false;
  bool found_half_pair_ = false;
};

base::Result<Document> Document::parse(std::string text, ParseOptions options) {
  auto owned = std::make_unique<const std::string>(std::move(text));
  auto document = parse_view(*owned, options);
  if (document && !document->is_mended_) document->owned_ = std::move(owned);
  return document;
}

base::Result<Document> Document::parse_view(std::string_view text, ParseOptions options) {
  if (text.size() > kTextMax) return base::fail(base::ErrorCode::too_large, "the JSON text is too long");
  Flaw flaw = Flaw::none;
  auto document = read(text, text, options, flaw);
  if (flaw == Flaw::number_too_big) document = read(text, with_small_numbers(text), options, flaw);
  if (flaw != Flaw::half_pair) return document;
  auto mended = std::make_unique<const std::string>(with_whole_pairs(text));
  document = parse_view(*mended, options);
  if (document) {
    document->owned_ = std::move(mended);
    document->is_mended_ = true;
  }
  return document;
}

Document Document::view_of(std::string_view text, ParseOptions options) {
  auto document = parse_view(text, options);
  return document ? std::move(*document) : Document();
}

// Builds the document of `text` while the reader parses `readable`, which has values of the same types in the
// same places.
base::Result<Document> Document::read(std::string_view text, std::string_view readable, ParseOptions options,
                                      Flaw& flaw) {
  Document document;
  document.text_ = text;
  document.nodes_.reserve(nodes_expected(text));
  rapidjson::MemoryStream stream(readable.data(), readable.size());
  CheckedAllocator allocator;
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, CheckedAllocator> reader(&allocator);
  DocumentBuilder builder(document, stream, options);
  const rapidjson::ParseResult result =
      options.comments     ? reader.Parse<kStrict | rapidjson::kParseCommentsFlag>(stream, builder)
      : is_ascii(readable) ? reader.Parse<kAscii>(stream, builder)
                           : reader.Parse<kStrict>(stream, builder);
  flaw = Flaw::none;
  if (!result) {
    const auto code = result.Code();
    if (code == rapidjson::kParseErrorNumberTooBig) flaw = Flaw::number_too_big;
    if (code == rapidjson::kParseErrorStringUnicodeSurrogateInvalid || builder.found_half_pair())
      flaw = Flaw::half_pair;
    std::string reason = builder.too_deep() ? "nested deeper than " + std::to_string(options.depth_max)
                                            : std::string(rapidjson::GetParseError_En(code));
    return base::fail(base::ErrorCode::parse_error, where(text, result.Offset(), options) + reason);
  }
  // The reader takes a NUL byte for the end of the text.
  if (stream.Tell() != text.size()) {
    return base::fail(base::ErrorCode::parse_error,
                      where(text, stream.Tell(), options) + "a NUL byte after the value");
  }
  return document;
}

std::string_view Document::decoded(const Node& node) const {
  const bool is_copy = (node.second & kMark) != 0;
  return is_copy ? std::string_view(decoded_).substr(node.first, node.second & ~kMark)
                 : text_.substr(node.first, node.second);
}

// Returns the index of the node after a value and its contents.
std::uint32_t Document::after(std::uint32_t node) const {
  const Node& value = nodes_[node];
  const char first = text_[value.begin];
  return first == '[' || first == '{' ? value.first : node + 1;
}

std::size_t Value::offset() const {
  return missing() ? 0 : document_->nodes_[node_].begin;
}

bool Value::is_mended() const {
  return !missing() && document_->is_mended_;
}

Value::Type Value::type() const {
  if (missing()) return Type::missing;
  switch (document_->text_[document_->nodes_[node_].begin]) {
    case '{':
      return Type::object;
    case '[':
      return Type::array;
    case '"':
      return Type::string;
    case 't':
    case 'f':
      return Type::boolean;
    case 'n':
      return Type::null;
    default:
      return Type::number;
  }
}

std::string_view Value::string() const {
  return is_string() ? document_->decoded(document_->nodes_[node_]) : std::string_view();
}

bool Value::boolean() const {
  return is_bool() && raw().front() == 't';
}

std::optional<std::int64_t> Value::integer() const {
  if (!is_number()) return std::nullopt;
  if (const auto number = base::number_in<std::int64_t>(raw())) return number;
  // Above 2^53 several integers map to the same double.
  constexpr double kExactMax = 9007199254740992.0;
  const std::optional<double> value = real();
  if (!value || std::trunc(*value) != *value || std::fabs(*value) > kExactMax) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<double> Value::real() const {
  return is_number() ? base::number_in<double>(raw()) : std::nullopt;
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
  return is_array() || is_object() ? document_->nodes_[node_].second : 0;
}

Value::Iterator Value::begin() const {
  if (!is_array() && !is_object()) return Iterator(document_, 0, 0);
  return Iterator(document_, node_ + 1, is_object() ? 1 : 0);
}

Value::Iterator Value::end() const {
  if (!is_array() && !is_object()) return Iterator(document_, 0, 0);
  return Iterator(document_, document_->nodes_[node_].first, 0);
}

Value::Iterator& Value::Iterator::operator++() {
  node_ = document_->after(node_ + to_value_);
  return *this;
}

std::string_view Value::key() const {
  if (missing() || node_ == 0) return {};
  const Document::Node& before = document_->nodes_[node_ - 1];
  return (before.end & Document::kMark) != 0 ? document_->decoded(before) : std::string_view();
}

}  // namespace baton::json

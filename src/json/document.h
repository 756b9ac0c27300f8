// Document: a parsed JSON text that keeps the bytes of each value.
//
// Strict JSON in strict UTF-8, numbers of any size, bounded depth, no recursion while parsing. UTF-8
// cannot hold half a surrogate pair: such an escape reads as U+FFFD, and the bytes of values have that
// instead. Values point to their Document, which must outlive them and must not be moved. The text is owned
// by the Document (parse) or borrowed (parse_view).
//
// Memory: at most about 8 times the text, in addition to the text itself (document.cpp).
// Threads: a Document is immutable once made; values are small and copied freely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "task/json.h"

namespace baton::json {

class Document;

// One value inside a Document. A look-up that finds no value returns a missing one.
class Value {
 public:
  enum class Type : std::uint8_t { missing, null, boolean, number, string, array, object };

  Value() = default;

  Type type() const;
  bool missing() const { return document_ == nullptr; }
  bool is_null() const { return type() == Type::null; }
  bool is_string() const { return type() == Type::string; }
  bool is_object() const { return type() == Type::object; }
  bool is_array() const { return type() == Type::array; }
  bool is_number() const { return type() == Type::number; }
  bool is_bool() const { return type() == Type::boolean; }
  // Missing or null. Every protocol here treats both as "not given".
  bool absent() const { return missing() || is_null(); }

  // The decoded text of a string; empty for anything else.
  std::string_view string() const;
  std::string str() const { return std::string(string()); }
  bool boolean() const;
  // Returns the number if it is whole and fits, otherwise nullopt. 1.0 and 1e2 are whole: JSON has one kind
  // of number.
  std::optional<std::int64_t> integer() const;
  std::optional<double> real() const;

  // The bytes of the value, unchanged but for half a surrogate pair; valid as long as the Document.
  std::string_view raw() const;
  // Where they begin in the text that was parsed; their size there is the same. 0 if the value is missing.
  std::size_t offset() const;
  task::Json json() const { return task::Json{std::string(raw())}; }

  // The member of an object, or missing. If a member is repeated the last one counts, as in JavaScript; see
  // `repeats`.
  Value operator[](std::string_view key) const;
  // Whether the object has this member more than once.
  bool repeats(std::string_view key) const;

  // Children of an array (values) or an object (values; `key` names them).
  std::size_t size() const;
  class Iterator;
  Iterator begin() const;
  Iterator end() const;
  // The name of a member that was reached by iterating over an object.
  std::string_view key() const;

  // Whether the Document reads half a surrogate pair as U+FFFD somewhere.
  bool is_mended() const;

 private:
  friend class Document;
  Value(const Document* document, std::uint32_t node) : document_(document), node_(node) {}
  const Document* document_ = nullptr;
  std::uint32_t node_ = 0;
};

class Value::Iterator {
 public:
  Value operator*() const { return Value(document_, node_ + to_value_); }
  Iterator& operator++();
  bool operator==(const Iterator& other) const { return node_ == other.node_; }

 private:
  friend class Value;
  Iterator(const Document* document, std::uint32_t node, std::uint32_t to_value)
      : document_(document), node_(node), to_value_(to_value) {}
  const Document* document_;
  std::uint32_t node_;      // the value; in an object, its key
  std::uint32_t to_value_;  // from the node to its value
};

struct ParseOptions {
  int depth_max = 100;
  bool comments = false;  // // and /* */, for files that people write
  bool lines = false;     // errors begin with "<line>:<column>: " instead of "at byte <number>: "
};

// For JSON in a string that becomes a part of another text: the depth of the whole is bounded, too.
inline constexpr ParseOptions kInString{.depth_max = 90};

// The place of a byte in a text, counted from 1; columns count characters.
struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};
TextPlace place_at(std::string_view text, std::size_t offset);

// The value at a JSON pointer (RFC 6901), or the nearest ancestor that exists.
Value nearest_value(Value root, std::string_view pointer);
// The value at a JSON pointer, or missing.
Value value_at(Value root, std::string_view pointer);
// Whether both values are equal, in any order of members and any notation. The last of repeated ones counts.
bool same_value(Value one, Value other);

class Document {
 public:
  // Fails with parse_error unless the text is exactly one JSON value; for_caller gives the place and the
  // reason.
  static base::Result<Document> parse(std::string text, ParseOptions options = {});
  // Borrows `text`, which must outlive the Document.
  static base::Result<Document> parse_view(std::string_view text, ParseOptions options = {});

  // Borrows `text`, which must outlive the Document. If it is empty or not JSON, the root is missing.
  static Document view_of(std::string_view text, ParseOptions options = {});

  Document(Document&&) noexcept = default;
  Document& operator=(Document&&) noexcept = default;

  Value root() const { return nodes_.empty() ? Value() : Value(this, 0); }

  // The bytes that the Document takes in addition to the text.
  std::size_t memory() const {
    return nodes_.capacity() * sizeof(Node) + decoded_.capacity() + (is_mended_ ? text_.size() : 0);
  }

 private:
  friend class Value;
  friend class DocumentBuilder;
  Document() = default;
  // A valid text that the reader takes for an invalid one, or reads wrongly.
  enum class Flaw : std::uint8_t { none, number_too_big, half_pair };
  static base::Result<Document> read(std::string_view text, std::string_view readable, ParseOptions options,
                                     Flaw& flaw);

  // A value, or the key of a member, which precedes its value. Its type follows from its first byte.
  struct Node {
    std::uint32_t begin, end;  // its bytes in the text; a key's end has the highest bit set
    // For an array or object: the node after it and its contents, and the number of its children. For a
    // string or key: the offset of its decoded text, and its length. The highest bit of the length is set if
    // the text is in `decoded_` instead of `text_`.
    std::uint32_t first, second;
  };
  static constexpr std::uint32_t kMark = std::uint32_t{1} << 31;

  std::string_view decoded(const Node& node) const;
  std::uint32_t after(std::uint32_t node) const;

  std::unique_ptr<const std::string> owned_;
  std::string_view text_;
  std::vector<Node> nodes_;
  std::string decoded_;  // strings with escapes, one after the other
  bool is_mended_ = false;
};

}  // namespace baton::json

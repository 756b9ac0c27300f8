// Schema: a JSON Schema (draft 4) whose checks report problems in words that an author can act on.
//
// Threads: immutable once made.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace baton::json {

struct SchemaProblem {
  std::string pointer;  // JSON pointer to the value; empty: the whole document
  std::string reason;   // "must be a string", "is unknown; did you mean \"mode\"?"

  friend bool operator==(const SchemaProblem&, const SchemaProblem&) = default;
};

class Schema {
 public:
  // Fails with parse_error for text that is not a JSON object.
  static base::Result<Schema> parse(std::string_view text);

  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;
  ~Schema();

  // Returns the problems of `json`; empty if there are none. Finds several problems in one call: each invalid
  // value is set aside and the rest is checked again. Not every problem is found this way: if an element of a
  // list is wrong, the elements after it are not checked in this call.
  std::vector<SchemaProblem> check(std::string_view json) const;

 private:
  struct Parsed;
  explicit Schema(std::unique_ptr<const Parsed> parsed);
  std::unique_ptr<const Parsed> parsed_;
};

}  // namespace baton::json

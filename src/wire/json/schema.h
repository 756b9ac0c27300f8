// Schema: a JSON Schema (draft 4) to check the files that people write, with problems they can act on.
//
// Threads: immutable once made.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace baton::wire {

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

  // What is wrong with `json`, which must be JSON; empty: nothing. Several problems are found in one go: each
  // value at fault is set aside and the rest is checked again. Not every problem can be seen so: further
  // elements of a list of which one was wrong wait for the next check.
  std::vector<SchemaProblem> check(std::string_view json) const;

 private:
  struct Parsed;
  explicit Schema(std::unique_ptr<const Parsed> parsed);
  std::unique_ptr<const Parsed> parsed_;
};

// The one of `names` that a person may have meant by `name`, or an empty view.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& names);

}  // namespace baton::wire

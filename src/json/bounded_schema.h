// BoundedSchema: a JSON Schema that somebody else wrote, and the check of a value against it.
//
// Supported are the keywords type, enum, const, required, properties, additionalProperties, items,
// prefixItems, minimum, maximum, exclusiveMinimum and exclusiveMaximum (as numbers or as draft 4's booleans),
// multipleOf, minLength, maxLength, pattern, format (formats.h), minItems, maxItems, uniqueItems,
// minProperties, maxProperties, anyOf, oneOf, allOf, not, and $ref to # or into the document's $defs or
// definitions. Any other keyword that restricts a value is a fault of the schema; what only describes it is
// ignored.
//
// Neither schema nor value is trusted. A schema is parsed within SchemaLimits, and a cycle of references that
// does not go into the value is a fault, so a check ends. A check takes at most `steps_max` steps of about a
// microsecond and bounded memory; its recursion is bounded by the program. Patterns are RE2's.
//
// Threads: immutable once made. The program's own schemas are checked by json::Schema.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "json/document.h"
#include "json/schema.h"

namespace baton::json {

struct SchemaLimits {
  std::size_t bytes_max = 64 << 10;
  int depth_max = 32;       // of schemas within each other, references included
  int nodes_max = 2'000;    // schemas in the document
  int steps_max = 100'000;  // for one check
};

class BoundedSchema {
 public:
  // Copies the text. Fails with the first fault: a JSON pointer into the schema, and the reason.
  static tl::expected<BoundedSchema, SchemaProblem> parse(std::string_view text,
                                                          const SchemaLimits& limits = {});

  BoundedSchema(BoundedSchema&&) noexcept;
  BoundedSchema& operator=(BoundedSchema&&) noexcept;
  ~BoundedSchema();

  // The patterns that RE2 refuses, with its reason. A check takes any text for a match of them.
  const std::vector<SchemaProblem>& unenforced() const;

  // Returns the first problem of the value; nothing: it fits. A check that takes too many steps is a problem.
  std::optional<SchemaProblem> check(Value value) const;
  // The same for a text, which may not be JSON.
  std::optional<SchemaProblem> check_text(std::string_view json) const;

  // What a plain text can mean, if the schema leaves it one meaning: it describes a boolean, a number, a text
  // or one of several values, or an object whose only required member is one.
  struct Reading {
    enum class Kind { boolean, whole_number, number, text, choice };
    struct Choice {
      std::string name;  // as people write it
      std::string json;
    };
    Kind kind = Kind::text;
    std::string member;           // of the object; empty: the value itself
    bool in_member = false;       // the value is a member of an object
    std::vector<Choice> choices;  // of a choice

    // The value that the text means, as JSON, which may still not fit; nothing: it means none. For a boolean
    // true, false, yes and no; for a choice the name of one.
    std::optional<std::string> value(std::string_view text) const;
    // What is expected, such as "yes or no" or "one of a, b".
    std::string expected() const;
  };
  std::optional<Reading> reading() const;

  // A value that fits, as JSON; empty if none is found at once.
  std::string example() const;

  struct Parsed;

 private:
  explicit BoundedSchema(std::unique_ptr<const Parsed> parsed);
  std::unique_ptr<const Parsed> parsed_;
};

}  // namespace baton::json

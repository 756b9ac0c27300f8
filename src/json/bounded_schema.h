// BoundedSchema: checks values against an untrusted JSON Schema.
//
// The supported keywords are type, enum, const, required, properties, additionalProperties, items,
// prefixItems, minimum, maximum, exclusiveMinimum and exclusiveMaximum (as numbers or as draft 4's booleans),
// multipleOf, minLength, maxLength, pattern, format (formats.h), minItems, maxItems, uniqueItems,
// minProperties, maxProperties, anyOf, oneOf, allOf, not, and $ref to # or into the document's $defs or
// definitions. Any other keyword that restricts a value is a fault of the schema. Keywords that only describe
// the value are ignored.
//
// Neither schema nor value is trusted. A schema is parsed within SchemaLimits. A cycle of references that
// does not go into the value is a fault, so every check ends. A check takes at most `steps_max` steps of
// about a microsecond and bounded memory; the program bounds its recursion. Patterns have RE2's syntax.
//
// Threads: immutable once made. For the program's own schemas use json::Schema.
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
  // Parses a copy of the text. Fails with the first fault: a JSON pointer into the schema, and the reason.
  static tl::expected<BoundedSchema, SchemaProblem> parse(std::string_view text,
                                                          const SchemaLimits& limits = {});

  BoundedSchema(BoundedSchema&&) noexcept;
  BoundedSchema& operator=(BoundedSchema&&) noexcept;
  ~BoundedSchema();

  // The patterns that are not enforced, each with the reason: RE2 refuses it, or the patterns take too much
  // work. A check does not reject a value because of them.
  const std::vector<SchemaProblem>& unenforced() const;

  // Returns the first problem of the value, or nullopt if it fits. A check that takes too many steps is a
  // problem too.
  std::optional<SchemaProblem> check(Value value) const;
  // Checks a text. A text that is not JSON is a problem too.
  std::optional<SchemaProblem> check_text(std::string_view json) const;
  // Checks each text, all within the steps of one check. Returns the first problem.
  std::optional<SchemaProblem> check_texts(const std::vector<std::string_view>& texts) const;

  // How to read a plain text as a value. Only a schema that leaves one meaning has a reading: it describes a
  // boolean, a number, a text or one of several values, or an object whose only required member is one of
  // these.
  struct Reading {
    enum class Kind { boolean, whole_number, number, text, choice };
    struct Choice {
      std::string name;  // as people type it
      std::string json;
    };
    Kind kind = Kind::text;
    std::string member;           // the name of the member, if in_member
    bool in_member = false;       // the value is a member of an object
    std::vector<Choice> choices;  // for Kind::choice

    // Returns the value that the text means, as JSON, or nullopt if it means none. The value may still not
    // fit the schema. A boolean is written as true, false, yes or no; a choice by its name.
    std::optional<std::string> value(std::string_view text) const;
    // Describes the expected text, such as "yes or no" or "one of a, b".
    std::string expected() const;
  };
  std::optional<Reading> reading() const;

  // Returns a value that fits, as JSON, or an empty string if the first attempt does not fit.
  std::string example() const;

  struct Parsed;

 private:
  explicit BoundedSchema(std::unique_ptr<const Parsed> parsed);
  std::unique_ptr<const Parsed> parsed_;
};

}  // namespace baton::json

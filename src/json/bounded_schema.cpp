#include "json/bounded_schema.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "json/decimal.h"
#include "json/formats.h"
#include "json/pattern.h"
#include "json/writer.h"

namespace baton::json {
namespace {

constexpr int kNone = -1;  // no node
// The most recursion frames of a check. A value is at most 100 deep, and each level may take several schemas.
constexpr int kRecursionMax = 500;
// Limits for all patterns of a schema together: the cost of compiling them (Pattern::weight) and the number
// of instructions.
constexpr std::size_t kPatternWeightMax = 20'000;
constexpr std::size_t kPatternSizeMax = 20'000;
constexpr std::size_t kPatternsKept = 16;  // compiled at the same time
// The bytes that one step reads, and the product of instructions and bytes that one step of matching covers.
constexpr std::size_t kBytesPerStep = 256;
constexpr std::size_t kMatchesPerStep = 128;
constexpr std::size_t kShownMax = 200;  // bytes of a pointer or a list of values in a reason

enum TypeBit : std::uint8_t {
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kNumber = 8,
  kString = 16,
  kArray = 32,
  kObject = 64,
};

struct TypeRow {
  std::string_view name;
  std::uint8_t bit;
  std::string_view words;
};
constexpr TypeRow kTypes[] = {
    {"null", kNull, "null"},
    {"boolean", kBoolean, "true or false"},
    {"integer", kInteger, "an integer"},
    {"number", kNumber, "a number"},
    {"string", kString, "a string"},
    {"array", kArray, "a list"},
    {"object", kObject, "an object"},
};

std::uint8_t type_of(Value value) {
  switch (value.type()) {
    case Value::Type::null:
      return kNull;
    case Value::Type::boolean:
      return kBoolean;
    case Value::Type::number:
      return kNumber;
    case Value::Type::string:
      return kString;
    case Value::Type::array:
      return kArray;
    case Value::Type::object:
      return kObject;
    case Value::Type::missing:
      break;
  }
  return 0;
}

std::string cut(std::string_view text) {
  if (text.size() <= kShownMax) return std::string(text);
  return std::string(base::beginning_of(text, kShownMax)) + "...";
}

// "a", "a or b", "a, b or c".
std::string alternatives_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += words[i];
  }
  return text;
}

// Returns the name as a step of a JSON pointer: "/" and the escaped name.
std::string escaped(std::string_view name) {
  std::string step = "/";
  for (const char c : name) {
    if (c == '~' || c == '/') {
      step += c == '~' ? "~0" : "~1";
    } else {
      step += c;
    }
  }
  return step;
}

// A hash of a value; equal values have equal hashes. Recursion: as deep as the value.
std::uint64_t hash_of(Value value) {
  const auto of_text = [](std::string_view text) {
    return std::uint64_t{std::hash<std::string_view>()(text)};
  };
  const auto mix = [](std::uint64_t one, std::uint64_t other) {
    return (one ^ (other + 0x9e3779b97f4a7c15u + (one << 6) + (one >> 2))) * 0x100000001b3u;
  };
  switch (value.type()) {
    case Value::Type::string:
      return mix(1, of_text(value.string()));
    case Value::Type::number: {
      const Decimal number = Decimal::of(value.raw());
      if (!number.exact) return mix(2, of_text(value.raw()));
      return mix(mix(3, number.digits),
                 static_cast<std::uint64_t>(number.exponent) + (number.negative ? 1u : 0u));
    }
    case Value::Type::array: {
      std::uint64_t hash = 4;
      for (const Value item : value) hash = mix(hash, hash_of(item));
      return hash;
    }
    case Value::Type::object: {
      std::uint64_t hash = 5;
      for (const Value member : value) hash += mix(of_text(member.key()), hash_of(member));  // in any order
      return hash;
    }
    default:
      return mix(6, of_text(value.raw()));
  }
}

using Members = std::vector<std::pair<std::string_view, Value>>;

// Returns the members sorted by name. If a name is repeated, the last member counts.
Members sorted_members(Value object) {
  Members members;
  members.reserve(object.size());
  for (const Value member : object) members.emplace_back(member.key(), member);
  std::ranges::stable_sort(members, {}, &Members::value_type::first);
  Members kept;
  kept.reserve(members.size());
  for (const auto& member : members) {
    if (!kept.empty() && kept.back().first == member.first) kept.pop_back();
    kept.push_back(member);
  }
  return kept;
}

// Recursion: as deep as the values.
bool are_equal(Value one, Value other) {
  if (one.type() != other.type()) return false;
  if (one.is_string()) return one.string() == other.string();
  if (one.is_number()) {
    if (one.raw() == other.raw()) return true;
    const Decimal first = Decimal::of(one.raw()), second = Decimal::of(other.raw());
    return first.exact && second.exact && compare(first, second) == 0;
  }
  if (one.is_array()) {
    return one.size() == other.size() && std::equal(one.begin(), one.end(), other.begin(), are_equal);
  }
  if (one.is_object()) {
    const Members first = sorted_members(one), second = sorted_members(other);
    return std::ranges::equal(first, second, [](const auto& a, const auto& b) {
      return a.first == b.first && are_equal(a.second, b.second);
    });
  }
  return one.raw() == other.raw();
}

struct Bound {
  Decimal number;
  std::string_view shown;
};

// The place of a schema within its enclosing schema.
struct Place {
  int around = kNone;
  std::string_view keyword;
  std::string_view name = {};
  int index = kNone;
};

struct Node {
  Place place;
  Value value;
  std::optional<bool> verdict;  // for the schemas `true` and `false`
  std::uint8_t types = 0;       // 0: any
  Format format = Format::none;
  bool has_enum = false, is_unique = false;
  Value constant;                                        // missing: the schema has no const
  std::vector<std::pair<std::uint64_t, Value>> choices;  // of enum or const, by hash
  std::optional<Bound> least, most, above, below, factor;
  std::optional<std::uint64_t> length_min, length_max, items_min, items_max, members_min, members_max;
  int pattern = kNone;
  std::vector<std::string_view> required;                 // sorted
  std::vector<std::pair<std::string_view, int>> members;  // sorted
  int other_members = kNone, items = kNone, target = kNone, excluded = kNone;
  std::vector<int> first_items, all, any, one;

  bool looks_into_objects() const {
    return !required.empty() || !members.empty() || other_members != kNone || members_min || members_max;
  }
  bool looks_into_arrays() const {
    return !first_items.empty() || items != kNone || items_min || items_max || is_unique;
  }
};

// A keyword that limits a size, and the member that keeps the limit. Minimum and maximum alternate.
struct SizeRule {
  std::string_view keyword;
  std::optional<std::uint64_t> Node::*bound;
};
constexpr SizeRule kSizeRules[] = {
    {"minLength", &Node::length_min},      {"maxLength", &Node::length_max},
    {"minItems", &Node::items_min},        {"maxItems", &Node::items_max},
    {"minProperties", &Node::members_min}, {"maxProperties", &Node::members_max},
};

// Unsupported keywords that restrict a value.
constexpr std::string_view kUnsupported[] = {
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "disallow",
    "divisibleBy",
    "else",
    "extends",
    "if",
    "maxContains",
    "minContains",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
};
constexpr std::string_view kSupported[] = {
    "$defs",
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "definitions",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "prefixItems",
    "properties",
    "required",
    "type",
    "uniqueItems",
};

}  // namespace

struct BoundedSchema::Parsed {
  SchemaLimits limits;
  std::optional<Document> document;  // always set
  std::deque<Node> nodes;            // the root first; references stay valid as nodes are added
  std::vector<std::string_view> patterns;
  std::vector<bool> is_enforced;  // for each of `patterns`
  std::vector<SchemaProblem> unenforced;

  std::string pointer_to(int node) const;
  const Node& at(int node) const { return nodes[static_cast<std::size_t>(node)]; }
};

std::string BoundedSchema::Parsed::pointer_to(int node) const {
  std::vector<const Place*> steps;
  for (; node > 0; node = at(node).place.around) steps.push_back(&at(node).place);
  std::string pointer;
  for (auto step = steps.rbegin(); step != steps.rend() && pointer.size() <= kShownMax; ++step) {
    pointer += "/" + std::string((*step)->keyword);
    if ((*step)->name.data() != nullptr) pointer += escaped((*step)->name.substr(0, kShownMax));
    if ((*step)->index != kNone) pointer += "/" + std::to_string((*step)->index);
  }
  return cut(pointer);
}

namespace {

using Parsed = BoundedSchema::Parsed;

// Reads a document's schemas into nodes. Stops at the first fault.
class SchemaReader {
 public:
  explicit SchemaReader(Parsed& parsed) : parsed_(parsed) {}

  std::optional<SchemaProblem> run() {
    read(parsed_.document->root(), {}, 1);
    if (!fault_) resolve();
    if (!fault_) find_cycles();
    if (!fault_) try_patterns();
    return std::move(fault_);
  }

 private:
  struct Reference {
    int node;
    std::string_view target;
  };

  Node& node(int index) { return parsed_.nodes[static_cast<std::size_t>(index)]; }

  void wrong(int index, std::string_view keyword, std::string reason) {
    if (fault_) return;
    std::string pointer = parsed_.pointer_to(index);
    if (!keyword.empty()) pointer += escaped(keyword);
    fault_ = SchemaProblem{std::move(pointer), std::move(reason)};
  }

  // Returns the node of the schema, or kNone after a fault.
  int read(Value schema, Place place, int depth) {
    if (fault_) return kNone;
    const int index = static_cast<int>(parsed_.nodes.size());
    Node& fresh = parsed_.nodes.emplace_back();
    fresh.place = place;
    fresh.value = schema;
    nodes_at_.emplace(schema.raw().data(), index);
    if (index >= parsed_.limits.nodes_max) {
      wrong(0, "", "has more than " + base::counted(parsed_.limits.nodes_max, "schema") + " in it");
    } else if (depth > parsed_.limits.depth_max) {
      wrong(index, "", too_deep());
    } else if (schema.is_bool()) {
      node(index).verdict = schema.boolean();
    } else if (!schema.is_object()) {
      wrong(index, "", "must be a schema: an object, true or false");
    } else {
      read_keywords(index, schema, depth);
    }
    return index;
  }

  std::string too_deep() const { return "is nested deeper than " + std::to_string(parsed_.limits.depth_max); }

  void read_keywords(int index, Value schema, int depth) {
    std::array<bool, std::size(kSupported)> seen{};
    for (const Value rule : schema) {
      if (fault_) return;
      const std::string_view keyword = rule.key();
      if (std::ranges::find(kUnsupported, keyword) != std::end(kUnsupported)) {
        return wrong(index, keyword, "is a keyword that is not supported in questions");
      }
      const auto* known = std::ranges::find(kSupported, keyword);
      if (known == std::end(kSupported)) continue;
      if (std::exchange(seen[static_cast<std::size_t>(known - kSupported)], true)) {
        return wrong(index, keyword, "is given twice");
      }
      read_rule(index, *known, rule, depth);
    }
    read_draft4_bounds(index, schema);
  }

  // `keyword` must be the constant, which outlives the document.
  void read_rule(int index, std::string_view keyword, Value rule, int depth) {
    Node& node = this->node(index);
    if (keyword == "type") return read_types(index, rule);
    if (keyword == "enum") return read_enum(index, rule);
    if (keyword == "const") {
      node.constant = rule;
      return;
    }
    if (keyword == "format") return read_format(index, rule);
    if (keyword == "pattern") return read_pattern(index, rule);
    if (keyword == "required") return read_required(index, rule);
    if (keyword == "uniqueItems") {
      if (!rule.is_bool()) return wrong(index, keyword, "must be true or false");
      node.is_unique = rule.boolean();
      return;
    }
    if (keyword == "minimum") return read_bound(index, keyword, rule, node.least);
    if (keyword == "maximum") return read_bound(index, keyword, rule, node.most);
    if (keyword == "exclusiveMinimum" && !rule.is_bool()) return read_bound(index, keyword, rule, node.above);
    if (keyword == "exclusiveMaximum" && !rule.is_bool()) return read_bound(index, keyword, rule, node.below);
    if (keyword == "multipleOf") return read_factor(index, rule);
    const auto* size = std::ranges::find(kSizeRules, keyword, &SizeRule::keyword);
    if (size != std::end(kSizeRules)) return read_size(index, *size, rule);
    read_schemas(index, keyword, rule, depth + 1);
  }

  void read_schemas(int index, std::string_view keyword, Value rule, int depth) {
    Node& node = this->node(index);
    if (keyword == "$ref") {
      if (!rule.is_string()) return wrong(index, keyword, "must be a string");
      references_.push_back({index, rule.string()});
    } else if (keyword == "properties") {
      read_named(index, keyword, rule, depth, node.members);
    } else if (keyword == "$defs" || keyword == "definitions") {
      std::vector<std::pair<std::string_view, int>> definitions;
      read_named(index, keyword, rule, depth, definitions);
    } else if (keyword == "additionalProperties") {
      node.other_members = read(rule, {index, keyword}, depth);
    } else if (keyword == "items") {
      if (rule.is_array())
        return wrong(index, keyword, "must be one schema, not a list: use prefixItems for a list");
      node.items = read(rule, {index, keyword}, depth);
    } else if (keyword == "not") {
      node.excluded = read(rule, {index, keyword}, depth);
    } else if (keyword == "prefixItems") {
      read_list(index, keyword, rule, depth, node.first_items);
    } else if (keyword == "allOf") {
      read_list(index, keyword, rule, depth, node.all);
    } else if (keyword == "anyOf") {
      read_list(index, keyword, rule, depth, node.any);
    } else if (keyword == "oneOf") {
      read_list(index, keyword, rule, depth, node.one);
    }
  }

  void read_named(int index, std::string_view keyword, Value rule, int depth,
                  std::vector<std::pair<std::string_view, int>>& into) {
    if (!rule.is_object()) return wrong(index, keyword, "must be an object");
    for (const Value member : rule) {
      const int child = read(member, {index, keyword, member.key()}, depth);
      if (fault_) return;
      into.emplace_back(member.key(), child);
    }
    std::ranges::sort(into);
    const auto same_name = [](const auto& one, const auto& other) { return one.first == other.first; };
    const auto twice = std::ranges::adjacent_find(into, same_name);
    if (twice != into.end()) wrong(index, keyword, "\"" + cut(twice->first) + "\" is given twice");
  }

  void read_list(int index, std::string_view keyword, Value rule, int depth, std::vector<int>& into) {
    if (!rule.is_array() || rule.size() == 0)
      return wrong(index, keyword, "must be a list with at least one schema");
    int place = 0;
    for (const Value item : rule) {
      into.push_back(read(item, {index, keyword, {}, place++}, depth));
      if (fault_) return;
    }
  }

  void read_types(int index, Value rule) {
    const auto add = [&](Value name) {
      const auto* row = std::ranges::find(kTypes, name.string(), &TypeRow::name);
      const bool is_known = name.is_string() && row != std::end(kTypes);
      if (is_known) node(index).types |= row->bit;
      if (!is_known) wrong(index, "type", "must be a type name or a list of type names");
    };
    if (!rule.is_array()) return add(rule);
    if (rule.size() == 0) return wrong(index, "type", "must not be empty");
    for (const Value name : rule) {
      if (!fault_) add(name);
    }
  }

  void read_enum(int index, Value rule) {
    if (!rule.is_array() || rule.size() == 0)
      return wrong(index, "enum", "must be a list with at least one value");
    Node& node = this->node(index);
    node.has_enum = true;
    for (const Value choice : rule) node.choices.emplace_back(hash_of(choice), choice);
    std::ranges::stable_sort(node.choices, {}, [](const auto& choice) { return choice.first; });
  }

  void read_format(int index, Value rule) {
    if (!rule.is_string()) return wrong(index, "format", "must be a string");
    node(index).format = format_named(rule.string());
  }

  void read_pattern(int index, Value rule) {
    if (!rule.is_string()) return wrong(index, "pattern", "must be a string");
    node(index).pattern = static_cast<int>(parsed_.patterns.size());
    parsed_.patterns.push_back(rule.string());
    pattern_nodes_.push_back(index);
  }

  void read_required(int index, Value rule) {
    if (!rule.is_array()) return wrong(index, "required", "must be a list of names");
    Node& node = this->node(index);
    for (const Value name : rule) {
      if (!name.is_string()) return wrong(index, "required", "must be a list of names");
      node.required.push_back(name.string());
    }
    std::ranges::sort(node.required);
    node.required.erase(std::unique(node.required.begin(), node.required.end()), node.required.end());
  }

  void read_bound(int index, std::string_view keyword, Value rule, std::optional<Bound>& into) {
    if (!rule.is_number()) return wrong(index, keyword, "must be a number");
    into = Bound{Decimal::of(rule.raw()), rule.raw()};
  }

  void read_factor(int index, Value rule) {
    read_bound(index, "multipleOf", rule, node(index).factor);
    if (fault_) return;
    const Decimal& number = node(index).factor->number;
    if (number.digits == 0 || number.negative) return wrong(index, "multipleOf", "must be greater than 0");
    if (!number.exact) wrong(index, "multipleOf", "has more digits than can be checked");
  }

  void read_size(int index, const SizeRule& size, Value rule) {
    const Decimal number = rule.is_number() ? Decimal::of(rule.raw()) : Decimal{true, true, 1, 0};
    if (!number.is_whole() || (number.negative && number.digits != 0))
      return wrong(index, size.keyword, "must be a whole number of at least 0");
    // Stops early: no text or list has nearly as many characters or elements.
    std::uint64_t limit = number.digits;
    for (std::int64_t i = 0; i < number.exponent && limit < std::numeric_limits<std::uint32_t>::max(); ++i)
      limit *= 10;
    node(index).*size.bound = limit;
  }

  // Draft 4 has exclusiveMinimum and exclusiveMaximum as booleans beside minimum and maximum.
  void read_draft4_bounds(int index, Value schema) {
    Node& node = this->node(index);
    if (schema["exclusiveMinimum"].boolean()) node.above = std::exchange(node.least, std::nullopt);
    if (schema["exclusiveMaximum"].boolean()) node.below = std::exchange(node.most, std::nullopt);
  }

  void resolve() {
    std::unordered_map<std::string_view, int> known;
    for (const Reference& reference : references_) {
      auto [found, is_new] = known.emplace(reference.target, kNone);
      if (is_new) found->second = target_of(reference.target);
      if (found->second == kNone) {
        return wrong(
            reference.node, "$ref",
            "refers to \"" + cut(reference.target) + "\", which is not a schema in $defs or definitions");
      }
      node(reference.node).target = found->second;
    }
  }

  int target_of(std::string_view reference) const {
    if (reference == "#") return 0;
    const bool is_local = reference.starts_with("#/$defs/") || reference.starts_with("#/definitions/");
    const auto pointer = is_local ? base::percent_decoded(reference.substr(1)) : std::nullopt;
    if (!pointer) return kNone;
    const auto found = nodes_at_.find(value_at(parsed_.document->root(), *pointer).raw().data());
    return found == nodes_at_.end() ? kNone : found->second;
  }

  // Follows only references between schemas that apply to the same value. References that go into the value
  // cannot be endless, because the value ends.
  void find_cycles() {
    heights_.assign(parsed_.nodes.size(), kUnvisited);
    for (int i = 0; i < static_cast<int>(parsed_.nodes.size()) && !fault_; ++i) height_of(i);
  }

  // Returns the length of the longest path from the node, in nodes. `above`: the length of the path to the
  // node.
  int height_of(int index, int above = 0) {
    int& height = heights_[static_cast<std::size_t>(index)];
    if (height == kOpen) wrong(index, "", "refers to itself without descending into the value");
    if (fault_ || height > 0) return height;
    height = kOpen;
    int most = 0;
    const auto look = [&](int child) {
      if (child != kNone && !fault_) most = std::max(most, height_of(child, above + 1));
    };
    const Node& node = parsed_.at(index);
    if (above < parsed_.limits.depth_max) {
      look(node.target);
      look(node.excluded);
      for (const auto* children : {&node.all, &node.any, &node.one}) std::ranges::for_each(*children, look);
    }
    if (std::max(most, above) >= parsed_.limits.depth_max)
      wrong(index, "", too_deep() + ", references included");
    return height = most + 1;
  }

  void try_patterns() {
    std::size_t weight = 0, size = 0;
    for (std::size_t i = 0; i < parsed_.patterns.size(); ++i) {
      const std::string why = refusal_of(parsed_.patterns[i], weight, size);
      parsed_.is_enforced.push_back(why.empty());
      if (!why.empty())
        parsed_.unenforced.push_back(
            {parsed_.pointer_to(pattern_nodes_[i]) + "/pattern", "is not enforced: " + why});
    }
  }

  // Returns why the pattern cannot be enforced, or an empty string if it can.
  static std::string refusal_of(std::string_view pattern, std::size_t& weight, std::size_t& size) {
    constexpr char kTooMuch[] = "the schema's patterns are too complex";
    constexpr std::size_t kRefusedSize = 2'000;  // instructions counted for a pattern that RE2 refuses
    if (pattern.size() <= Pattern::kLengthMax) weight += Pattern::weight(pattern);
    if (weight > kPatternWeightMax || size > kPatternSizeMax) return kTooMuch;
    const auto compiled = Pattern::compile(pattern);
    size += compiled ? compiled->size() : kRefusedSize;
    return compiled ? std::string() : compiled.error();
  }

  static constexpr int kUnvisited = 0, kOpen = -1;

  Parsed& parsed_;
  std::optional<SchemaProblem> fault_;
  std::unordered_map<const char*, int> nodes_at_;  // by the beginning of their text
  std::vector<Reference> references_;
  std::vector<int> pattern_nodes_;
  std::vector<int> heights_;
};

// unknown: the verdict depends on a pattern that is not enforced.
enum class Verdict : std::uint8_t { no, unknown, yes };

std::string shown_choices(const Node& node) {
  std::string text;
  std::vector<std::string> words;
  constexpr std::size_t kChoicesMax = 20;
  for (const Value choice : node.value["enum"]) {
    if (words.size() == kChoicesMax) {
      words.emplace_back("others");
      break;
    }
    words.push_back(cut(choice.raw()));
  }
  return cut(words.size() == 1 ? words.front() : "one of " + alternatives_of(words));
}

// Describes the values that the schema allows, as a noun.
std::string words_for(const Parsed& parsed, int index) {
  const Node* node = &parsed.at(index);
  while (node->target != kNone && node->types == 0) node = &parsed.at(node->target);
  if (node->has_enum) return shown_choices(*node);
  if (!node->constant.missing()) return cut(node->constant.raw());
  if (node->types == kString && node->format != Format::none) return std::string(words_for(node->format));
  std::vector<std::string> words;
  for (const TypeRow& row : kTypes) {
    if ((node->types & row.bit) != 0) words.emplace_back(row.words);
  }
  return words.empty() ? "a value that matches the schema" : alternatives_of(words);
}

// One check, of one value or of several. Counts its steps. Records no problem while it tries an alternative.
class SchemaCheck {
 public:
  explicit SchemaCheck(const Parsed& parsed) : parsed_(parsed) {}

  std::optional<SchemaProblem> run(Value value) {
    const Verdict verdict = check(0, value);
    if (gave_up_) return SchemaProblem{"", *gave_up_};
    if (verdict != Verdict::no) return std::nullopt;
    return problem_ ? std::move(problem_) : SchemaProblem{"", "does not match the schema"};
  }

 private:
  struct Step {
    std::string_view name;
    std::size_t index;
    bool is_index;
  };

  // Counts steps. Returns false once the check must end.
  bool spend(std::size_t steps) {
    steps_ += steps;
    if (!gave_up_ && steps_ > static_cast<std::size_t>(parsed_.limits.steps_max)) {
      gave_up_ = "takes more than " + base::counted(parsed_.limits.steps_max, "step") + " to check";
    }
    return !gave_up_;
  }

  std::string pointer() const {
    std::string pointer;
    for (const Step& step : path_) {
      if (pointer.size() > kShownMax) break;
      pointer += step.is_index ? "/" + std::to_string(step.index) : escaped(step.name.substr(0, kShownMax));
    }
    return cut(pointer);
  }

  Verdict fail(std::string_view reason) {
    if (quiet_ == 0 && !problem_) problem_ = SchemaProblem{pointer(), std::string(reason)};
    return Verdict::no;
  }
  Verdict must(bool good, const char* what, std::string_view bound) {
    if (good) return Verdict::yes;
    return quiet_ == 0 ? fail(std::string("must ") + what + " " + cut(bound)) : Verdict::no;
  }
  Verdict must(bool good, const char* what, std::uint64_t bound, const char* unit) {
    if (good) return Verdict::yes;
    return quiet_ == 0 ? fail(std::string("must have ") + what + " " +
                              base::counted(static_cast<std::int64_t>(bound), unit))
                       : Verdict::no;
  }

  Verdict check(int index, Value value) {
    if (!spend(1)) return Verdict::no;
    if (depth_ >= kRecursionMax) {
      gave_up_ = "is nested too deeply to be checked";
      return Verdict::no;
    }
    const Node& node = parsed_.at(index);
    if (node.verdict) return *node.verdict ? Verdict::yes : fail("is not allowed");
    ++depth_;
    Verdict verdict = own_rules(node, value);
    if (verdict != Verdict::no && node.target != kNone)
      verdict = std::min(verdict, check(node.target, value));
    for (const int child : node.all) {
      if (verdict != Verdict::no) verdict = std::min(verdict, check(child, value));
    }
    if (verdict != Verdict::no && !node.any.empty()) verdict = std::min(verdict, any_of(node, value));
    if (verdict != Verdict::no && !node.one.empty()) verdict = std::min(verdict, one_of(node, value));
    if (verdict != Verdict::no && node.excluded != kNone) verdict = std::min(verdict, none_of(node, value));
    if (verdict != Verdict::no && value.is_object()) verdict = std::min(verdict, members(node, value));
    if (verdict != Verdict::no && value.is_array()) verdict = std::min(verdict, items(node, value));
    --depth_;
    return verdict;
  }

  // Checks the rules for the value itself, but not for its members and elements.
  Verdict own_rules(const Node& node, Value value) {
    if (!has_type(node, value)) return quiet_ == 0 ? fail("must be " + type_words(node)) : Verdict::no;
    if ((node.has_enum && !is_choice(node, value)) ||
        (!node.constant.missing() && !is_same(value, node.constant))) {
      return quiet_ == 0 ? fail("must be " + words_of_values(node)) : Verdict::no;
    }
    if (value.is_number()) return number(node, value);
    return value.is_string() ? text(node, value.string()) : Verdict::yes;
  }

  bool has_type(const Node& node, Value value) {
    if (node.types == 0 || (node.types & type_of(value)) != 0) return true;
    if (!value.is_number() || (node.types & kInteger) == 0) return false;
    return spend(value.raw().size() / kBytesPerStep) && Decimal::of(value.raw()).is_whole();
  }

  static std::string type_words(const Node& node) {
    std::vector<std::string> words;
    for (const TypeRow& row : kTypes) {
      if ((node.types & row.bit) != 0) words.emplace_back(row.words);
    }
    return alternatives_of(words);
  }

  static std::string words_of_values(const Node& node) {
    return node.has_enum ? shown_choices(node) : cut(node.constant.raw());
  }

  bool is_choice(const Node& node, Value value) {
    if (!spend(weight_of(value))) return false;
    const std::uint64_t hash = hash_of(value);
    auto choice = std::ranges::lower_bound(node.choices, hash, {}, [](const auto& one) { return one.first; });
    for (; choice != node.choices.end() && choice->first == hash; ++choice) {
      if (!spend(weight_of(value)) || are_equal(choice->second, value)) return !gave_up_;
    }
    return false;
  }

  bool is_same(Value value, Value other) { return spend(weight_of(value)) && are_equal(value, other); }

  // The steps that a walk over the whole value counts.
  static std::size_t weight_of(Value value) { return 1 + value.raw().size() / 32; }

  Verdict number(const Node& node, Value value) {
    if (!node.least && !node.most && !node.above && !node.below && !node.factor) return Verdict::yes;
    if (!spend(1 + value.raw().size() / kBytesPerStep)) return Verdict::no;
    const Decimal number = Decimal::of(value.raw());
    Verdict verdict = Verdict::yes;
    if (node.least)
      verdict = must(compare(number, node.least->number) >= 0, "be at least", node.least->shown);
    if (verdict == Verdict::yes && node.most)
      verdict = must(compare(number, node.most->number) <= 0, "be at most", node.most->shown);
    if (verdict == Verdict::yes && node.above)
      verdict = must(compare(number, node.above->number) > 0, "be greater than", node.above->shown);
    if (verdict == Verdict::yes && node.below)
      verdict = must(compare(number, node.below->number) < 0, "be less than", node.below->shown);
    if (verdict != Verdict::yes || !node.factor) return verdict;
    if (!number.exact) return fail("has more digits than can be checked");
    return must(is_multiple(number, node.factor->number), "be a multiple of", node.factor->shown);
  }

  Verdict text(const Node& node, std::string_view text) {
    const bool has_rules =
        node.length_min || node.length_max || node.format != Format::none || node.pattern != kNone;
    if (!has_rules) return Verdict::yes;
    if (!spend(1 + text.size() / kBytesPerStep)) return Verdict::no;
    const auto length = static_cast<std::uint64_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
    if (node.length_min && length < *node.length_min && *node.length_min == 1)
      return fail("must not be empty");
    Verdict verdict = Verdict::yes;
    if (node.length_min)
      verdict = must(length >= *node.length_min, "at least", *node.length_min, "character");
    if (verdict == Verdict::yes && node.length_max)
      verdict = must(length <= *node.length_max, "at most", *node.length_max, "character");
    if (verdict == Verdict::yes && !has_format(node.format, text))
      verdict = fail("must be " + std::string(json::words_for(node.format)));
    return verdict == Verdict::yes && node.pattern != kNone ? matches(node, text) : verdict;
  }

  Verdict matches(const Node& node, std::string_view text) {
    const auto index = static_cast<std::size_t>(node.pattern);
    if (!parsed_.is_enforced[index]) return Verdict::unknown;
    auto found = compiled_.find(node.pattern);
    if (found == compiled_.end()) {
      if (compiled_.size() >= kPatternsKept) compiled_.clear();
      auto pattern = Pattern::compile(parsed_.patterns[index]);
      if (!pattern) return Verdict::unknown;
      if (!spend(1 + Pattern::weight(parsed_.patterns[index]) + pattern->size() / 4)) return Verdict::no;
      found = compiled_.emplace(node.pattern, std::move(*pattern)).first;
    }
    if (!spend(1 + text.size() / kMatchesPerStep * found->second.size() +
               text.size() % kMatchesPerStep * found->second.size() / kMatchesPerStep)) {
      return Verdict::no;
    }
    return must(found->second.matches(text), "match the pattern", parsed_.patterns[index]);
  }

  Verdict members(const Node& node, Value object) {
    if (!node.looks_into_objects()) return Verdict::yes;
    Verdict verdict = Verdict::yes;
    if (node.members_min)
      verdict = must(object.size() >= *node.members_min, "at least", *node.members_min, "member");
    if (verdict == Verdict::yes && node.members_max)
      verdict = must(object.size() <= *node.members_max, "at most", *node.members_max, "member");
    std::vector<bool> found(node.required.size());
    for (auto at = object.begin(); at != object.end() && verdict != Verdict::no; ++at) {
      const Value member = *at;
      const std::string_view name = member.key();
      if (!spend(1 + name.size() / kBytesPerStep)) return Verdict::no;
      const auto needed = std::ranges::lower_bound(node.required, name);
      if (needed != node.required.end() && *needed == name)
        found[static_cast<std::size_t>(needed - node.required.begin())] = true;
      verdict = std::min(verdict, this->member(node, name, member));
    }
    if (verdict == Verdict::no || !spend(node.required.size())) return Verdict::no;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) return quiet_ == 0 ? fail("\"" + cut(node.required[i]) + "\" is missing") : Verdict::no;
    }
    return verdict;
  }

  Verdict member(const Node& node, std::string_view name, Value value) {
    const auto rule =
        std::ranges::lower_bound(node.members, name, {}, [](const auto& member) { return member.first; });
    const bool is_known = rule != node.members.end() && rule->first == name;
    const int child = is_known ? rule->second : node.other_members;
    if (child == kNone) return Verdict::yes;
    path_.push_back({name, 0, false});
    const bool is_barred = !is_known && parsed_.at(child).verdict == false;
    const Verdict verdict =
        is_barred ? fail(quiet_ == 0 ? unknown_words(node, name) : "") : check(child, value);
    path_.pop_back();
    return verdict;
  }

  static std::string unknown_words(const Node& node, std::string_view name) {
    constexpr std::size_t kComparedMax = 100;
    std::vector<std::string> names;
    for (const auto& [known, child] : node.members) {
      if (names.size() < kComparedMax && known.size() < kComparedMax) names.emplace_back(known);
    }
    const std::string nearest = name.size() < kComparedMax ? base::nearest_name(name, names) : std::string();
    return nearest.empty() ? "is unknown" : "is unknown; did you mean \"" + nearest + "\"?";
  }

  Verdict items(const Node& node, Value list) {
    if (!node.looks_into_arrays()) return Verdict::yes;
    if (node.items_min && list.size() < *node.items_min && *node.items_min == 1)
      return fail("must not be empty");
    Verdict verdict = Verdict::yes;
    if (node.items_min) verdict = must(list.size() >= *node.items_min, "at least", *node.items_min, "item");
    if (verdict == Verdict::yes && node.items_max)
      verdict = must(list.size() <= *node.items_max, "at most", *node.items_max, "item");
    const bool looks = node.items != kNone || !node.first_items.empty();
    std::size_t index = 0;
    for (auto at = list.begin(); looks && at != list.end() && verdict != Verdict::no; ++at, ++index) {
      const int child = index < node.first_items.size() ? node.first_items[index] : node.items;
      if (child == kNone) break;
      path_.push_back({{}, index, true});
      verdict = std::min(verdict, check(child, *at));
      path_.pop_back();
    }
    return verdict != Verdict::no && node.is_unique ? std::min(verdict, unique_items(list)) : verdict;
  }

  Verdict unique_items(Value list) {
    if (!spend(weight_of(list) + list.size() / 4)) return Verdict::no;
    std::vector<std::pair<std::uint64_t, Value>> items;
    items.reserve(list.size());
    for (const Value item : list) items.emplace_back(hash_of(item), item);
    std::ranges::sort(items, {}, [](const auto& item) { return item.first; });
    for (auto one = items.begin(); one != items.end(); ++one) {
      for (auto other = std::next(one); other != items.end() && other->first == one->first; ++other) {
        if (!spend(weight_of(one->second))) return Verdict::no;
        if (are_equal(one->second, other->second)) return fail("must not contain the same item twice");
      }
    }
    return Verdict::yes;
  }

  Verdict any_of(const Node& node, Value value) {
    Verdict best = Verdict::no;
    ++quiet_;
    for (const int child : node.any) {
      if (best != Verdict::yes && !gave_up_) best = std::max(best, check(child, value));
    }
    --quiet_;
    return best == Verdict::no ? explain(node.any, value) : best;
  }

  Verdict one_of(const Node& node, Value value) {
    int fitting = 0, open = 0;
    ++quiet_;
    for (const int child : node.one) {
      if (gave_up_ || fitting > 1) break;
      const Verdict verdict = check(child, value);
      fitting += verdict == Verdict::yes ? 1 : 0;
      open += verdict == Verdict::unknown ? 1 : 0;
    }
    --quiet_;
    if (fitting > 1) return fail("matches several alternatives, but must match exactly one");
    if (fitting + open == 0) return explain(node.one, value);
    return open == 0 ? Verdict::yes : Verdict::unknown;
  }

  Verdict none_of(const Node& node, Value value) {
    ++quiet_;
    const Verdict verdict = check(node.excluded, value);
    --quiet_;
    if (gave_up_) return Verdict::no;
    if (verdict == Verdict::yes) return fail("matches a schema that it must not match");
    return verdict == Verdict::no ? Verdict::yes : Verdict::unknown;
  }

  // Reports that the value fits no alternative. If only one alternative admits the value's type, reports that
  // alternative's problem.
  Verdict explain(const std::vector<int>& alternatives, Value value) {
    if (quiet_ > 0 || gave_up_) return Verdict::no;
    std::vector<int> near;
    for (const int child : alternatives) {
      if (admits_type(child, value)) near.push_back(child);
    }
    if (near.size() == 1) check(near.front(), value);
    std::vector<std::string> words;
    for (const int child : alternatives) {
      if (words.size() >= 5) break;
      std::string one = words_for(parsed_, child);
      if (std::ranges::find(words, one) == words.end()) words.push_back(std::move(one));
    }
    return fail("must be " + cut(alternatives_of(words)));
  }

  bool admits_type(int index, Value value) {
    const Node* node = &parsed_.at(index);
    while (node->target != kNone && has_type(*node, value)) node = &parsed_.at(node->target);
    return !node->verdict && has_type(*node, value);
  }

  const Parsed& parsed_;
  std::size_t steps_ = 0;
  int depth_ = 0;
  int quiet_ = 0;  // nested alternatives that are being tried
  std::optional<std::string> gave_up_;
  std::vector<Step> path_;
  std::optional<SchemaProblem> problem_;
  std::unordered_map<int, Pattern> compiled_;
};

// Follows references, and combinations with a single schema, to the schema that describes the value.
const Node& described(const Parsed& parsed, const Node& node) {
  const Node* at = &node;
  for (int i = 0; i < 100; ++i) {  // there are no cycles; the limit only bounds the time
    if (at->types != 0 || at->has_enum || !at->constant.missing()) break;
    std::vector<int> ways = at->all.size() == 1 ? at->all : at->any.empty() ? at->one : at->any;
    // An alternative that is only null gives a text no further meaning.
    std::erase_if(ways, [&](int way) { return parsed.at(way).types == kNull; });
    if (at->target != kNone && ways.empty()) {
      at = &parsed.at(at->target);
    } else if (at->target == kNone && ways.size() == 1) {
      at = &parsed.at(ways.front());
    } else {
      break;
    }
  }
  return *at;
}

using Reading = BoundedSchema::Reading;

std::string name_of(Value choice) {
  return choice.is_string() ? choice.str() : std::string(choice.raw());
}

// The values of a schema that allows only listed values; empty for other schemas.
std::vector<Reading::Choice> choices_of(const Parsed& parsed, const Node& node) {
  std::vector<Reading::Choice> choices;
  if (node.has_enum) {
    const Value names = node.value["enumNames"];
    auto name = names.begin();
    const bool has_names = names.is_array() && names.size() == node.value["enum"].size();
    for (const Value choice : node.value["enum"]) {
      if (!choice.is_null()) choices.push_back({name_of(choice), std::string(choice.raw())});
      if (has_names && !choice.is_null() && (*name).is_string() && (*name).string() != choices.back().name)
        choices.push_back({(*name).str(), std::string(choice.raw())});
      if (has_names) ++name;
    }
    return choices;
  }
  if (!node.constant.missing()) return {{name_of(node.constant), std::string(node.constant.raw())}};
  for (const int way : node.any.empty() ? node.one : node.any) {
    const Node& one = parsed.at(way);
    if (one.types == kNull) continue;
    if (one.constant.missing()) return {};
    const Value value = one.constant, title = one.value["title"];
    choices.push_back({name_of(value), std::string(value.raw())});
    if (title.is_string() && title.string() != choices.back().name)
      choices.push_back({title.str(), std::string(value.raw())});
  }
  return choices;
}

// Returns the reading of a schema that describes anything but an object.
std::optional<Reading> simple_reading(const Parsed& parsed, const Node& schema) {
  const Node& node = described(parsed, schema);
  Reading reading;
  reading.choices = choices_of(parsed, node);
  switch (node.types & ~kNull) {
    case kBoolean:
      reading.kind = Reading::Kind::boolean;
      break;
    case kInteger:
      reading.kind = Reading::Kind::whole_number;
      break;
    case kNumber:
    case kNumber | kInteger:
      reading.kind = Reading::Kind::number;
      break;
    case kString:
      reading.kind = Reading::Kind::text;
      break;
    default:
      if (reading.choices.empty()) return std::nullopt;
  }
  const bool is_simple = std::ranges::none_of(reading.choices, [](const Reading::Choice& choice) {
    return choice.json.starts_with('{') || choice.json.starts_with('[');
  });
  if (!is_simple) return std::nullopt;
  if (!reading.choices.empty() && reading.kind != Reading::Kind::boolean)
    reading.kind = Reading::Kind::choice;
  return reading;
}

}  // namespace

BoundedSchema::BoundedSchema(std::unique_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
BoundedSchema::BoundedSchema(BoundedSchema&&) noexcept = default;
BoundedSchema& BoundedSchema::operator=(BoundedSchema&&) noexcept = default;
BoundedSchema::~BoundedSchema() = default;

tl::expected<BoundedSchema, SchemaProblem> BoundedSchema::parse(std::string_view text,
                                                                const SchemaLimits& limits) {
  if (text.size() > limits.bytes_max)
    return tl::unexpected(SchemaProblem{"", "is larger than " + base::counted(limits.bytes_max, "byte")});
  auto document = Document::parse(std::string(text));
  if (!document) {
    const bool too_deep = document.error().for_caller.find("nested deeper") != std::string::npos;
    return tl::unexpected(SchemaProblem{"", too_deep
                                                ? "is nested deeper than " + std::to_string(limits.depth_max)
                                                : "is not JSON: " + document.error().for_caller});
  }
  auto parsed = std::make_unique<Parsed>();
  parsed->limits = limits;
  parsed->document.emplace(std::move(*document));
  if (auto fault = SchemaReader(*parsed).run()) return tl::unexpected(std::move(*fault));
  return BoundedSchema(std::move(parsed));
}

const std::vector<SchemaProblem>& BoundedSchema::unenforced() const {
  return parsed_->unenforced;
}

std::optional<SchemaProblem> BoundedSchema::check(Value value) const {
  return SchemaCheck(*parsed_).run(value);
}

std::optional<SchemaProblem> BoundedSchema::check_text(std::string_view json) const {
  return check_texts({json});
}

std::optional<SchemaProblem> BoundedSchema::check_texts(const std::vector<std::string_view>& texts) const {
  SchemaCheck all(*parsed_);
  for (const std::string_view json : texts) {
    const auto document = Document::parse_view(json);
    if (!document) return SchemaProblem{"", "is not JSON: " + document.error().for_caller};
    if (auto problem = all.run(document->root())) return problem;
  }
  return std::nullopt;
}

std::optional<Reading> BoundedSchema::reading() const {
  const Parsed& parsed = *parsed_;
  const Node& root = described(parsed, parsed.at(0));
  if (auto simple = simple_reading(parsed, root)) return simple;
  const bool may_be_object = root.types == 0 || (root.types & kObject) != 0;
  if (!may_be_object || root.required.size() != 1) return std::nullopt;
  const auto member =
      std::ranges::find(root.members, root.required.front(), [](const auto& one) { return one.first; });
  if (member == root.members.end()) return std::nullopt;
  auto reading = simple_reading(parsed, parsed.at(member->second));
  if (!reading) return std::nullopt;
  reading->in_member = true;
  reading->member = std::string(member->first);
  return reading;
}

std::optional<std::string> Reading::value(std::string_view text) const {
  const std::string_view word = base::trimmed(text);
  std::optional<std::string> json;
  const auto chosen = [&](auto&& same) {
    const Choice* found = nullptr;
    for (const Choice& choice : choices) {
      if (!same(choice.name)) continue;
      if (found != nullptr && found->json != choice.json) return static_cast<const Choice*>(nullptr);
      found = &choice;
    }
    return found;
  };
  switch (kind) {
    case Kind::boolean:
      if (base::same_word(word, "yes") || base::same_word(word, "true")) json = "true";
      if (base::same_word(word, "no") || base::same_word(word, "false")) json = "false";
      break;
    case Kind::whole_number:
    case Kind::number: {
      const auto document = Document::parse_view(word);
      if (document && document->root().is_number()) json = word;
      break;
    }
    case Kind::text:
      json = string_of(text);
      break;
    case Kind::choice: {
      const Choice* choice = chosen([&](const std::string& name) { return name == text || name == word; });
      if (choice == nullptr)
        choice = chosen([&](const std::string& name) { return base::same_word(name, word); });
      if (choice != nullptr) json = choice->json;
      break;
    }
  }
  if (!json || !in_member) return json;
  std::string object;
  Writer out(object);
  out.object([&] { out.key(member).raw(*json); });
  return object;
}

std::string Reading::expected() const {
  switch (kind) {
    case Kind::boolean:
      return "yes or no";
    case Kind::whole_number:
      return "a whole number";
    case Kind::number:
      return "a number";
    case Kind::text:
      return "text";
    case Kind::choice:
      break;
  }
  constexpr std::size_t kChoicesMax = 20;
  std::vector<std::string> names;
  for (const Choice& choice : choices) {
    if (names.size() == kChoicesMax) {
      names.emplace_back("others");
      break;
    }
    names.push_back("\"" + cut(choice.name) + "\"");
  }
  return names.size() == 1 ? names.front() : "one of " + alternatives_of(names);
}

namespace {

// Makes a value that is likely to fit. The caller must check the result.
class SchemaExample {
 public:
  explicit SchemaExample(const Parsed& parsed) : parsed_(parsed) {}

  std::string of(int index, int depth = 0) {
    const Node& node = described(parsed_, parsed_.at(index));
    if (depth > kDepthMax || size_ > kSizeMax) return "null";
    std::string json = made(node, depth);
    size_ += json.size();
    return json;
  }

 private:
  static constexpr int kDepthMax = 8;
  static constexpr std::size_t kSizeMax = 2'000;

  std::string made(const Node& node, int depth) {
    for (const char* given : {"const", "default"}) {
      const Value value = node.value[given];
      if (!value.missing() && !value.is_null()) return std::string(value.raw());
    }
    for (const char* given : {"enum", "examples"}) {
      for (const Value value : node.value[given]) return std::string(value.raw());
    }
    const bool describes_object = node.types == 0 && (!node.members.empty() || !node.required.empty());
    if ((node.types & kObject) != 0 || describes_object) return object(node, depth);
    if ((node.types & kArray) != 0) return list(node, depth);
    if ((node.types & kString) != 0) return text(node);
    if ((node.types & kBoolean) != 0) return "true";
    if ((node.types & (kNumber | kInteger)) != 0) return number(node);
    if (node.types != 0) return "null";
    for (const auto* ways : {&node.any, &node.one, &node.all}) {
      if (!ways->empty()) return of(ways->front(), depth + 1);
    }
    return string_of("...");
  }

  std::string object(const Node& node, int depth) {
    std::string json;
    Writer out(json);
    out.object([&] {
      for (const Value property : node.value["properties"]) {
        const bool is_needed =
            node.required.empty() || std::ranges::binary_search(node.required, property.key());
        if (!is_needed || size_ > kSizeMax) continue;
        const auto member = std::ranges::lower_bound(node.members, property.key(), {},
                                                     [](const auto& one) { return one.first; });
        out.key(property.key()).raw(of(member->second, depth + 1));
      }
    });
    return json;
  }

  std::string list(const Node& node, int depth) {
    std::string json;
    Writer out(json);
    out.array([&] {
      for (const int item : node.first_items) out.raw(of(item, depth + 1));
      const std::uint64_t count = std::min<std::uint64_t>(node.items_min.value_or(1), 10);
      for (std::uint64_t i = node.first_items.size(); node.items != kNone && i < count; ++i)
        out.raw(of(node.items, depth + 1));
    });
    return json;
  }

  static std::string text(const Node& node) {
    std::string text(node.format == Format::none ? "..." : example_of(node.format));
    const std::uint64_t least = std::min<std::uint64_t>(node.length_min.value_or(0), 100);
    if (text.size() < least) text.append(least - text.size(), '.');
    if (node.length_max && text.size() > *node.length_max) text.resize(*node.length_max);
    return string_of(text);
  }

  static std::string number(const Node& node) {
    for (const auto* bound : {&node.least, &node.most, &node.factor}) {
      if (*bound && (*bound)->shown.size() < 40) return std::string((*bound)->shown);
    }
    if (node.above) {
      const auto whole = base::number_in<std::int64_t>(node.above->shown);
      if (whole && *whole < std::numeric_limits<std::int64_t>::max()) return std::to_string(*whole + 1);
    }
    return "1";
  }

  const Parsed& parsed_;
  std::size_t size_ = 0;
};

}  // namespace

std::string BoundedSchema::example() const {
  std::string json = SchemaExample(*parsed_).of(0);
  return check_text(json) ? std::string() : json;
}

}  // namespace baton::json

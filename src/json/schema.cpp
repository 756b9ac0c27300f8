#include "json/schema.h"

#include <rapidjson/document.h>
#include <rapidjson/pointer.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace baton::json {
namespace {

// More problems than an author fixes in one pass. Also ends the search if setting a value aside has no
// effect.
constexpr int kProblemsMax = 50;

using Json = rapidjson::Value;

std::string text_of(const rapidjson::Pointer& pointer) {
  rapidjson::StringBuffer buffer;
  pointer.Stringify(buffer);
  return {buffer.GetString(), buffer.GetSize()};
}

std::string text_of(const Json& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

std::string_view view(const Json& string) {
  return {string.GetString(), string.GetStringLength()};
}

std::string_view last_token(const rapidjson::Pointer& pointer) {
  const auto& token = pointer.GetTokens()[pointer.GetTokenCount() - 1];
  return {token.name, token.length};
}

// Returns the first `steps` steps of a pointer. The result refers to the pointer's tokens.
rapidjson::Pointer beginning_of(const rapidjson::Pointer& pointer, std::size_t steps) {
  return {pointer.GetTokens(), steps};
}

std::string unknown_member(const Json& rules, std::string_view name) {
  std::vector<std::string> names;
  if (rules.HasMember("properties")) {
    for (const auto& member : rules["properties"].GetObject()) names.emplace_back(view(member.name));
  }
  const std::string nearest = base::nearest_name(name, names);
  return nearest.empty() ? "is unknown" : "is unknown; did you mean \"" + nearest + "\"?";
}

std::string listed(const Json& rule, std::string_view introduction) {
  std::string text(introduction);
  if (!rule.IsArray()) return text + text_of(rule);
  for (const auto& choice : rule.GetArray()) {
    if (text.size() > introduction.size()) text += ", ";
    text += text_of(choice);
  }
  return text;
}

// Returns the member of `rules` with this name, or null.
const Json* bound_of(const Json& rules, const char* name) {
  const auto found = rules.FindMember(name);
  return found == rules.MemberEnd() ? nullptr : &found->value;
}

std::string object_words(const Json& rules);

// Describes the values that a schema allows, as a noun. Returns the schema itself if it uses rules that have
// no wording here.
std::string allowed_by(const Json& rules) {
  if (const Json* choices = bound_of(rules, "enum")) return listed(*choices, "one of ");
  const Json* type = bound_of(rules, "type");
  const std::string_view name = type != nullptr && type->IsString() ? view(*type) : "";
  if (name == "object") return object_words(rules);
  if (name == "array") return "a list";
  if (name == "boolean") return "true or false";
  if (name == "string" && !rules.HasMember("pattern"))
    return rules.HasMember("minLength") ? "a non-empty string" : "a string";
  if (name != "integer" && name != "number") return text_of(rules);
  const Json *least = bound_of(rules, "minimum"), *most = bound_of(rules, "maximum");
  std::string words = name == "integer" ? "an integer" : "a number";
  if (least != nullptr) words += (most != nullptr ? " from " : " of at least ") + text_of(*least);
  if (most != nullptr) words += (least != nullptr ? " to " : " of at most ") + text_of(*most);
  return words;
}

std::string object_words(const Json& rules) {
  const Json* members = bound_of(rules, "properties");
  if (members == nullptr) return "an object";
  const Json* required = bound_of(rules, "required");
  std::string words;
  for (const auto& member : members->GetObject()) {
    if (required != nullptr && std::ranges::count(required->GetArray(), member.name) == 0) continue;
    words += (words.empty() ? "" : ", ") + text_of(member.name);
    if (required != nullptr) words += " (" + allowed_by(member.value) + ")";
  }
  return (required != nullptr ? "an object with " : "an object with any of ") + words;
}

// "must be a string, or a list".
std::string alternatives(const Json& schemas) {
  std::string words = "must be ";
  for (rapidjson::SizeType i = 0; i < schemas.Size(); ++i) {
    if (i > 0) words += i + 1 < schemas.Size() ? ", " : ", or ";
    words += allowed_by(schemas[i]);
  }
  return words;
}

// Returns why a value breaks `keyword` of the schema `rules`.
std::string reason_for(std::string_view keyword, const Json& rules, const rapidjson::Pointer& at) {
  if (keyword == "additionalProperties") return unknown_member(rules, last_token(at));
  const auto rule = rules.FindMember(Json(rapidjson::StringRef(keyword.data(), keyword.size())));
  if (rule == rules.MemberEnd()) return "violates the rule " + std::string(keyword);
  const std::string bound = text_of(rule->value);
  if (keyword == "anyOf" && rule->value.IsArray()) return alternatives(rule->value);
  if (keyword == "type") return listed(rule->value, "must be of type ");
  if (keyword == "enum") return listed(rule->value, "must be one of ");
  if (keyword == "minimum") {
    return (rules.HasMember("exclusiveMinimum") ? "must be greater than " : "must be at least ") + bound;
  }
  if (keyword == "maximum") return "must be at most " + bound;
  if (keyword == "minLength" && bound == "1") return "must not be empty";
  if (keyword == "minItems" && bound == "1") return "must not be empty";
  return "violates the rule " + std::string(keyword) + " " + bound;
}

// One check. Works on copies of schema and document, and removes the reported parts from them.
class Check {
 public:
  Check(const Json& schema, std::string_view json) {
    schema_.CopyFrom(schema, schema_.GetAllocator());
    document_.Parse(json.data(), json.size());
  }

  std::vector<SchemaProblem> run() {
    if (document_.HasParseError()) return {{"", "is not JSON"}};
    for (int i = 0; i < kProblemsMax && find_next(); ++i) {
    }
    return std::move(problems_);
  }

 private:
  // Finds and records the next problem. Returns false if there is none, or if the search must end.
  bool find_next() {
    const rapidjson::SchemaDocument compiled(schema_);
    rapidjson::SchemaValidator validator(compiled);
    if (document_.Accept(validator)) return false;
    const rapidjson::Pointer at = validator.GetInvalidDocumentPointer();
    const std::string_view keyword = validator.GetInvalidSchemaKeyword();
    Json* rules = validator.GetInvalidSchemaPointer().Get(schema_);
    if (rules == nullptr || !rules->IsObject()) {
      problems_.push_back({text_of(at), "violates the rule " + std::string(keyword)});
      return false;
    }
    if (keyword == "required") return report_missing(*rules, at);
    problems_.push_back({text_of(at), reason_for(keyword, *rules, at)});
    return set_aside(at);
  }

  bool report_missing(Json& rules, const rapidjson::Pointer& at) {
    const Json* object = at.Get(document_);
    for (const auto& name : rules["required"].GetArray()) {
      if (object == nullptr || !object->IsObject() || object->HasMember(name)) continue;
      if (aside_.contains(text_of(at) + "/" + std::string(view(name)))) continue;
      problems_.push_back({text_of(at), "\"" + std::string(view(name)) + "\" is missing"});
    }
    return rules.RemoveMember("required");
  }

  // Removing an element would renumber its list, so the whole list is removed.
  bool set_aside(const rapidjson::Pointer& at) {
    for (std::size_t steps = at.GetTokenCount(); steps > 0; --steps) {
      const Json* parent = beginning_of(at, steps - 1).Get(document_);
      if (parent == nullptr || !parent->IsObject()) continue;
      const rapidjson::Pointer member = beginning_of(at, steps);
      aside_.insert(text_of(member));
      return member.Erase(document_);
    }
    return false;
  }

  rapidjson::Document schema_;
  rapidjson::Document document_;
  std::set<std::string> aside_;
  std::vector<SchemaProblem> problems_;
};

}  // namespace

struct Schema::Parsed {
  rapidjson::Document document;
};

Schema::Schema(std::unique_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

base::Result<Schema> Schema::parse(std::string_view text) {
  auto parsed = std::make_unique<Parsed>();
  parsed->document.Parse(text.data(), text.size());
  if (parsed->document.HasParseError() || !parsed->document.IsObject()) {
    return base::fail(base::ErrorCode::parse_error, "the schema is not a JSON object");
  }
  return Schema(std::move(parsed));
}

std::vector<SchemaProblem> Schema::check(std::string_view json) const {
  return Check(parsed_->document, json).run();
}

}  // namespace baton::json

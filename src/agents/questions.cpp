#include "agents/questions.h"
#include "base/text.h"

#include <algorithm>
#include <utility>

namespace baton::agents {
namespace {

using base::ErrorCode;
using base::fail;
using json::BoundedSchema;
using task::Part;

// Room in a part besides its schema: the member's name, brackets and spaces.
constexpr std::size_t kAroundSchema = 1024;

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

// Whether the part is data that begins with a member "schema". Looks at its beginning only.
bool begins_schema(const Part& part) {
  if (part.kind != Part::Kind::data) return false;
  std::string_view text = part.content;
  skip_spaces(text);
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  skip_spaces(text);
  return text.starts_with("\"schema\"");
}

// The schema in a part; empty: the part has none.
std::string schema_in(const Part& part) {
  if (!begins_schema(part)) return {};
  const auto data = json::Document::view_of(part.content);
  const json::Value schema = data.root()["schema"];
  return data.root().size() == 1 && schema.is_object() ? std::string(schema.raw()) : std::string();
}

bool is_too_large(const Part& part, const QuestionLimits& limits) {
  return begins_schema(part) && part.content.size() > limits.bytes_max + kAroundSchema;
}

using SchemaOrFault = tl::expected<BoundedSchema, json::SchemaProblem>;

// The schema that counts, which is the last one, or its fault. Parses no other: a message may have thousands.
std::optional<SchemaOrFault> schema_of(const task::Message& question, const QuestionLimits& limits) {
  for (auto part = question.parts.rbegin(); part != question.parts.rend(); ++part) {
    if (is_too_large(*part, limits)) {
      return SchemaOrFault(
          tl::unexpect, json::SchemaProblem{"", "is larger than " + base::counted(limits.bytes_max, "byte")});
    }
    const std::string text = schema_in(*part);
    if (!text.empty()) return BoundedSchema::parse(text, limits);
  }
  return std::nullopt;
}

tl::unexpected<base::Error> refuse(const std::string& reason) {
  return fail(ErrorCode::invalid_argument, "message.parts: " + reason);
}

std::string shown(const json::SchemaProblem& problem) {
  return problem.pointer.empty() ? "it " + problem.reason : problem.pointer + " " + problem.reason;
}

bool has_kind(const task::Message& message, Part::Kind kind) {
  return std::ranges::find(message.parts, kind, &Part::kind) != message.parts.end();
}

// Replaces the texts by data.
void replace_texts(task::Message& answer, std::string data) {
  const auto first = std::ranges::find(answer.parts, Part::Kind::text, &Part::kind);
  first->kind = Part::Kind::data;
  first->content = std::move(data);
  first->filename.clear();
  first->media_type.clear();
  answer.parts.erase(std::remove_if(std::next(first), answer.parts.end(),
                                    [](const Part& part) { return part.kind == Part::Kind::text; }),
                     answer.parts.end());
}

// Whether the caller says that nobody will answer.
bool declines(const task::Message& answer) {
  if (answer.parts.size() != 1 || answer.parts.front().kind == Part::Kind::raw) return false;
  const auto data = json::Document::view_of(answer.parts.front().content);
  return data.root().size() == 1 && data.root()["cancelled"].boolean();
}

base::Result<void> fit_text(const BoundedSchema& schema, const BoundedSchema::Reading& reading,
                            task::Message& answer) {
  const std::string expected = "the question requires " + reading.expected();
  if (!has_kind(answer, Part::Kind::text)) return refuse(expected + ", as text or as data");
  const std::string text = task::text_of(answer);
  // Clients' tools return text, which may be the data itself.
  if (text.starts_with('{') && !schema.check_text(text)) {
    replace_texts(answer, text);
    return {};
  }
  auto data = reading.value(text);
  if (!data) return refuse(expected);
  if (const auto problem = schema.check_text(*data)) return refuse(expected + ": " + shown(*problem));
  replace_texts(answer, std::move(*data));
  return {};
}

}  // namespace

SchemaReport check_schema(const task::Message& question, const QuestionLimits& limits) {
  const auto schema = schema_of(question, limits);
  if (!schema) return {};
  if (!*schema) return {schema->error(), {}};
  return {std::nullopt, (*schema)->unenforced()};
}

void remove_schema(task::Message& question, const QuestionLimits& limits) {
  std::erase_if(question.parts,
                [&](const Part& part) { return is_too_large(part, limits) || !schema_in(part).empty(); });
  if (question.parts.empty()) question.parts.push_back(Part::of_text("The agent is waiting for an answer."));
}

base::Result<void> fit_answer(const task::Message& question, const QuestionLimits& limits, bool needs_data,
                              task::Message& answer) {
  const auto read = schema_of(question, limits);
  if (!read || !*read || declines(answer)) return {};
  const BoundedSchema& schema = **read;
  std::vector<std::string_view> data;
  for (const Part& part : answer.parts) {
    if (part.kind == Part::Kind::data) data.push_back(part.content);
  }
  if (const auto problem = schema.check_texts(data))
    return refuse("the answer does not fit the question's schema: " + shown(*problem));
  if (!data.empty()) return {};
  if (const auto reading = schema.reading()) return fit_text(schema, *reading, answer);
  if (!needs_data) return {};
  const std::string example = schema.example();
  constexpr std::size_t kExampleMax = 300;
  const bool is_shown = !example.empty() && example.size() <= kExampleMax;
  return refuse("the question requires data that fits its schema" + (is_shown ? ", such as " + example : ""));
}

}  // namespace baton::agents

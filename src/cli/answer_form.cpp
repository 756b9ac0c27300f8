#include "cli/answer_form.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cli/printable.h"
#include "json/bounded_schema.h"
#include "json/document.h"
#include "json/formats.h"
#include "json/writer.h"

namespace baton::cli {
namespace {

using Field = AnswerForm::Field;
using FieldKind = Field::Kind;

std::string_view without_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

// Returns a choice as people read and type it: a string without its quotes.
std::string shown(std::string_view json) {
  const auto value = json::Document::view_of(json);
  return printable_line(value.root().is_string() ? value.root().string() : json);
}

FieldKind kind_of(json::Value schema) {
  if (schema["enum"].is_array() && schema["enum"].size() > 0) return FieldKind::choice;
  std::string_view type = schema["type"].string();
  for (const json::Value one : schema["type"]) {
    if (schema["type"].is_array() && one.string() != "null") type = one.string();
  }
  if (type == "string") return FieldKind::text;
  if (type == "integer") return FieldKind::whole_number;
  if (type == "number") return FieldKind::number;
  return type == "boolean" ? FieldKind::yes_or_no : FieldKind::json;
}

Field field_of(std::string name, json::Value schema) {
  Field field;
  field.title = printable_line(schema["title"].string().empty() ? name : schema["title"].string());
  field.name = std::move(name);
  field.about = printable_line(schema["description"].string());
  field.kind = kind_of(schema);
  if (field.kind == FieldKind::choice) {
    for (const json::Value one : schema["enum"]) field.choices.emplace_back(one.raw());
  }
  if (!schema["default"].missing()) field.normal = schema["default"].raw();
  if (field.kind == FieldKind::text)
    field.format = json::words_for(json::format_named(schema["format"].string()));
  field.schema = schema.raw();
  return field;
}

// Finds a choice by its text, or else by its number, from 1.
base::Result<std::string> chosen(const Field& field, std::string_view line) {
  const auto by_text = std::ranges::find(field.choices, line, shown);
  if (by_text != field.choices.end()) return *by_text;
  const auto number = base::number_in<std::size_t>(line);
  if (number && *number >= 1 && *number <= field.choices.size()) return field.choices[*number - 1];
  return base::fail(base::ErrorCode::invalid_argument,
                    "must be a number from 1 to " + std::to_string(field.choices.size()));
}

base::Result<std::string> yes_or_no(std::string_view line) {
  for (const std::string_view yes : {"y", "yes", "true"}) {
    if (base::same_word(line, yes)) return std::string("true");
  }
  for (const std::string_view no : {"n", "no", "false"}) {
    if (base::same_word(line, no)) return std::string("false");
  }
  return base::fail(base::ErrorCode::invalid_argument, "must be yes or no");
}

// Returns the line itself if it is JSON of the given kind.
base::Result<std::string> as_json(FieldKind kind, std::string_view line) {
  const auto document = json::Document::parse_view(line);
  const bool is_fit = document && (kind == FieldKind::json || document->root().is_number()) &&
                      (kind != FieldKind::whole_number || document->root().integer());
  if (is_fit) return std::string(line);
  if (kind == FieldKind::json) return base::fail(base::ErrorCode::invalid_argument, "must be JSON");
  return base::fail(base::ErrorCode::invalid_argument,
                    kind == FieldKind::number ? "must be a number" : "must be a whole number");
}

base::Result<std::string> read_value(const Field& field, std::string_view line) {
  const std::string_view word = without_spaces(line);
  if (word.empty() && !field.normal.empty()) return field.normal;
  if (word.empty() && field.is_required && field.kind != FieldKind::text)
    return base::fail(base::ErrorCode::invalid_argument, "is required");
  if (word.empty()) return field.is_required ? json::string_of(line) : std::string();
  switch (field.kind) {
    case FieldKind::text:
      return json::string_of(line);
    case FieldKind::choice:
      return chosen(field, word);
    case FieldKind::yes_or_no:
      return yes_or_no(word);
    case FieldKind::whole_number:
    case FieldKind::number:
    case FieldKind::json:
      break;
  }
  return as_json(field.kind, word);
}

}  // namespace

std::optional<AnswerForm> AnswerForm::of(const task::Message& question) {
  if (question.parts.empty() || question.parts.back().kind != task::Part::Kind::data) return std::nullopt;
  const auto data = json::Document::view_of(question.parts.back().content);
  const json::Value schema = data.root()["schema"];
  if (!schema.is_object()) return std::nullopt;
  AnswerForm form;
  for (const json::Value property : schema["properties"])
    form.fields_.push_back(field_of(std::string(property.key()), property));
  for (const json::Value name : schema["required"]) {
    const auto field = std::ranges::find(form.fields_, name.string(), &Field::name);
    if (field != form.fields_.end()) field->is_required = true;
  }
  if (form.fields_.empty()) {
    form.fields_.push_back(field_of({}, schema));
    form.fields_.back().is_required = true;
    if (form.fields_.back().title.empty()) form.fields_.back().title = "answer";
  }
  return form;
}

std::string AnswerForm::example(const task::Message& question) {
  constexpr std::size_t kLengthMax = 300;
  for (auto part = question.parts.rbegin(); part != question.parts.rend(); ++part) {
    if (part->kind != task::Part::Kind::data) continue;
    const auto data = json::Document::view_of(part->content);
    if (data.root().size() != 1 || !data.root()["schema"].is_object()) continue;
    const auto schema = json::BoundedSchema::parse(data.root()["schema"].raw());
    const std::string example = schema ? schema->example() : std::string();
    const bool is_short = example.size() <= kLengthMax && example == printable_line(example);
    return is_short ? example : std::string();
  }
  return {};
}

std::string AnswerForm::summary(const Field& field) {
  std::string kind = field.kind == FieldKind::choice         ? "one of "
                     : field.kind == FieldKind::yes_or_no    ? "yes or no"
                     : field.kind == FieldKind::whole_number ? "a whole number"
                     : field.kind == FieldKind::number       ? "a number"
                     : field.kind == FieldKind::json         ? "JSON"
                     : field.format.empty()                  ? "text"
                                                             : field.format;
  for (const std::string& choice : field.choices) {
    if (&choice != &field.choices.front()) kind += ", ";
    kind += shown(choice);
  }
  if (!field.normal.empty()) kind += ", otherwise " + shown(field.normal);
  if (field.normal.empty() && !field.is_required) kind += ", optional";
  return field.title + ": " + kind + (field.about.empty() ? "" : " (" + field.about + ")");
}

std::string AnswerForm::prompt(const Field& field) {
  std::string text = field.title;
  if (!field.about.empty()) text += " (" + field.about + ")";
  if (!field.format.empty()) text += ", " + field.format;
  if (field.kind == FieldKind::yes_or_no) text += ", yes or no";
  if (field.kind == FieldKind::json) text += ", as JSON";
  for (std::size_t i = 0; i < field.choices.size(); ++i)
    text += "\n  " + std::to_string(i + 1) + "  " + shown(field.choices[i]);
  if (!field.choices.empty()) text += "\nwhich";
  if (!field.normal.empty()) text += " [" + shown(field.normal) + "]";
  if (field.normal.empty() && !field.is_required) text += " [none]";
  return text + ": ";
}

base::Result<std::string> AnswerForm::value(const Field& field, std::string_view line) {
  auto value = read_value(field, line);
  if (!value || value->empty()) return value;
  // A schema that refers to another part of the question's is not whole: the server checks it alone.
  const auto schema = json::BoundedSchema::parse(field.schema);
  const auto problem = schema ? schema->check_text(*value) : std::nullopt;
  if (problem) return base::fail(base::ErrorCode::invalid_argument, problem->reason);
  return value;
}

std::string AnswerForm::answer(const std::vector<std::string>& values) const {
  if (fields_.size() == 1 && fields_.front().name.empty()) return values.front();
  std::string json;
  json::Writer out(json);
  out.object([&] {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!values[i].empty()) out.key(fields_[i].name).raw(values[i]);
    }
  });
  return json;
}

}  // namespace baton::cli

// AnswerForm: the fields of a question's JSON schema, for answers line by line. What it has no field for is
// written as JSON.
//
// Pure, and for terminals: what comes from the agent is made harmless.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "task/message.h"

namespace baton::cli {

class AnswerForm {
 public:
  struct Field {
    enum class Kind { text, whole_number, number, yes_or_no, choice, json };
    std::string name;          // of the answer's member; empty: the field is the whole answer
    std::string title, about;  // printable; `about` may be empty
    Kind kind = Kind::text;
    std::vector<std::string> choices;  // as JSON
    std::string normal;                // as JSON: what an empty line means; empty: it means nothing
    bool is_required = false;
  };

  // The form of a question whose last part is data {"schema": ...}, as agents' questions have it; nothing if
  // there is no such part.
  static std::optional<AnswerForm> of(const task::Message& question);

  // An answer as JSON that fits the schema of a question, on one line; empty: the question has none, or it is
  // not easy to tell.
  static std::string example(const task::Message& question);

  const std::vector<Field>& fields() const { return fields_; }
  // What is asked for a field, such as "approved, yes or no: ".
  static std::string prompt(const Field& field);
  // A line's value as JSON; empty: the field is left out. Fails with what is wrong with the line.
  static base::Result<std::string> value(const Field& field, std::string_view line);
  // The answer as JSON, of a value for each field.
  std::string answer(const std::vector<std::string>& values) const;

 private:
  std::vector<Field> fields_;
};

}  // namespace baton::cli

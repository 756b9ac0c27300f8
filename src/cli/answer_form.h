// AnswerForm: the fields of a question's JSON schema, to be answered one line at a time. Values without a
// simple kind of field are typed as JSON.
//
// Pure. For terminals: text from the agent is made harmless.
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
    std::string name;          // the member of the answer; empty: the field is the whole answer
    std::string title, about;  // printable; `about` may be empty
    Kind kind = Kind::text;
    std::vector<std::string> choices;  // as JSON
    std::string normal;                // the default, for an empty line, as JSON; empty: there is none
    bool is_required = false;
    std::string format;  // what a text must be, such as "an email address"; empty: any
    std::string schema;  // of its value, as JSON
  };

  // Returns the form of a question whose last part is data {"schema": ...}, the convention for questions of
  // agents; nullopt for any other message.
  static std::optional<AnswerForm> of(const task::Message& question);

  // Returns an answer that fits the question's schema, as JSON on one line. Empty if the question has no
  // schema, or no short example can be derived from it.
  static std::string example(const task::Message& question);

  const std::vector<Field>& fields() const { return fields_; }
  // Returns a line about a field for a question that is only shown, such as "size: small or large, optional".
  static std::string summary(const Field& field);
  // Returns the prompt for a field, such as "approved, yes or no: ".
  static std::string prompt(const Field& field);
  // Returns a line's value as JSON; empty if the field is left out. The error says why the line is no value
  // that the field's schema allows.
  static base::Result<std::string> value(const Field& field, std::string_view line);
  // Returns the answer as JSON. `values` has the value of each field, in order.
  std::string answer(const std::vector<std::string>& values) const;

 private:
  std::vector<Field> fields_;
};

}  // namespace baton::cli

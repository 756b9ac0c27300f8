#include "cli/answer_form.h"

#include <doctest/doctest.h>

namespace answer_form_test {

using baton::cli::AnswerForm;
using baton::task::Message;
using baton::task::Part;

namespace {

AnswerForm form(const std::string& schema) {
  Message question;
  question.parts = {Part::of_text("Well?"), Part::of_data({R"({"schema":)" + schema + "}"})};
  return AnswerForm::of(question).value();
}

std::string value(const AnswerForm& form, std::size_t field, std::string_view line) {
  const auto read = AnswerForm::value(form.fields()[field], line);
  return read ? *read : "! " + read.error().for_caller;
}

}  // namespace

TEST_CASE("AnswerForm: a question without a schema has no form") {
  Message question;
  CHECK_FALSE(AnswerForm::of(question));
  question.parts = {Part::of_text("Well?")};
  CHECK_FALSE(AnswerForm::of(question));
  question.parts = {Part::of_data({R"({"table":1})"})};
  CHECK_FALSE(AnswerForm::of(question));
}

TEST_CASE("AnswerForm: each kind of field reads its own lines and refuses others") {
  const AnswerForm made =
      form(R"({"type":"object","required":["yes","whole","real","word","any"],"properties":{
    "yes":{"type":"boolean"},"whole":{"type":"integer"},"real":{"type":["null","number"]},"word":{"type":"string"},
    "any":{"type":"object"}}})");
  CHECK(value(made, 0, "Yes") == "true");
  CHECK(value(made, 0, " n ") == "false");
  CHECK(value(made, 0, "perhaps") == "! must be yes or no");
  CHECK(value(made, 0, "") == "! is required");
  CHECK(value(made, 1, "42") == "42");
  CHECK(value(made, 1, "4.5") == "! must be a whole number");
  CHECK(value(made, 1, "\"4\"") == "! must be a whole number");
  CHECK(value(made, 2, "4.5") == "4.5");
  CHECK(value(made, 2, "four") == "! must be a number");
  CHECK(value(made, 3, "say \"hi\"") == R"("say \"hi\"")");
  CHECK(value(made, 3, "") == R"("")");
  CHECK(value(made, 4, R"({"a":1})") == R"({"a":1})");
  CHECK(value(made, 4, "{a") == "! must be JSON");
}

TEST_CASE("AnswerForm: a choice is read by its number or its text") {
  const AnswerForm made = form(R"({"properties":{"size":{"enum":["small","large",3],"default":"small"}}})");
  CHECK(AnswerForm::prompt(made.fields()[0]) == "size\n  1  small\n  2  large\n  3  3\nwhich [small]: ");
  CHECK(value(made, 0, "2") == R"("large")");
  CHECK(value(made, 0, "large") == R"("large")");
  CHECK(value(made, 0, "3") == "3");
  CHECK(value(made, 0, "0") == "! must be a number from 1 to 3");
  CHECK(value(made, 0, "") == R"("small")");
}

TEST_CASE("AnswerForm: optional fields may be left out of the answer") {
  const AnswerForm made = form(R"({"required":["a"],"properties":{"a":{"type":"integer"},"b":{"type":"string",
    "title":"Why\u001b[2J","description":"in a word"}}})");
  CHECK(AnswerForm::prompt(made.fields()[1]) == "Why^[[2J (in a word) [none]: ");
  CHECK(made.answer({"1", value(made, 1, "")}) == R"({"a":1})");
  CHECK(made.answer({"1", value(made, 1, "so")}) == R"({"a":1,"b":"so"})");
}

TEST_CASE("AnswerForm: a value that its field's schema does not allow is refused") {
  const AnswerForm made = form(R"({"properties":{"mail":{"type":"string","format":"email"},
    "day":{"type":"string","format":"date"},"count":{"type":"integer","maximum":10},
    "elsewhere":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}})");
  CHECK(value(made, 0, "a@b.example") == R"("a@b.example")");
  CHECK(value(made, 0, "notmail").starts_with("! must be "));
  CHECK(value(made, 1, "2026-02-30").starts_with("! must be "));
  CHECK(value(made, 2, "11").starts_with("! must "));
  CHECK(value(made, 3, "1") == "1");
  CHECK(AnswerForm::prompt(made.fields()[0]) == "mail, an email address [none]: ");
}

TEST_CASE("AnswerForm: a field is summed up in a line") {
  const AnswerForm made =
      form(R"({"required":["size"],"properties":{"size":{"enum":["small","large"],"title":"Size"},
    "sure":{"type":"boolean","default":true},"why":{"type":"string","description":"in a word"}}})");
  CHECK(AnswerForm::summary(made.fields()[0]) == "Size: one of small, large");
  CHECK(AnswerForm::summary(made.fields()[1]) == "sure: yes or no, otherwise true");
  CHECK(AnswerForm::summary(made.fields()[2]) == "why: text, optional (in a word)");
}

TEST_CASE("AnswerForm: a schema other than an object's is one field, the whole answer") {
  const AnswerForm made = form(R"({"type":"boolean"})");
  REQUIRE(made.fields().size() == 1);
  CHECK(AnswerForm::prompt(made.fields()[0]) == "answer, yes or no: ");
  CHECK(made.answer({value(made, 0, "yes")}) == "true");
}

TEST_CASE("AnswerForm: an example fits the question's schema and is one short printable line") {
  const auto example = [](const std::string& data) {
    Message question;
    question.parts = {Part::of_text("Well?"), Part::of_data({data}), Part::of_data({R"({"table":1})"})};
    return AnswerForm::example(question);
  };
  CHECK(
      example(
          R"({"schema":{"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"}}}})") ==
      R"({"approved":true})");
  CHECK(example(R"({"schema":{"type":"string","pattern":"^x9$"}})") == "");
  CHECK(example(R"({"schema":{"$ref":"#"}})") == "");
  CHECK(example(R"({"schema":{"const":")" + std::string(400, 'x') + "\"}}") == "");
  CHECK(example("{\"schema\":{\"const\":\"\u0085\"}}") == "");
  CHECK(example(R"({"rows":3})") == "");
}

}  // namespace answer_form_test

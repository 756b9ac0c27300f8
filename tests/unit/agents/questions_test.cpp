#include "agents/questions.h"

#include <doctest/doctest.h>

namespace questions_test {

using namespace baton;
using task::Part;

namespace {

const char kDeploy[] = R"({"type":"object","required":["environment","replicas"],"properties":{
  "environment":{"enum":["staging","production"]},"replicas":{"type":"integer","maximum":10}}})";
const char kApprove[] =
    R"({"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"}}})";

task::Message with(std::vector<Part> parts) {
  task::Message message;
  message.parts = std::move(parts);
  return message;
}

task::Message asking(const std::string& schema) {
  return with({Part::of_text("well?"), Part::of_data({R"( { "schema" : )" + schema + "}"})});
}

// The parts of the answer as the agent gets them, or the error for the caller.
std::string fitted(const std::string& schema, std::vector<Part> parts, bool needs_data = false) {
  task::Message answer = with(std::move(parts));
  const auto fits = agents::fit_answer(asking(schema), {}, needs_data, answer);
  if (!fits) {
    CHECK(fits.error().code == base::ErrorCode::invalid_argument);
    return fits.error().for_caller;
  }
  std::string shown;
  for (const Part& part : answer.parts)
    shown += (part.kind == Part::Kind::data   ? "data "
              : part.kind == Part::Kind::text ? "text "
                                              : "file ") +
             part.content + ";";
  return shown;
}

std::string fault_of(const task::Message& question) {
  const auto report = agents::check_schema(question, {});
  return report.fault ? report.fault->pointer + ": " + report.fault->reason : "";
}

}  // namespace

TEST_CASE("Questions: data must fit the schema, regardless of the other parts") {
  CHECK(fitted(kDeploy, {Part::of_data({R"({"environment":"staging","replicas":2})"})}) ==
        R"(data {"environment":"staging","replicas":2};)");
  const std::string wrong = R"({"environment":"moon","replicas":99})";
  const std::string reason =
      "message.parts: the answer does not fit the question's schema: /environment must be one of \"staging\" "
      "or \"production\"";
  CHECK(fitted(kDeploy, {Part::of_data({wrong})}) == reason);
  CHECK(fitted(kDeploy, {Part::of_text("do it"), Part::of_data({wrong})}) == reason);
  CHECK(fitted(kDeploy, {Part::of_data({R"({"environment":"staging","replicas":2})"}),
                         Part::of_data({wrong})}) == reason);
  CHECK(fitted(kDeploy, {Part::of_data({"[]"})}) ==
        "message.parts: the answer does not fit the question's schema: it must be an object");
}

TEST_CASE("Questions: all data of an answer share the steps of one check") {
  std::string list = "[1";
  for (int i = 0; i < 60'000; ++i) list += ",1";
  const Part data = Part::of_data({list + "]"});
  const std::string schema = R"({"items":{"type":"integer"}})";
  CHECK(fitted(schema, {data}).starts_with("data "));
  CHECK(fitted(schema, {data, data}).ends_with("takes more than 100000 steps to check"));
}

TEST_CASE("Questions: an unambiguous text becomes data, and another text is refused with the choices") {
  CHECK(fitted(kApprove, {Part::of_text("Yes ")}) == R"(data {"approved":true};)");
  CHECK(fitted(kApprove, {Part::of_text("yes"), {Part::Kind::raw, "aGk=", "a", "", {}}}) ==
        R"(data {"approved":true};file aGk=;)");
  CHECK(fitted(kApprove, {Part::of_text("why not")}) == "message.parts: the question requires yes or no");
  CHECK(fitted(kApprove, {{Part::Kind::raw, "aGk=", "a", "", {}}}) ==
        "message.parts: the question requires yes or no, as text or as data");
  CHECK(fitted(R"({"enum":["staging","production"]})", {Part::of_text("moon")}) ==
        "message.parts: the question requires one of \"staging\" or \"production\"");
  CHECK(fitted(R"({"type":"integer","maximum":10})", {Part::of_text("99")}) ==
        "message.parts: the question requires a whole number: it must be at most 10");
  CHECK(fitted(R"({"type":"string"})", {Part::of_text("as"), Part::of_text("it is")}) ==
        R"(data "as\nit is";)");
}

TEST_CASE("Questions: a text stays text if the schema needs more, and is refused if the card wants data") {
  CHECK(fitted(kDeploy, {Part::of_text("staging, twice")}) == "text staging, twice;");
  CHECK(
      fitted(kDeploy, {Part::of_text("staging, twice")}, true) ==
      R"(message.parts: the question requires data that fits its schema, such as {"environment":"staging","replicas":10})");
  CHECK(fitted(kApprove, {Part::of_text("yes")}, true) == R"(data {"approved":true};)");
}

TEST_CASE("Questions: a text that holds the data is read as data, and a refusal is not checked") {
  CHECK(fitted(kApprove, {Part::of_text(R"({"approved":true})")}) == R"(data {"approved":true};)");
  CHECK(fitted(kApprove, {Part::of_text(R"({"approved":1})")}) ==
        "message.parts: the question requires yes or no");
  CHECK(fitted(kApprove, {Part::of_data({R"({"cancelled":true})"})}) == R"(data {"cancelled":true};)");
  CHECK(fitted(kApprove, {Part::of_text(R"({"cancelled":true})")}) == R"(text {"cancelled":true};)");
  CHECK(fitted(kApprove, {Part::of_data({R"({"cancelled":false})"})}).find("\"approved\" is missing") !=
        std::string::npos);
  CHECK(fitted(kApprove, {Part::of_data({R"({"cancelled":true,"approved":3})"})})
            .find("/approved must be true or false") != std::string::npos);
}

TEST_CASE("Questions: a faulty schema is ignored") {
  for (const char* faulty : {R"({"$ref":"#"})", R"({"anyOf":["x",3]})", R"({"properties":[1]})"}) {
    CHECK(fitted(faulty, {Part::of_data({"3"})}) == "data 3;");
    CHECK(fitted(faulty, {Part::of_text("moon")}, true) == "text moon;");
  }
  CHECK(fitted(R"({"title":")" + std::string(70'000, 'x') + R"(","type":"boolean"})",
               {Part::of_text("moon")}) == "text moon;");
}

TEST_CASE("Questions: the last part with a schema counts, and other data parts are not schemas") {
  task::Message question = asking(kDeploy);
  question.parts.push_back(Part::of_data({std::string(R"({"schema":)") + kApprove + "}"}));
  question.parts.push_back(Part::of_data({R"({"schema":{"type":"array"},"more":1})"}));
  question.parts.push_back(Part::of_data({R"({"url":"https://example.com"})"}));
  task::Message answer = with({Part::of_text("no")});
  REQUIRE(agents::fit_answer(question, {}, false, answer));
  CHECK(answer.parts[0] == Part::of_data({R"({"approved":false})"}));
  answer = with({Part::of_text("moon")});
  CHECK(agents::fit_answer(with({Part::of_text("well?")}), {}, true, answer));
}

TEST_CASE("Questions: check_schema finds faults of a question's schema, and remove_schema removes it") {
  CHECK(fault_of(asking(kDeploy)) == "");
  CHECK(fault_of(with({Part::of_text("well?")})) == "");
  task::Message many = asking(R"({"$ref":"#"})");
  many.parts.push_back(asking(kDeploy).parts.back());
  CHECK(fault_of(many) == "");
  CHECK(fault_of(asking(R"({"properties":{"a":{"contains":{}}}})")) ==
        "/properties/a/contains: is a keyword that is not supported in questions");
  CHECK(fault_of(asking(R"({"title":")" + std::string(70'000, 'x') + "\"}")) ==
        ": is larger than 65536 bytes");
  const auto report = agents::check_schema(asking(R"({"pattern":"(?=a)b"})"), {});
  CHECK_FALSE(report.fault);
  REQUIRE(report.unenforced.size() == 1);
  CHECK(report.unenforced[0].pointer == "/pattern");

  task::Message question = asking(R"({"$ref":"#"})");
  agents::remove_schema(question, {});
  CHECK(question.parts == std::vector<Part>{Part::of_text("well?")});
  question = with({Part::of_data({R"({"schema":{"$ref":"#"}})"})});
  agents::remove_schema(question, {});
  REQUIRE(question.parts.size() == 1);
  CHECK(question.parts[0].kind == Part::Kind::text);
}

}  // namespace questions_test

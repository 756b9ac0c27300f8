#include "protocol/chat/run_view.h"

#include <doctest/doctest.h>

#include "protocol/chat/protocol.h"
#include "protocol/openai/protocols.h"

namespace run_view_test {

using namespace baton;
using task::Part;
using task::State;

namespace {

task::StatusChanged status(State state, std::vector<Part> parts, std::string ask = {}) {
  task::Message message;
  message.role = task::Role::agent;
  message.parts = std::move(parts);
  return {{state, std::move(message), {}}, {}, std::move(ask)};
}

}  // namespace

TEST_CASE("Run view: a failure's reason is its message's text, or a default text") {
  using protocol::chat::reason_of;
  CHECK(reason_of(status(State::failed, {Part::of_text("It broke.")})) == "It broke.");
  CHECK(reason_of(status(State::failed, {Part::of_data({"{}"})})) == "The agent failed.");
  CHECK(reason_of({{State::failed, std::nullopt, {}}, {}}) == "The agent failed.");
  CHECK(reason_of({{State::rejected, std::nullopt, {}}, {}}) == "The agent rejected the request.");
}

TEST_CASE("Run view: the views whose last frame repeats the output keep it") {
  CHECK(protocol::openai::responses().view({})->keeps_output());
  CHECK(protocol::chat::agent_api_protocol().view({})->keeps_output());
  CHECK(protocol::chat::make_agent_server_protocol("response")->view({})->keeps_output());
  CHECK_FALSE(protocol::openai::completions(false).view({})->keeps_output());
}

TEST_CASE("Run view: a question has its prompt, schema, URL and other data") {
  const auto asked = status(State::input_required,
                            {Part::of_text("Sure?"), Part::of_data({R"({"files":15})"}),
                             Part::of_data({R"({"url":"https://x.example"})"}),
                             Part::of_data({R"({"schema":{"type":"boolean"}})"})},
                            "ask-1");
  const auto question = protocol::chat::question_in(asked);
  CHECK(question.id == "ask-1");
  CHECK_FALSE(question.for_tool);
  CHECK_FALSE(question.for_auth);
  CHECK(question.prompt == "Sure?");
  CHECK(question.schema.text == R"({"type":"boolean"})");
  CHECK(question.url == "https://x.example");
  CHECK(question.details.text == R"([{"files":15}])");
  CHECK(protocol::chat::question_in(status(State::auth_required, {}, "a")).for_auth);
}

TEST_CASE("Run view: a call of the client's tool is a question without a prompt") {
  const auto question = protocol::chat::question_in(status(
      State::input_required, {Part::of_text("Paint!"), Part::of_data({R"({"toolCall":{"id":"c"}})"})}, "c"));
  CHECK(question.for_tool);
  CHECK(question.id == "c");
  CHECK(question.prompt.empty());
}

}  // namespace run_view_test

// Answers of language models, and both sides of MCP.
#include "base/text.h"
#include "fuzz/sound.h"
#include "fuzz/target.h"
#include "json/document.h"
#include "protocol/mcp/client/words.h"
#include "protocol/mcp/echoes.h"
#include "protocol/mcp/elicitation.h"
#include "protocol/mcp/mcp.h"
#include "protocol/mcp/resources.h"
#include "protocol/models/dialects.h"

namespace baton::fuzz {
namespace {

using json::Document;
using json::Value;
namespace models = protocol::models;
namespace mcp = protocol::mcp;

// Each line is an event of a stream. The first byte chooses how thoughts are marked.
void model(std::string_view input, models::Api api) {
  if (input.empty()) return;
  constexpr std::size_t kMax = 512;
  const models::Dialect& dialect = models::dialect_of(api);
  models::AnswerRules rules;
  rules.arguments_max = kMax;
  rules.think_tags = static_cast<models::ThinkTags>(static_cast<unsigned char>(input.front()) % 3);
  const auto reader = dialect.reader(rules);
  input.remove_prefix(1);
  std::string text;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    if (line == "[DONE]") {
      text += reader->done().text;
      continue;
    }
    const auto piece = reader->take(line);
    if (!piece) return;
    check_text(piece->text, "a piece of text is not UTF-8");
    check_text(piece->reasoning, "a piece of reasoning is not UTF-8");
    text += piece->text;
    require(reader->held() >= reader->text().size(), "fewer bytes are held than there are");
  }
  text += reader->done().text;
  require_same(text, reader->text(), "the pieces of an answer are not its text");
  check_object(reader->usage("p", "m"), "the usage is no object");
  models::ChatMessage said;
  said.role = models::ChatMessage::Role::assistant;
  if (!reader->text().empty()) said.parts = {task::Part::of_text(reader->text())};
  said.calls = reader->calls();
  said.others = reader->others();
  check_json(said.others, "what is given back is not JSON");
  for (auto& call : said.calls) {
    if (call.id.empty()) call.id = "c1";
    check_json(call.others, "the members of a call are not JSON");
    check_json(call.function_others, "the members of a function are not JSON");
    // The caller refuses a call whose arguments are not JSON.
    if (!Document::parse_view(call.arguments)) return;
  }
  models::ModelRequest request;
  request.messages = {models::ChatMessage::of_text(models::ChatMessage::Role::user, "Hello"), said};
  check_object({dialect.write_request(request)}, "the next request is no JSON");
}
void chat(std::string_view input) {
  model(input, models::Api::chat);
}
void responses(std::string_view input) {
  model(input, models::Api::responses);
}
void anthropic(std::string_view input) {
  model(input, models::Api::anthropic);
}

task::Status question_with(std::string schema) {
  task::Status status;
  status.state = task::State::input_required;
  status.message = task::Message{};
  status.message->parts = {task::Part::of_text("Which?"),
                           task::Part::of_data({R"({"schema":)" + std::move(schema) + "}"})};
  return status;
}

// A message of a client, and the result of a question to it.
void server(std::string_view input) {
  const auto document = Document::parse_view(input);
  if (!document) return;
  const Value root = document->root();
  for (const mcp::Head& head : {mcp::Head{}, mcp::Head{mcp::kModern, "tools/call", "echo"}}) {
    const auto request = mcp::read_request(root, head);
    if (!request) {
      std::string refusal;
      mcp::write_failure(refusal, request.error().id.empty() ? "null" : request.error().id,
                         request.error().failure);
      check_object({refusal}, "a refusal is no JSON");
      continue;
    }
    check_json({request->id}, "an id is not JSON");
    if (const auto arguments = mcp::read_arguments(request->params["arguments"])) {
      check_message(arguments->message);
    }
  }
  const task::Status status = question_with(R"({"type":"object","properties":{"a":{"type":"string"}}})");
  const mcp::Question question{status, "q1"};
  for (const Value result : {root, root["result"]}) {
    if (const auto read = mcp::read_elicitation_result(result, question)) check_message(*read);
    const auto response = mcp::read_input_response(result["inputResponses"], question);
    if (response && *response) check_message(**response);
  }
  // A question whose schema an agent has made.
  const task::Status asked = question_with(std::string(input));
  const mcp::Question its{asked, "q2"};
  if (!mcp::can_ask(its, {true, true, true})) return;
  std::string written;
  json::Writer out(written);
  out.object([&] { mcp::write_elicitation(out, its); });
  check_object({written}, "a question is no JSON");
}

// A message of a server.
void client(std::string_view input) {
  const auto document = Document::parse_view(input);
  if (!document) return;
  const Value root = document->root();
  const auto response = mcp::read_response(root, 1);
  static_cast<void>(mcp::chosen_version(root));
  for (const Value result : {root, response ? response->result : Value()}) {
    for (const auto& tool : mcp::read_tools(result).tools) {
      check_object(tool.schema, "the schema of a tool is no object");
      check_text(tool.name, "the name of a tool is not UTF-8");
      for (const auto& [name, value] : mcp::param_headers(tool.param_headers, root)) {
        require((name + value).find_first_of("\r\n") == std::string::npos, "a header has a line end");
      }
    }
    for (const auto& call : {mcp::read_call(result), mcp::read_task(result)}) {
      for (const task::Part& part : call.parts) check_part(part);
      require(call.poll.count() >= 0, "a delay is negative");
      check_json(call.wanted.schema, "the schema of a question is not JSON");
      task::Message said;
      said.parts = {task::Part::of_data({std::string(input)})};
      check_object({mcp::write_input_responses(call.wanted, said)}, "an answer is no JSON");
    }
  }
}

// Texts that a client sends back.
void echoes(std::string_view input) {
  if (const auto state = mcp::read_request_state(input)) {
    const auto again = mcp::read_request_state(mcp::make_request_state(*state));
    require(again && again->task == state->task && again->ask == state->ask, "a state changes");
  }
  if (const auto place = mcp::read_event_id(input)) {
    const auto again = mcp::read_event_id(mcp::make_event_id(*place));
    require(again && again->task == place->task && again->request == place->request, "a place changes");
    require(again->number == place->number && again->progress_token == place->progress_token,
            "a place changes");
  }
  if (const auto asked = mcp::read_asking_id(input)) {
    const auto again = mcp::read_asking_id(mcp::make_asking_id(*asked));
    require(again && again->task == asked->task && again->ask == asked->ask, "an id changes");
  }
  static_cast<void>(mcp::read_session_id(input, "somebody").has_value());
  if (const auto name = mcp::read_resource_uri(input)) {
    const auto again = mcp::read_resource_uri("http://127.0.0.1/tasks" + mcp::resource_path(*name));
    require(again && again->task == name->task && again->id == name->id && again->part == name->part,
            "the name of a resource changes");
  }
}

const Targets kTargets{{"model-chat", chat},   {"model-responses", responses}, {"model-anthropic", anthropic},
                       {"mcp-server", server}, {"mcp-client", client},         {"mcp-echoes", echoes}};

}  // namespace
}  // namespace baton::fuzz

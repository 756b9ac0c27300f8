// Requests of the chat protocols and of OpenAI's API, and runs of AG-UI endpoints as their client reads them.
#include "fuzz/sound.h"
#include "fuzz/target.h"
#include "json/document.h"
#include "protocol/agui/read_input.h"
#include "protocol/agui/run_reader.h"
#include "protocol/agui/write_input.h"
#include "protocol/chat/protocol.h"
#include "protocol/openai/names.h"
#include "protocol/openai/requests.h"

namespace baton::fuzz {
namespace {

using json::Document;
using protocol::chat::RunRequest;

void check_run(const RunRequest& run) {
  require(run.conversation.value.size() <= protocol::chat::kIdMax, "the id of a conversation is too long");
  require(run.run.size() <= protocol::chat::kIdMax, "the id of a run is too long");
  check_text(run.conversation.value, "the id of a conversation is not UTF-8");
  check_message(run.message);
  for (const auto& result : run.results) check_json(result.content, "the result of a tool is not JSON");
  for (const auto& each : run.answers) check_json(each.payload, "an answer is not JSON");
  for (const auto& message : run.history.value_or(std::vector<task::Message>())) check_message(message);
  check_json(run.messages, "the messages are not JSON");
  check_json(run.tools, "the tools are not JSON");
  check_json(run.state, "the state is not JSON");
  check_object(run.metadata, "the metadata of a run is no object");
  check_object(run.about, "the metadata of a message is no object");
  static_cast<void>(protocol::chat::tool_names(run.tools));
}

void chat(std::string_view input, const protocol::chat::Protocol& protocol) {
  const auto body = Document::parse_view(input);
  if (!body) return;
  if (const auto run = protocol.read(body->root())) check_run(*run);
}

void agui(std::string_view input) {
  chat(input, protocol::chat::agui_protocol());
  const auto body = Document::parse_view(input);
  if (!body) return;
  const auto run = protocol::agui::read_input(body->root());
  if (!run) return;
  // What the client of AG-UI writes for the same conversation is read.
  protocol::agui::ClientRun asks;
  asks.thread = run->conversation.value;
  asks.run = run->run;
  asks.messages = {run->message};
  asks.answers = run->answers;
  asks.tools = run->tools;
  asks.state = run->state;
  for (const bool newer : {true, false}) {
    asks.newer = newer;
    const std::string written = protocol::agui::write_input(asks);
    const auto again = Document::parse_view(written, {.depth_max = 200});
    require(again.has_value(), "a run's input that was written is not JSON");
    if (!asks.thread.empty() && !asks.run.empty()) {
      const auto read = protocol::agui::read_input(again->root());
      require(read.has_value() || run->message.parts.empty(), "a run's input that was written is refused");
    }
  }
}
void agkit(std::string_view input) {
  chat(input, protocol::chat::agkit_protocol());
}
void agent_api(std::string_view input) {
  chat(input, protocol::chat::agent_api_protocol());
}
void agent_server(std::string_view input) {
  static const auto protocol = protocol::chat::make_agent_server_protocol("response");
  chat(input, *protocol);
}

void asked(const base::Result<protocol::openai::Asked>& read) {
  if (!read) return;
  check_run(read->run);
  if (read->run.about.empty()) return;
  const auto metadata = Document::view_of(read->run.about.text);
  static_cast<void>(protocol::openai::given_in(metadata));
  static_cast<void>(protocol::openai::turns_in(read->run.about));
  static_cast<void>(protocol::openai::is_kept(read->run.about));
}
void completions(std::string_view input) {
  const auto body = Document::parse_view(input);
  if (body) asked(protocol::openai::read_completion(body->root()));
}
void responses(std::string_view input) {
  const auto body = Document::parse_view(input);
  if (body) asked(protocol::openai::read_response(body->root()));
}

void openai_ids(std::string_view input) {
  if (const auto name = protocol::openai::read_name(input)) {
    const auto again =
        protocol::openai::read_name(protocol::openai::name_of(name->kind, name->task, name->rest));
    require(again && again->kind == name->kind && again->task == name->task && again->rest == name->rest,
            "an id changes");
  }
  if (const auto name = protocol::openai::read_response_id(input)) {
    const auto again =
        protocol::openai::read_response_id(protocol::openai::response_id(name->task, name->before));
    require(again && again->task == name->task && again->before == name->before,
            "the id of a response changes");
  }
}

// A run: each line is an event.
void run(std::string_view input) {
  constexpr std::size_t kMax = 256;
  protocol::agui::RunReader reader(kMax);
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const auto pieces = reader.take(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
    if (!pieces && pieces.error().code == base::ErrorCode::too_large) return;
    require(reader.held() <= 4 * kMax, "a run keeps too much");
    if (!pieces) continue;
    for (const auto& piece : *pieces) {
      if (const auto* body = std::get_if<task::EventBody>(&piece)) check_body(*body);
      if (const auto* text = std::get_if<protocol::agui::RunText>(&piece)) {
        require(text->last || !text->delta.empty(), "a piece of a text has neither text nor end");
      }
    }
  }
  if (!reader.end()) return;
  check_json(reader.end()->result, "the result of a run is not JSON");
  for (const auto& interrupt : reader.end()->interrupts) check_json(interrupt.schema, "a schema is not JSON");
}

const Targets kTargets{{"agui", agui},
                       {"agkit", agkit},
                       {"agent-api", agent_api},
                       {"agent-server", agent_server},
                       {"openai-completions", completions},
                       {"openai-responses", responses},
                       {"openai-ids", openai_ids},
                       {"agui-run", run}};

}  // namespace
}  // namespace baton::fuzz

#include "agents/command/agent_output.h"

#include <cstdio>

#include "agents/client_call.h"
#include "agents/command/to_agent.h"
#include "agents/text.h"
#include "base/id.h"
#include "json/document.h"
#include "protocol/chat/tools.h"

namespace baton::agents {
namespace {

const std::string kNotOfProtocol = "the agent printed a line that violates the line protocol: ";

std::set<std::string, std::less<>> names_of(const task::Json& tools) {
  std::set<std::string, std::less<>> names;
  const auto document = json::Document::parse_view(tools.text);
  if (!document || !document->root().is_array()) return names;
  for (const json::Value tool : document->root()) {
    if (tool["name"].is_string()) names.insert(tool["name"].str());
  }
  return names;
}

std::string mebibytes(std::uint64_t bytes) {
  return bytes < (1u << 20) ? std::to_string(bytes) + " bytes" : std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

AgentOutput::AgentOutput(const Turn& turn, const AgentSettings& settings, SinkGate& gate)
    : gate_(gate),
      output_max_(settings.output_max),
      verbose_(settings.verbose_errors),
      client_tools_(names_of(turn.tools)),
      call_ids_(turn.used_ids) {}

bool AgentOutput::count(std::size_t bytes) {
  printed_ += bytes;
  if (printed_ <= output_max_) return true;
  fail("the agent printed more than " + mebibytes(output_max_));
  return false;
}

bool AgentOutput::forward(line::AgentMessage message) {
  return std::visit([this](auto& one) { return forward_one(std::move(one)); }, message);
}

void AgentOutput::finish(Outcome outcome) {
  if (std::exchange(ended_, true)) return;
  const bool stopped = std::holds_alternative<Failed>(outcome) || std::holds_alternative<Rejected>(outcome) ||
                       std::holds_alternative<BrokenOff>(outcome) || std::holds_alternative<Waits>(outcome);
  if (canceling_ && stopped) outcome = Canceled{};
  task::ExecutorState kept;
  if (errors_ && std::holds_alternative<Failed>(outcome)) kept.errors = errors_();
  gate_.use([&](TurnSink& sink) {
    for (task::EventBody& end : open_.close()) {
      if (auto* result = std::get_if<task::ToolResult>(&end)) result->id = call_ids_.given(result->id);
      sink.emit(std::move(end));
    }
    if (!kept.errors.empty()) sink.emit(std::move(kept));
    sink.finish(std::move(outcome));
  });
}

bool AgentOutput::end(Outcome outcome) {
  finish(std::move(outcome));
  return true;
}

// Drops empty pieces: strict clients refuse them.
bool AgentOutput::forward_one(line::Text text) {
  if (!text.delta.empty()) gate_.use([&](TurnSink& sink) { sink.text(std::move(text.delta)); });
  return true;
}

bool AgentOutput::forward_one(line::Reasoning reasoning) {
  if (!reasoning.delta.empty()) {
    gate_.use([&](TurnSink& sink) { sink.reasoning(std::move(reasoning.delta)); });
  }
  return true;
}

bool AgentOutput::forward_one(task::EventBody body) {
  auto* call = std::get_if<task::ToolCall>(&body);
  if (call != nullptr) call->by_client = client_tools_.contains(call->name);
  if (const std::string problem = open_.record(body); !problem.empty()) {
    fail(kNotOfProtocol + problem);
    return false;
  }
  if (call != nullptr) call->id = call_ids_.begin(call->id);
  if (auto* result = std::get_if<task::ToolResult>(&body)) result->id = call_ids_.given(result->id);
  if (call != nullptr && call->by_client) {
    call_client(std::move(*call));
  } else {
    gate_.use([&](TurnSink& sink) { sink.emit(std::move(body)); });
  }
  return true;
}

bool AgentOutput::forward_one(line::Delegate delegate) {
  DelegateRequest request{std::move(delegate.id),   std::move(delegate.agent), std::move(delegate.message),
                          std::move(delegate.task), delegate.takes_questions,  delegate.detached};
  gate_.use([&](TurnSink& sink) { sink.delegate(std::move(request)); });
  return true;
}

bool AgentOutput::forward_one(line::Wait) {
  return end(Waits{});
}

bool AgentOutput::forward_one(line::Ask ask) {
  return end(Asked{id_of_ask(ask.id), false, std::move(ask.message)});
}

bool AgentOutput::forward_one(line::Auth auth) {
  return end(Asked{id_of_ask(auth.id), true, std::move(auth.message)});
}

std::string AgentOutput::id_of_ask(const std::string& own) {
  return own.empty() ? base::make_uuid() : call_ids_.begin(own);
}

bool AgentOutput::forward_one(line::Finish done) {
  return end(Done{std::move(done.message)});
}
bool AgentOutput::forward_one(line::Fail failure) {
  const bool shows_detail = verbose_ && !failure.detail.empty();
  return end(Failed{std::move(shows_detail ? failure.detail : failure.error)});
}
bool AgentOutput::forward_one(line::Reject reject) {
  return end(Rejected{std::move(reject.reason)});
}

void AgentOutput::call_client(task::ToolCall call) {
  task::Message message = message_of(call);
  const std::string id = call.id;
  gate_.use([&](TurnSink& sink) { sink.emit(std::move(call)); });
  finish(Asked{id, false, std::move(message)});
}

std::string refusal(const AgentSettings& settings, const base::LogMembers& members, const base::Error& error,
                    std::string_view line) {
  const std::string shown = ": \"" + escaped(line, 120) + "\"";
  // With verbose errors, the turn's end says so.
  base::log(settings.verbose_errors ? spdlog::level::debug : spdlog::level::warn, members,
            "rejected a line of the agent: {}{}", error.for_caller, shown);
  const bool is_json = error.code != base::ErrorCode::parse_error;
  return (is_json ? kNotOfProtocol + error.for_caller : "the agent printed a line that is not JSON") +
         (settings.verbose_errors ? shown : "");
}

std::string said_nothing(const AgentSettings& settings) {
  const double seconds = std::chrono::duration<double>(settings.first_output).count();
  char shown[32];
  std::snprintf(shown, sizeof shown, "%g", seconds);
  return std::string("the agent printed nothing for ") + shown + " seconds";
}

std::string line_too_long(const AgentSettings& settings) {
  return "the agent printed a line longer than " + mebibytes(settings.line_max);
}

std::string turn_lines(const Turn& turn) {
  const CallIds call_ids(turn.used_ids);
  std::string lines = line::encode_turn(turn, call_ids.own(turn.resume_ask));
  for (task::ToolResult& result : protocol::chat::tool_results_in(turn.message)) {
    result.id = call_ids.own(result.id);
    lines += line::encode_tool_result(turn.id, result);
  }
  return lines;
}

}  // namespace baton::agents

#include "server/openai/runs.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "protocol/chat/tools.h"
#include "protocol/openai/protocols.h"
#include "server/a2a/cards.h"
#include "server/chat/conversation.h"
#include "server/chat/run.h"
#include "server/openai/responses.h"

namespace baton::server::openai {
namespace {

using base::ErrorCode;
using chat::CallPtr;
using protocol::openai::Asked;

// Names the conversation of a chat completion.
constexpr std::string_view kHeader = "X-Conversation-Id";

// Refuses a name that no context can have.
base::Result<task::ContextId> named_in(const http::Request& head) {
  const std::string_view name = head.header(kHeader);
  if (name.size() <= protocol::chat::kIdMax && base::is_utf8(name)) return task::ContextId{std::string(name)};
  return base::fail(ErrorCode::invalid_argument,
                    std::string(kHeader) + ": must have at most 256 bytes of UTF-8");
}

// The digest of the conversation in which the task's newest run began.
std::string turns_of(const engine::TaskReader& reader, const task::TaskHead& head) {
  const auto before = reader.stop_before(head.key, head.last_event);
  const auto message = before ? message_of(reader, head.key, *before) : base::fail(before.error());
  return message ? protocol::openai::turns_in(message->metadata) : std::string();
}

// The task that waits with the question to which the conversation's last message replies.
std::optional<task::TaskHead> task_that_asked(const CallPtr& call, const Asked& asked) {
  if (asked.turns_before.empty() || asked.last_words.empty()) return std::nullopt;
  auto waiting = chat::waiting_tasks(*call, {});
  if (!waiting) return std::nullopt;
  for (chat::WaitingTask& one : *waiting) {
    if (one.question.for_tool) continue;
    const bool was_asked = base::contains(asked.last_words, protocol::chat::prompt_of(one.question));
    if (was_asked && turns_of(call->reader(), one.head) == asked.turns_before) return std::move(one.head);
  }
  return std::nullopt;
}

std::optional<task::TaskHead> own_task(const CallPtr& call, const task::TaskId& id) {
  if (!may_be_id(id)) return std::nullopt;
  auto head = call->reader().head({call->caller, call->agent.name, id});
  return head ? std::optional(std::move(*head)) : std::nullopt;
}

// Lets the request continue the task's conversation, and answer only its question.
void continue_at(const task::TaskHead& head, Asked& asked) {
  asked.run.conversation = head.context;
  asked.run.answers_only = head.id;
}

// The agent and the call for a request that begins a run. Null if it has been refused.
CallPtr call_to_begin(const RequestPtr& request, Asked& asked) {
  auto by = admitted_for_model(*request, asked.model);
  if (!by) {
    request->refuse(by.error());
    return nullptr;
  }
  asked.run.files_url = card_urls(by->services.options, request->head(), by->endpoint).rest;
  return call_for(request, std::move(*by), true);
}

}  // namespace

void create_completion(const RequestPtr& request) {
  auto asked = protocol::openai::read_completion(request->body.root());
  if (!asked) return request->refuse(asked.error());
  auto named = named_in(request->head());
  if (!named) return request->refuse(named.error());
  const CallPtr call = call_to_begin(request, *asked);
  if (!call) return;
  asked->run.conversation = std::move(*named);
  if (asked->run.conversation.empty()) {
    asked->run.answers_only.emplace();
    // The result of a tool names its task; words answer the question that was asked with words.
    const bool has_results = !asked->run.results.empty();
    const auto task = has_results ? own_task(call, asked->named) : task_that_asked(call, *asked);
    if (task) continue_at(*task, *asked);
  }
  chat::run(call, protocol::openai::completions(asked->tells_usage), std::move(asked->run));
}

void create_response(const RequestPtr& request) {
  auto asked = protocol::openai::read_response(request->body.root());
  if (!asked) return request->refuse(asked.error());
  const CallPtr call = call_to_begin(request, *asked);
  if (!call) return;
  protocol::chat::RunRequest& run = asked->run;
  if (!run.conversation.empty()) {
    run.history.reset();  // the server has it
  } else if (!asked->previous.empty()) {
    const auto response = find_response(*request, asked->previous);
    if (!response || response->by.endpoint.agent != &call->agent)
      return request->refuse(protocol::openai::Failure{
          404, "invalid_request_error", "previous_response_not_found",
          "Previous response with id '" + std::string(base::beginning_of(asked->previous, 200)) +
              "' not found.",
          "previous_response_id"});
    continue_at(response->head, *asked);
    run.history.reset();
  } else if (const auto task = own_task(call, asked->named)) {
    continue_at(*task, *asked);
    if (asked->is_partial) run.history.reset();
  } else if (asked->is_partial) {
    return request->refuse(protocol::openai::Failure{404, "invalid_request_error", "item_not_found",
                                                     "An item of the input was not found.", "input"});
  } else if (const auto waiting = task_that_asked(call, *asked)) {
    continue_at(*waiting, *asked);
  } else {
    run.answers_only.emplace();
  }
  chat::run(call, protocol::openai::responses(), std::move(run));
}

}  // namespace baton::server::openai

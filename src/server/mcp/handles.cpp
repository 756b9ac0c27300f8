#include "server/mcp/handles.h"

#include <utility>

#include "protocol/mcp/elicitation.h"
#include "server/mcp/tool_calls.h"
#include "task/fold.h"

namespace baton::server::mcp {
namespace {

using base::ErrorCode;
using json::Value;
using json::Writer;
using protocol::mcp::Question;

constexpr int kPollMs = 2'000;

void acknowledge(const McpCallPtr& call) {
  call->reply(result(call->request, "complete", [](Writer&) {}));
}

}  // namespace

void read_shown(const McpCallPtr& call, const task::TaskHead& head, const a2a::TaskRead& done) {
  if (task::is_stopped(head.state))
    return a2a::read_task(call, {head.key, {}, {0, true}, head.last_event}, done);
  task::Task task = task::known_of(head, {});
  task.status = {head.state, std::nullopt, head.status_at};
  if (head.status_event) {
    const auto events = call->services.engine.reader().events(head.key, {head.status_event.value - 1}, 1);
    if (!events) return done(base::fail(events.error()));
    const auto* const change = events->empty() ? nullptr : task::status_in(events->front());
    if (change != nullptr) task.status = change->status;
  }
  done(std::move(task));
}

void write_detailed(Writer& out, const McpCallPtr& call, const task::TaskHead& head, const task::Task& task) {
  const Question question = question_of(head, task);
  const bool asks = protocol::mcp::can_ask(question, call->request.client);
  protocol::mcp::write_handle(out, {task, head.created, kPollMs, asks});
  if (asks) return protocol::mcp::write_input_requests(out, question);
  if (protocol::mcp::status_name(task.status.state, asks) != "completed") return;
  out.key("result").object([&] {
    out.member("resultType", "complete");
    protocol::mcp::write_tool_result(out, task, call->tasks_url());
  });
}

void answer_with_handle(const McpCallPtr& call, task::TaskKey key) {
  a2a::answer_from_callback(call, key, {}, [call, key] {
    const auto head = call->services.engine.reader().head(key);
    if (!head) return call->refuse(head.error());
    read_shown(call, *head, [call, head = *head](base::Result<task::Task> task) {
      if (!task) return call->refuse(task.error());
      const bool asks = protocol::mcp::can_ask(question_of(head, *task), call->request.client);
      if (task::is_stopped(task->status.state) && !asks) return call->reply_tool(*task);
      if (call->note) call->note->is_about(*task);
      call->reply(result(call->request, "task", [&](Writer& out) {
        protocol::mcp::write_handle(out, {*task, head.created, kPollMs, asks});
      }));
    });
  });
}

void get_task(const McpCallPtr& call, const task::TaskId& id) {
  const auto head = call->services.engine.reader().head(call->ref(id));
  if (!head) return call->refuse(head.error(), id);
  read_shown(call, *head, [call, head = *head](const base::Result<task::Task>& task) {
    if (!task) return call->refuse(task.error());
    if (call->note) call->note->is_about(*task);
    call->reply(
        result(call->request, "complete", [&](Writer& out) { write_detailed(out, call, head, *task); }));
  });
}

void update_task(const McpCallPtr& call, const task::TaskId& id, Value responses) {
  auto send = answer_to(call, id, {}, [&](const Question& question) {
    return protocol::mcp::read_input_response(responses, question);
  });
  // Answers to questions that are not open are ignored, as the extension demands.
  if (!send && send.error().code == ErrorCode::conflict) return acknowledge(call);
  if (!send) return call->refuse(send.error(), id);
  submit(call, std::move(*send), [call](const base::Result<engine::Accepted>& accepted) {
    if (!accepted && accepted.error().code != ErrorCode::conflict) return call->refuse(accepted.error());
    acknowledge(call);
  });
}

void cancel_task(const McpCallPtr& call, const task::TaskId& id) {
  call->services.engine.cancels().begin(call->ref(id), [call](const base::Result<task::TaskHead>& begun) {
    const bool is_over = !begun && (begun.error().code == ErrorCode::not_cancelable ||
                                    begun.error().code == ErrorCode::conflict);
    if (begun || is_over) return acknowledge(call);
    call->refuse(begun.error());
  });
}

}  // namespace baton::server::mcp

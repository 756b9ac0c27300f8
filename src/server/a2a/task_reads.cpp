#include "server/a2a/task_reads.h"

#include "base/trace_context.h"
#include "json/document.h"
#include "server/admission/access.h"
#include "server/shared/answers.h"
#include "task/link_parts.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;

// A task's log up to this size bypasses the budget.
constexpr std::size_t kSmallTaskMax = 256 << 10;

// The member `traceparent` of a message's metadata, for clients that cannot set headers.
std::string trace_in(const task::Json& metadata) {
  if (metadata.text.find("\"traceparent\"") == std::string::npos) return {};
  const auto document = json::Document::parse_view(metadata.text, {.depth_max = 1'000});
  return document ? base::read_traceparent(document->root()["traceparent"].string()) : std::string();
}

}  // namespace

void read_task(const CallPtr& call, const TaskToRead& wanted, const TaskRead& done) {
  const engine::TaskReader& reader = call->services.engine.reader();
  const auto read = [&reader](const TaskToRead& what) {
    return what.key ? reader.read(*what.key, what.depth, what.as_of) : reader.read(what.ref, what.depth);
  };
  TaskToRead small = wanted;
  if (call->services.answers) small.depth.bytes_max = kSmallTaskMax;
  auto task = read(small);
  if (task || task.error().code != ErrorCode::too_large) return done(std::move(task));

  const auto head = wanted.key ? reader.head(*wanted.key) : reader.head(wanted.ref);
  if (!head) return done(base::fail(head.error()));
  const std::size_t most = call->services.options.answer_bytes_max;
  take_share(call, call->identity.value, head->bytes + std::min(head->bytes, most),
             [call, read, wanted, done, most](bool has_room) {
               if (!has_room) return done(base::fail(too_many_large_answers()));
               auto large = read(wanted);
               if (large && wanted.links && !large->hidden)  // a message names no task
                 task::link_large_parts({&*large, 1}, most, call->tasks_url());
               done(std::move(large));
             });
}

void answer_from_callback(const CallPtr& call, task::TaskKey task, std::optional<task::EventNumber> as_of,
                          std::function<void()> answer) {
  const engine::TaskReader& reader = call->services.engine.reader();
  const auto answer_here = [call, &reader, task, as_of, answer = std::move(answer)] {
    reader.is_quick_to_read(task, as_of) ? answer() : call->read_later(answer);
  };
  // By the time the other thread comes to it, the task may have left memory.
  if (call->services.engine.calls_many_back() && reader.is_quick_to_read(task, as_of))
    return call->later(answer_here);
  answer_here();
}

std::optional<int> history_of(const Call& call, const protocol::a2a::TaskRequest& request,
                              task::ProtocolVersion origin) {
  if (!request.says_history && call.rules.is_of_tasks_era(origin)) return 0;
  return request.history_length;
}

void drop_inactive(const Call& call, protocol::NumbersWish& numbers) {
  if (call.rules.is_v1() && !call.extensions.numbers) numbers = {};
}

base::Result<void> complete_send(const Call& call, protocol::a2a::SendRequest& request) {
  if (!call.extensions.missing.empty()) {
    return base::fail(ErrorCode::extension_required,
                      "this agent requires the extension " + call.extensions.missing);
  }
  if (request.submission.push && !call.agent.card.push) {
    return base::fail(ErrorCode::push_not_supported, "this agent does not support push notifications");
  }
  drop_inactive(call, request.numbers);
  request.submission.caller = call.caller;
  request.submission.child_agents = call.child_agents;
  request.submission.subject = call.subject;
  request.submission.agent = call.agent.name;
  request.submission.trace = trace_of(call.head());
  if (request.submission.trace.empty())
    request.submission.trace = trace_in(request.submission.message.metadata);
  if (call.note) request.submission.trace = call.note->trace_for(request.submission.trace);
  request.submission.extensions = call.extensions.active;
  request.submission.may_be_message = call.rules.has_messages();
  request.submission.answers_context = call.agent.settings.plain_answers;
  return {};
}

base::Error send_refusal(const Call& call, base::Error error) {
  if (error.code == ErrorCode::unsupported) error.code = call.rules.refusal_when_ended();
  return error;
}

base::Error no_message_yet() {
  return {ErrorCode::unavailable, "the answer is not ready yet; send the same message again to get it", {}};
}

}  // namespace baton::server::a2a

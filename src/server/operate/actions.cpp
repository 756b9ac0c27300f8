// Actions of operators on tasks, deliveries and agents. The engine decides, and writes the audit.
#include <utility>

#include "json/writer.h"
#include "server/operate/action_body.h"
#include "server/operate/agent_rows.h"
#include "server/operate/handlers.h"
#include "server/operate/rows.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;
using base::fail;
using json::Writer;

constexpr const char* kNotShown =
    "the action was done, but its result cannot be shown now: read it again later";

// Reads the row on a thread that may block, because actions end on any thread.
template <class Read>
void answer_later(const CallPtr& call, Read read) {
  if (!call->facts.services.readers.try_submit([call, read] { answer(call, read()); }))
    answer(call, fail(ErrorCode::unavailable, kNotShown));
}

base::Result<std::string> task_answer(const CallPtr& call, task::TaskKey key) {
  const auto line = call->facts.store.line(key);
  if (!line) return fail(line.error());
  std::string text;
  Writer out(text);
  out.object([&] {
    out.key("task");
    write_task_row(out, *line);
  });
  return text;
}

base::Result<std::string> delivery_answer(const CallPtr& call, store::DeliveryKey key) {
  const auto line = call->facts.store.delivery(key);
  if (!line) return fail(line.error());
  std::string text;
  Writer out(text);
  out.object([&] {
    out.key("delivery");
    write_delivery(out, *line, call->by);
  });
  return text;
}

base::Result<std::string> agent_answer(const CallPtr& call) {
  const agents::Agent* agent = call->facts.services.catalogue.find({call->parameter});
  const auto rows = AgentRows::read(call->facts);
  if (agent == nullptr || !rows) return fail(ErrorCode::unavailable, kNotShown);
  std::string text;
  Writer out(text);
  out.object([&] {
    out.key("agent");
    rows->write(out, *agent);
  });
  return text;
}

engine::OperatorActions::Done task_done(const CallPtr& call) {
  return [call](base::Result<task::TaskHead> head) {
    if (!head) return answer(call, fail(std::move(head.error())));
    answer_later(call, [call, key = head->key] { return task_answer(call, key); });
  };
}

// Reads key and body, and passes both on; answers if either is wrong.
template <class Key, class Act>
void act_on(const CallPtr& call, const std::vector<std::string_view>& members, Act&& act) {
  const auto key = call->key<Key>();
  if (!key) return answer(call, fail(key.error()));
  const auto body = ActionBody::read(*call, members);
  if (!body) return answer(call, fail(body.error()));
  act(*key, *body);
}

// The answer that an operator gives: a message, or a text.
base::Result<task::Message> read_answer(const ActionBody& body) {
  auto message = body.message();
  if (!message) return fail(message.error());
  const json::Value text = body["text"];
  if (message->has_value() == !text.absent() || (!text.absent() && !text.is_string()))
    return fail(ErrorCode::invalid_argument, "exactly one of message and text is required");
  if (message->has_value()) return std::move(**message);
  task::Message said;
  said.parts.push_back(task::Part::of_text(text.str()));
  return said;
}

template <class Act>
void switch_agent(const CallPtr& call, const std::vector<std::string_view>& members, Act&& act) {
  const auto body = ActionBody::read(*call, members);
  if (!body) return answer(call, fail(body.error()));
  const auto& agents = call->facts.services.catalogue.all();
  const bool is_known = std::ranges::any_of(
      agents, [&](const agents::Agent* agent) { return agent->name.value == call->parameter; });
  if (!is_known) return answer(call, fail(ErrorCode::not_found, "agent not found"));
  act(task::AgentName{call->parameter}, *body, [call](base::Result<void> done) {
    if (!done) return answer(call, fail(std::move(done.error())));
    answer_later(call, [call] { return agent_answer(call); });
  });
}

// Empty if the member is absent. The engine checks its bounds.
base::Result<std::optional<int>> count_in(const ActionBody& body, std::string_view member) {
  const json::Value given = body[member];
  if (given.absent()) return std::optional<int>();
  const auto number = given.integer();
  if (number && std::in_range<int>(*number)) return std::optional(static_cast<int>(*number));
  return fail(ErrorCode::invalid_argument, std::string(member) + ": must be a whole number");
}

// The callback for the end of an action on a delivery.
engine::OperatorActions::Done delivery_done(const CallPtr& call, store::DeliveryKey key) {
  return [call, key](base::Result<task::TaskHead> head) {
    if (!head) return answer(call, fail(std::move(head.error())));
    answer_later(call, [call, key] { return delivery_answer(call, key); });
  };
}

}  // namespace

void cancel_task(const CallPtr& call) {
  act_on<task::TaskKey>(call, {}, [&](task::TaskKey key, const ActionBody& body) {
    call->facts.actions.cancel(key, body.actor(), task_done(call));
  });
}

void retry_task(const CallPtr& call) {
  act_on<task::TaskKey>(call, {"message"}, [&](task::TaskKey key, const ActionBody& body) {
    auto message = body.edited();
    if (!message) return answer(call, fail(message.error()));
    call->facts.actions.retry(key, std::move(*message), body.actor(), task_done(call));
  });
}

void answer_task(const CallPtr& call) {
  act_on<task::TaskKey>(call, {"message", "text", "ask"}, [&](task::TaskKey key, const ActionBody& body) {
    auto message = read_answer(body);
    if (!message) return answer(call, fail(message.error()));
    call->facts.actions.answer(key, std::move(*message), body["ask"].str(), body.actor(), task_done(call));
  });
}

void requeue_task(const CallPtr& call) {
  act_on<task::TaskKey>(call, {}, [&](task::TaskKey key, const ActionBody& body) {
    call->facts.actions.requeue(key, body.actor(), task_done(call));
  });
}

void resend_delivery(const CallPtr& call) {
  act_on<store::DeliveryKey>(call, {}, [&](store::DeliveryKey key, const ActionBody& body) {
    call->facts.actions.resend(key, body.actor(), delivery_done(call, key));
  });
}

void skip_delivery(const CallPtr& call) {
  act_on<store::DeliveryKey>(call, {}, [&](store::DeliveryKey key, const ActionBody& body) {
    call->facts.actions.skip(key, body.actor(), delivery_done(call, key));
  });
}

void pause_agent(const CallPtr& call) {
  switch_agent(call, {}, [&](const task::AgentName& agent, const ActionBody& body, auto done) {
    call->facts.actions.pause(agent, body.actor(), std::move(done));
  });
}

void resume_agent(const CallPtr& call) {
  switch_agent(call, {}, [&](const task::AgentName& agent, const ActionBody& body, auto done) {
    call->facts.actions.resume(agent, body.actor(), std::move(done));
  });
}

void scale_agent(const CallPtr& call) {
  switch_agent(call, {"workers", "concurrency"},
               [&](const task::AgentName& agent, const ActionBody& body, auto done) {
                 const auto workers = count_in(body, "workers"), concurrency = count_in(body, "concurrency");
                 if (!workers) return done(fail(workers.error()));
                 if (!concurrency) return done(fail(concurrency.error()));
                 call->facts.actions.scale(agent, {*workers, *concurrency}, body.actor(), std::move(done));
               });
}

}  // namespace baton::server::operate

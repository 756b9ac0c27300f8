// The trace of a task's turns. All of it comes from logs, but for a model's system prompt, which is the
// card's.
#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "agents/model/conversation.h"
#include "agents/model/tools.h"
#include "base/text.h"
#include "json/writer.h"
#include "server/operate/handlers.h"
#include "server/operate/rows.h"
#include "server/show/turn_trace.h"

namespace baton::server::operate {
namespace {

using base::fail;
using json::Writer;
using protocol::models::ChatMessage;

constexpr std::int64_t kTraceEventsMax = 20'000;  // the last ones of a log
constexpr int kTracePage = 500;
constexpr std::size_t kToldTurnsMax = 5;        // the last ones, whose messages to the model are shown
constexpr std::size_t kToldMessagesMax = 60;    // the system prompt and the last ones
constexpr std::size_t kToldWordsMax = 8 << 10;  // bytes of one message
constexpr int kLaterTasksMax = 50;
constexpr std::chrono::milliseconds kChildrenTime{300};

const agents::Agent* model_of(const Facts& facts, const task::TaskHead& head) {
  const agents::Agent* agent = facts.services.catalogue.find(head.agent);
  if (agent == nullptr || agent->settings.executor != agents::AgentSettings::Kind::openai) return nullptr;
  return agent;
}

// The messages of the conversation's tasks that were made later.
base::Result<std::set<std::string>> said_later(const Facts& facts, const task::TaskHead& head,
                                               base::Timestamp sent) {
  store::TaskQuery query;
  query.filter.context = head.context;
  query.filter.agent = head.agent;
  query.filter.caller = head.caller;
  query.limit = kLaterTasksMax;
  const auto page = facts.store.page(query);
  if (!page) return fail(page.error());
  std::set<std::string> later;
  for (const store::TaskLine& line : page->lines) {
    if (line.head.created <= sent || line.head.key == head.key) continue;
    const auto task = facts.services.engine.reader().read(line.head.key, task::Depth{std::nullopt, false});
    if (!task) continue;  // it was removed meanwhile
    for (const task::Message& message : task->history) later.insert(message.id.value);
    if (task->status.message) later.insert(task->status.message->id.value);
  }
  return later;
}

// The first request of the turn to its model, made by the function that makes the real one.
base::Result<std::vector<ChatMessage>> told_to(const Facts& facts, const agents::Agent& agent,
                                               const task::TaskHead& head, const TurnTrace::Turn& of,
                                               task::Json& tools) {
  const engine::TaskReader& reader = facts.services.engine.reader();
  auto input = reader.turn_input(head.key, of.message);
  if (!input) return fail(input.error());
  agents::Turn turn;
  turn.message = std::move(input->message);
  tools = std::move(input->request.tools);
  if (input->request.history) {
    turn.history = std::move(*input->request.history);
  } else {
    task::TaskHead then = head;
    then.turn_message = of.message;
    auto context = reader.context(then, facts.services.engine.options().conversation_max);
    if (!context) return fail(context.error());
    const auto later = said_later(facts, head, of.sent);
    if (!later) return fail(later.error());
    turn.history = std::move(context->said);
    std::erase_if(turn.history,
                  [&](const task::Message& message) { return later->contains(message.id.value); });
  }
  return agents::conversation_of(turn, agent.settings.model,
                                 agents::system_of(agent.settings.model).value_or(""));
}

void write_message(Writer& out, const ChatMessage& message) {
  constexpr const char* kRoles[] = {"system", "user", "assistant", "tool"};
  std::string text;
  std::size_t bytes = 0;
  std::int64_t files = 0;
  for (const task::Part& part : message.parts) {
    const bool is_file = part.kind == task::Part::Kind::raw || part.kind == task::Part::Kind::url;
    files += is_file ? 1 : 0;
    bytes += is_file ? task::content_size(part) : part.content.size();
    if (is_file) continue;
    text += base::beginning_of(part.content, kToldWordsMax - std::min(kToldWordsMax, text.size()));
  }
  out.object([&] {
    out.member("role", kRoles[static_cast<std::size_t>(message.role)]).member("text", text);
    out.member("bytes", static_cast<std::int64_t>(bytes));
    if (files > 0) out.member("files", files);
    if (message.calls.empty()) return;
    out.key("calls").each(message.calls, [&](const protocol::models::CalledTool& call) {
      out.string(call.name + " " + std::string(base::beginning_of(call.arguments, 1024)));
    });
  });
}

// Viewers do not see this: nothing else shows them the system prompt.
base::Result<void> write_told(Writer& out, const CallPtr& call, const agents::Agent& agent,
                              const task::TaskHead& head, const TurnTrace::Turn& turn) {
  task::Json client_tools;
  const auto told = told_to(call->facts, agent, head, turn, client_tools);
  if (!told) return fail(told.error());
  const agents::ModelTools tools(agent.settings.model, client_tools);
  out.key("told").object([&] {
    const std::size_t left_out = told->size() - std::min(told->size(), kToldMessagesMax);
    const bool has_system = !told->empty() && told->front().role == ChatMessage::Role::system;
    out.key("messages").array([&] {
      if (has_system && left_out > 0) write_message(out, told->front());
      for (std::size_t at = left_out; at < told->size(); ++at) write_message(out, (*told)[at]);
    });
    if (left_out > 0) out.member("leftOut", static_cast<std::int64_t>(left_out - (has_system ? 1 : 0)));
    if (tools.functions().empty()) return;
    out.key("tools").each(tools.functions(), [&](const auto& tool) { out.string(tool.name); });
  });
  return {};
}

// Adds what children were asked and what they answered, from their own logs.
void ask_children(const Facts& facts, std::vector<TurnTrace::Step>& steps, base::SteadyTime::time_point end) {
  const engine::TaskReader& reader = facts.services.engine.reader();
  for (TurnTrace::Step& step : steps) {
    if (!step.child || base::SteadyTime::now() > end) continue;
    const auto head = reader.head(step.child);
    if (!head) continue;  // it was removed
    RowWords words = words_of(reader, *head);
    step.given = {words.request, words.request.size()};
    step.answer = {words.result, words.result.size()};
  }
}

void write_turn(Writer& out, const TurnTrace::Turn& turn) {
  out.member("event", turn.message.value).member("lastEvent", turn.last.value);
  out.member("sentAt", base::to_rfc3339(turn.sent));
  if (turn.begun) out.member("begunAt", base::to_rfc3339(*turn.begun));
  if (turn.ended) out.member("endedAt", base::to_rfc3339(*turn.ended));
  out.member("state", task::name_of(turn.state));
  write_words(out, "request", turn.request);
  out.optional("reason", turn.reason);
  if (turn.tokens > 0) out.member("tokens", turn.tokens);
  out.key("steps").each(turn.steps, [&](const TurnTrace::Step& step) { write_step(out, step); });
  if (turn.left_out > 0) out.member("leftOut", static_cast<std::int64_t>(turn.left_out));
}

base::Result<std::string> trace_of(const CallPtr& call) {
  const auto key = call->key<task::TaskKey>();
  if (!key) return fail(key.error());
  const engine::TaskReader& reader = call->facts.services.engine.reader();
  const auto head = reader.head(*key);
  if (!head) return fail(head.error());
  const agents::Agent* model = model_of(call->facts, *head);
  TurnTrace trace(model != nullptr);
  task::EventNumber after{std::max<std::int64_t>(head->last_event.value - kTraceEventsMax, 0)};
  const bool is_cut = after.value > 0;
  while (true) {
    const auto events = reader.events(*key, after, kTracePage);
    if (!events) return fail(events.error());
    if (events->empty()) break;
    for (const task::Event& event : *events) trace.add(event);
    after = events->back().number;
  }
  trace.finish();
  std::string text;
  Writer out(text);
  base::Result<void> good;
  const auto end = base::SteadyTime::now() + kChildrenTime;
  out.object([&] {
    out.member("at", base::to_rfc3339(base::SystemClock().now()));
    if (is_cut) out.member("isCut", true);
    std::size_t left = trace.turns().size();
    out.key("turns").each(trace.turns(), [&](TurnTrace::Turn turn) {
      const bool is_told = model != nullptr && call->by.may_act && left-- <= kToldTurnsMax;
      ask_children(call->facts, turn.steps, end);
      out.object([&] {
        write_turn(out, turn);
        if (is_told && good) good = write_told(out, call, *model, *head, turn);
      });
    });
  });
  if (!good) return fail(good.error());
  return text;
}

}  // namespace

void show_trace(const CallPtr& call) {
  answer(call, trace_of(call));
}

}  // namespace baton::server::operate

#include "server/chat/run_answer.h"

#include "base/id.h"

namespace baton::server::chat {
namespace {

using base::ErrorCode;

constexpr int kPage = 128;
constexpr std::size_t kSmallLog = 1 << 20;  // whose answer is no large one

}  // namespace

protocol::chat::RunFacts RunAnswer::facts(const task::TaskId& task, const task::ContextId& context,
                                          task::EventNumber before) const {
  protocol::chat::RunFacts facts;
  facts.task = task;
  facts.conversation = context;
  facts.run = request.run;
  if (facts.run.empty() && protocol.names_runs()) {
    // Must be the same each time the run is shown.
    facts.run = (task.empty() ? base::make_uuid() : task.value) + "-run-" + std::to_string(before.value);
  }
  facts.parent_run = request.parent_run;
  facts.newer = request.newer;
  facts.old_reasoning = call->services.options.chat.old_reasoning;
  facts.tools = request.tools;
  facts.confirm_tool = call->agent.settings.confirm_tool;
  return facts;
}

void RunAnswer::refuse(const base::Error& error) const {
  protocol::chat::Frames frames;
  const bool in_stream =
      error.code == ErrorCode::conflict && protocol.show_refusal(facts({}, conversation, {}), error, frames);
  if (in_stream) return call->reply_stream(std::move(frames));
  call->refuse(error);
}

void RunAnswer::accepted(const engine::Accepted& accepted) {
  if (request.streams) return show({accepted.key, accepted.id, accepted.context}, accepted.before, {}, false);
  reply_whole(accepted);
}

void RunAnswer::show(const TaskNames& task, task::EventNumber before, std::optional<RunPosition> shown,
                     bool nothing_follows) const {
  const auto open = [self = shared_from_this(), task, before, shown,
                     nothing_follows](http::Waker waker) -> std::unique_ptr<http::StreamSource> {
    const Services& services = self->call->services;
    RunStream::Start start{task.key, task.id, before, shown, nothing_follows, nullptr, {}};
    start.view = self->protocol.view(self->facts(task.id, task.context, before));
    start.left = [&services, key = task.key, agent = self->call->agent.name, before] {
      services.engine.tasks().client_left(key, agent, before);
    };
    return std::make_unique<RunStream>(services, std::move(start), std::move(waker));
  };
  call->open_stream(open);
}

void RunAnswer::reply_whole(const engine::Accepted& accepted) {
  const engine::Engine& engine = call->services.engine;
  const auto stopped = [self = shared_from_this(), accepted](std::optional<engine::Stop> stop) {
    const base::Error still_running{ErrorCode::unavailable, "the run is still under way; ask again", {}};
    if (!stop) return self->call->refuse(still_running);
    const bool taken = self->call->services.readers.try_submit([self, accepted] {
      const auto head = self->call->services.engine.tasks().find(accepted.key);
      if (!head) return self->call->refuse(head.error());
      self->with_room(head->bytes, [self, accepted](AnswerBudget::SharePtr share) {
        self->reply_run(accepted, std::move(share));
      });
    });
    if (!taken) self->call->refuse({ErrorCode::overloaded, "too many answers are waiting; ask again", {}});
  };
  call->tasks().wait(accepted.key, accepted.before, engine.options().reply_wait, stopped);
}

// The last frame of a run that has stopped is its whole answer.
void RunAnswer::reply_run(const engine::Accepted& accepted, AnswerBudget::SharePtr share) const {
  const auto view = protocol.view(facts(accepted.id, accepted.context, accepted.before));
  protocol::chat::Frames frames;
  task::EventNumber position = accepted.before;
  for (bool over = false; !over;) {
    const auto events = call->tasks().events(accepted.key, position, kPage);
    if (!events) return call->refuse(events.error());
    if (events->empty()) break;
    for (const task::Event& event : *events) {
      frames.clear();
      std::optional<task::Event> changed;
      if (const task::Event* shown = task::without_repeated_reply(event, changed)) view->show(*shown, frames);
      position = event.number;
      const task::StatusChanged* status = task::status_in(event);
      over = status != nullptr && task::is_stopped(status->status.state);
      if (over) break;
    }
  }
  if (frames.empty()) return call->refuse({ErrorCode::internal, {}, "a run without an end"});
  call->reply(200, std::move(frames.all().back().data), std::move(share));
}

void RunAnswer::with_room(std::size_t log_bytes, std::function<void(AnswerBudget::SharePtr)> ready) const {
  AnswerBudget* const answers = call->services.answers;
  if (answers == nullptr || log_bytes <= kSmallLog) return ready(nullptr);
  answers->enter(
      call->caller.value, 2 * log_bytes,
      [self = shared_from_this(), ready = std::move(ready)](AnswerBudget::SharePtr share) {
        if (share) return ready(std::move(share));
        self->refuse({ErrorCode::overloaded, "too many large answers are on their way; ask again", {}});
      });
}

base::Result<void> RunAnswer::show_conversation(const std::vector<WaitingTask>& waiting) const {
  const bool has_none = request.history && request.history->empty();
  if (!has_none) {
    show_messages(nullptr, waiting, nullptr);
    return {};
  }
  auto said = said_in(call->tasks(), call->caller, call->agent.name, conversation);
  if (!said) return base::fail(said.error());
  const std::size_t bytes = said->bytes;
  with_room(bytes,
            [self = shared_from_this(), said = std::move(*said), waiting](AnswerBudget::SharePtr share) {
              self->show_messages(&said, waiting, std::move(share));
            });
  return {};
}

void RunAnswer::show_messages(const Said* said, const std::vector<WaitingTask>& waiting,
                              AnswerBudget::SharePtr share) const {
  std::vector<protocol::chat::Question> open;
  for (const WaitingTask& one : waiting) open.insert(open.begin(), one.question);
  std::vector<task::Message> messages;
  if (said != nullptr) {
    auto found = messages_of(call->tasks(), *said);
    if (!found) return refuse(found.error());
    messages = std::move(*found);
  }
  protocol::chat::Frames frames;
  protocol.show_conversation(facts({}, conversation, {}), said ? &messages : nullptr, open, frames);
  call->reply_stream(std::move(frames), std::move(share));
}

}  // namespace baton::server::chat

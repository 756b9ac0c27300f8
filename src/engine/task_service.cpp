#include "engine/task_service.h"

#include <algorithm>
#include <utility>

#include "base/id.h"
#include "engine/turn_ending.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

// Losing a race means deciding again; whoever loses this often has met something else.
constexpr int kTriesMax = 32;
constexpr int kWaitingMessagesMax = 1000;

// "text" and "text/plain" are the same mode (VERSIONS.md, trap 17).
std::string_view mode_of(std::string_view mode) {
  return mode == "text" ? "text/plain" : mode;
}

bool any_mode_matches(const std::vector<std::string>& wanted, const std::vector<std::string>& offered) {
  if (wanted.empty() || offered.empty()) return true;
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& mode) {
    return mode == "*/*" || std::any_of(offered.begin(), offered.end(), [&](const std::string& other) {
             return mode_of(mode) == mode_of(other) || other == "*/*";
           });
  });
}

}  // namespace

struct TaskService::Pending {
  task::Submission submission;
  task::TaskKey parent;
  std::function<void(base::Result<Accepted>)> done;
  int tries = 0;
};

struct TaskService::Wait {
  // What is let go of when the wait is over, which it may be before both are there.
  struct Handles {
    Feed::Subscription subscription;
    base::EventLoop::TimerId timer = 0;
    bool over = false;
  };
  std::function<void(std::optional<Stop>)> done;
  base::Guarded<Handles> handles;
};

TaskService::TaskService(store::TaskStore& store, Ledger& ledger, Feed& feed, Turns& turns,
                         const agents::Catalogue& catalogue, Background& background, const base::Clock& clock,
                         const EngineOptions& options)
    : store_(store),
      ledger_(ledger),
      feed_(feed),
      turns_(turns),
      catalogue_(catalogue),
      background_(background),
      clock_(clock),
      options_(options) {}

base::Result<void> TaskService::check(const task::Submission& submission) const {
  const agents::Agent* agent = catalogue_.find(submission.agent);
  if (!agent) return fail(ErrorCode::not_found, "no such agent");
  if (submission.message.parts.empty())
    return fail(ErrorCode::invalid_argument, "message.parts: must not be empty");
  for (const task::Part& part : submission.message.parts) {
    if (part.content.size() > options_.part_bytes_max) {
      return fail(ErrorCode::too_large,
                  "a part is larger than " + std::to_string(options_.part_bytes_max) + " bytes");
    }
  }
  if (!any_mode_matches(submission.accepted_output_modes, agent->card.default_output_modes)) {
    return fail(ErrorCode::content_type_not_supported, "the agent has none of the accepted output modes");
  }
  if (submission.push && !options_.push_enabled) {
    return fail(ErrorCode::push_not_supported, "push notifications are switched off");
  }
  return {};
}

void TaskService::submit(task::Submission submission, std::function<void(base::Result<Accepted>)> done) {
  submit_child({}, std::move(submission), std::move(done));
}

void TaskService::submit_child(task::TaskKey parent, task::Submission submission,
                               std::function<void(base::Result<Accepted>)> done) {
  if (auto checked = check(submission); !checked) return done(fail(std::move(checked.error())));
  submission.message.role = task::Role::user;
  if (submission.message.id.empty()) submission.message.id.value = base::make_uuid();
  attempt(std::make_shared<Pending>(Pending{std::move(submission), parent, std::move(done)}));
}

void TaskService::attempt(const PendingPtr& pending) {
  auto decision = decide(*pending);
  if (!decision) return pending->done(fail(std::move(decision.error())));
  if (decision->queues_turn && !turns_.scheduler().reserve()) {
    return pending->done(fail(ErrorCode::overloaded, "too many tasks are waiting; try again later"));
  }
  ledger_.commit(std::move(decision->change),
                 [this, pending, queues_turn = decision->queues_turn](base::Result<Ledger::Written> result) {
                   stored(pending, queues_turn, std::move(result));
                 });
}

base::Result<TaskService::Decision> TaskService::decide(Pending& pending) {
  const task::Submission& submission = pending.submission;
  if (submission.task.empty()) return create(pending);
  const auto head = store_.head({submission.caller, submission.agent, submission.task});
  if (head) return go_on(pending, *head);
  const bool creates =
      head.error().code == ErrorCode::task_not_found && submission.when_unknown == task::WhenUnknown::create;
  if (creates) return create(pending);
  return fail(head.error());
}

TaskService::Decision TaskService::create(const Pending& pending) const {
  const task::Submission& submission = pending.submission;
  Decision decision;
  decision.queues_turn = true;
  store::NewTask fresh;
  fresh.id = submission.task.empty() ? task::TaskId{base::make_uuid()} : submission.task;
  fresh.agent = submission.agent;
  fresh.caller = submission.caller;
  fresh.context = submission.context.empty() ? task::ContextId{base::make_uuid()} : submission.context;
  fresh.parent = pending.parent;
  fresh.metadata = submission.metadata;
  store::Change& change = decision.change;
  change.create = std::move(fresh);
  change.push = submission.push;
  change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, clock_.now()}, {}});
  change.events.push_back(task::MessageAdded{submission.message});
  change.request = store::TurnRequest{submission.metadata, submission.tools, submission.state};
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{1};
  change.turn->state = store::TurnState::queued;
  change.turn->message_is_new = true;
  return decision;
}

base::Result<TaskService::Decision> TaskService::go_on(const Pending& pending,
                                                       const store::TaskHead& head) const {
  const task::Submission& submission = pending.submission;
  const bool ended = task::is_terminal(head.state);
  if (ended && submission.when_ended == task::WhenEnded::refuse) {
    return fail(ErrorCode::unsupported, "the task has ended");
  }
  if (head.message_count >= options_.history_max) {
    return fail(ErrorCode::too_large,
                "a task may have " + std::to_string(options_.history_max) + " messages at most");
  }
  Decision decision;
  store::Change& change = decision.change;
  change.task = head.key;
  change.expected = head.version;
  change.push = submission.push;
  change.request = store::TurnRequest{submission.metadata, submission.tools, submission.state};
  change.turn.emplace();
  if (head.turn_state != store::TurnState::none) {
    if (head.waiting_messages >= kWaitingMessagesMax) {
      return fail(ErrorCode::overloaded, "too many messages are waiting for this task");
    }
    change.events.push_back(task::MessageAdded{submission.message});
    change.turn->waiting_messages = head.waiting_messages + 1;
    return decision;
  }
  decision.queues_turn = true;
  change.reopen = ended;
  // A reopened task must leave its terminal state before anything else can be added to its log.
  change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, clock_.now()}, {}});
  change.events.push_back(task::MessageAdded{submission.message});
  change.turn->turn = task::TurnNumber{head.turn.value + 1};
  change.turn->state = store::TurnState::queued;
  change.turn->attempt = 0;
  change.turn->message_is_new = true;
  change.turn->waiting_messages = 0;
  change.turn->cancel_requested = false;
  return decision;
}

void TaskService::stored(const PendingPtr& pending, bool queues_turn, base::Result<Ledger::Written> result) {
  if (result) {
    const store::TaskHead& head = result->head;
    if (queues_turn) turns_.scheduler().enqueue(head.key, head.agent);
    return pending->done(Accepted{head.key, head.id, head.context, result->before});
  }
  if (queues_turn) turns_.scheduler().release();
  const ErrorCode code = result.error().code;
  const bool lost_race = code == ErrorCode::conflict || code == ErrorCode::already_exists;
  if (!lost_race || ++pending->tries >= kTriesMax) return pending->done(fail(std::move(result.error())));
  background_.run([this, pending] { attempt(pending); });
}

void TaskService::wait(task::TaskKey task, task::EventNumber after, std::chrono::milliseconds bound,
                       std::function<void(std::optional<Stop>)> done) {
  begin_wait(task, after, bound, std::move(done));
}

TaskService::WaitPtr TaskService::begin_wait(task::TaskKey task, task::EventNumber after,
                                             std::chrono::milliseconds bound,
                                             std::function<void(std::optional<Stop>)> done) {
  const auto wait = std::make_shared<Wait>();
  wait->done = std::move(done);
  waits_.with([&](auto& waits) { waits[wait.get()] = wait; });
  // The registry, not the feed or the timer, owns the wait: their callbacks only point at it.
  const std::weak_ptr<Wait> weak = wait;
  const auto timer = background_.timers().after(bound, [this, weak] {
    if (const auto alive = weak.lock()) end_wait(alive, std::nullopt);
  });
  auto subscription = feed_.on_stop(task, after, [this, weak](Stop stop) {
    if (const auto alive = weak.lock()) end_wait(alive, stop);
  });
  const bool over = wait->handles.with([&](Wait::Handles& handles) {
    handles.timer = timer;
    if (!handles.over) handles.subscription = std::move(subscription);
    return handles.over;
  });
  if (over) background_.timers().cancel(timer);
  return wait;
}

void TaskService::end_wait(const WaitPtr& wait, std::optional<Stop> stop) {
  Feed::Subscription subscription;  // ends outside the lock
  base::EventLoop::TimerId timer = 0;
  const bool was_over = wait->handles.with([&](Wait::Handles& handles) {
    subscription = std::move(handles.subscription);
    timer = handles.timer;
    return std::exchange(handles.over, true);
  });
  if (was_over) return;
  background_.timers().cancel(timer);
  waits_.with([&](auto& waits) { waits.erase(wait.get()); });
  wait->done(stop);
}

void TaskService::release_waits() {
  std::vector<WaitPtr> left;
  waits_.with([&](auto& waits) {
    for (const auto& [address, wait] : waits) left.push_back(wait);
  });
  for (const auto& wait : left) end_wait(wait, std::nullopt);
}

void TaskService::cancel(const task::TaskRef& ref, std::function<void(base::Result<task::TaskKey>)> done) {
  const auto head = store_.head(ref);
  if (!head) return done(fail(head.error()));
  cancel_head(*head, 0, std::move(done));
}

void TaskService::cancel(task::TaskKey key, std::function<void(base::Result<task::TaskKey>)> done) {
  const auto head = store_.head(key);
  if (!head) return done(fail(head.error()));
  cancel_head(*head, 0, std::move(done));
}

void TaskService::cancel_head(const store::TaskHead& head, int tries,
                              std::function<void(base::Result<task::TaskKey>)> done) {
  if (task::is_terminal(head.state)) return done(fail(ErrorCode::not_cancelable, "the task has ended"));
  const bool running = head.turn_state == store::TurnState::running;
  if (running && head.cancel_requested) return await_cancel(head.key, head.last_event, std::move(done));
  store::Change change;
  change.task = head.key;
  change.expected = head.version;
  change.turn.emplace();
  change.turn->cancel_requested = true;
  if (!running) {
    change.turn->state = store::TurnState::none;
    change.turn->waiting_messages = 0;
    change.events.push_back(task::StatusChanged{{task::State::canceled, std::nullopt, clock_.now()}, {}});
  }
  ledger_.commit(std::move(change),
                 [this, head, tries, done = std::move(done)](base::Result<Ledger::Written> result) mutable {
                   if (result) return cancel_stored(head, std::move(*result), std::move(done));
                   if (result.error().code != ErrorCode::conflict || tries >= kTriesMax) {
                     return done(fail(std::move(result.error())));
                   }
                   background_.run([this, key = head.key, tries, done = std::move(done)]() mutable {
                     const auto again = store_.head(key);
                     if (!again) return done(fail(again.error()));
                     cancel_head(*again, tries + 1, std::move(done));
                   });
                 });
}

void TaskService::cancel_stored(const store::TaskHead& before, Ledger::Written written,
                                std::function<void(base::Result<task::TaskKey>)> done) {
  if (task::is_terminal(written.head.state)) {
    if (before.turn_state == store::TurnState::queued) turns_.scheduler().remove(before.key, before.agent);
    cancel_children(before.key);
    return done(before.key);
  }
  // Not only once its turn has ended: a tree of tasks would outgrow a cancel that goes down level by level.
  cancel_children(before.key);
  // From the commit callback no stop can be missed.
  await_cancel(before.key, written.head.last_event, std::move(done));
  if (turns_.cancel(before.key)) return;
  // No turn of it is at work here, whatever its head says: nobody else will end it.
  store::Change end;
  end.task = before.key;
  end.expected = written.head.version;
  end.events.push_back(task::StatusChanged{{task::State::canceled, std::nullopt, clock_.now()}, {}});
  end.turn.emplace();
  end.turn->state = store::TurnState::none;
  ledger_.commit(std::move(end), [](const base::Result<Ledger::Written>&) {});
}

void TaskService::await_cancel(task::TaskKey key, task::EventNumber after,
                               std::function<void(base::Result<task::TaskKey>)> done) {
  const auto waiting =
      begin_wait(key, after, options_.reply_wait, [key, done = std::move(done)](std::optional<Stop> stop) {
        if (stop && stop->state == task::State::canceled) return done(key);
        if (stop) return done(fail(ErrorCode::not_cancelable, "the task ended before it could be canceled"));
        done(fail(ErrorCode::unavailable, "the task has not ended yet; it will be canceled"));
      });
  // It may have stopped before the wait began.
  background_.run([this, key, waiting] {
    const auto head = store_.head(key);
    if (head && task::is_terminal(head->state)) end_wait(waiting, Stop{head->state, head->last_event});
  });
}

void TaskService::cancel_children(task::TaskKey parent) {
  background_.run([this, parent] {
    const auto children = store_.open_children(parent);
    if (!children) return;
    for (const store::TaskHead& child : *children) {
      cancel_head(child, 0, [](const base::Result<task::TaskKey>&) {});
    }
  });
}

void TaskService::set_push(const task::TaskRef& ref, task::PushConfig config,
                           std::function<void(base::Result<task::PushConfig>)> done) {
  if (!options_.push_enabled) {
    return done(fail(ErrorCode::push_not_supported, "push notifications are switched off"));
  }
  const auto head = store_.head(ref);
  if (!head) return done(fail(head.error()));
  store_.set_push(head->key, std::move(config), options_.push_configs_max, std::move(done));
}

base::Result<task::PushConfig> TaskService::push_config(const task::TaskRef& ref,
                                                        const task::PushConfigId& id) const {
  if (!options_.push_enabled)
    return fail(ErrorCode::push_not_supported, "push notifications are switched off");
  const auto head = store_.head(ref);
  if (!head) return fail(head.error());
  const auto configs = store_.push_configs(head->key);
  if (!configs) return fail(configs.error());
  for (const task::PushConfig& config : *configs) {
    if (id.empty() || config.id == id) return config;
  }
  return fail(ErrorCode::not_found, "the task has no such push config");
}

}  // namespace baton::engine

#include "clients.h"

#include <utility>

#include "plan_cases.h"

namespace baton::simulation {

using std::chrono::milliseconds;
using task::ProtocolVersion;

namespace {
constexpr int kPlansMax = 4;  // per client
}  // namespace

Client::Client(World& world, int number)
    : world_(world), random_(world.random), name_("c" + std::to_string(number)) {}

void Client::run() {
  while (!world_.calm()) {
    world_.fibers.sleep(Time(random_.below(world_.features.pause.count())));
    if (!world_.calm()) act();
  }
  --world_.clients_left;
}

void Client::act() {
  const Features& features = world_.features;
  const std::int64_t what = random_.below(100);
  if (book_.empty() || what < 35) return send_new();
  if (what < 45) return features.repeats ? send_again() : send_new();
  if (what < 60) return send_to_known();
  const Sent* sent = one_accepted();
  if (sent == nullptr) return send_new();
  if (what < 68) return wait(*sent);
  if (what < 76) return features.cancels ? cancel(*sent) : wait(*sent);
  if (what < 88) return features.follows ? follow(*sent) : read(*sent);
  if (what < 93) return read(*sent);
  if (what < 96) return features.webhooks ? set_webhook(*sent) : read(*sent);
  if (features.lists) list();
}

const Client::Sent* Client::one_accepted() {
  for (int tries = 0; tries < 4; ++tries) {
    const Sent& sent = book_[static_cast<std::size_t>(random_.below(std::ssize(book_)))];
    if (sent.accepted && !sent.accepted->hidden) return &sent;
  }
  return nullptr;
}

task::Submission Client::fresh(const std::string& agent) {
  task::Submission submission;
  submission.caller.value = name_;
  submission.agent.value = agent;
  submission.message.id.value = name_ + "-m" + std::to_string(++messages_);
  submission.message.parts.push_back(task::Part::of_text("please do it"));
  if (random_.chance(500)) submission.waits_for = task::WaitsFor::outcome;
  return submission;
}

void Client::send_plan() {
  task::Submission submission = fresh(random_.pick(plan_cases()).agent);
  submission.message.parts = plan_input(submission.agent.value, random_);
  book_.push_back({std::move(submission), {}, 0, false, false, 0});
  ++plans_;
  submit(book_.size() - 1);
}

// Answers the question that the plan asks now, if any. A message at any other time would begin another run.
void Client::answer_plan(const Sent& known) {
  static const std::vector<std::string> kAnswers{"yes", "no", "ok"};
  const task::TaskHead& head = world_.model.task(known.accepted->key).head();
  if (!task::is_waiting(head.state)) return;
  task::Submission submission = fresh(known.submission.agent.value);
  submission.task = known.accepted->id;
  submission.ask = head.ask;
  submission.message.parts = {task::Part::of_text(random_.pick(kAnswers))};
  book_.push_back({std::move(submission), {}, 0, false, false, 0});
  submit(book_.size() - 1);
}

void Client::send_new() {
  if (world_.features.plans && plans_ < kPlansMax && random_.chance(600)) return send_plan();
  static const std::vector<std::string> kAgents{"plain", "plain", "careful", "brief"};
  task::Submission submission = fresh(random_.pick(kAgents));
  bool may_reopen = false;
  if (world_.features.reopens && random_.chance(200)) {
    may_reopen = true;
    submission.task.value = name_ + "-t" + std::to_string(messages_);
    submission.origin = ProtocolVersion::v0_1;
    submission.when_unknown = task::WhenUnknown::create;
    submission.when_ended = task::WhenEnded::reopen;
  } else if (!contexts_.empty() && random_.chance(300)) {
    submission.context = random_.pick(contexts_);
  }
  submission.may_be_message = world_.features.messages && random_.chance(300);
  if (world_.features.webhooks && !submission.may_be_message && random_.chance(300)) {
    submission.push = world_.receivers.make_config();
  }
  book_.push_back({std::move(submission), {}, 0, false, may_reopen, 0});
  const std::size_t which = book_.size() - 1;
  if (world_.features.repeats && random_.chance(150)) repeat_beside(which);
  submit(which);
  const Sent& sent = book_[which];
  if (sent.accepted && sent.submission.waits_for == task::WaitsFor::outcome) wait(sent);
}

// Repeats a send while the first one may still be under way.
void Client::repeat_beside(std::size_t which) {
  ++world_.clients_left;
  world_.fibers.spawn([this, which] {
    world_.fibers.sleep(milliseconds(random_.below(10)));
    if (book_[which].under_way > 0) SOMETIMES(send_repeated_while_under_way);
    submit(which);
    --world_.clients_left;
  });
}

void Client::send_again() {
  const auto which = static_cast<std::size_t>(random_.below(std::ssize(book_)));
  if (book_[which].unknown) SOMETIMES(send_lost_and_repeated);
  submit(which);
}

// Sends an answer, or more work.
void Client::send_to_known() {
  const Sent* known = one_accepted();
  if (known == nullptr) return;
  if (plan_of(known->submission.agent.value) != nullptr) return answer_plan(*known);
  const bool may_reopen = known->may_reopen;
  task::Submission submission = fresh(known->submission.agent.value);
  submission.task = known->accepted->id;
  submission.origin = known->submission.origin;
  if (may_reopen) submission.when_ended = task::WhenEnded::reopen;
  book_.push_back({std::move(submission), {}, 0, false, may_reopen, 0});
  submit(book_.size() - 1);
}

void Client::submit(std::size_t which) {
  Sent& sent = book_[which];
  ++sent.under_way;
  const auto answer = call<Accepted>(
      world_, "send", [this, &sent](Process& process, const std::function<void(Accepted)>& done) {
        process.tasks().submit(sent.submission, [this, &sent, id = process.id(), done](Accepted accepted) {
          if (accepted) accept(sent, *accepted, id);
          done(std::move(accepted));
        });
      });
  --sent.under_way;
  if (!answer) {
    sent.unknown = true;
  } else if (!*answer) {
    if (answer->error().code == base::ErrorCode::overloaded) SOMETIMES(send_refused_as_overloaded);
    world_.fibers.note(static_cast<std::uint64_t>(answer->error().code));
  }
}

// Checks that the answer is true at the moment it is given.
void Client::accept(Sent& sent, const engine::Accepted& accepted, int process) {
  const Model& model = world_.model;
  model.acknowledged(accepted.key, accepted.after, "acknowledged");
  const auto& body = model.task(accepted.key).log[static_cast<std::size_t>(accepted.after.value) - 1].body;
  const auto* added = std::get_if<task::MessageAdded>(&body);
  if (added == nullptr || added->message.id != sent.submission.message.id) {
    world_.fibers.fail("a send was answered with another one's place: event " +
                       std::to_string(accepted.after.value) + told(model.task(accepted.key)));
  }
  if (sent.accepted && (sent.accepted->id != accepted.id || sent.accepted->after != accepted.after)) {
    world_.fibers.fail("a repeated send made another task: " + accepted.id.value);
  }
  if (sent.accepted && sent.process != process) SOMETIMES(send_repeated_after_restart);
  if (!sent.accepted) contexts_.push_back(accepted.context);
  if (sent.submission.push && !accepted.repeated) {
    world_.receivers.expect(sent.submission.push->url, accepted.key, accepted.before.value);
  }
  const task::TaskHead& head =
      model.task(accepted.key).log[static_cast<std::size_t>(accepted.after.value) - 1].head;
  if (head.waiting_messages > 0) SOMETIMES(message_waited_for_the_turn);
  if (!accepted.repeated && accepted.before.value > 0) {
    if (task::is_waiting(model.state_at(accepted.key, accepted.before))) SOMETIMES(question_answered);
  }
  sent.accepted = accepted;
  sent.process = process;
}

bool Client::is_gone(task::TaskKey key) const {
  if (!world_.model.is_gone(key)) return false;
  SOMETIMES(gone_task_asked_for);
  return true;
}

void Client::wait(const Sent& sent) {
  using Stop = std::optional<engine::Stop>;
  const engine::Accepted accepted = *sent.accepted;
  const milliseconds bound(random_.below(30'000));
  call<Stop>(
      world_, "wait", [this, accepted, bound](Process& process, const std::function<void(Stop)>& done) {
        process.reader().await_stop(accepted.key, accepted.before, bound, [this, accepted, done](Stop stop) {
          if (stop) {
            if (world_.model.state_at(accepted.key, stop->number) != stop->state) {
              world_.fibers.fail("a wait was told a state that the task did not have");
            }
            for (std::int64_t before = accepted.before.value + 1; before < stop->number.value; ++before) {
              const auto& event = world_.model.task(accepted.key).log[static_cast<std::size_t>(before) - 1];
              const auto* status = std::get_if<task::StatusChanged>(&event.body);
              if (status && task::is_stopped(status->status.state)) {
                world_.fibers.fail("a wait was told a later stop than the first");
              }
            }
          }
          done(stop);
        });
      });
}

void Client::cancel(const Sent& sent) {
  using Canceled = base::Result<task::TaskKey>;
  const task::TaskKey key = sent.accepted->key;
  if (plan_of(sent.submission.agent.value) != nullptr) world_.model.note_cancel(key);
  const bool reopens = sent.may_reopen;
  call<Canceled>(
      world_, "cancel", [this, key, reopens](Process& process, const std::function<void(Canceled)>& done) {
        const task::TaskHead head = world_.model.task(key).head();
        process.engine().cancels().cancel(key, [this, key, reopens, head, done](Canceled canceled) {
          const Model::Task& task = world_.model.task(key);
          if (canceled && !reopens && task.durable_state() != task::State::canceled) {
            world_.fibers.fail("a cancel was confirmed for a task that is " +
                               std::string(name_of(task.durable_state())));
          }
          if (canceled && head.turn_state == task::TurnState::queued) SOMETIMES(canceled_while_queued);
          if (canceled && head.turn_state == task::TurnState::running) SOMETIMES(canceled_while_running);
          if (!canceled && head.turn_state == task::TurnState::running) SOMETIMES(cancel_came_too_late);
          done(std::move(canceled));
        });
      });
}

void Client::read(const Sent& sent) {
  using Task = base::Result<task::Task>;
  const task::TaskRef ref{sent.submission.caller, sent.submission.agent, sent.accepted->id};
  const task::TaskKey key = sent.accepted->key;
  call<Task>(world_, "read", [this, ref, key](Process& process, const std::function<void(Task)>& done) {
    const Time began = world_.fibers.now();
    const std::int64_t least = world_.model.told_of(key);
    auto task = process.reader().read(ref, task::Depth{std::nullopt, true});
    if (world_.fibers.now() - began > milliseconds(1)) SOMETIMES(read_waited_for_the_flush);
    if (!task && is_gone(key)) return done(std::move(task));
    if (!task) world_.fibers.fail("an acknowledged task cannot be read: " + task.error().for_caller);
    if (task->last_event.value < least && !world_.features.power_cuts)
      world_.fibers.fail("a read shows less than was told before");
    if (world_.model.state_at(key, task->last_event) != task->status.state) {
      world_.fibers.fail("a read shows a state that the task did not have");
    }
    done(std::move(task));
  });
}

void Client::list() {
  using Page = base::Result<store::ListPage>;
  task::ListFilter filter;
  filter.caller.value = name_;
  filter.agent.value = "plain";
  call<Page>(world_, "list", [this, filter](Process& process, const std::function<void(Page)>& done) {
    auto page = process.reader().list(filter);
    if (!page) world_.fibers.fail("a list cannot be read: " + page.error().for_caller);
    for (const task::TaskHead& head : page->heads) {
      if (head.caller != filter.caller) world_.fibers.fail("a list shows another caller's task");
      if (world_.model.state_at(head.key, head.last_event) != head.state) {
        world_.fibers.fail("a list shows a state that the task did not have");
      }
      SOMETIMES(list_told);
    }
    done(std::move(page));
  });
}

void Client::set_webhook(const Sent& sent) {
  using Config = base::Result<task::PushConfig>;
  const task::TaskRef ref{sent.submission.caller, sent.submission.agent, sent.accepted->id};
  const task::TaskKey key = sent.accepted->key;
  const task::PushConfig config = world_.receivers.make_config();
  call<Config>(world_, "set webhook",
               [this, ref, key, config](Process& process, const std::function<void(Config)>& done) {
                 process.engine().push().set(ref, config, [this, key, config, done](Config set) {
                   if (set) world_.receivers.expect(config.url, key, std::ssize(world_.model.task(key).log));
                   done(std::move(set));
                 });
               });
}

// Follows the task for a while, or to its end. Resumes a cut stream after the last event that it has seen.
void Client::follow(const Sent& sent) {
  struct Stream {
    std::int64_t last = 0;
    bool cut = false, ended = false, has_news = true;
    Fibers::WaitList news;
  };
  const task::TaskKey key = sent.accepted->key;
  const auto stream = std::make_shared<Stream>();
  const bool to_the_end = random_.chance(500) && !sent.may_reopen;
  int process_before = 0;
  for (std::int64_t left = random_.between(1, 4); (left > 0 || to_the_end) && !stream->ended; --left) {
    stream->cut = false;
    const auto body = [this, key, stream, &process_before](Process& process,
                                                           const std::function<void(bool)>& done) {
      if (stream->last > 0) SOMETIMES(stream_cut_and_resumed);
      if (stream->last > 0 && process_before != process.id()) SOMETIMES(stream_resumed_after_restart);
      process_before = process.id();
      stream->has_news = true;
      const auto wake = [stream] {
        stream->has_news = true;
        fibers().wake_all(stream->news);
      };
      const auto subscription = process.engine().live().subscribe(key, wake);
      const std::int64_t limit = random_.between(1, 40);
      while (!stream->cut && !stream->ended && !process.stopping()) {
        if (!stream->has_news) {
          world_.fibers.wait(stream->news,
                             world_.fibers.now() + std::chrono::seconds(process.stopping() ? 0 : 5));
          // Nothing wakes this stream when the process stops. It polls, as a server does.
          if (!stream->has_news) continue;
        }
        stream->has_news = false;
        while (!stream->cut && !stream->ended) {
          const auto events = process.reader().events(key, {stream->last}, static_cast<int>(limit));
          if ((!events || events->empty()) && is_gone(key)) {
            stream->ended = true;
            break;
          }
          if (!events) world_.fibers.fail("a stream cannot be read: " + events.error().for_caller);
          if (events->empty()) break;
          for (const task::Event& event : *events) {
            world_.model.shown(key, event, stream->last);
            stream->last = event.number.value;
            const auto* status = task::status_in(event);
            stream->ended = status && task::is_terminal(status->status.state);
          }
        }
      }
      done(true);
    };
    const auto cut = [stream] {
      stream->cut = true;
      fibers().wake_all(stream->news);
    };
    const auto patience = world_.calm() ? std::chrono::hours(1) : milliseconds(random_.below(5'000));
    if (!call<bool>(world_, "follow", body, patience, cut)) world_.fibers.sleep(milliseconds(50));
    if (to_the_end && left < -20) break;
  }
}

}  // namespace baton::simulation

#include "engine/operators/operator_actions.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/error_names.h"
#include "base/loggable.h"
#include "engine/decide/kinds/note_retry.h"
#include "engine/decide/kinds/order_deliveries.h"
#include "engine/decide/kinds/requeue.h"
#include "engine/decide/kinds/rerun_lost_turn.h"
#include "engine/turns/turn_log.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kLostLogPage = 500;
// The first page nearly always has the request: it follows the status that begins the work, and operators'
// actions.
constexpr int kRequestPage = 4;

// The budget of a task that began at `began`, for a task that begins now, with the same amount of time.
std::shared_ptr<const task::Budget> budget_anew(const task::Budget* budget, base::Timestamp began) {
  if (budget == nullptr) return nullptr;
  task::Budget anew = *budget;
  if (anew.until) anew.wall = std::max(*anew.until - began, base::Duration(0));
  anew.until.reset();
  return std::make_shared<const task::Budget>(std::move(anew));
}

}  // namespace

// An action in progress, shared by its callbacks.
struct OperatorActions::Act {
  task::TaskKey task;
  task::AuditEntry entry;
  Done done;
};

OperatorActions::OperatorActions(store::OperatorStore& store, const TaskReader& reader, Inbox& inbox,
                                 TaskService& tasks, Cancels& cancels, TurnRunner& turns,
                                 const agents::Catalogue& catalogue, Background& background,
                                 store::Peers* peers)
    : store_(store),
      reader_(reader),
      inbox_(inbox),
      tasks_(tasks),
      cancels_(cancels),
      turns_(turns),
      catalogue_(catalogue),
      background_(background),
      peers_(peers) {}

base::Result<void> OperatorActions::check(const Actor& actor) {
  if (actor.name.empty()) return fail(ErrorCode::invalid_argument, "the operator's name is required");
  if (actor.reason.empty() || actor.reason.size() > kReasonMax) {
    return fail(ErrorCode::invalid_argument,
                "reason: is required, with at most " + std::to_string(kReasonMax) + " bytes");
  }
  return {};
}

// Returns null if the action was refused because of its actor or reason.
OperatorActions::ActPtr OperatorActions::make_act(const char* action, task::TaskKey key, Actor actor,
                                                  Done done) const {
  if (auto checked = check(actor); !checked) {
    done(fail(std::move(checked.error())));
    return nullptr;
  }
  auto act = std::make_shared<Act>();
  act->task = key;
  act->entry.actor = std::move(actor.name);
  act->entry.action = action;
  act->entry.reason = std::move(actor.reason);
  act->entry.job = actor.job;
  act->done = std::move(done);
  return act;
}

// Runs `read` on a background thread, because it reads the store.
void OperatorActions::read_first(const ActPtr& act, std::function<void()> read) {
  if (background_.run(std::move(read))) return;
  act->done(fail(ErrorCode::unavailable, "the server is stopping; try again"));
}

// Posts a decision, and reports its outcome as the action's.
void OperatorActions::post(const ActPtr& act, Decision decision) {
  decision.done = [this, act, then = std::move(decision.done)](base::Result<Written> written) {
    if (!written) return refuse(act, std::move(written.error()));
    if (then) then(written);
    act->done(std::move(written->head));
  };
  inbox_.post(std::move(decision));
}

// Records the refusal in the audit, if it can be written, and reports it.
void OperatorActions::refuse(const ActPtr& act, base::Error error) {
  if (act->entry.job && base::may_pass(error)) return act->done(fail(std::move(error)));
  task::AuditEntry entry = act->entry;
  entry.outcome = base::name_of(error.code);
  if (!entry.task) entry.task = act->task;
  entry.detail = error.for_caller;
  inbox_.write([this, entry = std::move(entry)] { return store_.write(entry); },
               [act, error = std::move(error)](const base::Result<void>& written) {
                 // A job relies on the row, so it must try again if that is missing.
                 const bool lacks_row = !written && act->entry.job;
                 act->done(lacks_row ? fail(ErrorCode::unavailable, "the refusal could not be recorded",
                                            written.error().for_log)
                                     : fail(error));
               });
}

void OperatorActions::cancel(task::TaskKey key, Actor actor, Done done) {
  const ActPtr act = make_act("cancel", key, std::move(actor), std::move(done));
  if (!act) return;
  cancels_.cancel(key, std::make_shared<const task::AuditEntry>(act->entry),
                  [this, act](base::Result<task::TaskHead> head) {
                    if (!head) return refuse(act, std::move(head.error()));
                    act->done(std::move(head));
                  });
}

// Sends on behalf of the task's caller.
void OperatorActions::send(const ActPtr& act, const task::TaskHead& head, task::Submission submission) {
  submission.caller = head.caller;
  submission.agent = head.agent;
  submission.origin = head.origin;
  submission.message.id.value = base::make_uuid();  // it repeats no send
  submission.audit = std::make_shared<const task::AuditEntry>(act->entry);
  tasks_.submit(std::move(submission), [this, act](const base::Result<Accepted>& accepted) {
    if (!accepted) return refuse(act, accepted.error());
    if (accepted->key != act->task) note_retry(act, accepted->key);
    background_.run([this, act, key = accepted->key] { act->done(reader_.head(key)); });
  });
}

void OperatorActions::retry(task::TaskKey key, std::optional<Edited> edited, Actor actor, Done done) {
  const ActPtr act = make_act("retry", key, std::move(actor), std::move(done));
  if (!act) return;
  read_first(act, [this, act, edited = std::move(edited)]() mutable { send_again(act, std::move(edited)); });
}

void OperatorActions::send_again(const ActPtr& act, std::optional<Edited> edited) {
  const auto head = reader_.head(act->task);
  if (!head) return refuse(act, head.error());
  // The job may have recorded its tasks long ago.
  if (act->entry.job) {
    const auto line = store_.line(act->task);
    if (line && line->retried_as)
      return refuse(act, {ErrorCode::conflict,
                          "it was already retried as task " + std::to_string(line->retried_as.value),
                          {}});
  }
  const auto request = find_request(*head);
  if (!request) return refuse(act, request.error());
  auto input = reader_.turn_input(act->task, request->number);
  if (!input) return refuse(act, input.error());
  task::Submission submission;
  if (edited) {
    const std::vector<task::Part>& own = input->message.parts;
    for (const auto& [place, part] : edited->kept) {
      if (place >= edited->message.parts.size() || part >= own.size())
        return refuse(act, {ErrorCode::invalid_argument,
                            "message.parts: the task's message has no part " + std::to_string(part),
                            {}});
      edited->message.parts[place] = own[part];
    }
  }
  submission.message = edited ? std::move(edited->message) : std::move(input->message);
  task::Json& of_request = input->request.metadata;
  submission.metadata = std::move(of_request.empty() ? input->task_metadata : of_request);
  submission.tools = std::move(input->request.tools);
  submission.state = std::move(input->request.client_state);
  submission.extensions = std::move(input->request.extensions);
  submission.hops = std::move(input->request.hops);
  submission.history = std::move(input->request.history);
  submission.budget = budget_anew(head->budget.get(), request->at);
  act->entry.task = head->key;
  act->entry.agent = head->agent;
  act->entry.caller = head->caller;
  act->entry.id = head->id;
  send(act, *head, std::move(submission));
}

// The message that began the task's work: its first one, or the one that last reopened it. Answers to its
// questions, and messages added while it worked, do not belong to a request.
base::Result<task::Event> OperatorActions::find_request(const task::TaskHead& head) const {
  task::EventNumber before;  // the end after which it was reopened
  if (head.message_count > 1) {
    for (auto stop = reader_.stop_after(head.key, {});;
         stop = reader_.stop_after(head.key, (*stop)->number)) {
      if (!stop) return fail(stop.error());
      if (!*stop || (task::is_terminal(head.state) && (*stop)->number == head.status_event)) break;
      if (task::is_terminal((*stop)->state)) before = (*stop)->number;
    }
  }
  while (true) {
    auto events = reader_.events(head.key, before, kRequestPage);
    if (!events) return fail(events.error());
    if (events->empty()) return fail(ErrorCode::unsupported, "the task has no message to resend");
    for (task::Event& event : *events) {
      const auto* added = std::get_if<task::MessageAdded>(&event.body);
      if (added != nullptr && added->message.role == task::Role::user) return std::move(event);
    }
    before = events->back().number;
  }
}

base::Result<task::EventNumber> OperatorActions::request_event(const task::TaskHead& head) const {
  const auto request = find_request(head);
  if (!request) return fail(request.error());
  return request->number;
}

// Records the new task in the log of the task that was retried. The new task's log names the old one in any
// case.
void OperatorActions::note_retry(const ActPtr& act, task::TaskKey made) {
  Decision decision(NoteRetry{act->task, act->entry, made});
  decision.done = [](const base::Result<Written>& written) {
    if (!written) spdlog::warn("cannot record a retry in the task's log: {}", written.error().for_log);
  };
  inbox_.post(std::move(decision));
}

void OperatorActions::answer(task::TaskKey key, task::Message message, std::string ask, Actor actor,
                             Done done) {
  const ActPtr act = make_act("answer", key, std::move(actor), std::move(done));
  if (!act) return;
  read_first(act, [this, act, message = std::move(message), ask = std::move(ask)]() mutable {
    pass_on(act, std::move(message), std::move(ask));
  });
}

void OperatorActions::pass_on(const ActPtr& act, task::Message message, std::string ask) {
  const auto head = reader_.head(act->task);
  if (!head) return refuse(act, head.error());
  if (!task::is_waiting(head->state))
    return refuse(act, {ErrorCode::conflict, "the task is not waiting for an answer", {}});
  task::Submission submission;
  submission.task = head->id;
  submission.message = std::move(message);
  // Refused if another answer comes first.
  submission.ask = ask.empty() ? head->ask : std::move(ask);
  send(act, *head, std::move(submission));
}

void OperatorActions::requeue(task::TaskKey key, Actor actor, Done done) {
  const ActPtr act = make_act("requeue", key, std::move(actor), std::move(done));
  if (!act) return;
  const auto requeue = std::make_shared<Requeue>(Requeue{key, act->entry, turns_.self(), catalogue_});
  Decision decision(requeue);
  decision.committed = [this, requeue](const store::Committed& committed) {
    const task::TaskHead& head = committed.head;
    turns_.clear_suspicion(head.key);
    if (head.turn_state == task::TurnState::running) return;
    requeue->is_elsewhere ? turns_.take_over(head) : turns_.schedule(head);
  };
  decision.done = [this](const base::Result<Written>& written) {
    forget_deaths(written->head.key);
    begin_again(written->head);
  };
  post(act, std::move(decision));
}

// Forgets the deaths of the program that the task's turn was blamed for.
void OperatorActions::forget_deaths(task::TaskKey task) {
  inbox_.write(
      [this, task] {
        store::CrashCounts counts;
        counts.turns.emplace_back().task = task;
        return store_.write(counts);
      },
      [](const base::Result<void>& written) {
        if (!written) spdlog::warn("cannot reset the crash counter of a turn: {}", written.error().for_log);
      });
}

void OperatorActions::begin_again(const task::TaskHead& head) {
  if (head.turn_state != task::TurnState::running || turns_.break_off(head.key)) return;
  background_.run([this, head] { revive(head); });
}

// Requeues a turn that does not run here although the task's head says so. Its output so far is read from the
// log.
void OperatorActions::revive(const task::TaskHead& lost) {
  auto log = read_turn_log(
      lost, [&](task::EventNumber after) { return reader_.committed_events(lost.key, after, kLostLogPage); });
  if (!log) return spdlog::warn("cannot read a task that was requeued: {}", log.error().for_log);
  Decision decision(RerunLostTurn{lost.key, lost.turn, lost.attempt, std::move(log->shown)});
  // If another node had the turn, it abandons it, and this node receives the results of its children.
  decision.committed = [this](const store::Committed& committed) { turns_.take_over(committed.head); };
  decision.done = [](const base::Result<Written>&) {};
  inbox_.post(std::move(decision));
}

void OperatorActions::resend(task::TaskKey key, Actor actor, Done done) {
  const ActPtr act = make_act("resend", key, std::move(actor), std::move(done));
  if (act) order(act, {task::DeliveryOrder::Kind::resend, 0});
}

void OperatorActions::resend(store::DeliveryKey delivery, Actor actor, Done done) {
  order("resend", delivery, task::DeliveryOrder::Kind::resend, std::move(actor), std::move(done));
}

void OperatorActions::skip(task::TaskKey key, Actor actor, Done done) {
  const ActPtr act = make_act("skip", key, std::move(actor), std::move(done));
  if (act) order(act, {task::DeliveryOrder::Kind::skip, 0});
}

void OperatorActions::skip(store::DeliveryKey delivery, Actor actor, Done done) {
  order("skip", delivery, task::DeliveryOrder::Kind::skip, std::move(actor), std::move(done));
}

void OperatorActions::order(const char* action, store::DeliveryKey delivery, task::DeliveryOrder::Kind kind,
                            Actor actor, Done done) {
  const ActPtr act = make_act(action, {}, std::move(actor), std::move(done));
  if (!act) return;
  read_first(act, [this, act, delivery, kind] {
    const auto line = store_.delivery(delivery);
    if (!line) return refuse(act, line.error());
    act->task = line->task;
    act->entry.detail = std::to_string(delivery.value);
    order(act, {kind, delivery.value});
  });
}

void OperatorActions::order(const ActPtr& act, task::DeliveryOrder what) {
  post(act, Decision(OrderDeliveries{act->task, act->entry, what}));
}

// Switches of agents, which all nodes apply, and of nodes.

namespace {

base::Result<void> check_scale(const OperatorActions::Scale& scale) {
  if (!scale.workers && !scale.concurrency)
    return fail(ErrorCode::invalid_argument, "workers or concurrency is required");
  const auto check = [](const char* name, const std::optional<int>& value, int most) -> base::Result<void> {
    if (!value || (*value >= 0 && *value <= most)) return {};
    return fail(ErrorCode::invalid_argument, std::string(name) + ": must be 0 to " + std::to_string(most));
  };
  if (auto good = check("workers", scale.workers, OperatorActions::kWorkersMax); !good) return good;
  return check("concurrency", scale.concurrency, OperatorActions::kConcurrencyMax);
}

bool is_same(const store::AgentControl& a, const store::AgentControl& b) {
  return a.paused == b.paused && a.workers == b.workers && a.concurrency == b.concurrency;
}

// For the audit.
std::string text_of(const OperatorActions::Scale& scale) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<int>& value) {
    if (!value) return;
    text.append(text.empty() ? "" : ", ").append(name).append(" ");
    text.append(*value == 0 ? "as in the card" : std::to_string(*value));
  };
  add("workers", scale.workers);
  add("concurrency", scale.concurrency);
  return text;
}

}  // namespace

base::Result<void> OperatorActions::start() {
  const auto controls = store_.agent_controls();
  if (!controls) return fail(controls.error());
  for (const store::AgentControl& control : *controls) {
    seen_.insert_or_assign(control.agent, control);
    if (control.workers > 0 || control.concurrency > 0) {
      spdlog::info("agent={} scaled by an operator: workers={} concurrency={} (0: as in its card)",
                   base::loggable_word(control.agent.value), control.workers, control.concurrency);
      turns_.scales().set(control.agent, control.workers, control.concurrency);
    }
    if (!control.paused) continue;
    spdlog::info("agent={} paused by {}", base::loggable_word(control.agent.value),
                 base::loggable(control.actor));
    turns_.scheduler().set_paused(control.agent, true);
  }
  return {};
}

void OperatorActions::look() {
  const std::int64_t own = own_switches_;
  const auto controls = store_.agent_controls();
  // If this node has switched an agent meanwhile, what was read may be older.
  if (!controls || own != own_switches_) return;
  // What this node has switched is not in `seen_`, and another node may have switched it back.
  if (std::exchange(looked_after_, own) != own) seen_.clear();
  for (const store::AgentControl& control : *controls) {
    const auto seen = seen_.find(control.agent);
    if (seen != seen_.end() && is_same(seen->second, control)) continue;
    seen_.insert_or_assign(control.agent, control);
    turns_.scheduler().set_paused(turns_.slots_of(control.agent), control.paused);
    turns_.scales().set(control.agent, control.workers, control.concurrency);
  }
}

void OperatorActions::pause(const task::AgentName& agent, Actor actor, Switched done) {
  set_paused(agent, true, actor, std::move(done));
}

void OperatorActions::resume(const task::AgentName& agent, Actor actor, Switched done) {
  set_paused(agent, false, actor, std::move(done));
}

void OperatorActions::set_paused(const task::AgentName& agent, bool paused, const Actor& actor,
                                 Switched done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  task::AuditEntry entry;
  entry.actor = actor.name;
  entry.action = paused ? "pause" : "resume";
  entry.reason = actor.reason;
  entry.agent = agent;
  const store::AgentControl control{agent, paused, actor.name, actor.reason, {}};
  const auto then = [this, agent, paused] { turns_.scheduler().set_paused(turns_.slots_of(agent), paused); };
  write_switch(control, std::move(entry), then, std::move(done));
}

void OperatorActions::scale(const task::AgentName& agent, Scale scale, Actor actor, Switched done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  if (auto checked = check_scale(scale); !checked) return done(fail(std::move(checked.error())));
  task::AuditEntry entry;
  entry.actor = actor.name;
  entry.action = "scale";
  entry.reason = actor.reason;
  entry.agent = agent;
  entry.detail = text_of(scale);
  if (scale.workers && !turns_.scales().has_workers(agent)) {
    const base::Error error{
        ErrorCode::conflict, "the agent has no worker processes: set concurrency instead", {}};
    entry.outcome = base::name_of(error.code);
    return inbox_.write([this, entry] { return store_.write(entry); },
                        [error, done = std::move(done)](const base::Result<void>&) { done(fail(error)); });
  }
  const auto then = [this, agent, scale] { turns_.scales().set(agent, scale.workers, scale.concurrency); };
  write_switch(store::AgentScale{agent, scale.workers, scale.concurrency, actor.name, actor.reason},
               std::move(entry), then, std::move(done));
}

// Asks the node first: the audit must not report success before the node is sure to receive the request. If
// it is this node, the row is still written before the node ends.
void OperatorActions::drain(store::NodeId node, Actor actor, Switched done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  const auto act = [this, node, actor = std::move(actor), done] {
    task::AuditEntry entry;
    entry.actor = actor.name;
    entry.action = "drain";
    entry.reason = actor.reason;
    entry.detail = "node " + std::to_string(node.value);
    auto asked = ask_to_drain(node, entry.detail);
    if (!asked) entry.outcome = base::name_of(asked.error().code);
    inbox_.write([this, entry = std::move(entry)] { return store_.write(entry); },
                 [asked = std::move(asked), done](const base::Result<void>& written) {
                   done(asked ? written : asked);
                 });
  };
  if (!background_.run(act)) done(fail(ErrorCode::unavailable, "the server is stopping; try again"));
}

// Adds the node's name to `shown`, because its number means little once it is gone.
base::Result<void> OperatorActions::ask_to_drain(store::NodeId node, std::string& shown) {
  if (peers_ == nullptr) {
    return fail(
        ErrorCode::conflict,
        "no other node shares the store, so no node could take over the tasks: stop the server instead");
  }
  const auto nodes = peers_->nodes();
  if (!nodes) return fail(nodes.error());
  const auto found = std::ranges::find(*nodes, node, &store::Node::id);
  if (found == nodes->end()) return fail(ErrorCode::not_found, "node not found");
  shown.append(", ").append(found->name);
  return peers_->ask_to_drain(node);
}

// Calls `then` once the switch is stored.
void OperatorActions::write_switch(store::OperatorWrite what, task::AuditEntry entry,
                                   std::function<void()> then, Switched done) {
  auto write = [this, what = std::move(what), entry = std::move(entry)]() -> base::Result<void> {
    if (auto switched = store_.write(what); !switched) return switched;
    return store_.write(entry);
  };
  inbox_.write(std::move(write),
               [this, then = std::move(then), done = std::move(done)](base::Result<void> written) {
                 if (written) {
                   then();
                   ++own_switches_;
                 }
                 done(std::move(written));
               });
}

}  // namespace baton::engine

#include "model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "marks.h"
#include "plan_agents.h"
#include "plan_cases.h"

namespace baton::simulation {
namespace {

// The most events of a task: no simulated agent says so much, and no plan takes so many turns.
constexpr std::int64_t kEventsMax = 5'000;

std::uint64_t print_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

// The agent's output in this event, or null.
const std::string* text_in(const task::EventBody& body) {
  if (const auto* delta = std::get_if<task::TextDelta>(&body)) return &delta->text;
  if (const auto* span = std::get_if<task::ReasoningDelta>(&body)) return &span->text;
  if (const auto* chunk = std::get_if<task::ArtifactChunk>(&body)) {
    return chunk->artifact.parts.empty() ? nullptr : &chunk->artifact.parts.front().content;
  }
  return nullptr;
}

[[noreturn]] void broken(const std::string& what) {
  fibers().fail(what);
  std::abort();  // not reached
}

std::string place(const task::TaskHead& head, task::EventNumber number) {
  return "task " + std::to_string(head.key.value) + ", event " + std::to_string(number.value) + ": ";
}

}  // namespace

std::string told(const Model::Task& task) {
  std::string text = "\n  task " + std::to_string(task.head().key.value) + " of " + task.head().agent.value;
  for (const Model::Event& event : task.log) {
    const std::string* said = text_in(event.body);
    text += "\n    " + std::to_string(event.body.index()) + " " + std::string(name_of(event.state)) +
            " message " + std::to_string(event.head.turn_message.value) + " turn " +
            std::to_string(event.head.turn.value) + "/" + std::to_string(event.head.attempt) + " " +
            (said != nullptr ? *said : std::string());
    if (const auto* child = std::get_if<task::Subagent>(&event.body)) {
      text += child->id + " phase " + std::to_string(static_cast<int>(child->phase)) + " child " +
              std::to_string(child->task.value) + " " + child->call + " " + child->error;
    }
  }
  const task::TaskHead& head = task.head();
  return text + "\n    its turn's state is " + std::to_string(static_cast<int>(head.turn_state)) +
         ", it awaits " + std::to_string(head.awaited);
}

std::string piece(const std::string& turn, int attempt, int number) {
  return turn + "/" + std::to_string(attempt) + ":" + std::to_string(number) + " ";
}

std::uint64_t fingerprint(const task::Event& event) {
  std::uint64_t hash = mixed(event.body.index(), static_cast<std::uint64_t>(event.number.value));
  hash = mixed(hash, static_cast<std::uint64_t>(base::to_ms(event.at)));
  if (const auto* status = task::status_in(event)) {
    hash = mixed(hash, static_cast<std::uint64_t>(status->status.state));
    if (status->status.message) hash = mixed(hash, print_of(text_of(*status->status.message)));
  }
  if (const auto* added = std::get_if<task::MessageAdded>(&event.body)) {
    hash = mixed(hash, print_of(added->message.id.value));
  }
  if (const std::string* text = text_in(event.body)) hash = mixed(hash, print_of(*text));
  return hash;
}

void Model::applied(const store::Committed& committed, bool reopens) {
  group_.emplace_back(Applied{committed, reopens});
}

void Model::committed() {
  const auto group = std::exchange(group_, {});
  std::set<std::int64_t> begun_to_wait;
  for (const auto& one : group) {
    if (const auto* applied = std::get_if<Applied>(&one)) {
      commit(*applied, begun_to_wait);
    } else {
      commit(std::get<Removed>(one));
    }
  }
  // Marks a child's end that was stored in one group with the end of the parent's turn that waits for the
  // child.
  for (const auto& one : group) {
    const auto* applied = std::get_if<Applied>(&one);
    if (applied == nullptr) continue;
    const task::TaskHead& head = applied->committed.head;
    if (task::is_terminal(head.state) && begun_to_wait.contains(head.parent.value)) {
      SOMETIMES(child_ended_in_the_waits_group);
    }
  }
}

void Model::commit(const Applied& one, std::set<std::int64_t>& begun_to_wait) {
  const task::TaskHead& head = one.committed.head;
  Task& task = tasks_[head.key.value];
  if (task.gone) broken(place(head, head.last_event) + "was written after the task was removed");
  const task::TaskHead before = task.log.empty() ? task::TaskHead() : task.head();
  for (const task::EventPtr& event : one.committed.events) {
    if (event->number.value > kEventsMax) broken(place(head, event->number) + "it goes on for ever");
    if (event->number.value != std::ssize(task.log) + 1) {
      broken(place(head, event->number) + "the log has " + std::to_string(task.log.size()) + " events");
    }
    check_end(task, *event, one.reopens);
    const task::State state_before = task.log.empty() ? task::State::submitted : task.log.back().state;
    if (!task.log.empty()) check_speaker(task, before, *event);
    const auto* status = task::status_in(*event);
    const task::State state =
        status ? status->status.state : (task.log.empty() ? task::State::submitted : task.log.back().state);
    task.log.push_back({fingerprint(*event), event->body, state, before, head});
    fibers().note(task.log.back().print);
    if (std::holds_alternative<task::Withdrawn>(event->body)) SOMETIMES(output_withdrawn);
    if (status && !status->status.asked_by.empty()) SOMETIMES(childs_question_shown);
    const bool goes_on = status && state == task::State::working && task::is_waiting(state_before);
    if (goes_on && one.committed.events.size() == 1) SOMETIMES(childs_question_withdrawn);
    check_answer(task);
    const bool failed = status && status->status.message && state == task::State::failed;
    if (failed && text_of(*status->status.message) == "the agent was interrupted by a restart") {
      SOMETIMES(failed_by_restart);
    }
    if (status && state == task::State::canceled && head.parent) check_cancel(head, state_before);
  }
  if (task.log.empty()) broken("a task without an event");
  keys_[head.id.value] = head.key;
  task.log.back().head = head;
  if (before.key) check_attempt(before, head);
  const bool waits = head.turn_state == task::TurnState::waiting;
  if (waits && before.turn_state == task::TurnState::running) begun_to_wait.insert(head.key.value);
  if (before.turn_state == task::TurnState::waiting && head.turn_state == task::TurnState::queued) {
    SOMETIMES(waited_and_was_woken);
    check_wake(before, head, one.committed);
    if (std::exchange(task.waited_at_kill, false)) SOMETIMES(waited_across_a_kill);
  }
  unflushed_.insert(head.key.value);
}

// Only a restart adds an attempt to a turn. A turn that waited continues as the first attempt of the next
// turn; a turn that was broken off runs again as the same attempt.
void Model::check_attempt(const task::TaskHead& before, const task::TaskHead& head) const {
  using task::TurnState;
  const bool runs = head.turn_state == TurnState::running;
  int expected = before.attempt;
  if (head.turn != before.turn) {
    expected = runs ? 1 : 0;
  } else if (before.turn_state != TurnState::running && runs) {
    ++expected;
  } else if (before.turn_state == TurnState::running && head.turn_state == TurnState::waiting) {
    --expected;
  } else if (before.turn_state == TurnState::running && head.turn_state == TurnState::queued) {
    return;  // broken off by its agent or by a restart
  }
  // A turn that an operator requeued may run again as the same attempt.
  const bool is_again = requeued_.contains(head.key.value) && head.attempt == before.attempt;
  if (head.attempt != expected && !is_again) {
    broken(place(head, head.last_event) + "is attempt " + std::to_string(head.attempt) + " and not " +
           std::to_string(expected));
  }
}

// Checks the last event of the log, if it answers a child's question: no question is answered twice.
void Model::check_answer(const Task& task) const {
  const auto* passed = std::get_if<task::Subagent>(&task.log.back().body);
  if (passed == nullptr || passed->phase != task::Subagent::Phase::passed) return;
  SOMETIMES(childs_question_answered);
  if (plan_of(task.head().agent.value) != nullptr) {
    SOMETIMES(plan_question_answered);
    if (task.asked_at_kill) SOMETIMES(plan_answered_across_a_kill);
  }
  for (const Event& event : std::span(task.log).first(task.log.size() - 1)) {
    const auto* one = std::get_if<task::Subagent>(&event.body);
    if (one == nullptr || one->phase != passed->phase || one->id != passed->id) continue;
    if (one->after == passed->after) broken(place(task.head(), {}) + "a child's question was answered twice");
  }
}

// A child that its parent's turn awaits must not be canceled.
void Model::check_cancel(const task::TaskHead& child, task::State before) const {
  SOMETIMES(child_canceled);
  const auto found = tasks_.find(child.parent.value);
  // A child that waits for its caller is canceled by that caller. It may have its answer before the cancel is
  // decided.
  if (found == tasks_.end() || task::is_waiting(before) || canceled_.contains(child.key.value)) return;
  const Task& parent = found->second;
  const task::TaskHead& head = parent.head();
  // A plan cancels what it does not need (plan_checks.h).
  if (plan_of(head.agent.value) != nullptr) return;
  if (head.awaited == 0 || head.cancel_requested) return;
  bool is_open = false;
  std::string id;
  for (const Event& event : parent.log) {
    const auto* one = std::get_if<task::Subagent>(&event.body);
    if (one == nullptr || one->phase == task::Subagent::Phase::passed) continue;
    // Children delegated before the turn's message are not awaited: the task has ended since.
    if (event.head.turn_message != head.turn_message) continue;
    if (one->task == child.key) {
      id = one->id;
      is_open = true;
    } else if (one->id == id) {
      is_open = false;
    }
  }
  if (is_open) broken(place(child, child.last_event) + "a child was canceled that is awaited" + told(parent));
}

std::map<std::string, task::TaskKey> Model::delegated(task::TaskKey parent) const {
  std::map<std::string, task::TaskKey> all;
  const Task& known = task(parent);
  for (const Event& event : known.log) {
    const auto* one = std::get_if<task::Subagent>(&event.body);
    const bool begins = one != nullptr && one->phase == task::Subagent::Phase::started;
    if (!begins || event.before.turn_message != known.head().turn_message) continue;
    all[one->call] = one->task;
    if (one->is_detached) all.erase(one->call);
  }
  return all;
}

bool Model::is_awaited(task::TaskKey parent, const std::string& call) const {
  const auto& log = task(parent).log;
  const Event* opened = nullptr;
  bool is_open = false;
  for (const Event& event : log) {
    const auto* one = std::get_if<task::Subagent>(&event.body);
    if (one == nullptr || one->phase == task::Subagent::Phase::passed) continue;
    if (one->phase == task::Subagent::Phase::started && one->call == call) {
      opened = &event;
      is_open = true;
    } else if (opened != nullptr && one->id == std::get<task::Subagent>(opened->body).id) {
      // A child that stopped in this turn counts as awaited: the agent may know of its end or not.
      is_open = event.head.turn == task(parent).head().turn;
    }
  }
  return is_open;
}

// A waiting turn continues for one of its reasons only, and not earlier.
void Model::check_wake(const task::TaskHead& before, const task::TaskHead& head,
                       const store::Committed& committed) const {
  const task::Waits& waits = before.waits;
  const bool is_time = waits.until && wall_time(fibers().now() + clocks_ahead_) >= *waits.until;
  bool failed = before.child_failed;
  for (const task::EventPtr& event : committed.events) {
    const auto* child = std::get_if<task::Subagent>(&event->body);
    failed = failed || (child != nullptr && child->phase == task::Subagent::Phase::failed);
  }
  const bool few = head.awaited <= waits.open_max || (head.awaited == 0 && !waits.until);
  if (is_time && !few) SOMETIMES(woken_by_the_time);
  if (few && head.awaited > 0) SOMETIMES(woken_beside_children);
  if (waits.on_failure && failed && !few) SOMETIMES(woken_by_a_failure);
  // A canceled plan is woken to undo what it has done.
  const bool is_again = requeued_.contains(head.key.value);
  if (!is_time && !few && !(waits.on_failure && failed) && !head.cancel_requested && !is_again) {
    broken(place(head, head.last_event) + "went on without a reason");
  }
}

void Model::note_kill() {
  for (auto& [key, task] : tasks_) {
    task.waited_at_kill = task.head().turn_state == task::TurnState::waiting;
    task.asked_at_kill = task::is_waiting(task.head().state);
  }
}

// A task ends once, and once more after each reopening.
void Model::check_end(const Task& task, const task::Event& event, bool reopens) const {
  if (task.log.empty() || !task::is_terminal(task.log.back().state)) return;
  const auto* status = task::status_in(event);
  const bool opens = status && status->status.state == task::State::submitted && reopens;
  if (!opens) broken(place(task.head(), event.number) + "comes after the task's end");
  SOMETIMES(task_reopened);
}

// Only the running attempt's output is stored: all of it, in order.
void Model::check_speaker(const Task& task, const task::TaskHead& before, const task::Event& event) const {
  const std::string* text = text_in(event.body);
  if (text == nullptr || text->empty()) return;
  // The output of plans and of their steps is checked when they have ended.
  if (is_step_agent(before.agent.value) || plan_of(before.agent.value) != nullptr) return;
  const std::string where = place(before, event.number);
  long key = 0, turn = 0, attempt = 0, number = 0, last = 0;
  unsigned long long id = 0;
  for (std::size_t at = 0; at < text->size(); at = text->find(' ', at) + 1) {
    const int read =
        std::sscanf(text->c_str() + at, "t%ld-%ld-%llu/%ld:%ld", &key, &turn, &id, &attempt, &number);
    if (read != 5) broken(where + "unknown output " + *text);
    if (key != before.key.value || turn != before.turn.value || attempt != before.attempt ||
        before.turn_state != task::TurnState::running) {
      broken(where + "output of a turn that is not running: " + *text);
    }
    if (last != 0 && number != last + 1) broken(where + "output is missing or out of order: " + *text);
    last = number;
  }
  // Finds the piece before: the newest output of the same attempt.
  const long first = last - static_cast<long>(std::count(text->begin(), text->end(), ' ')) + 1;
  long said = 0;
  for (auto earlier = task.log.rbegin(); earlier != task.log.rend() && said == 0; ++earlier) {
    const auto& head = earlier->before;
    // A turn that runs again as the same attempt counts from 1 again.
    const bool begins = std::holds_alternative<task::Withdrawn>(earlier->body) ||
                        (std::holds_alternative<task::StatusChanged>(earlier->body) &&
                         head.turn_state != task::TurnState::running);
    if (begins || head.turn.value != turn || head.attempt != attempt) break;
    const std::string* spoken = text_in(earlier->body);
    if (spoken == nullptr || spoken->empty()) continue;
    const std::size_t colon = spoken->rfind(':');
    said = std::stol(spoken->substr(colon + 1));
  }
  if (first != said + 1) {
    broken(where + "output " + std::to_string(said + 1) + " is missing: " + *text + told(task));
  }
}

void Model::flushed() {
  gone_unflushed_.clear();
  for (const std::int64_t key : std::exchange(unflushed_, {})) {
    Task& task = tasks_[key];
    task.durable = std::ssize(task.log);
    task.durable_head = task.head();
  }
}

void Model::lose_unflushed() {
  group_.clear();
  for (const std::int64_t key : std::exchange(gone_unflushed_, {})) {
    tasks_[key].gone = tasks_[key].erased = false;
    SOMETIMES(removal_lost_with_the_power);
  }
  for (const std::int64_t key : std::exchange(unflushed_, {})) {
    Task& task = tasks_[key];
    if (std::ssize(task.log) > task.durable) {
      SOMETIMES(power_lost_events);
      if (plan_of(task.head().agent.value) != nullptr) SOMETIMES(plan_lost_events_with_the_power);
    }
    task.log.resize(static_cast<std::size_t>(task.durable));
    if (task.durable > 0)
      task.log.back().head = task.durable_head;
    else
      tasks_.erase(key);
  }
}

const Model::Task& Model::task(task::TaskKey key) const {
  const auto found = tasks_.find(key.value);
  if (found == tasks_.end()) broken("task " + std::to_string(key.value) + " was shown and is not there");
  return found->second;
}

task::TaskKey Model::key_of(const std::string& id) const {
  const auto found = keys_.find(id);
  if (found == keys_.end()) broken("task " + id + " was shown and is not there");
  return found->second;
}

void Model::shown(task::TaskKey key, const task::Event& event, std::int64_t last) const {
  const Task& known = task(key);
  const std::string where = place(known.head(), event.number);
  if (event.number.value != last + 1) {
    broken(where + "shown after event " + std::to_string(last));
  }
  if (event.number.value > known.durable) broken(where + "shown before it was durable");
  if (fingerprint(event) != known.log[static_cast<std::size_t>(event.number.value) - 1].print) {
    broken(where + "shown otherwise than the log has it");
  }
  fibers().note(static_cast<std::uint64_t>(event.number.value));
  note_told(key, event.number);
}

void Model::acknowledged(task::TaskKey key, task::EventNumber last, const char* what) const {
  const Task& known = task(key);
  if (last.value > known.durable) {
    broken(place(known.head(), last) + what + " before it was durable");
  }
  fibers().note(static_cast<std::uint64_t>(key.value));
  note_told(key, last);
}

void Model::note_told(task::TaskKey key, task::EventNumber last) const {
  std::int64_t& told = told_[key.value];
  told = std::max(told, last.value);
}

task::State Model::state_at(task::TaskKey key, task::EventNumber event) const {
  acknowledged(key, event, "shown");
  return task(key).log[static_cast<std::size_t>(event.value) - 1].state;
}

}  // namespace baton::simulation

#include "engine/read/task_reader.h"

#include <algorithm>
#include <utility>

#include "task/fold.h"

namespace baton::engine {
namespace {

using base::Result;

constexpr std::size_t kQuickReadMax = 64 << 10;
// Waits with close deadlines expire together, because each expiry scans all waits.
constexpr std::chrono::milliseconds kExpiryStep{50};
constexpr std::chrono::milliseconds kReadAgain{250};  // after a read that failed

task::Task fold(const LiveLog& log, const task::Depth& depth, std::optional<task::EventNumber> as_of) {
  const std::int64_t last = as_of ? std::max<std::int64_t>(as_of->value, 0) : log.head.last_event.value;
  const auto count = std::min(static_cast<std::size_t>(last), log.events.size());
  task::Fold fold(depth, log.head.created, task::known_of(log.head, log.metadata));
  for (std::size_t i = 0; i < count; ++i) fold.add(log.events[i]);
  return std::move(fold).take();
}

bool is_small_and_whole(const LiveLogPtr& log) {
  return log && log->whole && log->head.bytes <= kQuickReadMax;
}

// Whether the log has no replies and no messages, except the user's from event `unanswered` on.
bool nothing_said(const LiveLog& log, task::EventNumber unanswered) {
  return std::ranges::all_of(log.events, [&](const task::EventPtr& event) {
    const bool replies = std::holds_alternative<task::TextDelta>(event->body);
    const task::Message* message = task::message_in(event->body);
    const bool waits = message != nullptr && message->role == task::Role::user && event->number >= unanswered;
    return !replies && (message == nullptr || waits);
  });
}

}  // namespace

// Returns what was read once it is durable.
template <class T>
Result<T> TaskReader::durable(task::TaskKey key, Result<T> read) const {
  if (live_.is_changing(key)) inbox_.settle_reads();
  return read;
}

LiveLogPtr TaskReader::current(LiveLogPtr log) const {
  return peers_ == nullptr || peers_->is_alone() ? log : nullptr;
}

Result<task::TaskHead> TaskReader::head(task::TaskKey key) const {
  if (const LiveLogPtr log = current(live_.log(key))) return log->head;
  auto row = durable(key, store_.row(key));
  if (!row) return base::fail(std::move(row.error()));
  return std::move(row->head);
}

Result<task::TaskHead> TaskReader::head(const task::TaskRef& ref) const {
  const LiveLogPtr log = current(live_.log(ref));
  auto head = log ? Result<task::TaskHead>(log->head) : store_.find(ref);
  if (head && head->hidden) return base::fail(base::ErrorCode::task_not_found, "task not found");
  if (head && !log && live_.is_changing(head->key)) inbox_.settle_reads();
  return head;
}

Result<task::Task> TaskReader::read(task::TaskKey key, const task::Depth& depth,
                                    std::optional<task::EventNumber> as_of) const {
  LiveLogPtr log = live_.log(key);
  if (!as_of) log = current(std::move(log));
  const bool is_there =
      log && log->whole && log->head.bytes <= depth.bytes_max && (!as_of || *as_of <= log->head.last_event);
  if (is_there) return fold(*log, depth, as_of);
  return durable(key, store_.read(key, depth, as_of));
}

Result<task::Task> TaskReader::read(const task::TaskRef& ref, const task::Depth& depth) const {
  const auto found = head(ref);
  if (!found) return base::fail(found.error());
  return read(found->key, depth);
}

bool TaskReader::is_quick_to_read(task::TaskKey key, std::optional<task::EventNumber> as_of) const {
  LiveLogPtr log = live_.log(key);
  const bool has_it = log && as_of && *as_of <= log->head.last_event;
  return is_small_and_whole(has_it ? std::move(log) : current(std::move(log)));
}

bool TaskReader::is_quick_to_read(const task::TaskRef& ref) const {
  return is_small_and_whole(current(live_.log(ref)));
}

Result<std::vector<task::Event>> TaskReader::events(task::TaskKey key, task::EventNumber after,
                                                    int limit) const {
  LiveLogPtr log = live_.log(key);
  // The store may have more events than the log.
  if (log && log->head.last_event <= after) log = current(std::move(log));
  if (!log || !log->covers(after)) return durable(key, store_.events(key, after, limit));
  std::vector<task::Event> events;
  for (const task::EventPtr& event : log->after(after, static_cast<std::size_t>(std::max(limit, 0)))) {
    events.push_back(*event);
  }
  return events;
}

Result<std::optional<Stop>> TaskReader::stop_after(task::TaskKey key, task::EventNumber number) const {
  const LiveLogPtr log = live_.log(key);
  if (log && log->covers(number)) {
    const auto stop = log->stop_after(number);
    if (stop || current(log)) return stop;
  }
  return durable(key, store_.stop_after(key, number));
}

Result<task::EventNumber> TaskReader::stop_before(task::TaskKey key, task::EventNumber number) const {
  const LiveLogPtr log = live_.log(key);
  const bool is_there = log && log->whole && (number <= log->head.last_event || current(log));
  if (!is_there) return durable(key, store_.stop_before(key, number));
  task::EventNumber last;
  for (auto stop = log->stop_after({}); stop && stop->number < number; stop = log->stop_after(last)) {
    last = stop->number;
  }
  return last;
}

void TaskReader::await_stop(task::TaskKey key, task::EventNumber after, std::chrono::milliseconds bound,
                            LiveTasks::OnStop done) const {
  const TimePoint deadline = base::SteadyTime::now() + bound;
  const LiveTasks::Wait wait = live_.await_stop(key, after, deadline, std::move(done));
  if (wait.id == 0) return;
  if (deadline < expires_at_.load()) expire_at(deadline);
  if (!wait.knows_past) look_for_stop(wait, after);
}

void TaskReader::look_for_stop(const LiveTasks::Wait& wait, task::EventNumber after) const {
  background_.run([this, wait, after] {
    const auto stop = stop_after(wait.task, after);
    if (stop) return live_.resolve_past(wait, *stop);
    background_.timers().after(kReadAgain, [this, wait, after] { look_for_stop(wait, after); });
  });
}

void TaskReader::changed_elsewhere(task::TaskKey task, task::EventNumber last) const {
  for (const auto& [wait, after] : live_.changed_elsewhere(task, last)) look_for_stop(wait, after);
}

void TaskReader::expire_at(TimePoint when) const {
  expires_at_ = when;
  const auto delay = std::chrono::ceil<std::chrono::milliseconds>(when - base::SteadyTime::now());
  background_.timers().after(delay, [this] { expire(); });
}

void TaskReader::expire() const {
  expires_at_ = TimePoint::max();
  const TimePoint now = base::SteadyTime::now();
  if (const auto next = live_.expire_waits(now)) expire_at(std::max(*next, now + kExpiryStep));
}

Result<store::ListPage> TaskReader::list(const task::ListFilter& filter) const {
  auto page = store_.list(filter);
  inbox_.settle_reads();
  return page;
}

Result<store::Opening> TaskReader::opening(const task::ContextRef& context) const {
  auto opening = store_.opening(context);
  inbox_.settle_reads();
  return opening;
}

Result<std::vector<task::PushConfig>> TaskReader::configs(task::TaskKey task) const {
  return durable(task, deliveries_.configs(task));
}

Result<std::vector<store::Delivery>> TaskReader::due_deliveries(base::Timestamp now, int limit) const {
  auto due = deliveries_.due_deliveries(now, limit);
  inbox_.settle_reads();
  return due;
}

Result<store::TurnInput> TaskReader::turn_input(task::TaskKey key, task::EventNumber message) const {
  const LiveLogPtr log = live_.log(key);
  const auto index = static_cast<std::size_t>(message.value - 1);
  if (!log || !log->whole || message.value < 1 || index >= log->events.size()) {
    return store_.turn_input(key, message);
  }
  const auto* added = std::get_if<task::MessageAdded>(&log->events[index]->body);
  if (added == nullptr) return store_.turn_input(key, message);
  store::TurnInput input{log->metadata, added->message, {}};
  // The request of the change that the message came with.
  const auto with = std::ranges::find_if(log->requests, [&](const LiveLog::Request& one) {
    return one.first <= message && message <= one.last;
  });
  if (with != log->requests.end()) input.request = *with->request;
  return input;
}

Result<store::ContextRecord> TaskReader::context(const task::TaskHead& head, int limit) const {
  const LiveLogPtr log = current(live_.alone_in(head.context_key));
  const bool is_all = log && log->head.key == head.key && !live_.is_changing(head.key);
  if (!is_all || !nothing_said(*log, head.turn_message)) {
    return store_.context(head.context_key, head.key, head.turn_message, limit);
  }
  store::ContextRecord record;
  for (const task::EventPtr& event : log->events) {
    if (const std::string* id = task::taken_id_in(event->body)) record.call_ids.push_back(*id);
  }
  return record;
}

}  // namespace baton::engine

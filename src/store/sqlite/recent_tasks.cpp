#include "store/sqlite/recent_tasks.h"

#include <algorithm>
#include <span>
#include <utility>

namespace baton::store::sqlite {
namespace {

constexpr std::size_t kLogEventsMax = 64;
constexpr std::size_t kLargestShare = 2;
// Bytes of an entry besides its content.
constexpr std::size_t kTaskBytes = 1'024;
// Evicted keys that may remain in `order` before it is cleaned up.
constexpr std::size_t kGoneMax = 1'024;

// Ids are nearly always distinct; agent and caller matter only for ids that callers choose.
std::size_t name_of(const task::AgentName& agent, const task::Caller& caller, const task::TaskId& id) {
  const std::hash<std::string> hash;
  return hash(id.value) * 31 + hash(caller.value) * 7 + hash(agent.value);
}

std::size_t name_of(const task::TaskHead& head) {
  return name_of(head.agent, head.caller, head.id);
}

std::size_t weight_of(const Committed& committed) {
  std::size_t bytes = 0;
  for (const task::EventPtr& event : committed.events) bytes += task::weight_of(event->body) + sizeof *event;
  return bytes;
}

std::size_t weight_of(const std::optional<task::TurnRequest>& request) {
  if (!request) return 0;
  std::size_t bytes =
      request->metadata.text.size() + request->tools.text.size() + request->client_state.text.size();
  if (request->history) {
    for (const task::Message& message : *request->history) bytes += task::weight_of(message);
  }
  return bytes;
}

// The first events, up to one.
std::span<const task::EventPtr> up_to(const std::vector<task::EventPtr>& events,
                                      std::optional<task::EventNumber> last) {
  const auto count = last ? static_cast<std::size_t>(std::max<std::int64_t>(last->value, 0)) : events.size();
  return std::span(events).first(std::min(count, events.size()));
}

}  // namespace

// Large tasks are read as often as small ones, but one must not evict all others.
bool RecentTasks::is_kept(std::size_t bytes, std::size_t events) const {
  return bytes <= bytes_max_ / kLargestShare && events <= kLogEventsMax;
}

void RecentTasks::created(const Committed& committed, task::Json metadata,
                          std::optional<task::TurnRequest> request) {
  const task::TaskHead& head = committed.head;
  const std::size_t bytes = weight_of(committed) + metadata.text.size() + weight_of(request) + kTaskBytes;
  auto log = std::make_shared<Log>();
  log->head = head;
  log->metadata = std::move(metadata);
  log->events = committed.events;
  if (!committed.events.empty()) log->created = committed.events.front()->at;
  add_request(*log, committed, std::move(request));
  std::vector<LogPtr> dropped;  // destroyed outside the lock
  state_.with([&](State& state) {
    change_is_over(state, head.key);
    state.alone.erase(head.context_key);
    if (!is_kept(bytes, log->events.size())) return;
    if (committed.new_context) state.alone.emplace(head.context_key, head.key);
    state.order.push_back(head.key);
    state.by_name.insert_or_assign(name_of(head), head.key);
    state.tasks.emplace(head.key, Entry{std::move(log), bytes});
    state.bytes += bytes;
    while (state.bytes > bytes_max_ && !state.order.empty()) {
      dropped.push_back(forget(state, state.order.front()));
      state.order.pop_front();
    }
    const bool mostly_gone = state.order.size() > 2 * state.tasks.size() + kGoneMax;
    if (mostly_gone)
      std::erase_if(state.order, [&](task::TaskKey key) { return !state.tasks.contains(key); });
  });
}

void RecentTasks::advanced(const Committed& committed, std::optional<task::TurnRequest> request) {
  const task::TaskHead& head = committed.head;
  const LogPtr old = state_.with([&](State& state) {
    const auto found = state.tasks.find(head.key);
    if (found != state.tasks.end()) return found->second.log;
    change_is_over(state, head.key);
    return LogPtr();
  });
  if (!old) return;
  const std::size_t more = weight_of(committed) + weight_of(request);
  auto log = std::make_shared<Log>(*old);
  log->head = head;
  log->events.insert(log->events.end(), committed.events.begin(), committed.events.end());
  add_request(*log, committed, std::move(request));
  forget_histories(*log);
  LogPtr dropped;
  state_.with([&](State& state) {
    change_is_over(state, head.key);
    const auto found = state.tasks.find(head.key);
    if (found == state.tasks.end()) return;
    Entry& entry = found->second;
    if (!is_kept(entry.bytes + more, log->events.size())) {
      dropped = forget(state, head.key);
      return;
    }
    entry.bytes += more;
    state.bytes += more;
    dropped = std::exchange(entry.log, std::move(log));
  });
}

void RecentTasks::add_request(Log& log, const Committed& committed,
                              std::optional<task::TurnRequest> request) {
  const bool says_nothing =
      !request || (request->metadata.empty() && request->tools.empty() && request->client_state.empty() &&
                   request->extensions.empty() && !request->history);
  if (says_nothing || committed.events.empty()) return;
  log.requests.push_back({committed.events.front()->number, committed.events.back()->number,
                          std::make_shared<const task::TurnRequest>(std::move(*request))});
}

// As on disk, a client's history is kept only until its turn has ended.
void RecentTasks::forget_histories(Log& log) {
  for (Request& one : log.requests) {
    const bool is_over = log.head.turn_state == task::TurnState::none || one.last < log.head.turn_message;
    if (!is_over || !one.request->history) continue;
    auto rest = std::make_shared<task::TurnRequest>(*one.request);
    rest->history.reset();
    one.request = std::move(rest);
  }
}

// Returns the log, to be destroyed outside the lock.
RecentTasks::LogPtr RecentTasks::forget(State& state, task::TaskKey key) {
  const auto found = state.tasks.find(key);
  if (found == state.tasks.end()) return nullptr;
  LogPtr log = std::move(found->second.log);
  const task::TaskHead& head = log->head;
  state.bytes -= found->second.bytes;
  const auto named = state.by_name.find(name_of(head));
  if (named != state.by_name.end() && named->second == key) state.by_name.erase(named);
  const auto alone = state.alone.find(head.context_key);
  if (alone != state.alone.end() && alone->second == key) state.alone.erase(alone);
  state.tasks.erase(found);
  return log;
}

void RecentTasks::changing(task::TaskKey key) {
  state_.with([&](State& state) { ++state.changing[key]; });
}

void RecentTasks::unchanged(task::TaskKey key) {
  state_.with([&](State& state) { change_is_over(state, key); });
}

void RecentTasks::change_is_over(State& state, task::TaskKey key) {
  const auto found = state.changing.find(key);
  if (--found->second == 0) state.changing.erase(found);
}

bool RecentTasks::is_changing(task::TaskKey key) const {
  return state_.with([&](const State& state) { return state.changing.contains(key); });
}

RecentTasks::LogPtr RecentTasks::known(const State& state, task::TaskKey key) {
  const auto found = state.tasks.find(key);
  return found == state.tasks.end() || state.changing.contains(key) ? LogPtr() : found->second.log;
}

RecentTasks::LogPtr RecentTasks::find_past(task::TaskKey key) const {
  return state_.with([&](const State& state) {
    const auto found = state.tasks.find(key);
    return found == state.tasks.end() ? LogPtr() : found->second.log;
  });
}

RecentTasks::LogPtr RecentTasks::find(task::TaskKey key) const {
  return state_.with([&](const State& state) { return known(state, key); });
}

std::optional<task::TaskHead> RecentTasks::head(task::TaskKey key) const {
  const LogPtr log = find(key);
  return log ? std::optional(log->head) : std::nullopt;
}

std::optional<task::TaskHead> RecentTasks::head(const task::TaskRef& ref) const {
  const std::size_t name = name_of(ref.agent, ref.caller, ref.id);
  const LogPtr log = state_.with([&](const State& state) {
    const auto found = state.by_name.find(name);
    return found == state.by_name.end() ? LogPtr() : known(state, found->second);
  });
  const bool is_it =
      log && log->head.id == ref.id && log->head.caller == ref.caller && log->head.agent == ref.agent;
  return is_it ? std::optional(log->head) : std::nullopt;
}

std::optional<task::Task> RecentTasks::read(task::TaskKey key, const task::Depth& depth,
                                            std::optional<task::EventNumber> as_of) const {
  const LogPtr past = as_of ? find_past(key) : LogPtr();
  const bool is_enough = past && *as_of <= past->head.last_event;
  const LogPtr log = is_enough ? past : find(key);
  if (!log || log->head.bytes > depth.bytes_max) return std::nullopt;
  task::Task task = task::fold(up_to(log->events, as_of), depth, log->created);
  task.id = log->head.id;
  task.context = log->head.context;
  task.origin = log->head.origin;
  task.hidden = log->head.hidden;
  task.metadata = log->metadata;
  return task;
}

std::optional<std::vector<task::Event>> RecentTasks::events(task::TaskKey key, task::EventNumber after,
                                                            int limit) const {
  const LogPtr log = find(key);
  if (!log) return std::nullopt;
  const std::size_t from = up_to(log->events, after).size();
  const std::size_t count = std::min(log->events.size() - from, static_cast<std::size_t>(std::max(limit, 0)));
  std::vector<task::Event> events;
  events.reserve(count);
  for (std::size_t i = 0; i < count; ++i) events.push_back(*log->events[from + i]);
  return events;
}

std::optional<TurnInput> RecentTasks::turn_input(task::TaskKey key, task::EventNumber message) const {
  const LogPtr log = find_past(key);
  const auto index = static_cast<std::size_t>(message.value - 1);
  if (!log || message.value < 1 || index >= log->events.size()) return std::nullopt;
  const auto* added = std::get_if<task::MessageAdded>(&log->events[index]->body);
  if (added == nullptr) return std::nullopt;
  TurnInput input{log->metadata, added->message, {}};
  // The request of the change that the message came with.
  const auto with = std::ranges::find_if(
      log->requests, [&](const Request& one) { return one.first <= message && message <= one.last; });
  if (with != log->requests.end()) input.request = *with->request;
  return input;
}

RecentTasks::LogPtr RecentTasks::find_alone(task::ContextKey context) const {
  return state_.with([&](const State& state) {
    const auto alone = state.alone.find(context);
    return alone == state.alone.end() ? LogPtr() : known(state, alone->second);
  });
}

std::optional<std::vector<std::string>> RecentTasks::call_ids(task::ContextKey context) const {
  const LogPtr log = find_alone(context);
  if (!log) return std::nullopt;
  std::vector<std::string> ids;
  for (const task::EventPtr& event : log->events) {
    if (const std::string* id = task::taken_id_in(event->body)) ids.push_back(*id);
  }
  return ids;
}

std::optional<std::vector<task::Message>> RecentTasks::conversation(task::ContextKey context,
                                                                    task::TaskKey task,
                                                                    task::EventNumber unanswered) const {
  const LogPtr log = find_alone(context);
  if (!log || log->head.key != task) return std::nullopt;
  const bool nothing_said = std::ranges::all_of(log->events, [&](const task::EventPtr& event) {
    const bool replies = std::holds_alternative<task::TextDelta>(event->body);
    const task::Message* message = task::message_in(event->body);
    const bool waits = message != nullptr && message->role == task::Role::user && event->number >= unanswered;
    return !replies && (message == nullptr || waits);
  });
  return nothing_said ? std::optional(std::vector<task::Message>{}) : std::nullopt;
}

}  // namespace baton::store::sqlite

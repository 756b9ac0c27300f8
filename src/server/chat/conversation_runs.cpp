#include "server/chat/conversation_runs.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "server/chat/conversation.h"

namespace baton::server::chat {
namespace {

using base::fail;
using base::Result;

constexpr int kFirstEvents = 16;
constexpr int kHeadsAtOnce = 50;
// Of runs that are over and that ids must name, those past this number are shown, not in the snapshot.
constexpr std::size_t kShownAgainAfter = 60;
// At least so many of the runs ahead are returned at once.
constexpr std::size_t kAheadMin = 8;

// Calls `look` with the events of a run until it returns false or the log ends.
template <class F>
Result<void> each_event_after(const engine::TaskReader& reader, task::TaskKey key, task::EventNumber position,
                              F&& look) {
  while (true) {
    const auto events = reader.events(key, position, kFirstEvents);
    if (!events) return fail(events.error());
    if (events->empty()) return {};
    for (const task::Event& event : *events) {
      if (!look(event)) return {};
    }
    position = events->back().number;
  }
}

bool begins(const task::Event& event) {
  const task::StatusChanged* status = task::status_in(event);
  return status != nullptr && status->status.state != task::State::submitted;
}

bool is_before(const FoundRun& one, const FoundRun& other) {
  return std::tie(one.began, one.key, one.name.before) < std::tie(other.began, other.key, other.name.before);
}

// Adds the task's runs that began after `floor`, until there are more than `most` runs. Those that have not
// begun are added to `waiting`, with the task's key and the position before them.
using Cuts = std::unordered_map<task::TaskKey, task::EventNumber>;
Result<void> add_runs(const engine::TaskReader& reader, const task::TaskHead& head, base::Timestamp floor,
                      std::size_t most, std::vector<FoundRun>& runs, Cuts& waiting) {
  task::EventNumber last = head.last_event;
  while (last.value > 0 && runs.size() <= most) {
    const auto before = reader.stop_before(head.key, last);
    if (!before) return fail(before.error());
    const auto run = run_after(reader, head, *before);
    if (!run) return fail(run.error());
    if (*run && (*run)->began <= floor) return {};
    if (*run) {
      runs.push_back(**run);
    } else {
      waiting.emplace(head.key, *before);
    }
    last = *before;
  }
  return {};
}

task::ListFilter tasks_in(const task::ContextRef& context) {
  task::ListFilter filter;
  filter.caller = context.caller;
  filter.agent = context.agent;
  filter.context = context.id;
  filter.limit = kHeadsAtOnce;
  return filter;
}

// The questions of tasks that wait, as they were when their heads were read.
Result<std::vector<protocol::chat::Question>> questions_of(const engine::TaskReader& reader,
                                                           const std::vector<task::TaskHead>& heads,
                                                           const Cuts& cuts) {
  std::vector<protocol::chat::Question> open;
  for (const task::TaskHead& head : heads) {
    if (!task::is_waiting(head.state) || cuts.contains(head.key)) continue;
    auto task = reader.read(head.key, {0, false}, head.status_event);
    if (!task) return fail(task.error());
    open.insert(open.begin(), protocol::chat::question_in({std::move(task->status), {}, head.ask}));
  }
  return open;
}

}  // namespace

Result<std::optional<FoundRun>> run_after(const engine::TaskReader& reader, const task::TaskHead& head,
                                          task::EventNumber before) {
  std::optional<FoundRun> found;
  const auto read = each_event_after(reader, head.key, before, [&](const task::Event& event) {
    if (event.number > head.last_event) return false;
    if (!begins(event)) return true;
    found = FoundRun{head.key, {head.id, before}, event.at};
    return false;
  });
  if (!read) return fail(read.error());
  if (!found) return found;
  const auto stop = reader.stop_after(head.key, before);
  if (!stop) return fail(stop.error());
  found->is_over = *stop && (*stop)->number <= head.last_event;
  return found;
}

Result<std::optional<std::vector<FoundRun>>> runs_since(const engine::TaskReader& reader,
                                                        const task::ContextRef& context,
                                                        base::Timestamp floor, std::size_t most) {
  std::vector<FoundRun> runs;
  Cuts waiting;
  task::ListFilter filter = tasks_in(context);
  filter.status_since = floor;
  while (true) {
    const auto page = reader.list(filter);
    if (!page) return fail(page.error());
    for (const task::TaskHead& head : page->heads) {
      if (head.parent) continue;
      if (const auto added = add_runs(reader, head, floor, most, runs, waiting); !added)
        return fail(added.error());
      if (runs.size() > most) return std::optional<std::vector<FoundRun>>();
    }
    if (std::ssize(page->heads) < filter.limit) break;
    filter.after = task::ListPosition{page->heads.back().status_at, page->heads.back().id};
  }
  std::ranges::sort(runs, is_before);
  return std::optional(std::move(runs));
}

// Not all of them: a run that becomes visible late must be found before later ones are shown.
Result<std::vector<FoundRun>> runs_ahead(const engine::TaskReader& reader, const task::ContextRef& context,
                                         ConversationPlace& place) {
  auto runs = runs_since(reader, context, place.floor(), kAllRuns);
  if (!runs) return fail(runs.error());
  std::vector<FoundRun> ahead;
  for (FoundRun& run : **runs) {
    if (place.knows(run.name, run.began)) {
      place.add_besides(run.name, run.began);
    } else {
      ahead.push_back(std::move(run));
    }
  }
  const std::size_t count = std::max(kAheadMin, (ahead.size() + 1) / 2);
  if (ahead.size() > count) ahead.resize(count);
  return ahead;
}

Result<std::vector<task::Message>> asked_by(const engine::TaskReader& reader, const FoundRun& run) {
  std::vector<task::Message> asked;
  const auto read = each_event_after(reader, run.key, run.name.before, [&](const task::Event& event) {
    const auto* added = std::get_if<task::MessageAdded>(&event.body);
    if (added != nullptr && added->message.role == task::Role::user) asked.push_back(added->message);
    return !begins(event);
  });
  if (!read) return fail(read.error());
  return asked;
}

// Tasks that run may be far down the list, which is in the order of statuses. They are read first: of a task
// that is in both lists, the newer head counts.
Result<ConversationHeads> heads_of(const engine::TaskReader& reader, const task::ContextRef& context) {
  std::vector<task::TaskHead> running;
  for (const task::State state : {task::State::submitted, task::State::working}) {
    task::ListFilter filter = tasks_in(context);
    filter.state = state;
    auto page = reader.list(filter);
    if (!page) return fail(page.error());
    std::ranges::move(page->heads, std::back_inserter(running));
  }
  auto said = said_in(reader, context);
  if (!said) return fail(said.error());
  ConversationHeads heads{std::move(said->tasks), said->bytes};
  for (task::TaskHead& head : running) {
    const bool is_there = std::ranges::find(heads.tasks, head.key, &task::TaskHead::key) != heads.tasks.end();
    if (!head.parent && !is_there) heads.tasks.push_back(std::move(head));
  }
  return heads;
}

Result<ConversationStart> start_of(const engine::TaskReader& reader, const ConversationHeads& heads) {
  const auto margin = std::chrono::milliseconds(ConversationPlace::kLate);
  base::Timestamp floor{};
  for (const task::TaskHead& head : heads.tasks) floor = std::max(floor, head.status_at);
  floor = base::from_ms(std::max<std::int64_t>(base::to_ms(floor) - margin.count(), 0));
  std::vector<FoundRun> runs;
  Cuts cuts, waiting;
  for (const task::TaskHead& head : heads.tasks) {
    // A run that is under way may have begun long before.
    if (!task::is_stopped(head.state)) {
      const auto before = reader.stop_before(head.key, head.last_event);
      if (!before) return fail(before.error());
      const auto run = run_after(reader, head, *before);
      if (!run) return fail(run.error());
      if (*run) floor = std::min(floor, base::from_ms(base::to_ms((*run)->began) - 1));
    }
  }
  for (const task::TaskHead& head : heads.tasks) {
    if (const auto added = add_runs(reader, head, floor, kAllRuns, runs, waiting); !added)
      return fail(added.error());
  }
  std::ranges::sort(runs, is_before);
  ConversationStart start{ConversationPlace(floor), {}, {}};
  std::size_t known = 0;
  for (const FoundRun& run : runs) {
    if (run.is_over && !cuts.contains(run.key) && ++known <= kShownAgainAfter) {
      start.place.add_besides(run.name, run.began);
    } else {
      cuts.try_emplace(run.key, run.name.before);
    }
  }
  cuts.merge(waiting);
  auto open = questions_of(reader, heads.tasks, cuts);
  if (!open) return fail(open.error());
  start.open = std::move(*open);
  Said said{heads.tasks, std::nullopt, heads.bytes};
  for (task::TaskHead& head : said.tasks) {
    const auto cut = cuts.find(head.key);
    if (cut != cuts.end()) head.last_event = cut->second;
  }
  auto messages = messages_of(reader, said);
  if (!messages) return fail(messages.error());
  start.messages = std::move(*messages);
  return start;
}

}  // namespace baton::server::chat

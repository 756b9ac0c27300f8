#include "store/memory/tables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <utility>

#include "store/task_filter.h"
#include "task/fold.h"

namespace baton::store::memory {
namespace {

// Deletes the history that a client sent with a message, once the message's turn has ended. If the task needs
// no further turn, also deletes the histories of later messages, which will have no turn.
void forget_history(const task::TaskHead& before, const task::TaskHead& after,
                    std::map<task::EventNumber, task::RequestData>& requests) {
  if (before.turn_state == task::TurnState::none) return;
  if (after.turn_state == task::TurnState::none) {
    for (auto at = requests.lower_bound(before.turn_message); at != requests.end(); ++at) {
      at->second.history.reset();
    }
  } else if (after.turn_message != before.turn_message) {
    const auto found = requests.find(before.turn_message);
    if (found != requests.end()) found->second.history.reset();
  }
}

}  // namespace

void follow(const Step& step, DeliveryTable& deliveries) {
  if (step.push) deliveries.put(step.push_key, step.head, *step.push);
  if (step.dropped) deliveries.drop(step.dropped);
  if (step.order) deliveries.follow(step.head.key, *step.order, step.at);
  for (const auto& [config, event] : step.deliveries) deliveries.add(config, event, step.at);
}

void Tables::apply(const Step& step) {
  MemoryTask& task = step.metadata ? create(step) : tasks_.at(step.head.key);
  const task::TaskHead before = std::exchange(task.head, step.head);
  move_in_lists(before, task.head);
  take_push(step, task);
  task.log.insert(task.log.end(), step.events.begin(), step.events.end());
  if (step.request) task.requests.insert_or_assign(step.message, *step.request);
  if (step.send) remember(step, before.last_event);
  follow(step, deliveries_);
  if (step.audit) operators_.apply(*step.audit, step.at);
  forget_history(before, task.head, task.requests);
}

void Tables::apply(const Gone& gone) {
  for (const task::TaskKey key : gone.tasks) {
    const MemoryTask& task = tasks_.at(key);
    const task::TaskHead& head = task.head;
    for (const TaskRow::Config& config : task.configs) deliveries_.drop(config.key);
    task::TaskHead hidden = head;
    hidden.hidden = true;
    move_in_lists(head, hidden);
    ids_.erase({head.agent, head.caller, head.id});
    std::erase(in_context_.at(head.context_key), key);
    if (in_context_.at(head.context_key).empty()) {
      in_context_.erase(head.context_key);
      contexts_.erase({head.agent, head.caller, head.context});
      titles_.erase({head.agent, head.caller, head.context});
    }
    if (head.parent) std::erase(children_[head.parent], key);
    children_.erase(key);
    operators_.forget_crashed(key);
    tasks_.erase(key);
  }
}

void Tables::apply(const OperatorEntry& entry) {
  operators_.apply(entry.write, entry.at);
  const auto* begins = std::get_if<ProgramBegins>(&entry.write);
  if (begins == nullptr) return;
  const std::map<task::TaskKey, CrashedTurn> all = operators_.crashed();
  for (const auto& [key, turn] : all) {
    const MemoryTask* task = this->task(key);
    const bool is_over =
        task == nullptr || task->head.turn_state == task::TurnState::none || task->head.turn != turn.turn;
    if (is_over) operators_.forget_crashed(key);
  }
  if (!begins->is_shared) note_crashed();
}

void Tables::note_crashed() {
  std::vector<CrashedTurn> running;
  for (const auto& [key, task] : tasks_) {
    if (task.head.turn_state != task::TurnState::running || has_open_children(key)) continue;
    running.emplace_back();
    running.back().task = key;
    running.back().turn = task.head.turn;
  }
  operators_.note_crashed(running);
}

bool Tables::has_open_children(task::TaskKey key) const {
  const auto children = children_.find(key);
  return children != children_.end() && std::ranges::any_of(children->second, [&](task::TaskKey child) {
           const task::TaskHead& head = tasks_.at(child).head;
           return !head.detached &&
                  (head.turn_state != task::TurnState::none || task::is_waiting(head.state));
         });
}

std::vector<CrashedTurn> Tables::crashed_turns() const {
  std::vector<CrashedTurn> turns;
  for (const auto& [key, turn] : operators_.crashed()) {
    const MemoryTask* task = this->task(key);
    if (task == nullptr || task->head.turn_state == task::TurnState::none || task->head.turn != turn.turn)
      continue;
    turns.push_back(turn);
    if (task->head.turn_state != task::TurnState::waiting) turns.back().quarantined.reset();
  }
  return turns;
}

void Tables::apply(const Title& title) {
  const ContextName name{title.context.agent, title.context.caller, title.context.id};
  titles_.erase(name);
  // The same group may have removed the context's last task.
  if (!title.title.empty() && contexts_.contains(name)) titles_.emplace(name, title.title);
}

// Creates the step's task. The caller then applies the step to it.
MemoryTask& Tables::create(const Step& step) {
  const task::TaskHead& head = step.head;
  ids_.emplace(std::tuple(head.agent, head.caller, head.id), head.key);
  contexts_.try_emplace({head.agent, head.caller, head.context}, head.context_key);
  in_context_[head.context_key].push_back(head.key);
  if (head.parent) children_[head.parent].push_back(head.key);
  MemoryTask& task = tasks_[head.key];
  task.metadata = *step.metadata;
  task.schedule = step.schedule;
  task.head.hidden = true;
  return task;
}

void Tables::take_push(const Step& step, MemoryTask& task) {
  const auto has_key = [](PushConfigKey key) {
    return [key](const TaskRow::Config& config) { return config.key == key; };
  };
  if (step.push) {
    const auto known = std::ranges::find_if(task.configs, has_key(step.push_key));
    const TaskRow::Config config{step.push_key, step.push->id, step.push->version};
    if (known != task.configs.end()) *known = config;
    if (known == task.configs.end()) task.configs.push_back(config);
  }
  if (step.dropped) std::erase_if(task.configs, has_key(step.dropped));
}

void Tables::remember(const Step& step, task::EventNumber before) {
  while (!sends_by_age_.empty() && sends_by_age_.front().first <= step.at - send_retention_) {
    const auto& [at, half] = sends_by_age_.front();
    const auto found = sends_.find(half);
    if (found != sends_.end() && found->second.at == at) sends_.erase(found);
    sends_by_age_.pop_front();
  }
  const Half digest{step.send->high, step.send->low};
  sends_.insert_or_assign(digest, Send{{step.head.key, before}, step.at});
  sends_by_age_.emplace_back(step.at, digest);
}

void Tables::move_in_lists(const task::TaskHead& before, const task::TaskHead& after) {
  const auto lists = [this](const task::TaskHead& head) {
    return std::array{&lists_[{head.agent, head.caller, std::nullopt}],
                      &lists_[{head.agent, head.caller, head.state}]};
  };
  if (!before.hidden) {
    for (List* list : lists(before)) list->erase({before.status_at, before.id, before.key});
  }
  if (!after.hidden) {
    for (List* list : lists(after)) list->emplace(after.status_at, after.id, after.key);
  }
}

const MemoryTask* Tables::task(task::TaskKey key) const {
  const auto found = tasks_.find(key);
  return found == tasks_.end() ? nullptr : &found->second;
}

const MemoryTask* Tables::task(const task::TaskRef& ref) const {
  const auto found = ids_.find({ref.agent, ref.caller, ref.id});
  return found == ids_.end() ? nullptr : task(found->second);
}

task::ContextKey Tables::context(const ContextName& name) const {
  const auto found = contexts_.find(name);
  return found == contexts_.end() ? task::ContextKey() : found->second;
}

std::vector<std::pair<task::TaskKey, task::EventPtr>> Tables::events_in(task::ContextKey context) const {
  std::vector<std::pair<task::TaskKey, task::EventPtr>> found;
  const auto keys = in_context_.find(context);
  if (keys == in_context_.end()) return found;
  for (const task::TaskKey key : keys->second) {
    for (const task::EventPtr& event : tasks_.at(key).log) found.emplace_back(key, event);
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return std::pair(one.second->at, one.first); });
  return found;
}

std::optional<EarlierSend> Tables::send(const task::SendDigest& digest, base::Timestamp now) const {
  const auto found = sends_.find({digest.high, digest.low});
  if (found == sends_.end() || found->second.at <= now - send_retention_) return std::nullopt;
  return found->second.send;
}

Opening Tables::opening(const task::ContextRef& context) const {
  Opening opening;
  const ContextName name{context.agent, context.caller, context.id};
  if (const auto title = titles_.find(name); title != titles_.end()) opening.title = title->second;
  for (const auto& [key, event] : events_in(this->context(name))) {
    const task::Message* message = task::message_in(event->body);
    if (message == nullptr || message->role != task::Role::user) continue;
    opening.at = event->at;
    opening.message = *message;
    break;
  }
  return opening;
}

std::vector<task::TaskHead> Tables::in_context(const task::ContextRef& context) const {
  std::vector<task::TaskHead> heads;
  const auto keys = in_context_.find(this->context({context.agent, context.caller, context.id}));
  if (keys == in_context_.end()) return heads;
  for (const task::TaskKey key : keys->second) heads.push_back(tasks_.at(key).head);
  return heads;
}

// Returns the visible tasks of the filter's context; if the filter has a state, only those in it.
Tables::List Tables::list_of_context(const task::ListFilter& filter) const {
  List list;
  const auto keys = in_context_.find(context({filter.agent, filter.caller, filter.context}));
  if (keys == in_context_.end()) return list;
  for (const task::TaskKey key : keys->second) {
    const task::TaskHead& head = tasks_.at(key).head;
    const bool fits = !head.hidden && (!filter.state || head.state == *filter.state);
    if (fits) list.emplace(head.status_at, head.id, key);
  }
  return list;
}

ListPage Tables::list(const task::ListFilter& filter) const {
  ListPage page;
  const List of_context = filter.context.empty() ? List() : list_of_context(filter);
  const auto found = lists_.find({filter.agent, filter.caller, filter.state});
  if (filter.context.empty() && found == lists_.end()) return page;
  const List& all = filter.context.empty() ? found->second : of_context;
  const auto end = filter.status_since ? all.lower_bound({*filter.status_since, {}, {}}) : all.end();
  page.total = filter.status_since ? std::distance(all.begin(), end) : std::ssize(all);
  auto place = filter.after ? all.upper_bound({filter.after->status_at, filter.after->id, {}}) : all.begin();
  for (; std::ssize(page.heads) < filter.limit && place != all.end(); ++place) {
    if (filter.status_since && std::get<base::Timestamp>(*place) < *filter.status_since) break;
    page.heads.push_back(tasks_.at(std::get<task::TaskKey>(*place)).head);
  }
  return page;
}

std::vector<task::TaskHead> Tables::open_tasks(TaskStore::Open which, task::TaskKey key, int limit) const {
  std::vector<task::TaskHead> found;
  const auto wanted = static_cast<std::size_t>(std::max(limit, 0));
  const auto add = [&](const task::TaskHead& head, bool fits) {
    if (fits && found.size() < wanted) found.push_back(head);
  };
  if (which == TaskStore::Open::children) {
    const auto children = children_.find(key);
    if (children == children_.end()) return found;
    for (const task::TaskKey child : children->second) {
      const task::TaskHead& head = tasks_.at(child).head;
      add(head, !head.detached && !task::is_terminal(head.state));
    }
    return found;
  }
  for (auto next = tasks_.upper_bound(key); next != tasks_.end() && found.size() < wanted; ++next) {
    const task::TaskHead& head = next->second.head;
    if (which == TaskStore::Open::unfinished) {
      add(head, head.turn_state != task::TurnState::none);
    } else {
      add(head, head.parent && !head.detached && !task::is_terminal(head.state) &&
                    task::is_terminal(tasks_.at(head.parent).head.state));
    }
  }
  return found;
}

std::vector<task::TaskHead> Tables::all_tasks(task::TaskKey after, int limit) const {
  std::vector<task::TaskHead> found;
  for (auto next = tasks_.upper_bound(after); next != tasks_.end() && std::ssize(found) < limit; ++next) {
    found.push_back(next->second.head);
  }
  return found;
}

task::TaskKey Tables::last_made(base::Timestamp time) const {
  for (auto task = tasks_.rbegin(); task != tasks_.rend(); ++task) {
    if (task->second.head.created <= time) return task->first;
  }
  return {};
}

std::vector<TreeMember> Tables::tree(task::TaskKey root) const {
  std::vector<TreeMember> members;
  const auto add = [&](task::TaskKey key) {
    const MemoryTask& task = tasks_.at(key);
    const bool delivers = std::ranges::any_of(
        task.configs, [&](const TaskRow::Config& config) { return deliveries_.waits(config.key); });
    members.push_back({task.head, delivers});
  };
  if (tasks_.contains(root)) add(root);
  for (std::size_t next = 0; next < members.size(); ++next) {
    const auto children = children_.find(members[next].head.key);
    if (children != children_.end()) std::ranges::for_each(children->second, add);
  }
  return members;
}

bool Tables::has_children(task::TaskKey key, const std::set<task::TaskKey>& but) const {
  const auto children = children_.find(key);
  return children != children_.end() &&
         !std::ranges::all_of(children->second, [&](task::TaskKey child) { return but.contains(child); });
}

// ---- OperatorStore. Lists are made by scanning all tasks.

TaskLine Tables::line(const MemoryTask& task) const {
  TaskLine line{task.head, task.schedule, {}, 0};
  if (task.head.status_event)
    line.text = line_text(task.log[static_cast<std::size_t>(task.head.status_event.value - 1)]->body);
  for (const DeliveryTable::Row& row : deliveries_.rows()) {
    if (row.task == task.head.key && row.state != "delivered") ++line.undelivered;
  }
  line.retried_as = operators_.retried_as(task.head.key);
  return line;
}

std::optional<TaskLine> Tables::line_if_passing(const TaskFilter& filter, const MemoryTask& task) const {
  if (!passes(filter, task.head)) return std::nullopt;
  if (!filter.schedule.empty() && filter.schedule != task.schedule) return std::nullopt;
  TaskLine found = line(task);
  if (filter.undelivered && found.undelivered == 0) return std::nullopt;
  if (filter.retried && *filter.retried != static_cast<bool>(found.retried_as)) return std::nullopt;
  if (!has_words(found.text, filter.error)) return std::nullopt;
  return found;
}

TaskPage Tables::page(const TaskQuery& query) const {
  std::vector<TaskPlace> places;
  for (const auto& [key, task] : tasks_) {
    const TaskPlace place = place_of(task.head);
    if (!query.after || comes_first(*query.after, place, query.oldest_first)) places.push_back(place);
  }
  std::ranges::sort(
      places, [&](const TaskPlace& a, const TaskPlace& b) { return comes_first(a, b, query.oldest_first); });
  TaskPage page;
  for (const TaskPlace& place : places) {
    auto line = line_if_passing(query.filter, tasks_.at(place.key));
    if (!line) continue;
    if (std::ssize(page.lines) == query.limit) {
      if (!page.lines.empty()) page.next = place_of(page.lines.back().head);
      break;
    }
    page.lines.push_back(std::move(*line));
  }
  return page;
}

TaskCount Tables::count(const TaskFilter& filter) const {
  if (!is_counted(filter)) return {};
  const auto counted =
      std::ranges::count_if(tasks_, [&](const auto& each) { return passes(filter, each.second.head); });
  return {counted, true};
}

std::vector<OperatorStore::AgentCounts> Tables::counts_by_agent() const {
  std::map<task::AgentName, OperatorStore::AgentCounts> agents;
  std::map<std::pair<task::AgentName, task::State>, std::int64_t> at_rest;
  for (const auto& [key, task] : tasks_) {
    const task::TaskHead& head = task.head;
    if (!is_listed(head)) continue;
    OperatorStore::AgentCounts& counts = agents[head.agent];
    counts.agent = head.agent;
    if (head.turn_state == task::TurnState::none) ++at_rest[{head.agent, head.state}];
    if (head.turn_state == task::TurnState::queued) ++counts.queued;
    if (head.turn_state == task::TurnState::running) ++counts.running;
    if (head.turn_state == task::TurnState::waiting) ++counts.waiting;
  }
  for (const auto& [which, tasks] : at_rest) agents[which.first].at_rest.emplace_back(which.second, tasks);
  std::vector<OperatorStore::AgentCounts> all;
  for (auto& [name, counts] : agents) all.push_back(std::move(counts));
  return all;
}

DeliveryLine Tables::line_of(const DeliveryTable::Row& row) const {
  const task::TaskHead& head = tasks_.at(row.task).head;
  return {row.key, row.task,  head.agent,   head.caller, head.id, row.event,
          row.url, row.state, row.attempts, row.created, row.due, row.error};
}

DeliveryPage Tables::deliveries(const DeliveryFilter& filter, std::int64_t before, int limit) const {
  using State = DeliveryFilter::State;
  DeliveryPage page;
  for (const DeliveryTable::Row& row : std::views::reverse(deliveries_.rows())) {
    const DeliveryLine line = line_of(row);
    const bool fits_state = filter.state == State::waiting    ? row.state == "waiting"
                            : filter.state == State::given_up ? row.state == "given-up"
                                                              : filter.task || row.state != "delivered";
    const bool passes = fits_state && (before <= 0 || row.key.value < before) &&
                        (!filter.task || row.task == filter.task) &&
                        (filter.agent.empty() || line.agent == filter.agent) &&
                        (filter.caller.empty() || is_of(line.caller, filter.caller));
    if (!passes) continue;
    if (std::ssize(page.lines) == limit) {
      page.next = page.lines.empty() ? 0 : page.lines.back().key.value;
      break;
    }
    page.lines.push_back(line);
  }
  return page;
}

std::optional<DeliveryLine> Tables::delivery(DeliveryKey key) const {
  for (const DeliveryTable::Row& row : deliveries_.rows()) {
    if (row.key == key) return line_of(row);
  }
  return std::nullopt;
}

}  // namespace baton::store::memory

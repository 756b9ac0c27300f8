#include "store/memory/delivery_table.h"

#include <algorithm>
#include <utility>

namespace baton::store::memory {

void DeliveryTable::put(PushConfigKey key, const task::TaskHead& task, const task::PushConfig& config) {
  Config& mine = configs_[key];
  mine.task = task.key;
  mine.account = task::account_of(task.caller);
  mine.config = config;
  mine.config.last_error.clear();  // `config` computes it
}

void DeliveryTable::drop(PushConfigKey key) {
  const auto found = configs_.find(key);
  if (found == configs_.end()) return;
  make_not_due(key, found->second);
  counts_.waiting -= std::ssize(found->second.waiting);
  counts_.given_up -= std::ssize(found->second.gave_up);
  for (const DeliveryKey delivery : found->second.deliveries) config_of_.erase(delivery);
  configs_.erase(found);
}

void DeliveryTable::add(PushConfigKey key, task::EventNumber event, base::Timestamp at) {
  const DeliveryKey delivery{++last_.value};
  Config& config = configs_.at(key);
  config_of_.emplace(delivery, key);
  config.deliveries.push_back(delivery);
  config.waiting.push_back({delivery, event, 0, at});
  ++counts_.waiting;
  if (config.waiting.size() == 1) make_due(key, config, at);
}

base::Result<void> DeliveryTable::check(DeliveryKey key, const OpenResults& open) const {
  const auto owner = config_of_.find(key);
  if (owner == config_of_.end() || open.dropped.contains(owner->second)) return {};
  const auto config = configs_.find(owner->second);
  if (config == configs_.end()) return {};
  const auto first = std::ranges::find_if(
      config->second.waiting, [&](const Waiting& waiting) { return !open.settled.contains(waiting.key); });
  if (first != config->second.waiting.end() && first->key == key) return {};
  return base::fail(base::ErrorCode::not_found, "no such delivery is waiting");
}

void DeliveryTable::record(const DeliveryResult& result, base::Timestamp now) {
  const auto owner = config_of_.find(result.key);
  const auto found = owner == config_of_.end() ? configs_.end() : configs_.find(owner->second);
  if (found == configs_.end()) return;
  auto& [key, config] = *found;
  if (config.waiting.empty() || config.waiting.front().key != result.key) return;  // an operator came first
  make_not_due(key, config);
  Waiting& first = config.waiting.front();
  ++first.attempts;
  first.error = result.error;
  if (result.kind == DeliveryResult::Kind::retry) return make_due(key, config, result.next_due);
  const bool is_given_up = result.kind == DeliveryResult::Kind::given_up;
  (is_given_up ? config.gave_up : config.delivered).push_back(std::move(first));
  config.waiting.pop_front();
  --counts_.waiting;
  if (is_given_up) ++counts_.given_up;
  if (!config.waiting.empty()) make_due(key, config, now);
}

bool DeliveryTable::concerns(const task::DeliveryOrder& order, DeliveryKey key, bool waits, bool is_first) {
  if (order.delivery != 0 && order.delivery != key.value) return false;
  if (order.kind == task::DeliveryOrder::Kind::resend) return !waits || is_first;
  return waits;
}

base::Result<void> DeliveryTable::check(task::TaskKey task, const task::DeliveryOrder& order) const {
  for (const auto& [key, config] : configs_) {
    if (config.task != task) continue;
    for (const Waiting& each : config.gave_up) {
      if (concerns(order, each.key, false, false)) return {};
    }
    for (const Waiting& each : config.waiting) {
      if (concerns(order, each.key, true, &each == &config.waiting.front())) return {};
    }
  }
  return base::fail(base::ErrorCode::not_found, order.kind == task::DeliveryOrder::Kind::skip
                                                    ? "the delivery is not waiting"
                                                    : "there is no delivery to resend");
}

void DeliveryTable::follow(task::TaskKey task, const task::DeliveryOrder& order, base::Timestamp now) {
  for (auto& [key, config] : configs_) {
    if (config.task != task) continue;
    if (order.kind == task::DeliveryOrder::Kind::skip) {
      skip(key, config, order, now);
    } else {
      resend(key, config, order, now);
    }
  }
}

void DeliveryTable::resend(PushConfigKey key, Config& config, const task::DeliveryOrder& order,
                           base::Timestamp now) {
  make_not_due(key, config);
  const DeliveryKey first = config.waiting.empty() ? DeliveryKey() : config.waiting.front().key;
  const base::Timestamp due = config.due;
  bool is_resent = false;
  for (Waiting& each : config.waiting) {
    if (!concerns(order, each.key, true, each.key == first)) continue;
    each.attempts = 0;
    each.created = now;
    is_resent = true;
  }
  for (auto each = config.gave_up.begin(); each != config.gave_up.end();) {
    if (!concerns(order, each->key, false, false)) {
      ++each;
      continue;
    }
    Waiting again = std::move(*each);
    again.attempts = 0;
    again.created = now;
    const auto later = std::ranges::upper_bound(config.waiting, again.event, {}, &Waiting::event);
    config.waiting.insert(later, std::move(again));
    each = config.gave_up.erase(each);
    ++counts_.waiting;
    --counts_.given_up;
  }
  if (config.waiting.empty()) return;
  make_due(key, config, is_resent || config.waiting.front().key != first ? now : due);
}

void DeliveryTable::skip(PushConfigKey key, Config& config, const task::DeliveryOrder& order,
                         base::Timestamp now) {
  make_not_due(key, config);
  const DeliveryKey first = config.waiting.empty() ? DeliveryKey() : config.waiting.front().key;
  const base::Timestamp due = config.due;
  for (auto each = config.waiting.begin(); each != config.waiting.end();) {
    if (!concerns(order, each->key, true, each->key == first)) {
      ++each;
      continue;
    }
    each->error = "skipped by an operator";
    config.gave_up.push_back(std::move(*each));
    each = config.waiting.erase(each);
    --counts_.waiting;
    ++counts_.given_up;
  }
  if (config.waiting.empty()) return;
  make_due(key, config, config.waiting.front().key != first ? now : due);
}

DeliveryTable DeliveryTable::part_of(task::TaskKey task) const {
  DeliveryTable part;
  part.last_ = last_;
  for (const auto& [key, config] : configs_) {
    if (config.task != task) continue;
    part.configs_.emplace(key, config);
    for (const DeliveryKey delivery : config.deliveries) part.config_of_.emplace(delivery, key);
  }
  return part;
}

task::TaskKey DeliveryTable::task_of(DeliveryKey key) const {
  const auto owner = config_of_.find(key);
  return owner == config_of_.end() ? task::TaskKey() : configs_.at(owner->second).task;
}

std::vector<DeliveryTable::Row> DeliveryTable::rows() const {
  std::vector<Row> rows;
  for (const auto& [key, config] : configs_) {
    const auto add = [&](const Waiting& each, const char* state, std::optional<base::Timestamp> due) {
      rows.push_back({each.key, config.task, each.event, config.config.url, state, each.attempts,
                      each.created, due, each.error});
    };
    for (const Waiting& each : config.waiting) {
      const bool is_first = &each == &config.waiting.front();
      add(each, "waiting", is_first ? std::optional(config.due) : std::nullopt);
    }
    for (const Waiting& each : config.gave_up) add(each, "given-up", std::nullopt);
    for (const Waiting& each : config.delivered) add(each, "delivered", std::nullopt);
  }
  std::ranges::sort(rows, {}, &Row::key);
  return rows;
}

task::PushConfig DeliveryTable::config(PushConfigKey key) const {
  const Config& mine = configs_.at(key);
  task::PushConfig config = mine.config;
  task::EventNumber last;
  const auto look_at = [&](const Waiting& each) {
    if (each.attempts == 0 || each.event < last) return;
    last = each.event;
    config.last_error = each.error;
  };
  std::ranges::for_each(mine.waiting, look_at);
  std::ranges::for_each(mine.gave_up, look_at);
  std::ranges::for_each(mine.delivered, look_at);
  return config;
}

std::vector<Delivery> DeliveryTable::due(base::Timestamp now, int limit) const {
  // Takes each caller's first delivery, then each caller's second, and so on.
  std::vector<std::tuple<int, base::Timestamp, DeliveryKey, PushConfigKey>> places;
  std::map<std::string, int> taken;
  for (const auto& [due, delivery, key] : due_) {
    if (due > now) break;
    places.emplace_back(taken[configs_.at(key).account]++, due, delivery, key);
  }
  const auto wanted = static_cast<std::size_t>(std::max(limit, 0));
  if (places.size() > wanted) {
    std::ranges::sort(places);
    places.resize(wanted);
  }
  std::vector<Delivery> found;
  for (const auto& place : places) {
    const PushConfigKey key = std::get<PushConfigKey>(place);
    found.push_back(delivery(key, configs_.at(key)));
  }
  return found;
}

std::optional<base::Timestamp> DeliveryTable::next_due() const {
  return due_.empty() ? std::nullopt : std::optional(std::get<base::Timestamp>(*due_.begin()));
}

void DeliveryTable::make_due(PushConfigKey key, Config& config, base::Timestamp due) {
  config.due = due;
  due_.emplace(due, config.waiting.front().key, key);
}

void DeliveryTable::make_not_due(PushConfigKey key, const Config& config) {
  if (!config.waiting.empty()) due_.erase({config.due, config.waiting.front().key, key});
}

Delivery DeliveryTable::delivery(PushConfigKey key, const Config& config) {
  const Waiting& first = config.waiting.front();
  return {first.key, config.task, key, first.event, config.config, first.attempts, first.created, config.due};
}

}  // namespace baton::store::memory

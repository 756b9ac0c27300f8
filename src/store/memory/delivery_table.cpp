#include "store/memory/delivery_table.h"

#include <algorithm>
#include <utility>

namespace baton::store::memory {

void DeliveryTable::put(PushConfigKey key, const task::TaskHead& task, const task::PushConfig& config) {
  Config& mine = configs_[key];
  mine.task = task.key;
  mine.account = task::account_of(task.caller);
  std::string last_error = std::move(mine.config.last_error);
  mine.config = config;
  mine.config.last_error = std::move(last_error);
}

void DeliveryTable::drop(PushConfigKey key) {
  const auto found = configs_.find(key);
  if (found == configs_.end()) return;
  make_not_due(key, found->second);
  counts_.waiting -= std::ssize(found->second.waiting);
  counts_.given_up -= found->second.given_up;
  for (const DeliveryKey delivery : found->second.deliveries) config_of_.erase(delivery);
  configs_.erase(found);
}

void DeliveryTable::add(PushConfigKey key, task::EventNumber event, base::Timestamp at) {
  Config& config = configs_.at(key);
  const DeliveryKey delivery{++last_.value};
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
  make_not_due(key, config);
  config.config.last_error = result.error;
  if (result.kind == DeliveryResult::Kind::retry) {
    ++config.waiting.front().attempts;
    return make_due(key, config, result.next_due);
  }
  config.waiting.pop_front();
  --counts_.waiting;
  if (result.kind == DeliveryResult::Kind::given_up) ++config.given_up, ++counts_.given_up;
  if (!config.waiting.empty()) make_due(key, config, now);
}

task::PushConfig DeliveryTable::config(PushConfigKey key) const {
  return configs_.at(key).config;
}

std::vector<Delivery> DeliveryTable::due(base::Timestamp now, int limit) const {
  // Each caller's first delivery, then each one's second, and so on.
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
  Delivery made{first.key,     config.task,    key,           first.event,
                config.config, first.attempts, first.created, config.due};
  made.config.last_error.clear();
  return made;
}

}  // namespace baton::store::memory

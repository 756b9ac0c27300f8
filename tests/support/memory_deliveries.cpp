#include "support/memory_deliveries.h"

#include <algorithm>
#include <set>

#include "support/patience.h"

namespace baton::test {
namespace {

using base::ErrorCode;
using base::fail;

tl::unexpected<base::Error> not_here() {
  return fail(ErrorCode::unsupported, "not in this fake");
}

}  // namespace

void MemoryDeliveries::add(task::TaskKey task, task::EventNumber event, const task::PushConfig& config,
                           base::Timestamp now) {
  std::lock_guard lock(mutex_);
  const std::string name = std::to_string(task.value) + "/" + config.id.value;
  const auto next_key = static_cast<std::int64_t>(config_keys_.size()) + 1;
  const store::PushConfigKey config_key = config_keys_.try_emplace(name, next_key).first->second;
  Entry entry;
  entry.delivery = {
      {static_cast<std::int64_t>(entries_.size()) + 1}, task, config_key, event, config, 0, now, now};
  entries_.push_back(std::move(entry));
}

void MemoryDeliveries::fail_records(int count, base::ErrorCode code) {
  std::lock_guard lock(mutex_);
  records_to_fail_ = count;
  record_error_ = code;
}

std::vector<MemoryDeliveries::Entry> MemoryDeliveries::entries() const {
  std::lock_guard lock(mutex_);
  return entries_;
}

bool MemoryDeliveries::wait_until(const std::function<bool(const std::vector<Entry>&)>& condition) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience(), [&] { return condition(entries_); });
}

bool MemoryDeliveries::wait_until_settled() {
  return wait_until([](const std::vector<Entry>& entries) {
    return std::none_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.open; });
  });
}

int MemoryDeliveries::records_refused() const {
  std::lock_guard lock(mutex_);
  return records_refused_;
}

std::vector<const MemoryDeliveries::Entry*> MemoryDeliveries::heads() const {
  std::set<store::PushConfigKey> seen;
  std::vector<const Entry*> result;
  for (const Entry& entry : entries_) {
    if (entry.open && seen.insert(entry.delivery.config_key).second) result.push_back(&entry);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Entry* a, const Entry* b) { return a->delivery.due < b->delivery.due; });
  return result;
}

base::Result<std::vector<store::Delivery>> MemoryDeliveries::due_deliveries(base::Timestamp now,
                                                                            int limit) const {
  std::lock_guard lock(mutex_);
  std::vector<store::Delivery> due;
  for (const Entry* entry : heads()) {
    if (entry->delivery.due <= now && due.size() < static_cast<std::size_t>(limit))
      due.push_back(entry->delivery);
  }
  return due;
}

base::Result<std::optional<base::Timestamp>> MemoryDeliveries::next_due() const {
  std::lock_guard lock(mutex_);
  const auto all = heads();
  if (all.empty()) return std::optional<base::Timestamp>();
  return std::optional(all.front()->delivery.due);
}

void MemoryDeliveries::record(store::DeliveryResult result, std::function<void(base::Result<void>)> done) {
  base::Result<void> answer;
  {
    std::lock_guard lock(mutex_);
    if (records_to_fail_ > 0) {
      --records_to_fail_;
      ++records_refused_;
      answer = fail(record_error_, "it cannot be stored");
    } else {
      Entry& entry = entries_.at(static_cast<std::size_t>(result.key.value) - 1);
      ++entry.delivery.attempts;
      entry.error = result.error;
      entry.open = result.kind == store::DeliveryResult::Kind::retry;
      entry.given_up = result.kind == store::DeliveryResult::Kind::given_up;
      if (entry.open) {
        entry.delivery.due = result.next_due;
        entry.retries.push_back(result.next_due);
      }
    }
    changed_.notify_all();
  }
  done(answer);
}

base::Result<store::DeliveryStore::Counts> MemoryDeliveries::delivery_counts() const {
  std::lock_guard lock(mutex_);
  store::DeliveryStore::Counts counts;
  for (const Entry& entry : entries_) {
    counts.waiting += entry.open ? 1 : 0;
    counts.given_up += entry.given_up ? 1 : 0;
  }
  return counts;
}

base::Result<task::Task> MemoryDeliveries::read(task::TaskKey key, const task::Depth&,
                                                std::optional<task::EventNumber> as_of) const {
  if (key == deleted) return fail(ErrorCode::task_not_found, "no such task");
  task::Task task;
  task.id = {"task-" + std::to_string(key.value)};
  task.last_event = as_of.value_or(task::EventNumber{});
  task::Message message;
  message.parts.push_back(task::Part::of_text(std::to_string(task.last_event.value)));
  task.status.message = message;
  return task;
}

base::Result<task::TaskHead> MemoryDeliveries::head(task::TaskKey key) const {
  task::TaskHead head;
  head.key = key;
  head.caller = key.value >= alices_from.value ? task::Caller{"alice"} : task::Caller{"mallory"};
  return head;
}
base::Result<std::vector<task::Event>> MemoryDeliveries::events(task::TaskKey, task::EventNumber, int) const {
  return not_here();
}
}  // namespace baton::test

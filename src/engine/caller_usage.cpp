#include "engine/caller_usage.h"

#include <utility>

namespace baton::engine {
namespace {

constexpr int kUsagePage = 1'000;

base::Result<void> full(const std::string& what) {
  return base::fail(base::ErrorCode::overloaded,
                    "the server keeps no more than " + what +
                        " of one caller: older ones go with time, or when an operator deletes them");
}

}  // namespace

base::Result<void> CallerUsage::count(const store::RetentionStore& store) {
  ByCaller counted;
  for (task::TaskKey after;;) {
    const auto page = store.all_tasks(after, kUsagePage);
    if (!page) return base::fail(page.error());
    if (page->empty()) break;
    for (const task::TaskHead& head : *page) {
      Used& used = counted[std::string(task::account_of(head.caller))];
      ++used.tasks;
      used.bytes += static_cast<std::int64_t>(head.bytes);
    }
    after = page->back().key;
  }
  used_.with([&](ByCaller& all) { all.swap(counted); });
  return {};
}

base::Result<void> CallerUsage::admit(const task::Caller& caller, bool makes_task) const {
  const Used used = used_.with([&](const auto& all) {
    const auto found = all.find(task::account_of(caller));
    return found == all.end() ? Used() : found->second;
  });
  if (makes_task && tasks_max_ > 0 && used.tasks >= tasks_max_) {
    return full(std::to_string(tasks_max_) + " tasks");
  }
  if (bytes_max_ > 0 && used.bytes >= bytes_max_) return full(std::to_string(bytes_max_) + " bytes");
  return {};
}

void CallerUsage::add(const task::Caller& caller, std::int64_t tasks, std::int64_t bytes) {
  used_.with([&](auto& all) {
    const std::string_view name = task::account_of(caller);
    auto found = all.find(name);
    if (found == all.end()) found = all.emplace(name, Used()).first;
    found->second.tasks += tasks;
    found->second.bytes += bytes;
    if (found->second.tasks == 0) all.erase(found);
  });
}

}  // namespace baton::engine

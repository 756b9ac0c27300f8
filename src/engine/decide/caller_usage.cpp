#include "engine/decide/caller_usage.h"
#include "base/text.h"

#include <utility>

namespace baton::engine {
namespace {

constexpr int kUsagePage = 1'000;

base::Result<void> full(const std::string& what) {
  return base::fail(
      base::ErrorCode::overloaded,
      "the server stores at most " + what +
          " per caller: retry after older tasks have expired, or ask an operator to delete some");
}

}  // namespace

base::Result<void> CallerUsage::count(const store::RetentionStore& store,
                                      const std::function<void()>& await_stored) {
  used_.with([](Counted& all) { all.meanwhile.clear(); });
  await_stored();
  ByCaller counted;
  for (task::TaskKey after;;) {
    const auto page = store.all_tasks(after, kUsagePage);
    if (!page) return base::fail(page.error());
    if (page->empty()) break;
    for (const task::TaskHead& head : *page)
      add_to(counted, head.caller, {1, static_cast<std::int64_t>(head.bytes)});
    after = page->back().key;
  }
  used_.with([&](Counted& all) {
    for (const auto& [caller, used] : all.meanwhile) add_to(counted, {caller}, used);
    all.used.swap(counted);
  });
  return {};
}

base::Result<void> CallerUsage::admit(const task::Caller& caller, bool makes_task) const {
  const Used used = used_.with([&](const Counted& all) {
    const auto found = all.used.find(task::account_of(caller));
    return found == all.used.end() ? Used() : found->second;
  });
  if (makes_task && tasks_max_ > 0 && used.tasks >= tasks_max_) {
    return full(base::counted(tasks_max_, "task"));
  }
  if (bytes_max_ > 0 && used.bytes >= bytes_max_) return full(base::counted(bytes_max_, "byte"));
  return {};
}

void CallerUsage::add(const task::Caller& caller, std::int64_t tasks, std::int64_t bytes) {
  used_.with([&](Counted& all) {
    add_to(all.used, caller, {tasks, bytes});
    if (is_recounted_) add_to(all.meanwhile, caller, {tasks, bytes});
  });
}

void CallerUsage::add_to(ByCaller& all, const task::Caller& caller, Used more) {
  const std::string_view name = task::account_of(caller);
  auto found = all.find(name);
  if (found == all.end()) found = all.emplace(name, Used()).first;
  found->second.tasks += more.tasks;
  found->second.bytes += more.bytes;
  if (found->second.tasks == 0) all.erase(found);
}

}  // namespace baton::engine

#include "store/sqlite/changes_under_way.h"

#include <utility>

namespace baton::store::sqlite {

void ChangesUnderWay::begin(task::TaskKey key) {
  tasks_.with([&](auto& tasks) { ++tasks[key].changes; });
}

std::vector<std::function<void()>> ChangesUnderWay::end(task::TaskKey key) {
  return tasks_.with([&](auto& tasks) {
    const auto found = tasks.find(key);
    auto waiting = std::exchange(found->second.waiting, {});
    if (--found->second.changes == 0) tasks.erase(found);
    return waiting;
  });
}

bool ChangesUnderWay::after(task::TaskKey key, std::function<void()> then) {
  return tasks_.with([&](auto& tasks) {
    const auto found = tasks.find(key);
    if (found == tasks.end()) return false;
    found->second.waiting.push_back(std::move(then));
    return true;
  });
}

}  // namespace baton::store::sqlite

// UsedIds: the ids taken by the tool calls and questions of one context. Concurrent turns of a context share
// one, so that no id is taken twice.
//
// Threads: any.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "base/guarded.h"

namespace baton::agents {

class UsedIds {
 public:
  UsedIds() = default;
  explicit UsedIds(const std::vector<std::string>& ids) { add(ids); }

  void add(const std::vector<std::string>& ids) {
    ids_.with([&](auto& used) { used.insert(ids.begin(), ids.end()); });
  }
  // Returns false if the id was there before.
  bool try_add(const std::string& id) {
    return ids_.with([&](auto& used) { return used.insert(id).second; });
  }
  bool has(const std::string& id) const {
    return ids_.with([&](const auto& used) { return used.contains(id); });
  }

 private:
  base::Guarded<std::unordered_set<std::string>> ids_;
};

}  // namespace baton::agents

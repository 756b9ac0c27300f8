// UsageSum: what a run has used of models, one sum for each provider and model.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "task/json.h"
#include "wire/json/writer.h"

namespace baton::wire::agui {

class UsageSum {
 public:
  // Whatever clients would refuse is left out.
  void add(const task::Json& used);
  // A member `usage`, a list; nothing if nothing was used.
  void write(Writer& out) const;

 private:
  static constexpr std::size_t kCounts = 6;
  struct Entry {
    std::string provider, model;
    std::array<std::optional<std::int64_t>, kCounts> counts;
  };
  std::vector<Entry> entries_;
};

}  // namespace baton::wire::agui

// UsageSum: a run's model usage, one sum for each provider and model.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/writer.h"
#include "task/json.h"

namespace baton::protocol::agui {

class UsageSum {
 public:
  // Counts that clients would refuse are left out, or capped if too large.
  void add(const task::Json& used);
  // Writes a list as the member `usage`; a no-op if nothing was used.
  void write(json::Writer& out) const;

 private:
  static constexpr std::size_t kCounts = 6;
  struct Entry {
    std::string provider, model;
    std::array<std::optional<std::int64_t>, kCounts> counts;
  };
  std::vector<Entry> entries_;
};

}  // namespace baton::protocol::agui

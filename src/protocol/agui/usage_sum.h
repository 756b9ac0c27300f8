// UsageSum: a run's model usage, one sum for each provider and model.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/document.h"
#include "json/writer.h"
#include "protocol/chat/source_list.h"
#include "task/json.h"

namespace baton::protocol::agui {

class UsageSum {
 public:
  // Counts that clients would refuse are left out, or capped if too large.
  void add(const task::Json& used) {
    const auto document = json::Document::view_of(used.text);
    const json::Value object = document.root();
    Entry added{object["provider"].str(), object["model"].str(), {}};
    bool any = false;
    for (std::size_t i = 0; i < kCounts; ++i) {
      const auto count = object[kNames[i]].integer();
      if (!count || *count < 0) continue;
      added.counts[i] = std::min(*count, kCountMax);
      any = true;
    }
    if (!any) return;
    const std::string name = std::to_string(added.provider.size()) + ":" + added.provider + added.model;
    Entry* const entry = entries_.find(name);
    if (entry == nullptr) {
      entries_.add(name, std::move(added));
      return;
    }
    for (std::size_t i = 0; i < kCounts; ++i) {
      if (!added.counts[i]) continue;
      entry->counts[i] = std::min(entry->counts[i].value_or(0) + *added.counts[i], kCountMax);
    }
  }

  // Writes a list as the member `usage`; a no-op if nothing was used.
  void write(json::Writer& out) const {
    if (entries_.empty()) return;
    out.key("usage").array([&] {
      for (const auto& one : entries_) {
        const Entry& sum = one.value;
        out.object([&] {
          out.optional("provider", sum.provider).optional("model", sum.model);
          for (std::size_t i = 0; i < kCounts; ++i) {
            if (sum.counts[i]) out.member(kNames[i], *sum.counts[i]);
          }
        });
      }
    });
  }

 private:
  static constexpr std::array<std::string_view, 6> kNames{"inputTokens",       "outputTokens",
                                                          "totalTokens",       "reasoningTokens",
                                                          "cachedInputTokens", "cacheWriteInputTokens"};
  // The largest whole number that JavaScript counts exactly; clients refuse larger ones.
  static constexpr std::int64_t kCountMax = 9007199254740991;

  static constexpr std::size_t kCounts = 6;
  struct Entry {
    std::string provider, model;
    std::array<std::optional<std::int64_t>, kCounts> counts;
  };
  chat::SourceList<Entry> entries_;
};

}  // namespace baton::protocol::agui

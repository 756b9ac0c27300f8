#include "protocol/agui/usage_sum.h"

#include <algorithm>
#include <string_view>

#include "json/document.h"

namespace baton::protocol::agui {
namespace {

constexpr std::array<std::string_view, 6> kNames{"inputTokens",       "outputTokens",
                                                 "totalTokens",       "reasoningTokens",
                                                 "cachedInputTokens", "cacheWriteInputTokens"};
// The largest whole number that JavaScript counts exactly; clients refuse larger ones.
constexpr std::int64_t kCountMax = 9007199254740991;

}  // namespace

void UsageSum::add(const task::Json& used) {
  const auto document = json::Document::parse_view(used.text);
  if (!document) return;
  const json::Value object = document->root();
  Entry added{object["provider"].str(), object["model"].str(), {}};
  bool any = false;
  for (std::size_t i = 0; i < kCounts; ++i) {
    const auto count = object[kNames[i]].integer();
    if (!count || *count < 0) continue;
    added.counts[i] = std::min(*count, kCountMax);
    any = true;
  }
  if (!any) return;
  const auto same = [&](const Entry& e) { return e.provider == added.provider && e.model == added.model; };
  const auto entry = std::ranges::find_if(entries_, same);
  if (entry == entries_.end()) {
    entries_.push_back(std::move(added));
    return;
  }
  for (std::size_t i = 0; i < kCounts; ++i) {
    if (!added.counts[i]) continue;
    entry->counts[i] = std::min(entry->counts[i].value_or(0) + *added.counts[i], kCountMax);
  }
}

void UsageSum::write(json::Writer& out) const {
  if (entries_.empty()) return;
  out.key("usage").array([&] {
    for (const Entry& entry : entries_) {
      out.object([&] {
        out.optional("provider", entry.provider).optional("model", entry.model);
        for (std::size_t i = 0; i < kCounts; ++i) {
          if (entry.counts[i]) out.member(kNames[i], *entry.counts[i]);
        }
      });
    }
  });
}

}  // namespace baton::protocol::agui

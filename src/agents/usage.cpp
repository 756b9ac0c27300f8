#include "agents/usage.h"

#include <algorithm>

#include "json/document.h"

namespace baton::agents {

task::Usage usage_of(task::Json used) {
  const auto document = json::Document::view_of(used.text);
  const json::Value root = document.root();
  const auto count = [&](std::string_view name) {
    return std::clamp<std::int64_t>(root[name].integer().value_or(0), 0, task::kReportMax);
  };
  const std::int64_t total = count("totalTokens");
  const std::int64_t tokens = total > 0 ? total : count("inputTokens") + count("outputTokens");
  return {std::move(used), tokens};
}

}  // namespace baton::agents

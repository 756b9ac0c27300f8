#include "server/shared/tenants.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

#include "server/shared/path_table.h"

namespace baton::server {
namespace {

constexpr std::size_t kTenantMax = 256;

std::string_view next_segment(std::string_view& pattern) {
  const std::size_t end = std::min(pattern.find('/', 1), pattern.size());
  const std::string_view segment = pattern.substr(1, end - 1);
  pattern.remove_prefix(end);
  return segment;
}

// The first segments behind which a path below an agent could also be one of A2A 1.0 behind a tenant:
// "/conversations/{id}" fits "/conversations/tasks". "/stream" and "/chat/app.js" are none. The page of the
// latter is only at the program's root; below /agents/<name> "chat" is a tenant like any other.
std::vector<std::string_view> find_reserved() {
  const auto tails = paths_at(Place::agent_ids);
  const auto begins_tail = [&](std::string_view segment) {
    if (segment.starts_with('{')) return true;
    return std::ranges::any_of(tails, [&](const PathRow& row) {
      std::string_view pattern = row.pattern;
      return std::holds_alternative<RestOperation>(row.answered_by) && next_segment(pattern) == segment;
    });
  };
  std::vector<std::string_view> words{"v1", "agents", ".", ".."};  // the prefixes of A2A 0.3 and of agents
  for (const Place place : {Place::agent, Place::agent_ids}) {
    for (std::string_view pattern : std::views::transform(paths_at(place), &PathRow::pattern)) {
      if (!pattern.starts_with('/')) continue;
      const std::string_view first = next_segment(pattern);
      if (!pattern.starts_with('/') || first.starts_with('{')) continue;
      if (begins_tail(next_segment(pattern)) && std::ranges::count(words, first) == 0) words.push_back(first);
    }
  }
  return words;
}

}  // namespace

base::Result<void> check_tenant(std::string_view tenant) {
  if (tenant.empty()) return {};
  const bool readable = std::none_of(tenant.begin(), tenant.end(),
                                     [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/'; });
  if (!readable || tenant.size() > kTenantMax) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "tenant: must have at most 256 characters and no slash");
  }
  for (const std::string_view taken : reserved_words()) {
    if (tenant == taken)
      return base::fail(base::ErrorCode::invalid_argument, "tenant: " + std::string(taken) + " is reserved");
  }
  return {};
}

std::span<const std::string_view> reserved_words() {
  static const std::vector<std::string_view> words = find_reserved();
  return words;
}

task::Caller caller_in(std::string_view tenant, const task::Caller& caller) {
  if (tenant.empty()) return caller;
  return {std::string(tenant) + task::kTenantEnd + caller.value};
}

}  // namespace baton::server

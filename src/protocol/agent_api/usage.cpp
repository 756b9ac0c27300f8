#include "protocol/agent_api/usage.h"

#include <array>
#include <optional>
#include <string_view>

#include "json/document.h"

namespace baton::protocol::agent_api {
namespace {

struct Count {
  std::string_view name;  // here
  std::string_view ours;
  bool summed;
};
constexpr std::array kCounts{
    Count{"input_tokens", "inputTokens", true},
    Count{"output_tokens", "outputTokens", true},
    Count{"total_tokens", "totalTokens", true},
    Count{"reasoning_tokens", "reasoningTokens", false},
    Count{"input_cached_tokens", "cachedInputTokens", false},
};

void write_detail(json::Writer& out, json::Value used) {
  out.object([&] {
    for (const std::string_view name : {"provider", "model"}) {
      if (used[name].is_string()) out.member(name, used[name].string());
    }
    for (const Count& count : kCounts) {
      if (const auto number = used[count.ours].integer()) out.member(count.name, *number);
    }
  });
}

// Returns nothing if any count is missing: a sum of the others would be taken for the whole.
std::optional<std::int64_t> sum_of(const std::vector<json::Document>& used, std::string_view name) {
  std::int64_t sum = 0;
  for (const json::Document& one : used) {
    const auto number = one.root()[name].integer();
    if (!number || __builtin_add_overflow(sum, *number, &sum)) return std::nullopt;
  }
  return sum;
}

}  // namespace

void write_usage(json::Writer& out, const std::vector<task::Json>& used) {
  std::vector<json::Document> documents;
  for (const task::Json& one : used) {
    if (auto document = json::Document::parse_view(one.text)) documents.push_back(std::move(*document));
  }
  out.object([&] {
    for (const Count& count : kCounts) {
      if (!count.summed) continue;
      if (const auto sum = sum_of(documents, count.ours)) out.member(count.name, *sum);
    }
    out.key("details").array([&] {
      for (const json::Document& one : documents) write_detail(out, one.root());
    });
  });
}

}  // namespace baton::protocol::agent_api

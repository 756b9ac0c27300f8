#include "store/budget_codec.h"

#include "json/document.h"
#include "json/writer.h"

namespace baton::store::codec {

std::string encode_budget(const task::Budget& budget) {
  std::string text;
  json::Writer out(text);
  out.object([&] {
    if (budget.tokens) out.member("t", *budget.tokens);
    if (budget.children) out.member("c", *budget.children);
    if (budget.depth) out.member("d", *budget.depth);
    if (budget.rounds) out.member("r", *budget.rounds);
    if (budget.until) out.member("u", base::to_ms(*budget.until));
    if (!budget.agents) return;
    out.key("a").array([&] {
      for (const std::string& agent : *budget.agents) out.string(agent);
    });
  });
  return text;
}

task::Budget decode_budget(std::string_view text) {
  const auto document = json::Document::view_of(text);
  const json::Value root = document.root();
  task::Budget budget;
  budget.tokens = root["t"].integer();
  budget.children = root["c"].integer();
  budget.depth = root["d"].integer();
  budget.rounds = root["r"].integer();
  if (const auto until = root["u"].integer()) budget.until = base::from_ms(*until);
  if (const json::Value agents = root["a"]; agents.is_array()) {
    budget.agents.emplace();
    for (const json::Value agent : agents) budget.agents->push_back(agent.str());
  }
  return budget;
}

}  // namespace baton::store::codec

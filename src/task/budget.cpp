#include "task/budget.h"
#include "base/text.h"

#include <algorithm>

namespace baton::task {
namespace {

template <class T>
std::optional<T> least(const std::optional<T>& one, const std::optional<T>& other) {
  if (!one) return other;
  return other ? std::min(*one, *other) : one;
}

using Names = std::optional<std::vector<std::string>>;

Names common(const Names& one, const Names& other) {
  if (!one || !other) return one ? one : other;
  Names both = one;
  std::erase_if(*both, [&](const std::string& name) { return std::ranges::count(*other, name) == 0; });
  return both;
}

void take(std::optional<std::int64_t>& limit, std::int64_t taken) {
  if (limit) limit = std::max<std::int64_t>(*limit - taken, 0);
}

}  // namespace

Budget smaller(const Budget& one, const Budget& other) {
  return {least(one.tokens, other.tokens), least(one.children, other.children), least(one.depth, other.depth),
          least(one.rounds, other.rounds), least(one.wall, other.wall),         least(one.until, other.until),
          common(one.agents, other.agents)};
}

Budget begun(Budget limits, base::Timestamp at, const Taken& before) {
  if (limits.wall) limits.until = least(limits.until, std::optional(at + *limits.wall));
  limits.wall.reset();
  if (limits.tokens) *limits.tokens += before.tokens;
  if (limits.children) *limits.children += before.children;
  return limits;
}

Budget left_of(const Budget& budget, const Taken& taken) {
  Budget left = budget;
  take(left.tokens, taken.tokens);
  take(left.children, taken.children);
  return left;
}

Budget left_for_child(const Budget& budget, const Taken& taken) {
  Budget left = left_of(budget, taken);
  take(left.depth, 1);
  return left;
}

std::string excess(const Budget& budget, const Taken& taken, base::Timestamp now) {
  if (budget.tokens && taken.tokens > *budget.tokens) {
    return "more than " + base::counted(*budget.tokens, "token") + " used (max_tokens)";
  }
  if (budget.until && now >= *budget.until) return "the task exceeded its time limit (max_wall_s)";
  return {};
}

std::string refusal_of_child(const Budget& budget, const Taken& taken) {
  if (budget.depth == 0) return "the task's budget allows no deeper delegation (max_depth)";
  if (budget.children && taken.children >= *budget.children) {
    return "the task's budget allows at most " + base::counted(*budget.children, "task") +
           " below it (max_children)";
  }
  return refusal_of_tokens(budget, taken);
}

std::string refusal_of_agent(const Budget& budget, std::string_view agent) {
  if (!budget.agents || agent.starts_with('~') || std::ranges::count(*budget.agents, agent) > 0) return {};
  return "the caller's token is not for the agent \"" + std::string(agent) + "\"";
}

std::string refusal_of_tokens(const Budget& budget, const Taken& taken) {
  if (!budget.tokens || taken.tokens < *budget.tokens) return {};
  return "its budget of " + base::counted(*budget.tokens, "token") + " is used up (max_tokens)";
}

}  // namespace baton::task

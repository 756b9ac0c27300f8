#include "server/operate/query.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "task/state.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kTextMax = 1'000;
constexpr std::int64_t kAgeMax = std::int64_t{100} * 366 * 86'400;

constexpr auto kFilter = std::to_array<std::string_view>(
    {"id", "state", "turn", "agent", "caller", "tenant", "context", "parent", "roots", "schedule",
     "age_min_s", "attempts_min", "undelivered", "retried", "error"});

struct Turn {
  std::string_view name;
  task::TurnState state;
};
constexpr std::array kTurns{Turn{"none", task::TurnState::none}, Turn{"queued", task::TurnState::queued},
                            Turn{"running", task::TurnState::running},
                            Turn{"waiting", task::TurnState::waiting}};

// A member's value in the form of a parameter; empty if no filter can have such a value.
std::optional<std::string> parameter_of(json::Value value) {
  if (value.is_string()) return value.str();
  if (value.is_bool()) return value.boolean() ? "1" : "0";
  if (const auto number = value.integer()) return std::to_string(*number);
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> key_in(std::string_view text) {
  const bool is_plain = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  const auto number = is_plain ? base::number_in<std::int64_t>(text) : std::nullopt;
  return number && *number > 0 ? number : std::nullopt;
}

void Query::wrong(std::string_view name, std::string_view what) {
  if (problem_.empty()) problem_ = std::string(name) + ": " + std::string(what);
}

std::optional<std::string> Query::only(std::string_view name) {
  known_.emplace_back(name);
  std::optional<std::string> found;
  for (const auto& [given, value] : pairs_) {
    if (given != name) continue;
    if (found) wrong(name, "is given more than once");
    if (value.size() > kTextMax) wrong(name, "is too long");
    found = value;
  }
  return found;
}

std::string Query::text(std::string_view name) {
  return only(name).value_or("");
}

std::vector<std::string> Query::list(std::string_view name) {
  known_.emplace_back(name);
  std::vector<std::string> words;
  for (const auto& [given, value] : pairs_) {
    if (given != name) continue;
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      if (end > begin) words.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return words;
}

std::optional<std::int64_t> Query::number(std::string_view name, std::int64_t least, std::int64_t most) {
  const auto text = only(name);
  if (!text) return std::nullopt;
  const auto number = base::number_in<std::int64_t>(*text);
  if (number && *number >= least && *number <= most) return number;
  wrong(name, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::int64_t Query::key(std::string_view name) {
  const auto text = only(name);
  if (!text || text->empty()) return 0;
  const auto key = key_in(*text);
  if (!key) wrong(name, "must be a numeric key");
  return key.value_or(0);
}

std::string Query::choice(std::string_view name, const std::vector<std::string_view>& words) {
  const std::string given = text(name);
  if (given.empty()) return std::string(words.front());
  if (std::ranges::find(words, given) == words.end()) {
    std::vector<std::string> all;
    for (const std::string_view word : words) {
      if (!word.empty()) all.emplace_back(word);
    }
    wrong(name, "must be one of " + base::comma_separated(all));
  }
  return given;
}

base::Result<void> Query::checked() const {
  if (!problem_.empty()) return fail(ErrorCode::invalid_argument, problem_);
  for (const auto& [given, value] : pairs_) {
    if (std::ranges::find(known_, given) != known_.end()) continue;
    const std::string near = base::nearest_name(given, known_);
    return fail(ErrorCode::invalid_argument, std::string(base::beginning_of(given, 100)) + ": is unknown" +
                                                 (near.empty() ? "" : "; did you mean " + near + "?"));
  }
  return {};
}

task::Caller read_caller(Query& query) {
  std::string caller = query.text("caller"), tenant = query.text("tenant");
  if (!tenant.empty() && caller.empty()) query.wrong("tenant", "requires caller");
  return {tenant.empty() ? std::move(caller) : tenant + task::kTenantEnd + caller};
}

store::TaskFilter read_filter(Query& query, base::Timestamp now) {
  store::TaskFilter filter;
  filter.id = query.text("id");
  for (const std::string& name : query.list("state")) {
    const auto state = task::state_named(name);
    if (name == "unfinished") {
      filter.unfinished = true;
    } else if (state) {
      filter.states.push_back(*state);
    } else {
      query.wrong("state", "has an unknown state: " + std::string(base::beginning_of(name, 100)));
    }
  }
  for (const std::string& name : query.list("turn")) {
    const auto known = std::ranges::find(kTurns, name, &Turn::name);
    if (known != kTurns.end()) {
      filter.turns.push_back(known->state);
    } else {
      query.wrong("turn", "must be none, queued, running or waiting");
    }
  }
  const bool may_rest = std::ranges::find(filter.turns, task::TurnState::none) != filter.turns.end();
  if (!filter.turns.empty() && !may_rest) filter.unfinished = true;
  filter.agent.value = query.text("agent");
  filter.caller = read_caller(query);
  filter.context.value = query.text("context");
  filter.parent = {query.key("parent")};
  filter.roots = query.choice("roots", {"", "0", "1"}) == "1";
  filter.schedule = query.text("schedule");
  if (const auto age = query.number("age_min_s", 0, kAgeMax)) {
    filter.status_until = now - std::chrono::seconds(*age);
  }
  filter.attempts_min =
      static_cast<int>(query.number("attempts_min", 0, std::numeric_limits<int>::max()).value_or(0));
  filter.undelivered = query.choice("undelivered", {"", "0", "1"}) == "1";
  if (const std::string retried = query.choice("retried", {"", "0", "1"}); !retried.empty())
    filter.retried = retried == "1";
  filter.error = query.text("error");
  return filter;
}

base::Result<Query::Pairs> filter_pairs(json::Value filter) {
  if (!filter.is_object()) return fail(ErrorCode::invalid_argument, "filter: must be an object");
  Query::Pairs pairs;
  for (const json::Value member : filter) {
    const std::string name(member.key());
    if (std::ranges::find(kFilter, name) == kFilter.end())
      return fail(ErrorCode::invalid_argument,
                  "filter: " + std::string(base::beginning_of(name, 100)) + ": is unknown");
    if ((name == "state" || name == "turn") && member.is_array()) {
      for (const json::Value word : member) pairs.emplace_back(name, word.str());
      continue;
    }
    auto value = parameter_of(member);
    if (!value)
      return fail(ErrorCode::invalid_argument, "filter: " + name + ": must be a string or a number");
    pairs.emplace_back(name, std::move(*value));
  }
  return pairs;
}

}  // namespace baton::server::operate

// Query: the parameters of a request to the operator API. Each must be known, and only lists may be given
// several times.
//
// A parameter that is not read is an error, because a misspelt filter would find everything. Read all
// parameters, then call `checked`, which reports the first problem.
// Threads: none shared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/operators/operator_actions.h"
#include "json/document.h"

namespace baton::server::operate {

// A key as the API shows it: decimal digits, at least 1.
std::optional<std::int64_t> key_in(std::string_view text);

class Query {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  explicit Query(const Pairs& pairs) : pairs_(pairs) {}

  // Empty if it is not given.
  std::string text(std::string_view name);
  // All values, separated by commas or given several times.
  std::vector<std::string> list(std::string_view name);
  std::optional<std::int64_t> number(std::string_view name, std::int64_t least, std::int64_t most);
  // 0 if it is not given.
  std::int64_t key(std::string_view name);
  // One of the words, the first one if it is not given.
  std::string choice(std::string_view name, const std::vector<std::string_view>& words);

  void wrong(std::string_view name, std::string_view what);
  // Fails with invalid_argument and the first problem.
  base::Result<void> checked() const;

 private:
  std::optional<std::string> only(std::string_view name);

  const Pairs& pairs_;
  std::vector<std::string> known_;
  std::string problem_;
};

// The caller that `caller` names: with all its tenants, or within the one that `tenant` names.
task::Caller read_caller(Query& query);
// Reads the filter of a list from its query.
store::TaskFilter read_filter(Query& query, base::Timestamp now);
// The same filter as an object of JSON, as parameters.
base::Result<Query::Pairs> filter_pairs(json::Value filter);

}  // namespace baton::server::operate

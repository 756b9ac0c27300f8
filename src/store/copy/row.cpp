#include "store/copy/row.h"

#include <charconv>

#include "base/sha256.h"
#include "store/sql/failure.h"

namespace baton::store::copy {
namespace {

enum class Kind : std::uint64_t { null, number, text };

// Removes a number and the character `end` from the front of a key. In a key "12 " is a number and "5:hello"
// a text.
std::int64_t take_number(std::string_view& key, char end) {
  std::int64_t number = 0;
  const auto [after, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  const auto used = static_cast<std::size_t>(after - key.data());
  if (error != std::errc() || used >= key.size() || key[used] != end) {
    throw sql::damaged_row("an unreadable place in an unfinished copy");
  }
  key.remove_prefix(used + 1);
  return number;
}

}  // namespace

void Row::read(const sql::Query& query) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const int column = static_cast<int>(i);
    Value& value = values_[i];
    value.is_null = query.is_null(column);
    if (table_.columns[i].is_text) {
      value.text = query.text(column);
    } else {
      value.number = query.integer(column);
    }
  }
}

std::span<const sql::Parameter> Row::parameters() {
  parameters_.clear();
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& value = values_[i];
    parameters_.push_back(table_.columns[i].is_text ? sql::Parameter(value.text)
                                                    : sql::Parameter(value.number));
  }
  return parameters_;
}

std::size_t Row::bytes() const {
  std::size_t bytes = 0;
  for (const Value& value : values_) bytes += value.text.size();
  return bytes;
}

void Row::add_to(Tally& tally) const {
  base::Sha256 digest;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& value = values_[i];
    const Kind kind = value.is_null ? Kind::null : table_.columns[i].is_text ? Kind::text : Kind::number;
    digest.add(static_cast<std::uint64_t>(kind));
    if (kind == Kind::number) digest.add(static_cast<std::uint64_t>(value.number));
    if (kind == Kind::text) digest.add(value.text);
  }
  const auto [high, low] = digest.first_128_bits();
  ++tally.rows;
  tally.high += high;
  tally.low += low;
}

std::string Row::key() const {
  std::string key;
  for (std::size_t i = 0; i < table_.key_columns; ++i) {
    const Value& value = values_[i];
    key += table_.columns[i].is_text ? std::to_string(value.text.size()) + ":" + value.text
                                     : std::to_string(value.number) + " ";
  }
  return key;
}

std::vector<sql::Parameter> Row::key_parameters(const Table& table, const std::string& key) {
  std::vector<sql::Parameter> parameters;
  std::string_view rest = key;
  for (std::size_t i = 0; i < table.key_columns && !key.empty(); ++i) {
    if (!table.columns[i].is_text) {
      parameters.emplace_back(take_number(rest, ' '));
      continue;
    }
    const auto size = static_cast<std::size_t>(take_number(rest, ':'));
    if (size > rest.size()) throw sql::damaged_row("an unreadable place in an unfinished copy");
    sql::Parameter parameter(std::int64_t{0});
    parameter.kind = sql::Parameter::Kind::text;
    parameter.bytes = rest.substr(0, size);
    parameters.push_back(parameter);
    rest.remove_prefix(size);
  }
  return parameters;
}

}  // namespace baton::store::copy

#include "store/postgres/sets.h"

#include <endian.h>

#include <cctype>
#include <cstring>

#include "store/postgres/dialect.h"

namespace baton::store::postgres {
namespace {

constexpr std::string_view kInsert = "INSERT INTO ", kUpdate = "UPDATE ", kValues = " VALUES ",
                           kWhere = " WHERE ";
// A row may be met twice in one group, but not in one statement.
constexpr std::string_view kOnConflict = " ON CONFLICT ", kDoNothing = " ON CONFLICT DO NOTHING";
// Says that no row is met twice between two statements that see it.
constexpr std::string_view kApart = "/* apart */ ";

constexpr std::int32_t kNumberType = 20, kTextType = 25;

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find(' '));
}

// "$7" is the column p7 of the arrays.
std::string with_columns(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '$') {
      result += "p.p";
    } else {
      result += c;
    }
  }
  return result;
}

// "unnest($1, $2) AS p (p1, p2)"
std::string unnested(std::size_t parameters) {
  std::string arrays, names;
  for (std::size_t i = 1; i <= parameters; ++i) {
    const std::string number = std::to_string(i);
    arrays += (i == 1 ? "$" : ", $") + number;
    names += (i == 1 ? "p" : ", p") + number;
  }
  return "unnest(" + arrays + ") AS p (" + names + ")";
}

std::optional<SetForm> insert_form(std::string_view sql, std::size_t parameters) {
  const bool is_apart = sql.starts_with(kApart);
  if (is_apart) sql.remove_prefix(kApart.size());
  const auto values = sql.find(kValues);
  if (!sql.starts_with(kInsert) || values == std::string_view::npos) return std::nullopt;
  std::string_view rows = sql.substr(values + kValues.size()), rest;
  if (const auto conflict = rows.find(kOnConflict); conflict != std::string_view::npos) {
    rest = rows.substr(conflict);
    rows = rows.substr(0, conflict);
    if (!is_apart && rest != kDoNothing) return std::nullopt;
  }
  return SetForm{std::string(sql.substr(0, values)) + " SELECT v.* FROM " + unnested(parameters) +
                     ", LATERAL (VALUES " + with_columns(rows) + ") AS v" + std::string(rest),
                 std::string(first_word(sql.substr(kInsert.size()))), std::nullopt};
}

std::optional<SetForm> update_form(std::string_view sql, std::size_t parameters) {
  const auto where = sql.find(kWhere);
  if (!sql.starts_with(kUpdate) || where == std::string_view::npos) return std::nullopt;
  if (sql.find("SELECT ") != std::string_view::npos) return std::nullopt;
  const std::string_view condition = sql.substr(where + kWhere.size());
  const auto equals = condition.find(" = $");
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view column = condition.substr(0, equals), number = condition.substr(equals + 4);
  std::size_t key = 0;
  for (const char c : number) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
    key = key * 10 + static_cast<std::size_t>(c - '0');
  }
  // What is added to a column counts each time.
  const std::string_view table = first_word(sql.substr(kUpdate.size()));
  if (!column.ends_with("_key") || sql.find(" + ") != std::string_view::npos) return std::nullopt;
  return SetForm{with_columns(sql.substr(0, where)) + " FROM " + unnested(parameters) + " WHERE " +
                     std::string(table) + "." + std::string(column) + " = p.p" + std::to_string(key),
                 std::string(table), key - 1};
}

}  // namespace

std::optional<SetForm> set_form(std::string_view sql, std::size_t parameters) {
  if (parameters == 0) return std::nullopt;
  auto form = insert_form(sql, parameters);
  return form ? form : update_form(sql, parameters);
}

// As PostgreSQL sends arrays: dimensions, whether there are nulls, the type, the size, where the index
// begins.
ArrayWriter::ArrayWriter(sql::Parameter::Kind kind, std::size_t size) {
  array_.of_texts = kind == sql::Parameter::Kind::text;
  array_.bytes.reserve(20 + size * 12);
  add_size(1);
  add_size(0);
  add_size(array_.of_texts ? kTextType : kNumberType);
  add_size(static_cast<std::int32_t>(size));
  add_size(1);
}

void ArrayWriter::add_size(std::int32_t size) {
  const auto ordered = htobe32(static_cast<std::uint32_t>(size));
  array_.bytes.append(reinterpret_cast<const char*>(&ordered), sizeof ordered);
}

void ArrayWriter::add(const sql::Parameter& value) {
  if (!array_.of_texts) {
    const auto ordered = htobe64(static_cast<std::uint64_t>(value.number));
    add_size(sizeof ordered);
    array_.bytes.append(reinterpret_cast<const char*>(&ordered), sizeof ordered);
    return;
  }
  if (needs_escapes(value.bytes)) {
    const std::string stored = escaped(value.bytes);
    add_size(static_cast<std::int32_t>(stored.size()));
    array_.bytes += stored;
    return;
  }
  add_size(static_cast<std::int32_t>(value.bytes.size()));
  array_.bytes += value.bytes;
}

}  // namespace baton::store::postgres

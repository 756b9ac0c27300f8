#include "store/postgres/lane/sets.h"

#include <endian.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "store/postgres/lane/dialect.h"

namespace baton::store::postgres {
namespace {

constexpr std::string_view kInsert = "INSERT INTO ", kUpdate = "UPDATE ", kValues = " VALUES ",
                           kWhere = " WHERE ", kAnd = " AND ";
// One group may insert the same row twice, but one statement must not.
constexpr std::string_view kOnConflict = " ON CONFLICT ", kDoNothing = " ON CONFLICT DO NOTHING";
// Marks an INSERT ... ON CONFLICT that may be a set, because no row occurs twice between two statements that
// read it.
constexpr std::string_view kApart = "/* apart */ ";
constexpr std::string_view kGuarded = "/* guarded */ ";

constexpr std::int32_t kNumberType = 20, kTextType = 25;

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find(' '));
}

// Replaces parameters by columns of the arrays: "$7" becomes p.p7.
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

// Returns "unnest($1, $2) AS p (p1, p2)".
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

// A comparison such as "a_key = $1": the text before the parameter, and the parameter's number.
struct Comparison {
  std::string_view what;
  std::size_t number = 0;
};

std::optional<Comparison> comparison_in(std::string_view text) {
  constexpr std::string_view kEquals = " = $";
  const auto equals = text.rfind(kEquals);
  if (equals == std::string_view::npos) return std::nullopt;
  Comparison found{text.substr(0, equals)};
  for (const char c : text.substr(equals + kEquals.size())) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
    found.number = found.number * 10 + static_cast<std::size_t>(c - '0');
  }
  return found;
}

std::optional<SetForm> update_form(std::string_view sql, std::size_t parameters) {
  const bool is_guarded = sql.starts_with(kGuarded);
  if (is_guarded) sql.remove_prefix(kGuarded.size());
  const auto where = sql.find(kWhere);
  if (!sql.starts_with(kUpdate) || where == std::string_view::npos) return std::nullopt;
  if (sql.find("SELECT ") != std::string_view::npos) return std::nullopt;
  const std::string_view condition = sql.substr(where + kWhere.size());
  const std::size_t end = is_guarded ? condition.find(kAnd) : condition.size();
  const auto key = comparison_in(condition.substr(0, end));
  // An UPDATE that adds to a column is no set, because each run must count.
  sql = sql.substr(0, where);
  if (!key || !key->what.ends_with("_key") || sql.find(" + ") != std::string_view::npos) return std::nullopt;
  const std::string table(first_word(sql.substr(kUpdate.size())));
  SetForm form{with_columns(sql) + " FROM " + unnested(parameters) + " WHERE " + table + "." +
                   std::string(key->what) + " = p.p" + std::to_string(key->number),
               table, key->number - 1};
  if (!is_guarded) return form;
  const auto guard = comparison_in(condition.substr(std::min(end, condition.size())));
  if (!guard) return std::nullopt;
  form.guard = guard->number - 1;
  form.sql = "WITH done AS (" + form.sql + std::string(guard->what) + " = p.p" +
             std::to_string(guard->number) +
             " RETURNING 1) SELECT 1 / (count(*) = cardinality($1))::int FROM done";
  return form;
}

}  // namespace

std::optional<SetForm> set_form(std::string_view sql, std::size_t parameters) {
  if (parameters == 0) return std::nullopt;
  auto form = insert_form(sql, parameters);
  return form ? form : update_form(sql, parameters);
}

// Writes PostgreSQL's binary form of arrays: the number of dimensions, whether there are nulls, the type, the
// size, the first index.
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

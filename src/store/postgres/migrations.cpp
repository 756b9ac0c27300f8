#include "store/postgres/migrations.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "store/copy/unfinished.h"
#include "store/sql/migration_files.h"

namespace baton::store::postgres {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::string_view kFolder = "postgres/";
constexpr char kTables[] =
    "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', "
    "'p')";
// Recognizes a schema of Baton by the names of some of its tables.
constexpr char kOurs[] =
    "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname IN "
    "('migrations', 'tasks', 'events', 'lanes', 'task_totals')";
constexpr int kOursAtLeast = 5;
constexpr char kNote[] = "INSERT INTO migrations (number, name, applied_ms) VALUES ($1, $2, $3)";

// Splits a file into statements. A statement ends at a semicolon at the end of a line, but not within $$.
std::vector<std::string> statements_of(std::string_view text) {
  std::vector<std::string> statements;
  std::string statement;
  bool is_quoted = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1);
    std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(line.size());
    line = line.substr(0, line.find("--"));
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
    for (auto at = line.find("$$"); at != std::string_view::npos; at = line.find("$$", at + 2))
      is_quoted = !is_quoted;
    statement += std::string(line) + "\n";
    if (is_quoted || !line.ends_with(';')) continue;
    statements.push_back(std::move(statement));
    statement.clear();
  }
  return statements;
}

bool only_adds(std::string_view name) {
  const auto after_number = name.find('_');
  return after_number != std::string_view::npos && name.substr(after_number + 1).starts_with("add_");
}

// Whether all migrations that this program does not know are additions.
bool has_additions_only(Link& link, int newest) {
  const std::array after{sql::Parameter(newest)};
  link.send("SELECT name FROM migrations WHERE number > $1", after);
  const Rows rows = link.finish();
  for (int i = 0; i < PQntuples(rows.get()); ++i) {
    if (!only_adds(text_at(rows.get(), i, 0))) return false;
  }
  return true;
}

Result<int> version_of(Link& link, int newest, bool takes_additions = false) {
  if (link.ask_text(kTables) == "0") return 0;
  if (std::stoi(link.ask_text(kOurs)) < kOursAtLeast) {
    return fail(ErrorCode::invalid_argument,
                "the database contains tables of another program: use an empty database or schema");
  }
  const int version = std::stoi("0" + link.ask_text("SELECT max(number) FROM migrations"));
  if (version > newest && takes_additions && has_additions_only(link, newest)) return newest;
  if (version > newest) {
    return fail(ErrorCode::unsupported, "the database was written by a newer Baton",
                "schema " + std::to_string(version) + "; this program supports " + std::to_string(newest));
  }
  return version;
}

void apply(Link& link, const base::EmbeddedFile& file, int number, base::Timestamp now) {
  for (const std::string& statement : statements_of(file.text)) link.ask(statement);
  const std::string name(file.name.substr(kFolder.size()));
  const std::array noted{sql::Parameter(number), sql::Parameter(name), sql::Parameter(base::to_ms(now))};
  link.send(kNote, noted);
  link.finish();
}

}  // namespace

bool is_new(Link& link) {
  return link.ask_text(kTables) == "0";
}

Result<Tables> state_of_tables(Link& link, const std::vector<base::EmbeddedFile>& files) {
  const int newest = sql::newest_migration(files, kFolder);
  const auto version = version_of(link, newest, true);
  if (!version) return fail(version.error());
  if (*version == newest) return Tables::fit;
  const bool add_only = *version > 0 && std::ranges::all_of(files, [&](const base::EmbeddedFile& file) {
    const int number = sql::migration_number(file, kFolder);
    return number <= *version || only_adds(file.name);
  });
  return add_only ? Tables::lack_additions : Tables::are_older;
}

Result<void> check_newest(Link& link, const std::vector<base::EmbeddedFile>& files) {
  const int newest = sql::newest_migration(files, kFolder);
  const auto version = version_of(link, newest);
  if (!version) return fail(version.error());
  if (*version == 0) return fail(ErrorCode::invalid_argument, "is not a Baton database");
  if (*version < newest) return fail(copy::is_older());
  return {};
}

Result<void> migrate(Link& link, const std::vector<base::EmbeddedFile>& files, base::Timestamp now,
                     const std::function<void(int from, int to)>& on_upgrade) {
  const int newest = sql::newest_migration(files, kFolder);
  auto version = version_of(link, newest, true);
  if (!version) return fail(version.error());
  if (*version > 0 && *version < newest && on_upgrade) on_upgrade(*version, newest);
  for (const base::EmbeddedFile& file : files) {
    if (sql::migration_number(file, kFolder) <= *version) continue;
    try {
      link.ask("BEGIN");
      link.ask("SET LOCAL lock_timeout = '10s'");
      link.ask("SELECT pg_advisory_xact_lock(1111577678, hashtext(current_schema() || ' migrations'))");
      // Another program may have been first.
      auto now_is = version_of(link, newest, true);
      if (!now_is) return fail(now_is.error());
      if (sql::migration_number(file, kFolder) > *now_is)
        apply(link, file, sql::migration_number(file, kFolder), now);
      link.ask("COMMIT");
    } catch (const sql::Failure&) {
      if (!link.is_lost()) link.ask("ROLLBACK");
      throw;
    }
  }
  return {};
}

}  // namespace baton::store::postgres

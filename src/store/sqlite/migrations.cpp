#include "store/sqlite/migrations.h"

#include <string>
#include <string_view>

#include "store/copy/unfinished.h"
#include "store/sql/migration_files.h"

namespace baton::store::sqlite {
namespace {

constexpr std::string_view kFolder = "sqlite/";
constexpr int kApplicationId = 0x4241544e;        // "BATN"
constexpr int kFormerApplicationId = 0x4261746f;  // "Bato": its schema ended with commit ab3e8b2

int pragma(Connection& connection, const char* name) {
  return connection.database().execAndGet("PRAGMA " + std::string(name)).getInt();
}

base::Result<void> check_owner(Connection& connection, int version, int newest) {
  if (version == 0 && is_new(connection)) return {};
  const int id = pragma(connection, "application_id");
  if (id == kFormerApplicationId) {
    return base::fail(base::ErrorCode::unsupported, "the database was written by an older Baton",
                      "this version cannot read it: name another file with --db, or use commit ab3e8b2, the "
                      "last version that can");
  }
  if (id != kApplicationId) {
    return base::fail(base::ErrorCode::invalid_argument, "the database belongs to another program",
                      "its application_id is not Baton's");
  }
  if (version > newest) {
    return base::fail(
        base::ErrorCode::unsupported, "the database was written by a newer Baton",
        "schema " + std::to_string(version) + "; this program supports " + std::to_string(newest));
  }
  return {};
}

void apply(Connection& connection, const base::EmbeddedFile& file, int number, base::Timestamp now) {
  connection.begin();
  try {
    SQLite::Database& database = connection.database();
    database.exec(std::string(file.text));
    database.exec("PRAGMA user_version=" + std::to_string(number));
    database.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
    const std::string name(file.name.substr(kFolder.size()));
    connection.run("INSERT INTO migrations (number, name, applied_ms) VALUES (?, ?, ?)", number, name,
                   base::to_ms(now));
    connection.commit();
  } catch (...) {
    connection.rollback();
    throw;
  }
}

}  // namespace

bool is_new(Connection& connection) {
  return connection.database().execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
}

base::Result<void> check_newest(Connection& connection, const std::vector<base::EmbeddedFile>& files) {
  const int version = pragma(connection, "user_version"), newest = sql::newest_migration(files, kFolder);
  if (is_new(connection)) return base::fail(base::ErrorCode::invalid_argument, "is not a Baton database");
  if (auto owner = check_owner(connection, version, newest); !owner) return owner;
  if (version < newest) return base::fail(copy::is_older());
  return {};
}

bool has_table(Connection& connection, const char* name) {
  const std::string quoted = "'" + std::string(name) + "'";
  return connection.database()
             .execAndGet("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = " + quoted)
             .getInt() > 0;
}

base::Result<void> migrate(Connection& connection, const std::vector<base::EmbeddedFile>& files,
                           base::Timestamp now, const OnUpgrade& on_upgrade) {
  const int version = pragma(connection, "user_version");
  const int newest = sql::newest_migration(files, kFolder);
  if (auto owner = check_owner(connection, version, newest); !owner) return owner;
  if (version > 0 && version < newest && on_upgrade) on_upgrade(version, newest);
  // Allows free pages to be returned to the disk without rewriting the file. Must be set before the file has
  // pages.
  if (version == 0) connection.database().exec("PRAGMA auto_vacuum=INCREMENTAL");
  for (const base::EmbeddedFile& file : files) {
    if (sql::migration_number(file, kFolder) > version)
      apply(connection, file, sql::migration_number(file, kFolder), now);
  }
  return {};
}

}  // namespace baton::store::sqlite

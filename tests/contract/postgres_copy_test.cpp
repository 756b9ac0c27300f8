// A database is copied from SQLite to PostgreSQL and back without a visible difference.
#include <set>
#include <string>
#include <vector>

#include "contract/picture.h"
#include "contract/postgres_bench.h"
#include "contract/random_changes.h"
#include "contract/store_bench.h"
#include "store/copy/copy.h"
#include "store/postgres/copy_sides.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/copy_sides.h"

namespace postgres_copy_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using store::copy::Compared;
using store::copy::Table;

namespace {

constexpr unsigned kSeeds = 4;
constexpr int kSteps = 150;

template <class Source, class Target>
std::vector<Compared> copied(const base::Result<Source>& source, const base::Result<Target>& target) {
  succeed(source);
  succeed(target);
  std::vector<Compared> tables;
  succeed(store::copy::copy(**source, **target, [&](const Compared& table) { tables.push_back(table); }));
  for (const Compared& table : tables) {
    CAPTURE(table.table);
    CHECK(table.is_equal);
  }
  return tables;
}

void to_postgres(const SqliteBench& from, const PostgresBench& to) {
  copied(store::sqlite::open_copy_source(from.path()),
         store::postgres::open_copy_target(to.settings.url, to.clock, to.settings.allows));
}

void to_sqlite(const PostgresBench& from, const std::string& to) {
  copied(store::postgres::open_copy_source(from.settings.url, "the source"),
         store::sqlite::open_copy_target(to, from.clock));
}

// The changes applied to a store, and the tasks that it has.
class Life {
 public:
  explicit Life(unsigned seed) : random_(seed) {}

  void change(StoreBench& bench) {
    for (int i = 0; i < kSteps; ++i) {
      task::Change change = random_.draw(heads);
      const auto applied = bench.commit(change);
      if (!applied) continue;
      std::erase_if(heads, [&](const task::TaskHead& head) { return head.key == applied->head.key; });
      heads.push_back(applied->head);
    }
  }

  std::vector<task::TaskHead> heads;

 private:
  RandomChanges random_;
};

}  // namespace

TEST_CASE(
    "Copy: a PostgreSQL store gives the same answers as the file it was copied from, also after changes") {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Life life(seed);
    SqliteBench file;
    life.change(file);
    const std::string before = Picture(file, life.heads).whole();
    const std::string name = dynamic_cast<store::SqliteStore&>(*file.tasks).server_name();
    file.close();
    PostgresBench server;  // with empty tables
    server.close();
    to_postgres(file, server);
    server.open();
    CHECK(server.store().server_name() == name);
    CHECK(Picture(server, life.heads).whole() == before);

    life.change(server);
    const std::string after = Picture(server, life.heads).whole();
    server.close();
    SqliteBench back;
    back.close();
    to_sqlite(server, back.path());
    back.open();
    CHECK(Picture(back, life.heads).whole() == after);
    life.change(back);
  }
}

TEST_CASE(
    "Copy: texts that PostgreSQL cannot hold, and ids that it orders differently, survive a round trip") {
  SqliteBench file;
  file.close();
  {
    store::sqlite::Connection connection(file.path(), store::sqlite::Connection::Mode::write);
    const std::string odd(
        "\0\x01"
        "2\xff \xc3\xa4",
        7);
    for (int i = 0; i < 300; ++i) {
      const std::string id = std::string(1, static_cast<char>(i % 256)) + odd + std::to_string(i);
      connection.run("INSERT INTO calls (context_key, call_id) VALUES (7, ?)", id);
    }
    connection.run("INSERT INTO audit VALUES (41, 1, ?, '', '', '', 0, '', '', '', 'done')", odd);
  }
  PostgresBench server;
  server.close();
  to_postgres(file, server);
  CHECK(server.schema.ask("SELECT count(*) FROM calls") == "300");
  CHECK(server.schema.ask("INSERT INTO audit (at_ms, actor, action, reason, detail, task_key, agent, caller, "
                          "public_id, outcome) VALUES (2, '', '', '', '', 0, '', '', '', '') RETURNING "
                          "audit_key") == "42");
  const std::string back = file.path() + "-back";
  to_sqlite(server, back);
  store::sqlite::Connection one(file.path(), store::sqlite::Connection::Mode::read);
  store::sqlite::Connection other(back, store::sqlite::Connection::Mode::read);
  constexpr char kCalls[] = "SELECT call_id FROM calls ORDER BY call_id";
  auto mine = one.query(kCalls), theirs = other.query(kCalls);
  while (mine.step()) {
    REQUIRE(theirs.step());
    REQUIRE(mine.text(0) == theirs.text(0));
  }
}

TEST_CASE("Copy: every column of PostgreSQL's schema is copied, or is known to be about nodes") {
  PostgresBench bench;
  std::string copied;
  std::set<std::string> names;
  for (const Table& table : store::copy::tables()) {
    for (const auto& column : table.columns) names.insert(table.name + "." + column.name);
  }
  names.insert(
      {"task_totals.node_id", "task_totals.lane", "tasks.owner", "deliveries.sender", "bulk_jobs.node"});
  for (const std::string& name : names) copied += name + " ";
  const std::string found = bench.schema.ask(
      "SELECT string_agg(table_name || '.' || column_name || ' ', '' ORDER BY (table_name || '.' || "
      "column_name) COLLATE \"C\") FROM information_schema.columns WHERE table_schema = current_schema() AND "
      "table_name NOT IN ('migrations', 'nodes', 'lanes')");
  CHECK(found == copied);
}

TEST_CASE("Copy: a store refuses an unfinished copy, and a copy refuses an open database") {
  SqliteBench file;
  PostgresBench server;
  file.close();
  const auto while_open =
      store::postgres::open_copy_target(server.settings.url, server.clock, server.settings.allows);
  CHECK((!while_open && while_open.error().code == ErrorCode::already_exists));
  const auto from_open = store::postgres::open_copy_source(server.settings.url, "the source");
  CHECK((!from_open && from_open.error().code == ErrorCode::already_exists));
  server.close();
  server.schema.ask(
      "CREATE TABLE unfinished_copy (source text, state text); INSERT INTO unfinished_copy VALUES "
      "('the file', '')");
  const auto opened = store::PostgresStore::open(server.settings, server.clock);
  REQUIRE(!opened);
  CHECK(opened.error().code == ErrorCode::conflict);
  CHECK(opened.error().for_log.find("an unfinished copy of the file") != std::string::npos);
}

TEST_CASE("Copy: a schema with rows is refused as the target") {
  SqliteBench file;
  PostgresBench server;
  server.create("t1");
  server.close();
  const auto target =
      store::postgres::open_copy_target(server.settings.url, server.clock, server.settings.allows);
  REQUIRE(!target);
  CHECK(target.error().code == ErrorCode::already_exists);
  CHECK(target.error().for_log.find("is not empty") != std::string::npos);
}

}  // namespace postgres_copy_test

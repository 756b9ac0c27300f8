// Properties of the PostgresStore only: the databases it refuses, and how it handles lost connections.
#include <future>
#include <random>
#include <string>
#include <vector>

#include "base/id.h"
#include "contract/postgres_bench.h"
#include "contract/store_bench.h"
#include "store/postgres/migrations.h"

namespace postgres_only_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using task::State;

namespace {

void end_connections(const Schema& schema) {
  schema.ask(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
      "WHERE application_name = 'baton' AND pid <> pg_backend_pid()");
}

base::Error error_at_open(const store::PostgresOptions& options) {
  const ManualClock clock;
  const auto opened = store::PostgresStore::open(options, clock);
  REQUIRE(!opened);
  return opened.error();
}

}  // namespace

TEST_CASE("PostgresStore: a standby opens once the other store has closed") {
  PostgresBench bench;
  bench.create("t1");
  store::PostgresOptions standby = bench.settings;
  int asked = 0;
  standby.waits = [&] {
    if (++asked == 3) bench.close();
    return true;
  };
  const ManualClock clock;
  const auto opened = store::PostgresStore::open(standby, clock);
  succeed(opened);
  CHECK(asked >= 3);
  CHECK((*opened)->find({{"ann"}, {"echo"}, {"t1"}}));
}

TEST_CASE("PostgresStore: a standby does not open while the other store renews its lease") {
  PostgresBench bench;
  bench.close();
  bench.settings.lease = patience() / 60;
  bench.settings.lease_renewal = bench.settings.lease / 10;
  bench.open();
  store::PostgresOptions standby = bench.settings;
  const auto looks = 3 * bench.settings.lease / std::chrono::milliseconds(100);  // one every 100 ms
  int asked = 0;
  standby.waits = [&] { return ++asked < looks; };
  CHECK(error_at_open(standby).code == ErrorCode::already_exists);
  bench.create("t1");
  succeed(bench.tasks->flush());
}

TEST_CASE("PostgresStore: a store whose lease has expired is replaced and cannot write any more") {
  PostgresBench bench;
  bench.close();
  bench.settings.lease = std::chrono::milliseconds(200);
  bench.settings.lease_renewal = std::chrono::hours(1);
  std::promise<std::string> told;
  bench.settings.on_lost = [&told](const std::string& why) { told.set_value(why); };
  bench.open();
  bench.create("t1");
  store::PostgresOptions standby = bench.settings;
  standby.waits = [] { return true; };
  standby.on_lost = [](const std::string&) {};
  const ManualClock clock;
  const auto opened = store::PostgresStore::open(standby, clock);
  succeed(opened);
  task::Change late = StoreBench::creation("t2", {status(State::submitted), user("m")});
  const bool is_stored = bench.apply(late) && bench.tasks->commit();
  CHECK_FALSE(is_stored);
  CHECK(heard(told) == "another Baton has taken over the database");
  CHECK((*opened)->find({{"ann"}, {"echo"}, {"t1"}}));
  CHECK_FALSE((*opened)->find({{"ann"}, {"echo"}, {"t2"}}));
}

TEST_CASE("PostgresStore: a database keeps its server name, which no other database has") {
  PostgresBench bench, other;
  const std::string first = bench.store().server_name();
  bench.reopen();
  CHECK(first.size() == 16);
  CHECK(bench.store().server_name() == first);
  CHECK(other.store().server_name() != first);
}

TEST_CASE("PostgresStore: a setting that could lose confirmed commits is refused, unless it is allowed") {
  const Schema schema;
  store::PostgresOptions options;
  options.url = schema.url() + "%20-csynchronous_commit%3Doff";
  options.allows = {"fsync=off"};
  const base::Error error = error_at_open(options);
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.for_caller.find("set synchronous_commit = on") != std::string::npos);
  options.allows.push_back("synchronous_commit=off");
  const ManualClock clock;
  succeed(store::PostgresStore::open(options, clock));
}

TEST_CASE("PostgresStore: a schema with tables of another program is refused and left alone") {
  const Schema schema;
  schema.ask("CREATE TABLE tasks (name text)");
  store::PostgresOptions options;
  options.url = schema.url();
  options.allows = {"fsync=off"};
  CHECK(error_at_open(options).code == ErrorCode::invalid_argument);
  CHECK(schema.ask("SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace") ==
        "1");
}

TEST_CASE("PostgresStore: a missing schema is named in the error, and not mistaken for another Baton") {
  const Schema schema;
  store::PostgresOptions options;
  options.url = schema.url();
  options.allows = {"fsync=off"};
  options.url.replace(options.url.rfind("test_"), std::string::npos, "no_such_schema");
  const base::Error missing = error_at_open(options);
  CHECK(missing.code == ErrorCode::invalid_argument);
  CHECK(missing.for_caller.starts_with("search_path is no_such_schema, but no such schema exists"));
  options.url.replace(options.url.rfind("no_such_schema"), std::string::npos, "");
  const base::Error none = error_at_open(options);
  CHECK(none.code == ErrorCode::invalid_argument);
  CHECK(none.for_caller.starts_with("no schema is selected"));
  // A standby gets the same error, and does not wait.
  options.waits = [] { return true; };
  CHECK(error_at_open(options).for_caller == none.for_caller);
}

TEST_CASE("PostgresStore: the error for a role that may not create tables names the missing right") {
  const Schema schema;
  if (schema.ask("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == "t") return;  // may do all
  schema.ask("REVOKE CREATE ON SCHEMA " + schema.ask("SELECT current_schema()") + " FROM CURRENT_USER");
  store::PostgresOptions options;
  options.url = schema.url();
  options.allows = {"fsync=off"};
  const base::Error error = error_at_open(options);
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.for_caller.find("GRANT USAGE, CREATE") != std::string::npos);
}

TEST_CASE("PostgresStore: a schema of a newer Baton is refused") {
  PostgresBench bench;
  bench.close();
  bench.schema.ask("INSERT INTO migrations (number, name, applied_ms) VALUES (9999, 'later', 0)");
  CHECK(error_at_open(bench.settings).code == ErrorCode::unsupported);
}

TEST_CASE("PostgresStore: additions of a newer Baton do not keep an older one out") {
  PostgresBench bench;
  bench.create("t1");
  bench.close();
  bench.schema.ask(
      "ALTER TABLE tasks ADD COLUMN more bigint NOT NULL DEFAULT 0; "
      "INSERT INTO migrations (number, name, applied_ms) VALUES (9998, '9998_add_more.sql', 0)");
  bench.open();
  bench.create("t2", "c2");
  CHECK(bench.schema.ask("SELECT count(*) FROM tasks") == "2");
  bench.close();
  bench.schema.ask("INSERT INTO migrations (number, name, applied_ms) VALUES (9999, '9999_remove.sql', 0)");
  CHECK(error_at_open(bench.settings).code == ErrorCode::unsupported);
}

TEST_CASE("PostgresStore: only additions are applied while an older Baton serves, other migrations are not") {
  PostgresBench bench;
  const auto address = store::postgres::Address::read(bench.schema.url());
  REQUIRE(address);
  store::postgres::Link link(*address);
  std::vector<base::EmbeddedFile> files = base::embedded_files();
  const auto tables = [&] { return store::postgres::state_of_tables(link, files).value(); };
  CHECK(tables() == store::postgres::Tables::fit);
  files.push_back(
      {"postgres/9997_add_more.sql", "ALTER TABLE tasks ADD COLUMN more bigint NOT NULL DEFAULT 0;\n"});
  CHECK(tables() == store::postgres::Tables::lack_additions);
  succeed(store::postgres::migrate(link, files, {}, nullptr));
  CHECK(tables() == store::postgres::Tables::fit);
  bench.create("t1");
  files.push_back({"postgres/9998_remove.sql", "ALTER TABLE tasks DROP COLUMN more;\n"});
  files.push_back({"postgres/9999_add_other.sql", "ALTER TABLE tasks ADD COLUMN other bigint;\n"});
  CHECK(tables() == store::postgres::Tables::are_older);
}

TEST_CASE("PostgresStore: a migration is applied once and completely, or not at all") {
  const Schema schema;
  const auto address = store::postgres::Address::read(schema.url());
  REQUIRE(address);
  store::postgres::Link link(*address);
  std::vector<base::EmbeddedFile> files = base::embedded_files();
  std::vector<std::pair<int, int>> upgrades;
  const auto note = [&](int from, int to) { upgrades.emplace_back(from, to); };
  succeed(store::postgres::migrate(link, files, {}, note));
  CHECK(upgrades.empty());
  files.push_back({"postgres/9998_more.sql",
                   "CREATE TABLE more (a bigint);  -- some; more\nINSERT INTO more VALUES (1);\n"});
  succeed(store::postgres::migrate(link, files, {}, note));
  succeed(store::postgres::migrate(link, files, {}, note));
  REQUIRE(upgrades.size() == 1);
  CHECK(upgrades[0].second == 9998);
  CHECK(schema.ask("SELECT count(*) FROM more") == "1");
  files.push_back(
      {"postgres/9999_broken.sql", "INSERT INTO more VALUES (2);\nINSERT INTO nothing VALUES (1);\n"});
  CHECK_THROWS_AS((void)store::postgres::migrate(link, files, {}, note), store::sql::Failure);
  CHECK(schema.ask("SELECT count(*) FROM more") == "1");
  CHECK(schema.ask("SELECT max(number) FROM migrations") == "9998");
}

TEST_CASE("PostgresStore: no error at start contains the password") {
  for (const std::string url :
       {"postgresql://someone:hushhush@127.0.0.1:1/nothing",
        "host=127.0.0.1 port=1 password=hushhush user=someone", "postgresql:/someone:hushhush@@",
        "host 127.0.0.1 hushhush", "postgresql://h/d?hushhush=1"}) {
    CAPTURE(url);
    store::PostgresOptions options;
    options.url = url;
    const base::Error error = error_at_open(options);
    CHECK(error.for_caller.find("hushhush") == std::string::npos);
    CHECK(error.for_log.find("hushhush") == std::string::npos);
  }
}

TEST_CASE("PostgresStore: ids with zero bytes and invalid UTF-8 are read back unchanged") {
  PostgresBench bench;
  const std::string odd = std::string("a\0b\x01", 4) + "0\xff\xc3(";
  const task::TaskHead head = bench.create(odd, odd + "c");
  const task::TaskHead other = bench.create("a", odd + "c");
  CHECK(bench.head(head.key).id.value == odd);
  CHECK(bench.head(other.key).context.value == odd + "c");
  CHECK(other.context_key == head.context_key);
  task::PushConfig config;
  config.id = {odd};
  config.url = "http://x/" + odd;
  succeed(bench.set_push(head.key, config, 5));
  REQUIRE(bench.configs(head).size() == 1);
  CHECK(bench.configs(head)[0].id.value == odd);
  CHECK(bench.configs(head)[0].url == "http://x/" + odd);
}

TEST_CASE("PostgresStore: only ids that are too long for an index are refused, the others are stored") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  std::vector<task::EventBody> many(40, delta("r", "x"));
  bench.must(head, many);  // a long log has a row for each artifact
  const std::string long_id = base::random_hex(4'000);
  task::Change kept = StoreBench::creation("t2", {status(State::submitted), user("m")}, "c2");
  succeed(bench.apply(kept));
  task::Change artifact = StoreBench::change(head, {chunk(long_id, "x", false)});
  CHECK(bench.apply(artifact).error().code == ErrorCode::too_large);
  task::Change call = StoreBench::change(head, {task::ToolCall{long_id, "tool", {"{}"}, true}});
  CHECK(bench.apply(call).error().code == ErrorCode::too_large);
  task::Change created = StoreBench::creation("t3", {status(State::submitted), user("m")}, "c3");
  created.create->agent = {"https://example.org/" + long_id};
  CHECK(bench.apply(created).error().code == ErrorCode::too_large);
  succeed(bench.tasks->commit());
  bench.reopen();
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t2"}}));
  CHECK(bench.tasks->row(head.key)->head.last_event.value == 42);
}

TEST_CASE("PostgresStore: a long log can be read as a whole and in pieces") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  std::vector<task::EventBody> said;
  for (int i = 0; i < 1'500; ++i) said.push_back(delta("r", std::to_string(i)));
  bench.must(head, said);
  CHECK(bench.log(head).size() == 1'502);
  CHECK(bench.tasks->events(head.key, {10}, 600).value().size() == 600);
  CHECK(consecutive(bench.log(head)));
}

TEST_CASE("PostgresStore: a group of many large texts is stored completely") {
  PostgresBench bench;
  std::vector<task::TaskHead> heads;
  for (int i = 0; i < 5; ++i) heads.push_back(bench.create("t" + std::to_string(i)));
  const std::string large(10u << 20, 'x');
  for (const task::TaskHead& head : heads) {
    task::Change change = StoreBench::change(head, {delta("r", large), delta("r", "end")});
    succeed(bench.apply(change));
  }
  succeed(bench.tasks->commit());
  CHECK(bench.schema.ask("SELECT sum(length(body) / 10000000) FROM events") == "5");
}

TEST_CASE("PostgresStore: connections that the server ended are opened again") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  for (int i = 0; i < 3; ++i) {
    end_connections(bench.schema);
    CHECK(bench.head(head.key).id.value == "t1");
    end_connections(bench.schema);
    bench.must(head, {delta("r", "more")});
  }
  CHECK(bench.log(head).size() == 5);
}

TEST_CASE("PostgresStore: a group whose connection ends while it is open is written once") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  task::Change first = StoreBench::change(head, {delta("r", "one")});
  succeed(bench.apply(first));
  // A read within the group sends the earlier writes to the server.
  task::Change other = StoreBench::creation("t2", {status(State::submitted), user("m")}, "c1");
  succeed(bench.apply(other));
  end_connections(bench.schema);
  task::Change third = StoreBench::creation("t3", {status(State::submitted), user("m")}, "c1");
  succeed(bench.apply(third));
  end_connections(bench.schema);
  succeed(bench.tasks->commit());
  CHECK(bench.log(head).size() == 3);
  CHECK(bench.schema.ask("SELECT count(*) FROM tasks") == "3");
}

TEST_CASE("PostgresStore: a commit whose answer is lost happens exactly once") {
  GatedBench bench;
  const task::TaskHead head = bench.create("t1");
  bench.gate.cut_answer_with("COMMIT");
  bench.must(head, {delta("r", "one")});
  CHECK(bench.gate.cuts() == 1);
  bench.must(head, {delta("r", "two")});
  CHECK(bench.log(head).size() == 4);
  CHECK(bench.count("events") == "4");
}

TEST_CASE("PostgresStore: a group happens exactly once, wherever its connection breaks") {
  GatedBench bench;
  const task::TaskHead head = bench.create("t1");
  std::mt19937 random(7);
  constexpr int kGroups = 60;
  for (int i = 0; i < kGroups; ++i) {
    if (i % 2 == 0) bench.gate.cut_request_after(std::uniform_int_distribution(0, 1'500)(random));
    if (i % 4 == 1) bench.gate.cut_answer_with("COMMIT");
    bench.must(head, {delta("r", "one"), delta("r", "two")});
    bench.gate.cut_request_after(-1);
  }
  CHECK(bench.gate.cuts() > kGroups / 3);
  CHECK(bench.count("events") == std::to_string(2 + 2 * kGroups));
  CHECK(consecutive(bench.log(head)));
  succeed(bench.tasks->flush());
}

TEST_CASE("PostgresStore: the store ends if the database has lost a confirmed group") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  bench.must(head, {delta("r", "one")});
  bench.schema.ask("UPDATE lanes SET last_group = last_group - 1");
  end_connections(bench.schema);
  task::Change change = StoreBench::change(head, {delta("r", "two")});
  // Another connection of the store may notice before this one does.
  const auto applied = bench.apply(change);
  CHECK((applied ? bench.tasks->commit().error() : applied.error()).code == ErrorCode::unavailable);
  CHECK(bench.tasks->flush().error().for_log.find("lost changes that it had confirmed") != std::string::npos);
}

TEST_CASE("PostgresStore: a database that has lost a confirmed group is not read") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  bench.schema.ask("UPDATE lanes SET last_group = last_group - 1");
  end_connections(bench.schema);
  CHECK(bench.tasks->row(head.key).error().code == ErrorCode::unavailable);
  CHECK(bench.tasks->flush().error().for_log.find("lost changes that it had confirmed") != std::string::npos);
}

TEST_CASE("PostgresStore: an idle store detects a database that has lost a confirmed group") {
  PostgresBench bench;
  std::promise<std::string> told;
  bench.settings.on_lost = [&](const std::string& why) { told.set_value(why); };
  bench.reopen();
  bench.create("t1");
  bench.schema.ask("UPDATE lanes SET last_group = last_group - 1");
  end_connections(bench.schema);
  CHECK(heard(told).find("lost changes that it had confirmed") != std::string::npos);
}

TEST_CASE("PostgresStore: a node cannot write after another one took over its lane") {
  PostgresBench bench;
  std::promise<std::string> told;
  bench.settings.on_lost = [&](const std::string& why) { told.set_value(why); };
  bench.reopen();
  const task::TaskHead head = bench.create("t1");
  // A node that takes over has its own lane, with a higher number.
  bench.schema.ask("INSERT INTO lanes VALUES (1000, 1, 0); DELETE FROM lanes WHERE node_id < 1000");
  task::Change change = StoreBench::change(head, {delta("r", "one")});
  // Another connection of the store may notice before this one does.
  const auto applied = bench.apply(change);
  CHECK((applied ? bench.tasks->commit().error() : applied.error()).code == ErrorCode::unavailable);
  CHECK(bench.tasks->flush().error().for_log.find("taken over") != std::string::npos);
  CHECK(heard(told).find("taken over") != std::string::npos);
  CHECK(bench.schema.ask("SELECT count(*) FROM events") == "2");
}

TEST_CASE("PostgresStore: totals are the same after restarts") {
  PostgresBench bench;
  for (int i = 0; i < 3; ++i) {
    bench.create("t" + std::to_string(i), "c" + std::to_string(i));
    bench.reopen();
  }
  task::ListFilter filter;
  filter.agent = {"echo"};
  filter.caller = {"ann"};
  filter.limit = 10;
  CHECK(bench.tasks->list(filter).value().total == 3);
  CHECK(bench.schema.ask("SELECT sum(tasks) FROM task_totals") == "3");
}

}  // namespace postgres_only_test

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "app/database.h"
#include "app/load_config.h"
#include "support/temp_folder.h"

namespace baton::app::database_settings_test {
namespace {

constexpr const char* kUrl = "postgresql://baton:sEcReT@db/tasks";

struct Files {
  // Writes a file that only its owner can read; returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder.path() / name;
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    return path;
  }
  test::TempFolder folder;
};

bool says(const LoadedConfig& loaded, const std::string& text) {
  return std::ranges::any_of(loaded.problems, [&](const std::string& problem) {
    CHECK(problem.find("sEcReT") == std::string::npos);
    return problem.find(text) != std::string::npos;
  });
}

TEST_CASE("Configuration: a password on the command line is refused with the alternatives") {
  const LoadedConfig loaded = load_config({"", "", {}, {{"db", kUrl}}});
  CHECK(loaded.problems.size() == 1);
  for (const char* way : {"--db-file", "BATON_DB", "PGPASSFILE"}) {
    CAPTURE(way);
    CHECK(says(loaded, way));
  }
  CHECK(
      says(load_config({"", "", {}, {{"db", "postgresql://db/tasks?password=sEcReT"}}}), "--db: contains a"));
  CHECK(load_config({"", "", {}, {{"db", "postgresql://baton@db/tasks"}}}).problems.empty());
}

TEST_CASE(
    "Configuration: a database URL may have its password in the environment, a file or the configuration") {
  const Files files;
  const std::string secret = files.write("url", std::string(kUrl) + "\n"), config = files.write("b.json", "");
  const std::string inline_url = std::string(R"({"db": ")") + kUrl + R"("})";
  const std::vector<Sources> table{{"", "", {{"BATON_DB", kUrl}}, {}},
                                   {"", "", {}, {{"db_file", secret}}},
                                   {"", "", {{"BATON_DB", "other.db"}}, {{"db_file", secret}}},
                                   {config, R"({"db": "other.db"})", {{"BATON_DB_FILE", secret}}, {}},
                                   {config, R"({"db_file": "url"})", {}, {}},
                                   {config, inline_url, {}, {}}};
  for (const Sources& sources : table) {
    CAPTURE(sources.file_text);
    const LoadedConfig loaded = load_config(sources);
    CHECK(loaded.problems.empty());
    CHECK(loaded.config.store.database == kUrl);
    CHECK(loaded.config.cards.secret_variables == std::vector<std::string>{"PGPASSWORD"});
  }
}

TEST_CASE("Configuration: db from a source of higher precedence overrides db_file") {
  const LoadedConfig loaded = load_config({"", "", {{"BATON_DB_FILE", "/not/there"}}, {{"db", "mine.db"}}});
  CHECK(loaded.problems.empty());
  CHECK(loaded.config.store.database == "mine.db");
  CHECK(says(load_config({"baton.json", R"({"db": "a.db", "db_file": "b"})", {}, {}}),
             "db_file: is given together with"));
}

TEST_CASE("Configuration: a db_file that is missing, is empty or holds a wrong URL is a problem") {
  const Files files;
  const auto with = [](const std::string& file) { return load_config({"", "", {}, {{"db_file", file}}}); };
  CHECK(says(with("/not/there"), "db_file: cannot read the file /not/there"));
  CHECK(says(with(files.write("empty", " \n")), "is empty"));
  CHECK(says(with(files.write("wrong", "postgresql://baton:sEcReT/x@db")),
             "db_file: must look like postgresql://"));
}

TEST_CASE("Configuration: a file with a database's password that every user can read is refused") {
  const Files files;
  const std::string secret = files.write("url", kUrl);
  const std::string inline_url = std::string(R"({"db": ")") + kUrl + R"("})";
  const std::string config = files.write("baton.json", inline_url);
  for (const std::string& file : {secret, config})
    std::filesystem::permissions(file, std::filesystem::perms(0644));
  CHECK(says(load_config({"", "", {}, {{"db_file", secret}}}), secret + ": contains a secret"));
  CHECK(says(load_config({config, inline_url, {}, {}}), config + ": contains a secret"));
  CHECK(load_config({config, R"({"db": "postgresql://baton@db/tasks"})", {}, {}}).problems.empty());
}

TEST_CASE("Configuration: postgres.allow is a list") {
  const LoadedConfig loaded =
      load_config({"", "", {}, {{"postgres.allow", "fsync=off,full_page_writes=off"}}});
  CHECK(loaded.config.store.postgres_allows == std::vector<std::string>{"fsync=off", "full_page_writes=off"});
}

TEST_CASE("Database commands: a PostgreSQL database is refused, and the error names PostgreSQL's own tool") {
  const auto check = [](const auto& result, const std::string& tool) {
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().for_caller.find(tool) != std::string::npos);
    CHECK(result.error().for_caller.find("sEcReT") == std::string::npos);
  };
  check(back_up_database(kUrl, "/nowhere/copy"), "pg_dump");
  check(check_database(kUrl), "pg_amcheck");
  check(measure_database(kUrl), "pg_database_size");
  check(export_tasks(kUrl, {}, [](const std::string&) { return true; }), "pg_dump");
  check(import_tasks(kUrl, [] { return std::optional<std::string>(); }), "pg_restore");
}

}  // namespace
}  // namespace baton::app::database_settings_test

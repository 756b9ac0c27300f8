#include "app/database_url.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace baton::app::database_url_test {
namespace {

TEST_CASE("Database URL: the shown URL has every password replaced and is otherwise unchanged") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"baton.db", "baton.db"},
      {":memory:", ":memory:"},
      {"postgresql://", "postgresql://"},
      {"postgres://baton@db/tasks", "postgres://baton@db/tasks"},
      {"postgresql://baton:sEcReT@db:5432/tasks", "postgresql://baton:***@db:5432/tasks"},
      {"postgresql://baton:s:EcReT@db", "postgresql://baton:***@db"},
      {"postgresql://:sEcReT@db", "postgresql://:***@db"},
      {"postgresql://baton:sE%2FcR%40eT@a:1,b:2/tasks", "postgresql://baton:***@a:1,b:2/tasks"},
      {"postgresql://u@[::1]:5432/tasks?sslmode=require", "postgresql://u@[::1]:5432/tasks?sslmode=require"},
      {"postgresql:///tasks?host=/run/postgresql&user=a@b",
       "postgresql:///tasks?host=/run/postgresql&user=a@b"},
      {"postgresql://db/tasks?password=sEcReT&sslmode=require",
       "postgresql://db/tasks?password=***&sslmode=require"},
      {"postgresql://db/tasks?pass%77ord=sEcReT", "postgresql://db/tasks?pass%77ord=***"},
      {"postgresql://db/tasks?sslkey=k.pem&sslpassword=sEcReT",
       "postgresql://db/tasks?sslkey=k.pem&sslpassword=***"},
  };
  for (const auto& [url, shown] : table) {
    CAPTURE(url);
    CHECK(shown_database(url) == shown);
    CHECK(database_problem(url).empty());
    CHECK(holds_password(url) == (shown != url));
  }
}

TEST_CASE("Database URL: an invalid URL is refused, and neither the problem nor the shown text quotes it") {
  const std::vector<std::string> wrong{
      "postgresql://baton:sE/cReT@db/tasks",    "postgresql://baton:sE@cReT@db/tasks",
      "postgresql://baton:sE?cReT@db/tasks",    "postgresql://baton:sE%cReT@db/tasks",
      "postgresql://baton:1/sE?cReT@db/tasks",  "postgresql://baton:sE%00cReT@db/tasks",
      "postgresql://db:sEcReT/tasks",           "postgresql://[::1/sEcReT",
      "postgresql://db/tasks?password=sE&cReT", "postgresql://db/tasks?password",
      "postgresql+driver://u:sEcReT@db/tasks",  "mysql://u:sEcReT@db/tasks",
      "PostgreSQL://u:sEcReT@db/tasks",
  };
  for (const std::string& url : wrong) {
    CAPTURE(url);
    const std::string problem = database_problem(url), shown = shown_database(url);
    CHECK_FALSE(problem.empty());
    CHECK(problem.find("cR") == std::string::npos);
    if (is_postgres(url)) CHECK(shown == "postgresql://***");
    CHECK(shown.find("cR") == std::string::npos);
  }
}

TEST_CASE("Database URL: a name without a scheme is a file") {
  for (const char* path : {"baton.db", "/var/lib/baton/baton.db", "postgresql", "./a:b@c", "postgres:x"}) {
    CAPTURE(path);
    CHECK_FALSE(is_postgres(path));
    CHECK_FALSE(holds_password(path));
    CHECK(database_problem(path).empty());
    CHECK(shown_database(path) == path);
  }
}

}  // namespace
}  // namespace baton::app::database_url_test

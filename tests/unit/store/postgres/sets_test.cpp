#include "store/postgres/lane/sets.h"

#include <doctest/doctest.h>

#include <string>

namespace sets_test {

using namespace baton::store;
using postgres::set_form;

TEST_CASE("Sets: an INSERT of rows becomes one over arrays") {
  const auto form = set_form("INSERT INTO e (k, b) VALUES ($1, $2), ($1 + 1, nullif($3, 0))", 3);
  REQUIRE(form);
  CHECK(form->table == "e");
  CHECK_FALSE(form->key);
  CHECK(form->sql ==
        "INSERT INTO e (k, b) SELECT v.* FROM unnest($1, $2, $3) AS p (p1, p2, p3), LATERAL (VALUES (p.p1, "
        "p.p2), "
        "(p.p1 + 1, nullif(p.p3, 0))) AS v");
  CHECK(set_form("INSERT INTO c (a) VALUES ($1) ON CONFLICT DO NOTHING", 1)
            ->sql.ends_with("AS v ON CONFLICT DO NOTHING"));
}

TEST_CASE("Sets: an UPDATE of the row with a key becomes one over arrays") {
  const auto form = set_form("UPDATE t SET a = $2, b = CASE WHEN $3 <> 0 THEN $4 END WHERE t_key = $1", 4);
  REQUIRE(form);
  CHECK(form->table == "t");
  CHECK(form->key == 0);
  CHECK(form->sql ==
        "UPDATE t SET a = p.p2, b = CASE WHEN p.p3 <> 0 THEN p.p4 END FROM unnest($1, $2, $3, $4) AS p (p1, "
        "p2, p3, "
        "p4) WHERE t.t_key = p.p1");
}

TEST_CASE("Sets: a guarded UPDATE becomes one over arrays that fails unless it changes every row") {
  const auto form = set_form("/* guarded */ UPDATE t SET a = $2 WHERE t_key = $1 AND a + b = $3", 3);
  REQUIRE(form);
  CHECK(form->table == "t");
  CHECK(form->key == 0);
  CHECK(form->guard == 2);
  CHECK(form->sql ==
        "WITH done AS (UPDATE t SET a = p.p2 FROM unnest($1, $2, $3) AS p (p1, p2, p3) WHERE t.t_key = p.p1 "
        "AND a + b = p.p3 RETURNING 1) SELECT 1 / (count(*) = cardinality($1))::int FROM done");
  CHECK_FALSE(set_form("UPDATE t SET a = $2 WHERE t_key = $1", 2)->guard);
  CHECK_FALSE(set_form("/* guarded */ UPDATE t SET a = $2 WHERE t_key = $1", 2));
  CHECK_FALSE(set_form("/* guarded */ UPDATE t SET a = a + 1 WHERE t_key = $1 AND a = $2", 2));
}

TEST_CASE("Sets: statements that depend on other rows or on how often they run stay unchanged") {
  CHECK_FALSE(set_form("UPDATE t SET n = n + 1 WHERE t_key = $1", 1));
  CHECK_FALSE(set_form("UPDATE t SET a = $1 WHERE t_key = $2 AND b = 0", 2));
  CHECK_FALSE(set_form("UPDATE t SET a = $1 WHERE t_key = (SELECT max(t_key) FROM t)", 1));
  CHECK_FALSE(set_form("INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = 1", 1));
  CHECK_FALSE(set_form("DELETE FROM t WHERE t_key = $1", 1));
  CHECK_FALSE(set_form("INSERT INTO t DEFAULT VALUES", 0));
}

}  // namespace sets_test

// Stands in for the store in a program that was built without PostgreSQL.
#include "store/postgres/postgres_store.h"

#include <cstdlib>

#include "store/postgres/copy_sides.h"

namespace baton::store {

namespace {

tl::unexpected<base::Error> no_postgres() {
  return base::fail(
      base::ErrorCode::unsupported,
      "this program was built without PostgreSQL support: install libpq-dev and build it again");
}

}  // namespace

namespace postgres {

base::Result<std::unique_ptr<copy::Source>> open_copy_source(const std::string&, const std::string&) {
  return no_postgres();
}

base::Result<std::unique_ptr<copy::Target>> open_copy_target(const std::string&, const base::Clock&,
                                                             const std::vector<std::string>&) {
  return no_postgres();
}

}  // namespace postgres

struct PostgresStore::Parts {};

PostgresStore::PostgresStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

PostgresStore::~PostgresStore() = default;

base::Result<std::unique_ptr<PostgresStore>> PostgresStore::open(const PostgresOptions&, const base::Clock&) {
  return no_postgres();
}

bool PostgresStore::available() {
  return false;
}

const std::string& PostgresStore::server_name() const {
  static const std::string kNone;
  return kNone;
}

Peers& PostgresStore::peers() const {
  std::abort();
}

// The remaining functions are never called, because no such store can be opened.
base::Result<void> PostgresStore::flush() {
  return {};
}
bool PostgresStore::kept_before() const {
  return false;
}
sql::WriteState& PostgresStore::state() const {
  std::abort();
}
const sql::RecentSends& PostgresStore::recent_sends() const {
  std::abort();
}
sql::ConnectionPool& PostgresStore::readers() const {
  std::abort();
}
sql::ConnectionPool& PostgresStore::operators() const {
  std::abort();
}
void PostgresStore::commit_group(bool) {}

}  // namespace baton::store

// The store of a program that was built without PostgreSQL.
#include "store/postgres/postgres_store.h"

#include <cstdlib>

namespace baton::store {

struct PostgresStore::Parts {};

PostgresStore::PostgresStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

PostgresStore::~PostgresStore() = default;

base::Result<std::unique_ptr<PostgresStore>> PostgresStore::open(const PostgresOptions&, const base::Clock&) {
  return base::fail(base::ErrorCode::unsupported,
                    "this program was built without PostgreSQL: build it with libpq-dev installed");
}

bool PostgresStore::available() {
  return false;
}

const std::string& PostgresStore::server_name() const {
  static const std::string kNone;
  return kNone;
}

// Nothing of the rest is ever called, as there is no such store.
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

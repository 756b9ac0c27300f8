// The store of a program that was built without PostgreSQL.
#include "store/postgres/postgres_store.h"

namespace baton::store {

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

}  // namespace baton::store

#include "store/postgres/postgres_store.h"

namespace baton::store {

base::Result<std::unique_ptr<PostgresStore>> PostgresStore::open(const PostgresOptions&, const base::Clock&) {
  return base::fail(base::ErrorCode::unsupported, "PostgreSQL is not supported yet");
}

bool PostgresStore::available() {
  return true;
}

const std::string& PostgresStore::server_name() const {
  static const std::string kNone;
  return kNone;
}

}  // namespace baton::store

// Rows of `api_keys`. Everything throws sql::Failure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/operator_store.h"
#include "store/sql/connection.h"

namespace baton::store::sql {

base::Result<void> write_api_keys(Connection& connection, const NewApiKey& made, base::Timestamp at);
base::Result<void> write_api_keys(Connection& connection, const RevokedApiKey& revoked, base::Timestamp at);
base::Result<void> write_api_keys(Connection& connection, const UsedApiKeys& used, base::Timestamp at);
base::Result<void> write_api_keys(Connection& connection, const OldApiKeys& old, base::Timestamp at);
base::Result<void> write_api_keys(Connection& connection, const ApiKeysOfCaller& gone, base::Timestamp at);

std::vector<ApiKey> read_api_keys(Connection& connection);
base::Result<ApiKey> read_api_key(Connection& connection, const std::string& id);
std::int64_t state_of_api_keys(Connection& connection);

}  // namespace baton::store::sql

// The two sides of a copy (store/copy/copy.h) in PostgreSQL.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/copy/side.h"

namespace baton::store::postgres {

// `shown`: the URL without secrets. Fails with already_exists (a Baton has it open), unsupported
// (another version's tables; built without PostgreSQL), conflict (it is an unfinished copy itself),
// invalid_argument, unavailable. for_log names the database.
base::Result<std::unique_ptr<copy::Source>> open_copy_source(const std::string& url,
                                                             const std::string& shown);

// Creates the tables. For `allows` see PostgresOptions. Fails as above, and with already_exists if the schema
// contains anything other than an unfinished copy.
base::Result<std::unique_ptr<copy::Target>> open_copy_target(const std::string& url, const base::Clock& clock,
                                                             const std::vector<std::string>& allows);

}  // namespace baton::store::postgres

// The two sides of a copy (store/copy/copy.h) in SQLite.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "store/copy/side.h"

namespace baton::store::sqlite {

// Fails with not_found, already_exists (a Baton has it open), unsupported (another version's tables),
// conflict (it is an unfinished copy itself), invalid_argument (not a database of Baton). for_log names the
// file.
base::Result<std::unique_ptr<copy::Source>> open_copy_source(const std::string& database);

// Creates the file, which only its owner may read, and its tables. Fails as above, and with already_exists if
// the file contains anything other than an unfinished copy.
base::Result<std::unique_ptr<copy::Target>> open_copy_target(const std::string& database,
                                                             const base::Clock& clock);

}  // namespace baton::store::sqlite

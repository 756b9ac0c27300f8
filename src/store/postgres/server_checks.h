// Whether a server keeps what it confirms.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

// Fails with unsupported (too old) or invalid_argument (a setting that loses what was confirmed, a standby,
// not UTF-8) unless `allows` names it; also with invalid_argument if the session's search_path selects no
// schema. The message says what to change. Throws sql::Failure.
base::Result<void> check_server(Link& link, const std::vector<std::string>& allows);

// Fails with invalid_argument if something between us and the server gives a session's transactions to
// different processes of it. `other` is one of this program's as well. Throws sql::Failure.
base::Result<void> check_sessions(Link& link, Link& other);

}  // namespace baton::store::postgres

// Checks that a server keeps commits that it has confirmed.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

// Fails with unsupported (too old) or invalid_argument (a setting that may lose confirmed commits, a standby,
// not UTF-8) unless `allows` names it. Also fails with invalid_argument if the session's search_path selects
// no schema. The message says what to change. Throws sql::Failure.
base::Result<void> check_server(Link& link, const std::vector<std::string>& allows);

// Fails with invalid_argument if a pooler in front of the server distributes a session's transactions over
// different server processes. `other` is a second connection of this program. Throws sql::Failure.
base::Result<void> check_sessions(Link& link, Link& other);

}  // namespace baton::store::postgres

// Checks an agent's card against the A2A versions that it claims.
//
// Pure function.
#pragma once

#include <vector>

#include "json/document.h"
#include "json/schema.h"

namespace baton::protocol {

// Returns the problems of the card; empty if there are none. A card that claims several versions
// (versions_of) must have the members that each of them requires. An empty list of skills is accepted.
std::vector<json::SchemaProblem> check_remote_card(json::Value card);

}  // namespace baton::protocol

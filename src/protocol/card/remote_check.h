// Checks an agent's card against the A2A versions that it claims.
//
// Pure function.
#pragma once

#include <vector>

#include "json/document.h"
#include "json/schema.h"

namespace baton::protocol {

// A card that claims several versions (versions_of) must have what each of them requires. An empty list
// of skills is accepted. Returns an empty list if nothing is wrong.
std::vector<json::SchemaProblem> check_remote_card(json::Value card);

}  // namespace baton::protocol

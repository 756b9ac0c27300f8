// Reads the card.json of an agent: an A2A 1.0 agent card plus the object "baton".
#pragma once

#include <string_view>
#include <vector>

#include "json/document.h"
#include "json/schema.h"
#include "task/card.h"

namespace baton::protocol {

// Checks the text of a card.json against schema/agent-card.schema.json, then its security schemes. Returns
// the problems; empty if there are none. The text must be JSON.
std::vector<json::SchemaProblem> check_card(std::string_view json);

// Returns the members outside "baton" that no version of A2A knows, each with the nearest known name, because
// most are misspelt. Names that begin with "x-" are reserved for authors and not reported.
std::vector<json::SchemaProblem> unknown_members(json::Value card);

// Reads the A2A part of a card, of any version. Signatures, and members that Baton fills in when it serves a
// card (url, interfaces), are left out. The only member of "baton" that is read is `extended`. A member of
// the wrong type counts as absent.
task::AgentCard read_card(json::Value card);

}  // namespace baton::protocol

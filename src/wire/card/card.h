// Reading the card.json of an agent: an A2A 1.0 agent card plus the object "baton".
#pragma once

#include <string_view>
#include <vector>

#include "task/card.h"
#include "wire/json/document.h"
#include "wire/json/schema.h"

namespace baton::wire {

// What is wrong with the text of a card.json by schema/agent-card.schema.json; empty: nothing. The text must
// be JSON.
std::vector<SchemaProblem> check_card(std::string_view json);

// Members outside "baton" that no version of A2A knows, each with the nearest name that is known: they are
// most likely misspelt. Names that begin with "x-" are their authors' own.
std::vector<SchemaProblem> unknown_members(Value card);

// The A2A part of a card, of any generation. Members that Baton fills in when it serves a card (url,
// interfaces) and signatures are left out; of "baton" only `extended` is
// read. What is of a wrong type counts as not there.
task::AgentCard read_card(Value card);

}  // namespace baton::wire

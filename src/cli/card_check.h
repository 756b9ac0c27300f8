// Checks an agent card against the A2A generations that it claims, and shows it to people.
#pragma once

#include <string>
#include <vector>

#include "wire/json/document.h"

namespace baton::cli {

// "/skills/0/tags: is missing: required since 0.2"; empty if nothing is wrong. A card.json of agent-cards/,
// which names no URL, is checked by the schema that `serve` checks it by.
std::vector<std::string> check_card(wire::Value card);

// The card in words. Text from it is made harmless.
std::string show_card(wire::Value card);

}  // namespace baton::cli

// Checks an agent card against the A2A versions that it claims, and shows it to people.
#pragma once

#include <string>
#include <vector>

#include "json/document.h"

namespace baton::cli {

// Returns problems: "/skills/0/tags: is missing: required since 0.2"; empty if there are none. A card.json of
// agent-cards/, which names no URL, is checked with the schema that `serve` uses.
std::vector<std::string> check_card(json::Value card);

// The card as text for people. Text from the card is made harmless.
std::string show_card(json::Value card);

}  // namespace baton::cli

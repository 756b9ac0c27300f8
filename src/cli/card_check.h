// Checks an agent card against the A2A versions that it claims, and formats it for people.
#pragma once

#include <string>
#include <vector>

#include "json/document.h"

namespace baton::cli {

// Returns the problems, such as "/skills/0/tags: is missing: required since 0.2"; empty if there are none. A
// card without a URL, like those in agent-cards/, is checked with the schema that `serve` uses.
std::vector<std::string> check_card(json::Value card);

// Formats the card as text for people. Text from the card is made harmless.
std::string show_card(json::Value card);

}  // namespace baton::cli

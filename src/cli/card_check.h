// Checks an agent card against what A2A 0.1 requires, and shows it to people.
#pragma once

#include <string>
#include <vector>

#include "wire/json/document.h"

namespace baton::cli {

// "/skills/0/name: is missing"; empty if nothing is wrong.
std::vector<std::string> check_card(wire::Value card);

// The card in words. Text from it is made harmless.
std::string show_card(wire::Value card);

}  // namespace baton::cli

// The setting outbound.delegate_urls: agents elsewhere that may be delegated to without having a card
// here. An entry is one agent's URL or, if it ends with "/", stands for all agents below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::agents {

// The name of the hidden agent that runs the turns of all of them.
inline constexpr std::string_view kElsewhereAgent = "~elsewhere";

// Whether an entry allows `url`. The path below an entry may only have letters, digits and - _ . ~ in its
// segments, and no segment "." or "..", so that no server can read it as a path outside the entry. URLs
// longer than 250 bytes are never allowed, so that an allowed one fits into a list of hops.
bool is_delegate_url(const std::vector<std::string>& allowed, std::string_view url);

// Returns why an entry of the setting is invalid; empty if it is valid.
std::string delegate_url_problem(std::string_view entry);

}  // namespace baton::agents

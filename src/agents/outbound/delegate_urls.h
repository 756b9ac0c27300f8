// The setting outbound.delegate_urls: agents elsewhere to which work may be delegated without a card of
// theirs here. An entry is one agent's URL or, if it ends with "/", stands for all agents below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::agents {

// The hidden agent that works for all of them.
inline constexpr std::string_view kElsewhereAgent = "~elsewhere";

// Whether `url` is one of these agents. Below an entry a path is of letters, digits and - _ . ~ only, without
// "." and "..", so that no server can take it for a path outside. Never true of a URL above 250 bytes: it has
// room in lists of hops.
bool is_delegate_url(const std::vector<std::string>& allowed, std::string_view url);

// What is wrong with an entry of the setting; empty: nothing.
std::string delegate_url_problem(std::string_view entry);

}  // namespace baton::agents

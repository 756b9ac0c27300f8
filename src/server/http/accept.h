// What a request's Accept headers say about the types of its answer (RFC 9110, 12.5.1). Pure functions.
//
// Several headers are one list. A weight comes from the most specific range that fits a type; parameters of a
// range other than q are not looked at, since no type here has any. A member that is malformed counts for
// nothing, and a list without a member that counts is as good as none: anything goes.
#pragma once

#include <initializer_list>
#include <string_view>

#include "server/http/http_server.h"

namespace baton::server::http {

// The offer of the highest weight; of equals one that the list names over one that only a wildcard covers,
// and then the first, so offers stand in the server's own order of preference. Empty where none is
// acceptable.
std::string_view preferred_type(const Request& request, std::initializer_list<std::string_view> offers);

// Whether the list has this very type, with a weight above 0.
bool names_type(const Request& request, std::string_view type);

}  // namespace baton::server::http

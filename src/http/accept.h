// Accept: content negotiation by a request's Accept headers (RFC 9110, 12.5.1). Pure functions.
//
// Several headers form one list. A type's weight comes from the most specific matching range. Range
// parameters other than q are ignored, because no type here has any. Malformed members are ignored. Without a
// valid member every type is acceptable.
#pragma once

#include <initializer_list>
#include <string_view>

#include "http/http_server.h"

namespace baton::http {

// Returns the offer with the highest weight. Among equals, an offer named in the list precedes one matched by
// a wildcard, then the first wins, so list the offers in the server's order of preference. Empty if none is
// acceptable.
std::string_view preferred_type(const Request& request, std::initializer_list<std::string_view> offers);

// Returns true if the list names exactly this type, with a weight above 0.
bool names_type(const Request& request, std::string_view type);

}  // namespace baton::http

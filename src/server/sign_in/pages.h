// The pages of a sign-in. Pure.
#pragma once

#include <string_view>

#include "http/http_server.h"

namespace baton::server::sign_in {

// A page that leads to a place of ours at once.
http::Reply page_that_leads_to(std::string_view place);
// A page that says why a sign-in failed, and leads back to the place by a link. `reason`: a sentence; it may
// be another server's.
http::Reply page_of_failure(int status, std::string_view reason, std::string_view place);

}  // namespace baton::server::sign_in

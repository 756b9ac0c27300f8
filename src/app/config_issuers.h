// The `issuers` of the configuration: authorization servers whose access tokens are accepted.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"
#include "server/admission/jwt_claims.h"

namespace baton::app {

// Reads the list. `folder`: for relative names of files; empty: the current folder. `report` gets the JSON
// pointer inside the list ("/0/issuer") and the error there.
std::vector<server::Issuer> read_issuers(
    json::Value list, const std::string& folder,
    const std::function<void(std::string_view, std::string_view)>& report);

}  // namespace baton::app

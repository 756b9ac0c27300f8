// The requests that get tokens from a token endpoint, as text: client credentials (RFC 6749, 4.4), token
// exchange (RFC 8693) and Entra ID's on-behalf-of flow, each with the client's secret or a signed assertion
// (RFC 7523).
//
// Threads: any; pure but for the random id of an assertion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "outbound/server.h"

namespace baton::outbound {

struct TokenRequest {
  std::string body;                  // a form
  std::string authorization;         // the header; empty: none
  std::vector<std::string> secrets;  // what it has that nobody may see
};

// `secret`: the client's secret, or the text of its private key. `subject`: the caller's token, for an
// exchange. Fails with invalid_argument if the key cannot be used.
base::Result<TokenRequest> token_request(const Server& server, const std::string& secret,
                                         const std::string& subject, base::Timestamp now);

// A text that only the client can sign: the client as issuer and subject, the token endpoint as audience, an
// id of its own, valid for two minutes.
base::Result<std::string> client_assertion(const Server& server, std::string_view private_key,
                                           base::Timestamp now);

// Whether a refused exchange may succeed with another token of the caller's, or once the caller has
// consented. `error`: of the endpoint's answer.
bool is_about_the_caller(std::string_view error);

}  // namespace baton::outbound

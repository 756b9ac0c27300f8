// The text for an answer that refuses a request: its status, and the reason in the server's own words.
//
// The words are untrusted. They are shown on one line of bounded length, without the secrets that the
// answer's mask or the caller knows. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "outbound/http_client.h"

namespace baton::outbound {

struct RefusalView {
  std::string_view secret = {};  // hidden wherever it appears, however short; empty: none
  // The answer is about credentials, so words that may be keys, or parts of them, are hidden; those with
  // status 401 and 403 always are.
  bool is_about_keys = false;
  bool shows_keys = false;  // the reader is the agent's author: only `secret` is hidden
};

// Returns, for example, "HTTP status 422: body.model: Field required", or "HTTP status 308: it has moved to
// https://example.org/". The words come from the body (JSON as json::error_words reads it, or plain text; a
// page of HTML has none) or else from the header WWW-Authenticate (RFC 6750, 3).
std::string refusal_text(const HttpAnswer& answer, const RefusalView& view = {});

// Returns the server's words alone, before anything is hidden or cut; empty if the body has none.
std::string words_of(std::string_view body);

// Shortens a server's words to one line for display, and hides `secret`.
std::string shown_error(std::string_view text, std::string_view secret);

}  // namespace baton::outbound

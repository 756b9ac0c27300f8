// Reads the headers of a response that control caching, or lead elsewhere. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "outbound/http_client.h"

namespace baton::client {

// Returns the ETag; empty if there is none or it is not fit to be sent back.
std::string etag_of(const outbound::HttpAnswer& answer);

// Returns the max-age of Cache-Control, at most a day; zero for no-cache and no-store.
std::optional<std::chrono::seconds> max_age_of(const outbound::HttpAnswer& answer);

// Returns the values of the headers Link, joined by commas.
std::string links_of(const outbound::HttpAnswer& answer);

}  // namespace baton::client

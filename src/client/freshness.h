// What a server says about having a document again. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "http/outbound/http_client.h"

namespace baton::client {

// Empty also for one that is not to be sent back.
std::string etag_of(const http::outbound::HttpAnswer& answer);

// Of Cache-Control, a day at most; zero: no-cache or no-store.
std::optional<std::chrono::seconds> max_age_of(const http::outbound::HttpAnswer& answer);

}  // namespace baton::client

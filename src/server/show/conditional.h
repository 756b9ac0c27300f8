// Conditional answers to GET: ETag, Last-Modified and 304 (RFC 9110, 13).
//
// Pure functions.
#pragma once

#include <chrono>
#include <string>

#include "http/http_server.h"

namespace baton::server {

using HttpTime = std::chrono::sys_seconds;

// "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(HttpTime time);

// The body with a strong ETag of its bytes, or 304. If-None-Match (a list, weak tags, *) takes precedence
// over If-Modified-Since. `modified` is when the body last changed; the epoch means unknown: dates are then
// neither sent nor compared.
http::Reply conditional_reply(const http::Request& request, std::string body, HttpTime modified);

}  // namespace baton::server

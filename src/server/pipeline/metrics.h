// The answer to /metrics: the counters of the server and the engine, and the metrics that the rest of the
// program adds.
//
// Threads: any.
#pragma once

#include <functional>
#include <string>

#include "http/http_server.h"
#include "server/shared/services.h"

namespace baton::server {

// `http_counts`: of the connection layer; may be empty.
std::string metrics_of(const Services& services, const std::function<http::Counts()>& http_counts);

}  // namespace baton::server

// Metrics: the answer to /metrics, in Prometheus text format.
//
// Threads: any.
#pragma once

#include <functional>
#include <string>

#include "http/http_server.h"
#include "server/services.h"

namespace baton::server {

// `http_counts` may be empty.
std::string metrics_of(const Services& services, const std::function<http::Counts()>& http_counts);

}  // namespace baton::server

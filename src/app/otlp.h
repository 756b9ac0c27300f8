// OTLP over HTTP in JSON: writes spans as the body of an export request, and reads the collector's response.
//
// Follows opentelemetry-proto's rules for JSON: ids in lower-case hex (not base64), names in lowerCamelCase,
// 64-bit numbers as strings, enumerations as numbers. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace baton::app {

// The exporting server: the resource of all spans.
struct TraceResource {
  std::string version;
  std::string instance;  // this server's name; a random one for each run if it has none
};

std::string otlp_request(const std::vector<base::Span>& spans, const TraceResource& resource);

// Returns the number of spans that the collector rejected, from its response to a request that it accepted
// (partialSuccess); 0 if the response has no such number.
std::int64_t rejected_spans(std::string_view answer);

}  // namespace baton::app

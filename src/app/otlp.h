// OTLP over HTTP, in JSON: spans as the body of an export request, and what the collector answers.
//
// As opentelemetry-proto has it for JSON: ids in lower-case hex (not base64), names in lowerCamelCase, 64-bit
// numbers as strings, enumerations as numbers. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace baton::app {

// Who exports: the resource of all spans.
struct TraceResource {
  std::string version;
  std::string instance;  // this server's name; another one in each run if it has none
};

std::string otlp_request(const std::vector<base::Span>& spans, const TraceResource& resource);

// How many spans the collector has refused, by the answer to a request that it took (partialSuccess); 0 also
// for an answer that says nothing of that.
std::int64_t rejected_spans(std::string_view answer);

}  // namespace baton::app

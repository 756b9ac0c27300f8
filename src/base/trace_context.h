// The header `traceparent` of W3C Trace Context (www.w3.org/TR/trace-context). It names the trace that a
// request belongs to and the span that made the request. `tracestate` is neither kept nor passed on, as the
// recommendation allows (3.4). Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace baton::base {

// Returns the header's value in the form of version 00, which is kept and passed on. A value of a higher
// version is read by its first four fields. Only the defined flags are kept: 1 (sampled) and 2 (random trace
// id). Returns an empty string if the value is invalid; such a header is ignored.
std::string read_traceparent(std::string_view value);

// Returns the `traceparent` for work caused by a request with the given one. It has the same trace and flags,
// and a span id derived from the request's span id and `names`. The result is always the same, so it need not
// be stored. `traceparent` must come from read_traceparent; if it is empty, so is the result.
std::string traceparent_below(const std::string& traceparent, std::initializer_list<std::string_view> names);

// Returns a sampled `traceparent` of version 00. Ids of zero, which are invalid, become 1.
std::string new_traceparent(std::array<std::uint64_t, 2> trace, std::uint64_t span);
// Returns `traceparent` with another span id.
std::string traceparent_with_span(const std::string& traceparent, std::uint64_t span);

// Parts of a `traceparent` that read_traceparent returned. An empty one is not sampled and has empty ids.
bool is_sampled(std::string_view traceparent);
std::string_view trace_id_of(std::string_view traceparent);
std::string_view span_id_of(std::string_view traceparent);

}  // namespace baton::base

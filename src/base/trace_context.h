// The header `traceparent` of W3C Trace Context (www.w3.org/TR/trace-context), which says to what trace a
// request belongs and by which span of it the request was made. `tracestate` is neither kept nor passed on,
// as the recommendation allows (3.4). Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace baton::base {

// The header's value in the form of version 00, which is what is kept and passed on. A higher version is read
// by its first four fields. Of the flags, the defined ones stay: 1 (sampled) and 2 (random trace id). Empty
// if the value is invalid: such a header is ignored.
std::string read_traceparent(std::string_view value);

// The `traceparent` of what is done because of a request with this one: the same trace and flags, and as its
// parent a span whose id is made from the request's and these names. The same each time, so nobody has to
// store it. `traceparent`: as read_traceparent returns it; empty: so is the result.
std::string traceparent_below(const std::string& traceparent, std::initializer_list<std::string_view> names);

// A `traceparent` of version 00 that says it is sampled. Ids of zeros, which are none, become ones.
std::string new_traceparent(std::array<std::uint64_t, 2> trace, std::uint64_t span);
// The same trace and flags, with another span.
std::string traceparent_with_span(const std::string& traceparent, std::uint64_t span);

// The parts of a `traceparent` as read_traceparent returns it; of an empty one, empty.
bool is_sampled(std::string_view traceparent);
std::string_view trace_id_of(std::string_view traceparent);
std::string_view span_id_of(std::string_view traceparent);

}  // namespace baton::base

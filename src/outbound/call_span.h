// The spans of calls to other servers.
#pragma once

#include <string>
#include <string_view>

#include "base/span.h"

namespace baton::outbound {

// Adds the address of the server to the span of a call. `url` may be any text: one that is no URL adds
// nothing.
void add_server(base::Span& span, std::string_view url);

// The span of a call that is over.
struct CallSpan {
  std::string name;
  std::string_view url;
  std::string error;       // empty: the call was answered
  std::string model = {};  // empty: no model was called
};
void add_call_span(base::SpanTimer& timer, CallSpan call);

}  // namespace baton::outbound

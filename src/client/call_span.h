// The span of a call to a remote agent. Pure.
#pragma once

#include "base/span.h"
#include "client/endpoint.h"

namespace baton::client {

// `error` is null if the call succeeded.
base::Span call_span(const Remote& remote, const CallError* error);

}  // namespace baton::client

// The span of a call to an agent elsewhere. Pure.
#pragma once

#include "base/span.h"
#include "client/endpoint.h"

namespace baton::client {

// `error`: null: the call had its answer.
base::Span call_span(const Remote& remote, const CallError* error);

}  // namespace baton::client

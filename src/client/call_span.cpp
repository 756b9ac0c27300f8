#include "client/call_span.h"

#include "outbound/call_span.h"
#include "task/span_names.h"

namespace baton::client {

base::Span call_span(const Remote& remote, const CallError* error) {
  namespace names = task::spans;
  base::Span span;
  span.name = "a2a.client";
  span.kind = base::Span::Kind::client;
  if (error != nullptr) span.error = error->text.empty() ? "failed" : error->text;
  if (error != nullptr && error->status > 0) span.with(names::kHttpStatus, std::int64_t{error->status});
  outbound::add_server(span, remote.url);
  return span.with(names::kA2aVersion, protocol::name_of(remote.dialect->version()));
}

}  // namespace baton::client

#include "outbound/call_span.h"

#include <cstdint>
#include <utility>

#include "outbound/http_client.h"
#include "task/span_names.h"

namespace baton::outbound {

namespace names = task::spans;

void add_server(base::Span& span, std::string_view url) {
  const auto place = parse_url(url);
  if (place)
    span.with(names::kServerAddress, place->host).with(names::kServerPort, std::int64_t{place->port});
}

void add_call_span(base::SpanTimer& timer, CallSpan call) {
  if (!timer.wants(!call.error.empty())) return;
  base::Span span;
  span.name = std::move(call.name);
  span.kind = base::Span::Kind::client;
  span.error = std::move(call.error);
  if (!call.model.empty()) span.with(names::kOperation, names::kChat).with(names::kModel, call.model);
  add_server(span, call.url);
  timer.end(std::move(span));
}

}  // namespace baton::outbound

#include "app/otlp.h"

#include <algorithm>
#include <charconv>

#include "base/trace_context.h"
#include "json/document.h"
#include "json/writer.h"
#include "task/span_names.h"

namespace baton::app {
namespace {

using json::Writer;

constexpr int kStatusError = 2;  // of enum StatusCode
constexpr std::int64_t kSampled = 1;

void write_attribute(Writer& out, std::string_view name, const base::Span::Value& value) {
  out.object([&] {
    out.member("key", name).key("value");
    out.object([&] {
      if (const auto* text = std::get_if<std::string>(&value)) {
        out.member("stringValue", *text);
      } else {
        out.member("intValue", std::to_string(std::get<std::int64_t>(value)));
      }
    });
  });
}

std::string nanoseconds(std::chrono::system_clock::time_point at) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

void write_ids(Writer& out, const std::string& trace) {
  out.member("traceId", base::trace_id_of(trace)).member("spanId", base::span_id_of(trace));
}

void write_span(Writer& out, const base::Span& span) {
  out.object([&] {
    write_ids(out, span.trace);
    if (!span.parent.empty()) out.member("parentSpanId", base::span_id_of(span.parent));
    out.member("name", span.name).member("kind", static_cast<std::int64_t>(span.kind));
    if (base::is_sampled(span.trace)) out.member("flags", kSampled);
    const auto took = std::chrono::duration_cast<std::chrono::system_clock::duration>(span.took);
    out.member("startTimeUnixNano", nanoseconds(span.end - took));
    out.member("endTimeUnixNano", nanoseconds(span.end));
    out.key("attributes");
    out.array([&] {
      for (const auto& [name, value] : span.attributes) write_attribute(out, name, value);
      if (!span.error.empty()) write_attribute(out, task::spans::kErrorType, span.error);
    });
    if (!span.links.empty()) {
      out.key("links");
      out.array([&] {
        for (const std::string& link : span.links) out.object([&] { write_ids(out, link); });
      });
    }
    if (span.error.empty()) return;
    out.key("status");
    out.object([&] { out.member("code", std::int64_t{kStatusError}).member("message", span.error); });
  });
}

void write_resource(Writer& out, const TraceResource& resource) {
  out.object([&] {
    out.key("attributes");
    out.array([&] {
      write_attribute(out, "service.name", std::string("baton"));
      write_attribute(out, "service.version", resource.version);
      write_attribute(out, "service.instance.id", resource.instance);
    });
  });
}

}  // namespace

std::string otlp_request(const std::vector<base::Span>& spans, const TraceResource& resource) {
  std::string body;
  Writer out(body);
  out.object([&] {
    out.key("resourceSpans");
    out.array([&] {
      out.object([&] {
        out.key("resource");
        write_resource(out, resource);
        out.key("scopeSpans");
        out.array([&] {
          out.object([&] {
            out.key("scope");
            out.object([&] { out.member("name", "baton").member("version", resource.version); });
            out.key("spans");
            out.array([&] {
              for (const base::Span& span : spans) write_span(out, span);
            });
            out.member("schemaUrl", task::spans::kSchemaUrl);
          });
        });
        out.member("schemaUrl", task::spans::kSchemaUrl);
      });
    });
  });
  return body;
}

std::int64_t rejected_spans(std::string_view answer) {
  const auto document = json::Document::parse_view(answer);
  if (!document) return 0;
  const json::Value rejected = document->root()["partialSuccess"]["rejectedSpans"];
  // 64-bit numbers should be strings, but some collectors write a number.
  const std::string text = rejected.is_string() ? rejected.str() : rejected.json().text;
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return std::max<std::int64_t>(count, 0);
}

}  // namespace baton::app

#include "server/shared/request_note.h"

#include <doctest/doctest.h>

#include "base/api_key_text.h"
#include "base/trace_context.h"
#include "task/span_names.h"

namespace request_note_test {

using namespace baton;
using server::RequestNote;

namespace {
const std::string kSampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const std::string kUnsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
}  // namespace

TEST_CASE("RequestNote: a request has a span if and only if its work is sampled") {
  base::SpanQueue spans(0.5);
  std::int64_t sampled = 0;
  for (int i = 0; i < 200; ++i) {
    RequestNote note({&spans, false}, http::Request{});
    sampled += note.trace_for({}).empty() ? 0 : 1;
  }
  CHECK(sampled > 0);
  CHECK(sampled < 200);
  CHECK(spans.added() == sampled);
}

TEST_CASE("RequestNote: the client's trace decides sampling, and work is below the request's span") {
  base::SpanQueue spans(0);
  {
    RequestNote note({&spans, false}, http::Request{});
    const std::string trace = note.trace_for(kSampled);
    CHECK(base::trace_id_of(trace) == base::trace_id_of(kSampled));
    CHECK(base::span_id_of(trace) != base::span_id_of(kSampled));
    CHECK(note.trace_for(kSampled) == trace);
  }
  CHECK(spans.added() == 1);
  { CHECK(RequestNote({&spans, false}, http::Request{}).trace_for(kUnsampled) == kUnsampled); }
  CHECK(spans.added() == 1);
}

TEST_CASE("RequestNote: a request that fails with a server error has a span even if not sampled") {
  base::SpanQueue spans(0);
  { RequestNote({&spans, false}, http::Request{}).answered(404, 0); }
  CHECK(spans.added() == 0);
  { RequestNote({&spans, false}, http::Request{}).answered(503, 0); }
  CHECK(spans.added() == 1);
}

TEST_CASE("RequestNote: a span has the path, without the secret of an API key in it") {
  const auto path_of = [](const std::string& raw, const std::string& decoded) {
    base::SpanQueue spans(1);
    http::Request head;
    head.raw_path = raw;
    head.path = decoded;
    { const RequestNote note({&spans, false}, head); }
    std::string text;
    for (const base::Span& span : spans.take(10, base::SteadyTime::now())) {
      for (const auto& [name, value] : span.attributes) {
        if (name == task::spans::kPath) text = std::get<std::string>(value);
      }
    }
    return text;
  };
  const auto made = base::make_api_key();
  const std::string before = "/operate/v1/keys/", masked = before + "baton_" + made.id + "_***/revoke";
  const std::string with_key = before + made.text + "/revoke";
  CHECK(path_of(with_key, with_key) == masked);
  CHECK(path_of(before + "%62" + made.text.substr(1) + "/revoke", with_key) == masked);
  const std::string usual = "/agents/baton_customer_help/%20x";
  CHECK(path_of(usual, "/agents/baton_customer_help/ x") == usual);
  CHECK(path_of(std::string(200, '/') + made.text, {}).find(made.text.substr(15, 20)) == std::string::npos);
}

}  // namespace request_note_test

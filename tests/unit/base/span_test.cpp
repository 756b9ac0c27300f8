#include "base/span.h"

#include <doctest/doctest.h>

#include "base/trace_context.h"

namespace span_test {

using namespace baton;
using base::Span;
using base::SpanQueue;
using base::SpanTimer;

namespace {

const std::string kSampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const std::string kUnsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

Span named(const std::string& name, const std::string& error = {}) {
  Span span;
  span.name = name;
  span.error = error;
  return span;
}

std::vector<Span> all_of(SpanQueue& spans) {
  return spans.take(10'000, base::SteadyTime::now());
}

}  // namespace

TEST_CASE("SpanQueue: the share of new traces that are sampled is the ratio") {
  CHECK(SpanQueue(0).begin_trace().empty());
  CHECK_FALSE(SpanQueue(1).begin_trace().empty());
  SpanQueue some(0.1);
  int begun = 0;
  for (int i = 0; i < 10'000; ++i) begun += some.begin_trace().empty() ? 0 : 1;
  CHECK(begun > 700);
  CHECK(begun < 1'300);
}

TEST_CASE("SpanQueue: a new trace is valid, sampled and never the same") {
  SpanQueue spans(1);
  const std::string one = spans.begin_trace(), other = spans.begin_trace();
  CHECK(base::read_traceparent(one) == one);
  CHECK(base::is_sampled(one));
  CHECK(base::trace_id_of(one) != base::trace_id_of(other));
}

TEST_CASE("SpanQueue: a full queue drops new spans and counts them") {
  SpanQueue spans(1, 2);
  for (int i = 0; i < 5; ++i) spans.add(named("one"));
  CHECK(spans.dropped() == 3);
  CHECK(all_of(spans).size() == 2);
  spans.add(named("another"));
  CHECK(spans.dropped() == 3);
}

TEST_CASE("SpanQueue: a long name is cut") {
  SpanQueue spans(1);
  spans.add(named(std::string(10'000, 'x')));
  const auto added = all_of(spans);
  REQUIRE(added.size() == 1);
  CHECK(added[0].name.size() == Span::kTextMax);
}

TEST_CASE("SpanTimer: if the trace is not sampled only failures are added") {
  SpanQueue spans(1);
  SpanTimer well(&spans, kUnsampled);
  CHECK(well.trace() == kUnsampled);
  well.end(named("well"));
  CHECK(all_of(spans).empty());
  SpanTimer(&spans, kUnsampled).end(named("badly", "it failed"));
  SpanTimer(&spans, "").end(named("alone", "it failed"));
  const auto added = all_of(spans);
  REQUIRE(added.size() == 2);
  CHECK(base::trace_id_of(added[0].trace) == base::trace_id_of(kUnsampled));
  CHECK(base::span_id_of(added[0].trace) != base::span_id_of(kUnsampled));
  CHECK(added[0].parent == kUnsampled);
  CHECK(base::trace_id_of(added[1].trace).size() == 32);
  CHECK(added[1].parent.empty());
}

TEST_CASE("SpanTimer: the span of a sampled trace has the id that was passed on and its parent's id") {
  SpanQueue spans(1);
  SpanTimer timer(&spans, kSampled);
  CHECK(timer.trace() != kSampled);
  timer.end(named("call"));
  const auto added = all_of(spans);
  REQUIRE(added.size() == 1);
  CHECK(added[0].trace == timer.trace());
  CHECK(added[0].parent == kSampled);
}

TEST_CASE("SpanTimer: without a span queue the trace is passed on unchanged") {
  SpanTimer timer(nullptr, kSampled);
  CHECK(timer.trace() == kSampled);
  CHECK_FALSE(timer.wants(true));
}

TEST_CASE("Span: a long text is cut, and an empty one is left out") {
  Span span;
  span.with("a", std::string(10'000, 'x')).with("b", "").with("c", std::int64_t{7});
  REQUIRE(span.attributes.size() == 2);
  CHECK(std::get<std::string>(span.attributes[0].second).size() == Span::kTextMax);
}

}  // namespace span_test

// Spans: timed operations of a trace, on their way to a collector (OpenTelemetry).
//
// A span is added when the operation is over, so an operation that lasts days holds nothing open. Spans go
// into a bounded queue. When it is full, a span is dropped and counted, so no thread ever waits for the
// collector.
//
// A trace is sampled if its `traceparent` says so. Spans of failed operations are added even if their trace
// is not sampled; without a `traceparent` such a span starts a trace of its own.
// Threads: SpanQueue any; Span and SpanTimer one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/threads.h"

namespace baton::base {

struct Span {
  enum class Kind { internal = 1, server, client, producer, consumer };  // OTLP's numbers
  using Value = std::variant<std::string, std::int64_t>;

  std::string trace;   // its `traceparent` (base/trace_context.h): the trace, its own id, and the flags
  std::string parent;  // the `traceparent` of the parent span; empty for the first span of a trace
  std::string name;
  Kind kind = Kind::internal;
  std::chrono::nanoseconds took{0};
  std::chrono::system_clock::time_point end{};                 // set by the queue
  std::vector<std::pair<std::string_view, Value>> attributes;  // names: literals
  std::vector<std::string> links;                              // `traceparent` of other spans
  std::string error;                                           // the kind of failure; empty on success

  // Adds an attribute unless it is empty. A text is cut to kTextMax bytes.
  Span& with(std::string_view attribute, std::string_view value);
  Span& with(std::string_view attribute, std::int64_t value);
  static constexpr std::size_t kTextMax = 256;
};

class SpanQueue {
 public:
  // `ratio`: the share of new traces that are sampled. `spans_max`: the most spans that may be queued.
  explicit SpanQueue(double ratio, std::size_t spans_max = 2'048) : ratio_(ratio), spans_max_(spans_max) {}

  // Returns the `traceparent` of a new trace; empty if the trace is not sampled.
  std::string begin_trace();
  // Whether to add a span of this trace.
  static bool takes(const std::string& trace, bool has_failed);
  // Queues the span, with now as its end. Cuts its name to Span::kTextMax bytes. A failed span without a
  // trace gets a new trace.
  void add(Span span);

  // Waits until `most` spans are queued, `until` is past, or `stop` was called; then removes and returns up
  // to `most` spans.
  std::vector<Span> take(std::size_t most, SteadyTime::time_point until);
  void stop();
  bool is_stopped() const;

  std::int64_t added() const { return added_.load(std::memory_order_relaxed); }
  std::int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  const double ratio_;
  const std::size_t spans_max_;
  std::atomic<std::int64_t> added_{0}, dropped_{0};
  mutable Mutex mutex_;  // guards what follows
  Condition changed_;
  std::deque<Span> spans_;
  std::size_t wanted_ = 0;  // the number of spans that a running `take` waits for
  bool stopped_ = false;
};

// SpanTimer: measures an operation that starts now, as a child span.
class SpanTimer {
 public:
  // `spans`: null to create no span. `parent`: a `traceparent`, or empty.
  SpanTimer(SpanQueue* spans, std::string parent);

  // The `traceparent` to send to others: the span's own, or the parent's if the trace is not sampled.
  const std::string& trace() const { return trace_; }
  // Whether `end` would add the span.
  bool wants(bool has_failed) const { return spans_ != nullptr && SpanQueue::takes(trace_, has_failed); }
  // Completes the caller's span and adds it to the queue, if `wants` allows it.
  void end(Span span);

 private:
  SpanQueue* const spans_;
  const std::string parent_;
  std::string trace_;
  SteadyTime::time_point begin_{};
};

}  // namespace baton::base

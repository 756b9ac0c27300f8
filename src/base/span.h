// Spans: what was done for a trace, from when to when, on its way to a collector (OpenTelemetry).
//
// A span is added when it is over: what lasts days holds nothing open. It goes into a queue with a bound, and
// is dropped and counted when that is full, so that nobody ever waits for the collector.
//
// A trace is sampled if its `traceparent` says so. What failed is added even if it is not; without a
// `traceparent` such a span is a trace of its own. Threads: SpanQueue any; Span and SpanTimer one at a time.
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
  std::string parent;  // that of the span it belongs below; empty: it begins the trace
  std::string name;
  Kind kind = Kind::internal;
  std::chrono::nanoseconds took{0};
  std::chrono::system_clock::time_point end{};                 // set by the queue
  std::vector<std::pair<std::string_view, Value>> attributes;  // names: literals
  std::vector<std::string> links;                              // `traceparent` of other spans
  std::string error;                                           // what kind of failure; empty: none

  // Adds an attribute unless it is empty. A text is cut to kTextMax bytes.
  Span& with(std::string_view attribute, std::string_view value);
  Span& with(std::string_view attribute, std::int64_t value);
  static constexpr std::size_t kTextMax = 256;
};

class SpanQueue {
 public:
  // `ratio`: the share of the traces that begin here which are sampled. `spans_max`: that wait.
  explicit SpanQueue(double ratio, std::size_t spans_max = 2'048) : ratio_(ratio), spans_max_(spans_max) {}

  // The `traceparent` of a new trace; empty: it is not sampled.
  std::string begin_trace();
  // Whether a span of this trace is to be added.
  static bool takes(const std::string& trace, bool has_failed);
  // Ends the span now. One that failed and has no trace gets one.
  void add(Span span);

  // The spans that wait, at most `most`, once there are so many, `until` is past, or `stop` was called.
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
  std::size_t wanted_ = 0;  // by who takes
  bool stopped_ = false;
};

// SpanTimer: a span of something that is done now, below another one.
class SpanTimer {
 public:
  // `spans`: null: none is made. `parent`: a `traceparent`, or empty.
  SpanTimer(SpanQueue* spans, std::string parent);

  // What goes out as `traceparent`: the span's own, or the parent's if the trace is not sampled.
  const std::string& trace() const { return trace_; }
  // Whether `end` would add the span.
  bool wants(bool has_failed) const { return spans_ != nullptr && SpanQueue::takes(trace_, has_failed); }
  // Adds the span, with what the caller has put into it, unless it is not wanted.
  void end(Span span);

 private:
  SpanQueue* const spans_;
  const std::string parent_;
  std::string trace_;
  SteadyTime::time_point begin_{};
};

}  // namespace baton::base

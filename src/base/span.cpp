#include "base/span.h"

#include <algorithm>
#include <random>

#include "base/id.h"
#include "base/text.h"
#include "base/trace_context.h"

namespace baton::base {
namespace {

constexpr std::size_t kMostHave = 9;  // most spans have at most this many attributes

std::uint64_t next_random() {
  thread_local std::mt19937_64 random(random_number());
  return random();
}

}  // namespace

Span& Span::with(std::string_view attribute, std::string_view value) {
  if (attributes.empty()) attributes.reserve(kMostHave);
  if (!value.empty()) attributes.emplace_back(attribute, std::string(beginning_of(value, kTextMax)));
  return *this;
}

Span& Span::with(std::string_view attribute, std::int64_t value) {
  if (attributes.empty()) attributes.reserve(kMostHave);
  attributes.emplace_back(attribute, value);
  return *this;
}

std::string SpanQueue::begin_trace() {
  constexpr double kAll = 18446744073709551616.0;  // 2 to the 64th
  if (static_cast<double>(next_random()) >= ratio_ * kAll) return {};
  return new_traceparent({next_random(), next_random()}, next_random());
}

bool SpanQueue::takes(const std::string& trace, bool has_failed) {
  return has_failed || is_sampled(trace);
}

void SpanQueue::add(Span span) {
  if (span.name.size() > Span::kTextMax) span.name.resize(beginning_of(span.name, Span::kTextMax).size());
  span.end = std::chrono::system_clock::now();
  if (span.trace.empty()) span.trace = new_traceparent({next_random(), next_random()}, next_random());
  bool wakes = false;
  {
    std::lock_guard lock(mutex_);
    if (stopped_ || spans_.size() >= spans_max_) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    spans_.push_back(std::move(span));
    wakes = wanted_ > 0 && spans_.size() >= wanted_;
  }
  added_.fetch_add(1, std::memory_order_relaxed);
  if (wakes) changed_.notify_one();
}

std::vector<Span> SpanQueue::take(std::size_t most, SteadyTime::time_point until) {
  std::unique_lock lock(mutex_);
  wanted_ = most;
  changed_.wait_until(lock, until, [&] { return stopped_ || spans_.size() >= most; });
  wanted_ = 0;
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, spans_.size()));
  std::vector<Span> taken(std::make_move_iterator(spans_.begin()),
                          std::make_move_iterator(spans_.begin() + count));
  spans_.erase(spans_.begin(), spans_.begin() + count);
  return taken;
}

void SpanQueue::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

bool SpanQueue::is_stopped() const {
  std::lock_guard lock(mutex_);
  return stopped_;
}

SpanTimer::SpanTimer(SpanQueue* spans, std::string parent)
    : spans_(spans), parent_(std::move(parent)), trace_(parent_) {
  if (spans_ == nullptr) return;
  begin_ = SteadyTime::now();
  if (is_sampled(parent_)) trace_ = traceparent_with_span(parent_, next_random());
}

void SpanTimer::end(Span span) {
  if (!wants(!span.error.empty())) return;
  span.trace = is_sampled(trace_) || trace_.empty() ? trace_ : traceparent_with_span(trace_, next_random());
  span.parent = parent_;
  span.took = SteadyTime::now() - begin_;
  spans_->add(std::move(span));
}

}  // namespace baton::base

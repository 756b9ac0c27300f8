// TraceExporter: sends the spans of a SpanQueue to a collector, in batches, on a thread of its own.
//
// A batch that the collector cannot take now (429, 502, 503, 504, no connection) is sent again, after the
// time that Retry-After asks for or a growing pause, for a minute at most; meanwhile the queue fills and
// drops. Any other refusal loses the batch. Nobody ever waits for this thread: a collector that hangs costs
// one connection and the memory of the queue.
// Threads: built and destroyed by one; `counts` from any. The destructor sends what is left, for a moment.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/otlp.h"
#include "base/metrics_text.h"
#include "base/span.h"
#include "base/threads.h"
#include "base/unique_fd.h"

namespace baton::app {

struct TraceOptions {
  std::string endpoint;      // "http://host:4318/v1/traces"; empty: off
  double ratio = 0.1;        // of the traces that begin here
  std::string headers_file;  // a file with a header on each line, "Name: value"; empty: none
  std::string headers_env;   // the same in an environment variable, separated by commas; empty: none
  std::chrono::milliseconds batch_time{2'000};  // after which a batch that is not full is sent
};

using TraceHeaders = std::vector<std::pair<std::string, std::string>>;
// "Name: value" or "Name=value", separated by commas or line ends; what is neither is left out.
TraceHeaders read_headers(std::string_view text);

class TraceExporter {
 public:
  TraceExporter(base::SpanQueue& spans, std::string endpoint, TraceHeaders headers, TraceResource resource,
                std::chrono::milliseconds batch_time);
  ~TraceExporter();
  TraceExporter(const TraceExporter&) = delete;
  TraceExporter& operator=(const TraceExporter&) = delete;

  void add_to(base::MetricsText& out) const;

  static constexpr std::size_t kBatchMax = 512;
  static constexpr std::chrono::seconds kTryMax{60};            // for one batch
  static constexpr std::chrono::seconds kRequestTime{10};       // for one request
  static constexpr std::chrono::milliseconds kLastTime{1'500};  // for what is left at the end

 private:
  enum class Sent { taken, later, refused };
  void run();
  void deliver(const std::vector<base::Span>& batch);
  Sent send(const std::string& body, std::chrono::milliseconds time, std::chrono::milliseconds& pause);
  void tell(bool works, const std::string& why);
  // False: the program is stopping.
  bool rest(std::chrono::milliseconds time);

  base::SpanQueue& spans_;
  const std::string endpoint_;
  const TraceHeaders headers_;
  const TraceResource resource_;
  const std::chrono::milliseconds batch_time_;
  std::atomic<std::int64_t> sent_{0}, lost_{0}, rejected_{0};
  bool works_ = true;       // as last told; the thread only
  base::UniqueFd stop_fd_;  // readable once the program stops
  base::Thread thread_;
};

}  // namespace baton::app

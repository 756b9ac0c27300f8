// TraceExporter: sends the spans of a SpanQueue to a collector, in batches, on its own thread.
//
// A batch that the collector cannot accept now (429, 502, 503, 504, no connection) is retried after the time
// in Retry-After or a growing pause, for at most a minute; meanwhile the queue fills up and drops spans. Any
// other refusal loses the batch. No other thread waits for this one: a collector that hangs costs one
// connection and the memory of the queue. Threads: built and destroyed by one; `counts` from any. The
// destructor sends the remaining spans, for at most kLastTime.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/otlp.h"
#include "base/metrics_text.h"
#include "base/secret_mask.h"
#include "base/span.h"
#include "base/threads.h"
#include "base/unique_fd.h"
#include "outbound/call_counts.h"
#include "outbound/proxy.h"

namespace baton::app {

struct TraceOptions {
  std::string endpoint;      // "http://host:4318/v1/traces"; empty: off
  double ratio = 0.1;        // the share of the traces started here that is recorded
  std::string headers_file;  // a file with a header on each line, "Name: value"; empty: none
  std::string headers_env;   // an environment variable with headers, separated by commas; empty: none
  std::chrono::milliseconds batch_time{2'000};  // the wait before a batch that is not full is sent
};

using TraceHeaders = std::vector<std::pair<std::string, std::string>>;
// Reads "Name: value" and "Name=value", separated by commas or line ends. Other entries are ignored. A value
// after "=" is percent-encoded, as in OTEL_EXPORTER_OTLP_HEADERS; one that is not stays as it is.
TraceHeaders read_headers(std::string_view text);

class TraceExporter {
 public:
  // `counts` must outlive this; null: requests are not counted.
  TraceExporter(base::SpanQueue& spans, std::string endpoint, TraceHeaders headers, TraceResource resource,
                std::chrono::milliseconds batch_time, outbound::Proxy proxy = {},
                outbound::CallCounts* counts = nullptr);
  ~TraceExporter();
  TraceExporter(const TraceExporter&) = delete;
  TraceExporter& operator=(const TraceExporter&) = delete;

  void add_to(base::MetricsText& out) const;

  static constexpr std::size_t kBatchMax = 512;
  static constexpr std::chrono::seconds kTryMax{60};            // for one batch
  static constexpr std::chrono::seconds kRequestTime{10};       // for one request
  static constexpr std::chrono::milliseconds kLastTime{1'500};  // for the remaining spans at the end

 private:
  enum class Sent { taken, later, refused };
  void run();
  void deliver(const std::vector<base::Span>& batch);
  // `is_last`: the program stops, so only the rest of kLastTime is left. Sets the pause that the collector
  // asks for, and the number of spans that it rejected from a batch that it took.
  Sent send(const std::string& body, bool is_last, std::chrono::milliseconds& pause, std::int64_t& rejected);
  void log_change(bool works, const std::string& why);
  // Waits for `time`. Returns false if the program is stopping.
  bool rest(std::chrono::milliseconds time);

  base::SpanQueue& spans_;
  const std::string endpoint_;
  const TraceHeaders headers_;
  const TraceResource resource_;
  const std::chrono::milliseconds batch_time_;
  const outbound::Proxy proxy_;
  outbound::CallCounts* const counts_;
  const std::shared_ptr<const base::SecretMask> mask_;  // of the headers' values
  std::atomic<std::int64_t> sent_{0}, lost_{0}, rejected_{0};
  bool works_ = true;       // as last logged; used only by the thread
  base::UniqueFd stop_fd_;  // readable once the program stops
  // When the last request must be over; set by the thread once the program stops.
  std::optional<base::SteadyTime::time_point> end_;
  base::Thread thread_;
};

}  // namespace baton::app

#include "app/trace_exporter.h"

#include <poll.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "outbound/http_client.h"
#include "outbound/outcome.h"
#include "outbound/refusal.h"

namespace baton::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPauseFirst{500}, kPauseMax{10'000};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r"), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

// Hides the headers' values, and the words in them ("Bearer ..."), in the collector's answers.
std::shared_ptr<const base::SecretMask> mask_of(const TraceHeaders& headers) {
  std::vector<std::string> secrets;
  for (const auto& [name, value] : headers) {
    secrets.push_back(value);
    if (const std::size_t space = value.rfind(' '); space != value.npos)
      secrets.push_back(value.substr(space + 1));
  }
  return std::make_shared<const base::SecretMask>(secrets);
}

}  // namespace

TraceHeaders read_headers(std::string_view text) {
  TraceHeaders headers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(",\n"), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t mark = one.find_first_of(":=");
    if (mark == std::string_view::npos || trimmed(one.substr(0, mark)).empty()) continue;
    std::string value(trimmed(one.substr(mark + 1)));
    if (one[mark] == '=') value = base::percent_decoded(value).value_or(value);
    headers.emplace_back(trimmed(one.substr(0, mark)), std::move(value));
  }
  return headers;
}

TraceExporter::TraceExporter(base::SpanQueue& spans, std::string endpoint, TraceHeaders headers,
                             TraceResource resource, milliseconds batch_time, outbound::Proxy proxy,
                             outbound::CallCounts* counts)
    : spans_(spans),
      endpoint_(std::move(endpoint)),
      headers_(std::move(headers)),
      resource_(std::move(resource)),
      batch_time_(batch_time),
      proxy_(std::move(proxy)),
      counts_(counts),
      mask_(mask_of(headers_)),
      stop_fd_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { run(); }) {}

TraceExporter::~TraceExporter() {
  spans_.stop();
  const std::uint64_t one = 1;
  if (write(stop_fd_.get(), &one, sizeof one) < 0)
    spdlog::error("traces: cannot interrupt the exporter; the server may take longer to stop");
}

void TraceExporter::run() {
  pthread_setname_np(pthread_self(), "traces");
  while (true) {
    try {
      const bool is_last = spans_.is_stopped();
      const auto batch = spans_.take(kBatchMax, base::SteadyTime::now() + batch_time_);
      const std::int64_t lost = lost_.load(std::memory_order_relaxed);
      if (!batch.empty()) deliver(batch);
      const bool is_in_vain = lost_.load(std::memory_order_relaxed) > lost;
      if (spans_.is_stopped() && ((batch.empty() && is_last) || is_in_vain)) return;
    } catch (const std::exception& error) {
      spdlog::error("traces: a batch of spans was lost: {}", error.what());
    }
  }
}

void TraceExporter::deliver(const std::vector<base::Span>& batch) {
  const std::string body = otlp_request(batch, resource_);
  const auto until = base::SteadyTime::now() + kTryMax;
  milliseconds next = kPauseFirst;
  while (true) {
    const bool is_last = spans_.is_stopped();
    if (is_last && !end_) end_ = base::SteadyTime::now() + kLastTime;
    milliseconds pause{0};
    std::int64_t rejected = 0;
    const Sent sent = send(body, is_last, pause, rejected);
    if (sent == Sent::taken) {
      const auto all = static_cast<std::int64_t>(batch.size());
      rejected = std::min(rejected, all);
      sent_.fetch_add(all - rejected, std::memory_order_relaxed);
      rejected_.fetch_add(rejected, std::memory_order_relaxed);
      return;
    }
    pause = std::max(pause, next);
    next = std::min(2 * next, kPauseMax);
    if (sent == Sent::refused || is_last || base::SteadyTime::now() + pause > until) break;
    rest(pause);
  }
  lost_.fetch_add(static_cast<std::int64_t>(batch.size()), std::memory_order_relaxed);
}

TraceExporter::Sent TraceExporter::send(const std::string& body, bool is_last, milliseconds& pause,
                                        std::int64_t& rejected) {
  milliseconds time = kRequestTime;
  if (is_last) time = std::chrono::ceil<milliseconds>(*end_ - base::SteadyTime::now());
  outbound::HttpRequest request;
  request.url = endpoint_;
  request.body = body;
  request.content_type = "application/json";
  request.headers = headers_;
  request.total_timeout = std::max(time, milliseconds(0));
  request.answer_max = 64 << 10;
  // The operator chose the address, so any address is allowed.
  request.policy = outbound::AddressPolicy::any();
  request.proxy = proxy_;
  request.counts = counts_;
  request.mask = mask_;
  // The end of the program aborts a request, but not the last one, which is sent after the end of the queue.
  if (!is_last) request.stop_fd = stop_fd_.get();
  const auto answer = outbound::http_request(request);
  if (!answer) {
    log_change(false, answer.error().for_caller);
    const bool may_come = answer.error().code == base::ErrorCode::unavailable ||
                          answer.error().code == base::ErrorCode::deadline_exceeded;
    return may_come ? Sent::later : Sent::refused;
  }
  if (answer->status >= 200 && answer->status <= 299) {
    log_change(true, {});
    rejected = rejected_spans(answer->body);
    return Sent::taken;
  }
  log_change(false, "it answers with " + outbound::refusal_text(*answer));
  pause = outbound::retry_after(*answer);
  return outbound::may_pass(answer->status) ? Sent::later : Sent::refused;
}

// Logs one line when exporting starts to fail, and one when it works again.
void TraceExporter::log_change(bool works, const std::string& why) {
  if (std::exchange(works_, works) == works) return;
  if (works) return spdlog::info("traces: the collector accepts spans again");
  spdlog::warn("traces: the collector does not accept spans; retrying: {}", why);
}

bool TraceExporter::rest(milliseconds time) {
  pollfd stop{stop_fd_.get(), POLLIN, 0};
  return poll(&stop, 1, static_cast<int>(time.count())) == 0;
}

void TraceExporter::add_to(base::MetricsText& out) const {
  out.family("baton_spans_total", base::MetricsText::Type::counter,
             "Spans by outcome; dropped: the queue was full; lost: the collector did not accept their batch; "
             "rejected: the collector accepted their batch without them.");
  out.value({{"outcome", "sent"}}, sent_.load(std::memory_order_relaxed));
  out.value({{"outcome", "dropped"}}, spans_.dropped());
  out.value({{"outcome", "lost"}}, lost_.load(std::memory_order_relaxed));
  out.value({{"outcome", "rejected"}}, rejected_.load(std::memory_order_relaxed));
}

}  // namespace baton::app

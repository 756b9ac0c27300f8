#include "notify/notifier.h"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>

#include "base/id.h"
#include "base/log.h"
#include "base/loggable.h"

namespace baton::notify {
namespace {

using Kind = store::DeliveryResult::Kind;
using base::SteadyTime;
using std::chrono::milliseconds;

constexpr int kScanBatch = 256;
constexpr int kScanMax = 16'384;
// A scan that found at least this many deliveries gives the senders work for a while. The next scan then
// waits a millisecond per kScannedPerMillisecond deliveries, so that a long backlog is not read repeatedly.
constexpr std::size_t kScanLarge = 64;
constexpr std::size_t kScannedPerMillisecond = 10;
// If more is due than a scan returns, the store still reads all of it: the next scan waits this many times as
// long as the scan took.
constexpr int kScanRest = 4;
constexpr milliseconds kScanRetry{1'000};
// The pause while a due delivery waits for its turn: the store cannot tell when the next one is due.
constexpr milliseconds kScanBusy{250};
constexpr milliseconds kNoMemoryPause{10};
// The longest pause; the wall clock may be set meanwhile.
constexpr milliseconds kScanLatest{60'000};

const char* name_of(Kind kind) {
  if (kind == Kind::delivered) return "delivered";
  return kind == Kind::retry ? "failed" : "given up";
}

void log_result(const store::Delivery& delivery, const std::string& task,
                const store::DeliveryResult& result) {
  const auto level = result.kind == Kind::delivered ? spdlog::level::info
                     : result.kind == Kind::retry   ? spdlog::level::warn
                                                    : spdlog::level::err;
  base::log(level,
            {{"task", task},
             {"config", delivery.config.id.value},
             {"event", delivery.event.value},
             {"attempt", delivery.attempts + 1}},
            "webhook {}{}{}", name_of(result.kind), result.error.empty() ? "" : ": ",
            base::loggable(result.error));
}

}  // namespace

Notifier::Notifier(DeliveryQueue& queue, const base::Clock& clock, NotifierOptions options, Render render)
    : queue_(queue),
      clock_(clock),
      options_(std::move(options)),
      render_(std::move(render)),
      queues_(options_.senders, options_.senders_per_host),
      scan_limit_(kScanBatch),
      random_(base::random_number()),
      abandon_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      loop_("notify") {
  if (!abandon_fd_.valid()) std::abort();  // without descriptors at start-up the program cannot run
}

Notifier::~Notifier() {
  stop();
}

void Notifier::start() {
  if (!options_.enabled) return;
  senders_.emplace("notify-send", options_.senders, static_cast<std::size_t>(options_.senders));
  loop_.start();
  wake();
}

void Notifier::stop() {
  stopping_ = true;
  if (!senders_) return;
  if (!wait_until_idle(options_.stop_grace)) {
    abandoned_ = true;
    eventfd_write(abandon_fd_.get(), 1);
    wait_until_idle({});
  }
  senders_->stop();
  loop_.stop();
  senders_.reset();
}

void Notifier::wake() {
  if (!options_.enabled || wake_pending_.exchange(true)) return;
  loop_.post([this] {
    wake_pending_ = false;
    scan_soon();
  });
}

void Notifier::set_keys(WebhookKeys keys) {
  keys_.with([&](WebhookKeys& all) { all.swap(keys); });
}

Notifier::Counters Notifier::counters() const {
  return {delivered_, failed_attempts_, given_up_, in_flight_};
}

void Notifier::scan_soon() {
  const auto pause = std::chrono::ceil<milliseconds>(scan_not_before_ - SteadyTime::now());
  scan_after(std::max(pause, milliseconds(0)));
}

void Notifier::scan_after(base::Duration delay) {
  loop_.cancel(scan_timer_);
  scan_timer_ = loop_.after(delay, [this] { scan(); });
}

void Notifier::scan() {
  if (stopping_) return;
  take_due();
  send_waiting();
}

void Notifier::take_due() {
  // Known deliveries come first among the due ones, so the limit must include them.
  const int limit = scan_limit_ + static_cast<int>(queues_.known());
  const auto began = SteadyTime::now();
  auto due = queue_.due_deliveries(clock_.now(), limit);
  if (!due) {
    spdlog::error("webhooks: cannot read the due deliveries; retrying: {}", due.error().for_log);
    return scan_after(kScanRetry);
  }
  const std::size_t count = due->size();
  bool turned_away = false;
  for (store::Delivery& delivery : *due) {
    if (queues_.knows(delivery)) continue;
    const auto head = queue_.head(delivery.task);
    std::string caller = head ? payer_of(head->caller) : std::string();
    std::string host = receiver_of(delivery.config.url);
    const auto added = queues_.add({std::move(caller), std::move(host), std::move(delivery)});
    turned_away |= added == HostQueues::Added::full;
  }
  // The next scan reads further, so that a receiver whose queue is full does not hide later deliveries.
  const bool hidden = turned_away && count >= static_cast<std::size_t>(limit);
  scan_limit_ = hidden ? std::min(scan_limit_ * 2, kScanMax) : kScanBatch;
  milliseconds pause(count >= kScanLarge ? count / kScannedPerMillisecond : 0);
  const auto ended = SteadyTime::now();
  if (count >= static_cast<std::size_t>(limit)) {
    pause = std::max(pause, std::chrono::ceil<milliseconds>(ended - began) * kScanRest);
  }
  scan_not_before_ = ended + pause;
  wait_for_next();
  if (hidden) scan_soon();
}

void Notifier::wait_for_next() {
  const auto next = queue_.next_due();
  if (!next) return scan_after(kScanRetry);
  if (!*next) return;
  const base::Duration delay = **next - clock_.now();
  scan_after(delay.count() > 0 ? std::min(delay, kScanLatest) : kScanBusy);
}

void Notifier::send_waiting() {
  while (auto waiting = queues_.next()) {
    if (!begin()) return;
    ++in_flight_;
    const bool accepted = senders_->try_submit([this, sent = std::move(*waiting)] { send(sent); });
    if (accepted) continue;
    --in_flight_;
    return end();
  }
}

void Notifier::on_sent(const Waiting& sent, const std::optional<Outcome>& outcome) {
  queues_.sent(sent, outcome && outcome->slow);
  if (!outcome) {
    queues_.release(sent.delivery);
    return end();
  }
  const double random = std::uniform_real_distribution<double>(0, 1)(random_);
  const store::DeliveryResult result =
      settle(sent.delivery, *outcome, clock_.now(), options_.retry, options_.give_up_after, random);
  log_result(sent.delivery, outcome->task, result);
  if (result.kind == Kind::delivered) ++delivered_;
  if (outcome->kind != Kind::delivered) ++failed_attempts_;
  if (result.kind == Kind::given_up) ++given_up_;
  record(sent.delivery, result, 0);
  send_waiting();
}

void Notifier::record(const store::Delivery& delivery, const store::DeliveryResult& result, int failures) {
  queue_.record(result, [this, delivery, result, failures](const base::Result<void>& stored) {
    // Not found: during the attempt, an operator skipped the delivery or sent an earlier one again.
    const bool is_overtaken = !stored && stored.error().code == base::ErrorCode::not_found;
    const bool good = stored.has_value() || is_overtaken;
    if (!good)
      spdlog::error("webhooks: cannot store the result of a delivery; it may be sent again: {}",
                    stored.error().for_log);
    loop_.post([this, delivery, result, failures, good] { on_recorded(delivery, result, failures, good); });
  });
}

void Notifier::on_recorded(const store::Delivery& delivery, const store::DeliveryResult& result, int failures,
                           bool stored) {
  if (stored) {
    queues_.release(delivery);
    scan_soon();
    return end();
  }
  // The config stays reserved until the result is stored, so that a full disk does not cause a repeated send.
  const std::chrono::seconds pause(std::min(1 << std::min(failures, 5), 30));
  loop_.after(pause, [this, delivery, result, failures] {
    if (begin()) record(delivery, result, failures + 1);
  });
  end();
}

void Notifier::send(const Waiting& waiting) {
  std::optional<Outcome> outcome = attempt(waiting.delivery);
  --in_flight_;
  while (true) {
    try {
      return loop_.post([this, waiting, outcome] { on_sent(waiting, outcome); });
    } catch (const std::bad_alloc&) {
      // Retries until there is memory again: otherwise the delivery would stay in flight forever.
      base::sleep_for(kNoMemoryPause);
    }
  }
}

std::optional<Outcome> Notifier::attempt(const store::Delivery& delivery) {
  if (stopping_) return {};
  try {
    auto rendered = render_(queue_, delivery);
    if (!rendered) {
      const base::Error& error = rendered.error();
      const bool gone =
          error.code == base::ErrorCode::task_not_found || error.code == base::ErrorCode::not_found;
      return Outcome{gone ? Kind::given_up : Kind::retry, error.for_caller, {}, false, {}};
    }
    std::string task = rendered->task.value;
    const std::shared_ptr<void> held = rendered->held;
    const outbound::HttpRequest request = prepare(delivery, std::move(*rendered));
    const auto begin = base::SteadyTime::now();
    const auto answer = outbound::http_request(request);
    const auto took = base::SteadyTime::now() - begin;
    attempt_time_.observe(took);
    if (!answer && abandoned_) return {};
    Outcome outcome = judge(answer, clock_.now());
    outcome.task = std::move(task);
    add_span(delivery, request, outcome, took);
    return outcome;
  } catch (const std::exception& error) {
    spdlog::error("webhooks: a delivery attempt failed unexpectedly: {}", error.what());
    return Outcome{Kind::retry, "internal error during the attempt", {}, false, {}};
  }
}

void Notifier::add_span(const store::Delivery& delivery, const outbound::HttpRequest& request,
                        const Outcome& outcome, std::chrono::nanoseconds took) const {
  const bool has_failed = outcome.kind != Kind::delivered;
  if (options_.spans == nullptr || !base::SpanQueue::takes(delivery.trace, has_failed)) return;
  options_.spans->add(webhook_span(delivery, request, outcome, took));
}

outbound::HttpRequest Notifier::prepare(const store::Delivery& delivery, Rendered rendered) const {
  const WebhookKeys keys = keys_.with([](const WebhookKeys& all) { return all; });
  const base::Clock& clock = options_.signing_clock ? *options_.signing_clock : clock_;
  outbound::HttpRequest request =
      webhook_request(delivery, rendered.task, std::move(rendered.body), clock.now(), keys);
  request.total_timeout = options_.timeout;
  request.connect_timeout = std::min<base::Duration>(request.connect_timeout, options_.timeout);
  request.resolve_timeout = std::min<base::Duration>(options_.resolve_timeout, options_.timeout);
  request.policy = options_.policy;
  request.proxy = options_.proxy;
  request.repeats_safely = true;  // a delivery may arrive twice
  request.counts = options_.counts;
  request.counted_as = "webhooks";  // callers choose the servers
  request.stop_fd = abandon_fd_.get();
  return request;
}

bool Notifier::begin() {
  std::lock_guard lock(mutex_);
  if (stopping_) return false;
  ++pending_;
  return true;
}

void Notifier::end() {
  std::lock_guard lock(mutex_);
  if (--pending_ == 0) idle_.notify_all();
}

bool Notifier::wait_until_idle(std::optional<base::Duration> most) {
  std::unique_lock lock(mutex_);
  const auto idle = [this] { return pending_ == 0; };
  if (most) return idle_.wait_for(lock, *most, idle);
  idle_.wait(lock, idle);
  return true;
}

}  // namespace baton::notify

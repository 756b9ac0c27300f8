#include "notify/notifier.h"

#include <spdlog/spdlog.h>

#include <algorithm>
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
// The pause before a body is read again that found no room.
constexpr milliseconds kNoRoomPause{100};
// Threads that read and sign bodies.
constexpr int kReaders = 4;
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
      loop_("notify") {}

Notifier::~Notifier() {
  stop();
}

void Notifier::start() {
  if (!options_.enabled) return;
  readers_.emplace("notify-read", std::min(kReaders, options_.senders),
                   static_cast<std::size_t>(options_.senders));
  loop_.start();
  wake();
}

void Notifier::stop() {
  stopping_ = true;
  if (!readers_) return;
  if (!wait_until_idle(options_.stop_grace)) {
    loop_.post([this] { abandon(); });
    wait_until_idle({});
  }
  readers_->stop();
  loop_.stop();
  readers_.reset();
}

void Notifier::abandon() {
  is_abandoned_ = true;
  while (!attempts_.empty()) attempts_.front().call->give_up();  // which calls on_answer
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
    prepare(*waiting);
  }
}

void Notifier::prepare(const Waiting& waiting) {
  const bool is_taken = !stopping_ && readers_->try_submit([this, waiting] {
    Prepared result = prepared(waiting.delivery);
    while (true) {
      try {
        return loop_.post([this, waiting, result] { on_prepared(waiting, result); });
      } catch (const std::bad_alloc&) {
        // Retries until there is memory again: otherwise the delivery would stay in flight forever.
        base::sleep_for(kNoMemoryPause);
      }
    }
  });
  if (!is_taken) on_sent(waiting, {});
}

void Notifier::on_prepared(const Waiting& waiting, Prepared prepared) {
  if (is_abandoned_) return on_sent(waiting, {});
  if (const auto* outcome = std::get_if<Outcome>(&prepared)) return on_sent(waiting, *outcome);
  if (auto* out = std::get_if<Outgoing>(&prepared)) return call(waiting, std::move(*out));
  loop_.after(kNoRoomPause, [this, waiting] { prepare(waiting); });
}

void Notifier::call(const Waiting& waiting, Outgoing out) {
  const auto at =
      attempts_.insert(attempts_.end(), Attempt{waiting, std::move(out), SteadyTime::now(), nullptr});
  outbound::Call::Events events;
  // noexcept: a delivery whose end was lost would stay in flight forever, so that the program ends instead.
  events.on_end = [this, at](const base::Result<outbound::HttpAnswer>& answer) noexcept {
    on_answer(at, answer);
  };
  at->call = std::make_unique<outbound::Call>(loop_, at->out.request, milliseconds(0), std::move(events));
  at->call->start();
}

void Notifier::on_answer(Attempts::iterator at, const base::Result<outbound::HttpAnswer>& answer) {
  Attempts ended;
  ended.splice(ended.end(), attempts_, at);
  const Attempt& attempt = ended.front();
  if (!answer && is_abandoned_) return on_sent(attempt.waiting, {});
  const auto took = SteadyTime::now() - attempt.began;
  attempt_time_.observe(took);
  Outcome outcome = judge(answer, clock_.now());
  outcome.task = attempt.out.task;
  add_span(attempt, outcome, took);
  on_sent(attempt.waiting, outcome);
}

void Notifier::on_sent(const Waiting& sent, const std::optional<Outcome>& outcome) {
  --in_flight_;
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

Notifier::Prepared Notifier::prepared(const store::Delivery& delivery) const {
  try {
    auto rendered = render_(queue_, delivery);
    if (rendered) {
      Outgoing out{rendered->task.value, rendered->held, nullptr};
      out.request = std::make_shared<const outbound::HttpRequest>(request_of(delivery, std::move(*rendered)));
      return out;
    }
    const base::Error& error = rendered.error();
    if (error.code == base::ErrorCode::overloaded) return Postponed{};
    const bool gone =
        error.code == base::ErrorCode::task_not_found || error.code == base::ErrorCode::not_found;
    return Outcome{gone ? Kind::given_up : Kind::retry, error.for_caller, {}, false, {}};
  } catch (const std::exception& error) {
    spdlog::error("webhooks: a delivery attempt failed unexpectedly: {}", error.what());
    return Outcome{Kind::retry, "internal error during the attempt", {}, false, {}};
  }
}

void Notifier::add_span(const Attempt& attempt, const Outcome& outcome, std::chrono::nanoseconds took) const {
  const store::Delivery& delivery = attempt.waiting.delivery;
  const bool has_failed = outcome.kind != Kind::delivered;
  if (options_.spans == nullptr || !base::SpanQueue::takes(delivery.trace, has_failed)) return;
  options_.spans->add(webhook_span(delivery, *attempt.out.request, outcome, took));
}

outbound::HttpRequest Notifier::request_of(const store::Delivery& delivery, Rendered rendered) const {
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

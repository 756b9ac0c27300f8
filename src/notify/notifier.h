// Notifier: sends the deliveries of a DeliveryQueue to webhooks until they are delivered or given up.
//
// Promises: delivery at least once, in order for each (task, config). A body shows its event, or the task
// just after it. A result is stored only after the answer, so that a crash may repeat a delivery but never
// loses one. One thread schedules and makes the calls, and a few read and sign bodies; a delivery that waits
// for its receiver has no thread. Threads: `start` and `stop` from one thread; `wake`, `counters` and
// `set_keys` from any. Lifetime: the queue, the clock and all objects that `render` uses must outlive `stop`.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/guarded.h"
#include "base/histogram.h"
#include "base/span.h"
#include "base/threads.h"
#include "base/worker_pool.h"
#include "notify/host_queues.h"
#include "notify/webhook_body.h"
#include "outbound/address.h"
#include "outbound/call.h"
#include "outbound/call_counts.h"
#include "outbound/proxy.h"

namespace baton::notify {

struct NotifierOptions {
  bool enabled = true;  // false: deliveries stay in the store and are not sent
  base::Duration timeout{15'000};
  base::Duration resolve_timeout{8'000};  // for the DNS lookup of a receiver
  int senders = 32;                       // deliveries at the same time
  int senders_per_host = 2;
  Backoff retry;
  base::Duration give_up_after = std::chrono::hours(24);
  outbound::AddressPolicy policy;
  base::Duration stop_grace{2'000};        // how long `stop` lets attempts finish
  base::SpanQueue* spans = nullptr;        // of attempts; null: none
  outbound::Proxy proxy;                   // for attempts
  outbound::CallCounts* counts = nullptr;  // counts attempts as "webhooks"; outlives the notifier; null: none
  // The time in signatures, which receivers compare with their own; outlives the notifier. Null: its clock.
  const base::Clock* signing_clock = nullptr;
};

class Notifier {
 public:
  struct Counters {
    std::int64_t delivered = 0;
    std::int64_t failed_attempts = 0;
    std::int64_t given_up = 0;
    std::int64_t in_flight = 0;
  };

  Notifier(DeliveryQueue& queue, const base::Clock& clock, NotifierOptions options, Render render);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  void start();
  // Starts no new attempts. Attempts in flight get the grace time, then are abandoned and stay due.
  void stop();

  // Tells the notifier that deliveries were written. Cheap.
  void wake();

  // Signs all attempts from now on with these keys, besides the configs' own.
  void set_keys(WebhookKeys keys);

  Counters counters() const;
  // The duration of each attempt, answered or not.
  const base::Histogram& attempt_time() const { return attempt_time_; }

 private:
  // A delivery whose request is ready.
  struct Outgoing {
    std::string task;            // its public id
    std::shared_ptr<void> held;  // as in Rendered
    std::shared_ptr<const outbound::HttpRequest> request;
  };
  struct Postponed {};  // there is no room for the body now
  using Prepared = std::variant<Outgoing, Outcome, Postponed>;
  struct Attempt {
    Waiting waiting;
    Outgoing out;
    base::SteadyTime::time_point began;
    std::unique_ptr<outbound::Call> call;
  };
  using Attempts = std::list<Attempt>;

  // Loop thread.
  void scan_soon();
  void scan();
  void scan_after(base::Duration delay);
  void take_due();
  void wait_for_next();
  void send_waiting();
  void prepare(const Waiting& waiting);
  void on_prepared(const Waiting& waiting, Prepared prepared);
  void call(const Waiting& waiting, Outgoing out);
  void on_answer(Attempts::iterator at, const base::Result<outbound::HttpAnswer>& answer);
  // Without an outcome, the attempt was abandoned.
  void on_sent(const Waiting& sent, const std::optional<Outcome>& outcome);
  void abandon();
  void record(const store::Delivery& delivery, const store::DeliveryResult& result, int failures);
  void on_recorded(const store::Delivery& delivery, const store::DeliveryResult& result, int failures,
                   bool stored);
  void add_span(const Attempt& attempt, const Outcome& outcome, std::chrono::nanoseconds took) const;
  // Threads that read bodies.
  Prepared prepared(const store::Delivery& delivery) const;
  outbound::HttpRequest request_of(const store::Delivery& delivery, Rendered rendered) const;

  // `stop` waits until each `begin` of an attempt or of storing a result has its `end`. `begin` returns false
  // while stopping.
  bool begin();
  void end();
  bool wait_until_idle(std::optional<base::Duration> most);

  DeliveryQueue& queue_;
  const base::Clock& clock_;
  const NotifierOptions options_;
  const Render render_;

  HostQueues queues_;  // this and all members down to random_: loop thread only
  Attempts attempts_;  // calls under way
  bool is_abandoned_ = false;
  base::EventLoop::TimerId scan_timer_ = 0;
  base::SteadyTime::time_point scan_not_before_{};
  int scan_limit_;
  std::mt19937_64 random_;

  std::atomic<bool> wake_pending_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> delivered_{0};
  std::atomic<std::int64_t> failed_attempts_{0};
  std::atomic<std::int64_t> given_up_{0};
  std::atomic<std::int64_t> in_flight_{0};
  base::Histogram attempt_time_{base::kRequestBounds};
  base::Guarded<WebhookKeys> keys_;
  base::Mutex mutex_;  // guards pending_
  base::Condition idle_;
  int pending_ = 0;

  std::optional<base::WorkerPool> readers_;
  base::EventLoop loop_;
};

}  // namespace baton::notify

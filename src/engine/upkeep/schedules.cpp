#include "engine/upkeep/schedules.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>

#include "base/loggable.h"
#include "base/promise.h"
#include "base/sha256.h"
#include "engine/decide/kinds/begin_schedule.h"
#include "engine/upkeep/retention.h"

namespace baton::engine {
namespace {

using Missed = agents::Schedule::Missed;

constexpr std::size_t kMissedMax = 1'000;
// A due time that passed no longer ago than this is not missed.
constexpr base::Duration kLate = std::chrono::minutes(1);
constexpr base::Duration kLookAgain = std::chrono::minutes(1);
// The pause before retrying a task that the server had no room for, and how long after its time to retry.
constexpr base::Duration kRetry = std::chrono::seconds(10), kRetryMost = std::chrono::hours(1);

}  // namespace

std::vector<base::Timestamp> last_times(const agents::Schedule& schedule, base::Timestamp from,
                                        base::Timestamp now, std::size_t most) {
  for (base::Duration window = std::chrono::hours(24);; window *= 4) {
    const base::Timestamp begin = std::max(from, now - window);
    std::deque<base::Timestamp> found;
    for (auto at = schedule.cron.next(begin, schedule.zone); at && *at <= now;
         at = schedule.cron.next(*at, schedule.zone)) {
      found.push_back(*at);
      if (found.size() > most) found.pop_front();
    }
    if (begin == from || found.size() >= most) return {found.begin(), found.end()};
  }
}

base::Result<void> Schedules::load() {
  std::vector<One> all;
  std::map<std::string, base::Timestamp> taken;
  for (const agents::Agent* agent : catalogue_.all()) {
    for (const agents::Schedule& schedule : agent->settings.schedules) {
      auto one = load(agent->name, schedule);
      if (!one) return base::fail(std::move(one.error()));
      taken.emplace(one->id, one->next);
      all.push_back(std::move(*one));
    }
  }
  taken_ = std::move(taken);
  known_count_ = static_cast<int>(all.size());
  background_.timers().post([this, all = std::move(all)]() mutable {
    // Schedules that were already known may have advanced since.
    for (One& one : all) {
      const auto before = std::ranges::find(all_, one.id, &One::id);
      if (before != all_.end()) one.next = before->next;
    }
    all_ = std::move(all);
    fire();
  });
  return {};
}

base::Result<Schedules::One> Schedules::load(const task::AgentName& agent, const agents::Schedule& schedule) {
  One one{agent, base::uuid_of({"schedule", agent.value, schedule.name}), &schedule, {}};
  const auto known = taken_.find(one.id);
  if (known != taken_.end()) {
    one.next = known->second;
    return one;
  }
  const auto since = first_seen({schedule.caller, agent, {one.id}});
  if (!since) return base::fail(since.error());
  const base::Timestamp now = clock_.now();
  base::Timestamp from = std::min(*since, now);  // the clock may have been ahead then
  if (schedule.missed == Missed::skip) from = std::max(from, now - kLate);
  one.next = schedule.cron.next(std::max(from, oldest_kept(agent, now)), schedule.zone)
                 .value_or(base::Timestamp::max());
  make_due(one, now);
  return one;
}

// Tasks that were due before this time may have been created and removed since.
base::Timestamp Schedules::oldest_kept(const task::AgentName& agent, base::Timestamp now) const {
  const auto time = kept_at_least(retention_, catalogue_.find(agent));
  return time == std::chrono::milliseconds::max() ? base::Timestamp::min() : now - time;
}

// When this schedule's hidden task was created, which this call may do.
base::Result<base::Timestamp> Schedules::first_seen(const task::TaskRef& mark) {
  const auto known = store_.find(mark);
  if (known) return known->status_at;
  if (known.error().code != base::ErrorCode::task_not_found) return base::fail(known.error());
  base::Promise<base::Result<Written>> written;
  Decision decision(BeginSchedule{mark, clock_});
  decision.done = [&](base::Result<Written> result) { written.set_value(std::move(result)); };
  inbox_.post(std::move(decision));
  auto result = written.get_future().get();
  // Another node has just created it.
  if (!result && result.error().code == base::ErrorCode::already_exists) return first_seen(mark);
  if (!result) return base::fail(std::move(result.error()));
  return result->head.status_at;
}

// Creates the tasks that are due, and computes the next time, also if none is due: the clock may have been
// set back.
void Schedules::make_due(One& one, base::Timestamp now) {
  if (one.next <= now) submit_due(one, now);
  one.next = one.schedule->cron.next(now, one.schedule->zone).value_or(base::Timestamp::max());
}

void Schedules::submit_due(const One& one, base::Timestamp now) {
  const agents::Schedule& schedule = *one.schedule;
  const base::Timestamp from = one.next - base::Duration(1);
  const std::size_t most = schedule.missed == Missed::all ? kMissedMax : 1;
  const auto times = last_times(schedule, from, now, most);
  if (times.size() == kMissedMax) {
    spdlog::warn("agent={} its schedule missed many start times; only the last {} are made up for",
                 one.agent.value, kMissedMax);
  }
  const bool is_outdated = catalogue_.is_newer_elsewhere(one.agent);
  for (const base::Timestamp at : times) {
    if (is_outdated || (schedule.missed == Missed::skip && now - at > kLate)) continue;
    const task::TaskId id{base::uuid_of({one.id, std::to_string(base::to_ms(at))})};
    task::Message message = schedule.message_at(at);
    message.id.value = id.value;
    submit({{schedule.caller, one.agent, id}, std::move(message), at, schedule.name});
  }
}

void Schedules::fire() {
  background_.timers().cancel(timer_);
  const base::Timestamp now = clock_.now();
  base::Timestamp next = now + kLookAgain;  // by then, the clock may have been set
  for (One& one : all_) {
    make_due(one, now);
    next = std::min(next, one.next);
  }
  if (!all_.empty()) timer_ = background_.timers().after(next - now, [this] { fire(); });
}

void Schedules::submit(const Due& due) {
  background_.run([this, due] { submit_now(due); });
}

// Submits the task unless it already exists.
void Schedules::submit_now(const Due& due) {
  const auto known = store_.find(due.ref);
  if (known) return;
  task::Submission submission;
  submission.caller = due.ref.caller;
  submission.agent = due.ref.agent;
  submission.task = due.ref.id;
  submission.when_unknown = task::WhenUnknown::create;
  submission.message = due.message;
  submission.schedule = due.schedule;
  tasks_.submit(std::move(submission), [this, due](const base::Result<Accepted>& accepted) {
    const std::string what = "task=" + due.ref.id.value + " agent=" + due.ref.agent.value +
                             " scheduled task due at " + base::to_rfc3339(due.at);
    if (accepted) {
      if (!accepted->repeated) ++begun_;
      return spdlog::debug("{} created", what);
    }
    if (!base::may_pass(accepted.error()) || clock_.now() - due.at > kRetryMost) {
      return spdlog::error("{} could not be created: {}", what, base::loggable(accepted.error().for_caller));
    }
    spdlog::warn("{} could not be created; retrying: {}", what, base::loggable(accepted.error().for_caller));
    background_.timers().after(kRetry, [this, due] { submit(due); });
  });
}

}  // namespace baton::engine

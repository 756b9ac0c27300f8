#include "engine/operators/bulk_jobs.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "base/promise.h"
#include "base/text.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::array<std::string_view, 6> kActions{"cancel", "retry", "requeue", "resend", "skip", "delete"};
constexpr int kKeyTriesMax = 16;       // attempts to find a free key
constexpr int kJobsKeptMax = 100'000;  // that are looked through at start
constexpr int kJobsLookedAt = 64;      // the newest, after the start
constexpr int kFindPage = 1'000;
constexpr std::chrono::seconds kFindTime{10};           // for one page
constexpr std::chrono::milliseconds kCountTime{2'000};  // for one page; others wait for the thread
constexpr std::size_t kItemsAtOnce = 500;               // in one write
constexpr int kReadAtOnce = 256;
constexpr std::chrono::milliseconds kBulkRetry{250};

std::optional<BulkAction> action_named(std::string_view name) {
  for (std::size_t i = 0; i < kActions.size(); ++i) {
    if (kActions[i] == name) return static_cast<BulkAction>(i);
  }
  return std::nullopt;
}

}  // namespace

struct BulkJobs::RunningJob {
  task::BulkJobKey key;
  BulkAction action;
  Actor actor;
  struct State {
    std::deque<task::TaskKey> next;  // read, and not acted on yet
    task::TaskKey last;              // the last one read
    int acting = 0;
    bool reading = false, all_read = false;
    bool has_ended = false;  // all acted on, or left to another node
  };
  base::Guarded<State> state;
};

base::Result<void> BulkJobs::start() {
  const auto jobs = store_.bulk_jobs(kJobsKeptMax);
  if (!jobs) return fail(jobs.error());
  for (const store::BulkJob& job : *jobs) {
    if (is_left(job)) {
      if (auto given_up = give_up(job); !given_up) return given_up;
    }
    if (is_runner()) take_up(job);
  }
  return {};
}

void BulkJobs::look() {
  const bool is_first = !std::exchange(was_runner_, is_runner());
  if (!was_runner_ || stopping_) return;
  const auto jobs = store_.bulk_jobs(is_first ? kJobsKeptMax : kJobsLookedAt);
  if (!jobs) return spdlog::warn("cannot read the bulk jobs: {}", jobs.error().for_log);
  for (const store::BulkJob& job : *jobs) {
    if (is_left(job)) {
      // If it fails, the next look tries again.
      if (const auto given_up = give_up(job); !given_up)
        spdlog::warn("cannot abandon bulk job {}: {}", job.key.value, given_up.error().for_log);
    }
    take_up(job);
  }
}

// Whether the program that was recording the job's tasks is gone. Call with a job that was read before.
bool BulkJobs::is_left(const store::BulkJob& job) const {
  if (job.state != store::BulkJob::State::preparing || job.counted) return false;
  if (peers_ == nullptr) return true;
  if (job.node == peers_->self()) return false;
  if (peers_->is_alone()) return true;
  if (!job.node) return false;  // an earlier version, which recorded no node, may run at another one
  const auto nodes = peers_->nodes();
  return nodes && std::ranges::find(*nodes, job.node, &store::Node::id) == nodes->end();
}

base::Result<void> BulkJobs::give_up(const store::BulkJob& job) {
  // The program may have finished counting, and then stopped, after `job` was read.
  const auto now = store_.bulk_job(job.key);
  if (!now) return fail(now.error());
  if (now->counted) return {};
  auto abandoned = write(store::BulkState{job.key, store::BulkJob::State::abandoned});
  if (abandoned) {
    spdlog::warn("bulk job {} ({}) of {} is abandoned, because the program ended while it counted the tasks",
                 job.key.value, job.action, job.actor);
  } else if (abandoned.error().code == ErrorCode::conflict) {
    return {};  // an operator or another node was faster
  }
  return abandoned;
}

void BulkJobs::take_up(const store::BulkJob& job) {
  const auto action = action_named(job.action);
  if (job.state != store::BulkJob::State::running || !action) return;
  if (*action == BulkAction::erase && erasure_ == nullptr) return;
  if (running_.with([&](const auto& running) { return running.contains(job.key); })) return;
  spdlog::info("resuming bulk job {} ({}) of {}", job.key.value, job.action, job.actor);
  ++jobs_;
  run(job.key, *action, job.actor, job.reason);
}

base::Result<task::BulkJobKey> BulkJobs::create(const BulkRequest& request) {
  if (request.actor.empty()) return fail(ErrorCode::invalid_argument, "the operator's name is required");
  if (request.reason.empty() || request.reason.size() > kReasonMax)
    return fail(ErrorCode::invalid_argument,
                "reason: is required, with at most " + std::to_string(kReasonMax) + " bytes");
  if (request.expected && *request.expected <= 0)
    return fail(ErrorCode::invalid_argument, "expected: must be a number of tasks, at least 1");
  if (request.expected && *request.expected > kTasksMax)
    return fail(ErrorCode::too_large,
                "a job may have at most " + std::to_string(kTasksMax) + " tasks: use a narrower filter");
  if (request.action == BulkAction::erase && erasure_ == nullptr)
    return fail(ErrorCode::unsupported, "this store cannot delete tasks");
  BulkRequest asked = request;
  if (asked.action == BulkAction::retry && !asked.filter.retried) asked.filter.retried = false;
  if (auto taken = take_place(); !taken) return fail(std::move(taken.error()));
  if (!asked.expected) {
    auto counting = count(asked);
    if (!counting) --jobs_;
    return counting;
  }
  const auto tasks = find(asked.filter, *asked.expected);
  auto key = tasks ? write_down(asked, *tasks) : base::Result<task::BulkJobKey>(fail(tasks.error()));
  if (!key) {
    --jobs_;
    return key;
  }
  if (is_runner()) {
    run(*key, asked.action, asked.actor, asked.reason);
  } else {
    --jobs_;
  }
  return key;
}

// Takes one of the kJobsMax places; fails with overloaded if none is free, unavailable while stopping.
base::Result<void> BulkJobs::take_place() {
  if (stopping_) return fail(ErrorCode::unavailable, "the server is stopping; try again");
  const auto stored = is_runner() ? base::Result<std::int64_t>(0) : stored_at_work();
  if (!stored) return fail(stored.error());
  if (++jobs_ <= kJobsMax && *stored < kJobsMax) return {};
  --jobs_;
  return fail(ErrorCode::overloaded, "too many bulk jobs are running; try again later");
}

// How many jobs run or are counted, on whichever nodes.
base::Result<std::int64_t> BulkJobs::stored_at_work() const {
  const auto jobs = store_.bulk_jobs(kJobsLookedAt);
  if (!jobs) return fail(jobs.error());
  return std::ranges::count_if(*jobs, [](const store::BulkJob& job) {
    const bool is_counted_now = job.state == store::BulkJob::State::preparing && !job.counted;
    return is_counted_now || job.state == store::BulkJob::State::running;
  });
}

base::Result<task::BulkJobKey> BulkJobs::count(const BulkRequest& request) {
  if (auto room = make_room_for_unconfirmed(); !room) return fail(std::move(room.error()));
  auto key = write_job(request, 0);
  if (!key) return key;
  const auto counting = std::make_shared<Counting>();
  counting->key = *key;
  counting->query.filter = request.filter;
  counting->query.limit = kFindPage;
  counting->query.time_max = counting->query.found_time_max = kCountTime;
  counting->query.keys_only = true;
  background_.run_low([this, counting] { count_more(counting); });
  return key;
}

base::Result<void> BulkJobs::make_room_for_unconfirmed() {
  const auto jobs = store_.bulk_jobs(kJobsLookedAt);
  if (!jobs) return fail(jobs.error());
  int waiting = 0;
  for (const store::BulkJob& job : *jobs) {
    const bool waits = job.state == store::BulkJob::State::preparing && job.counted;
    if (!waits || ++waiting < kUnconfirmed) continue;
    auto abandoned = write(store::BulkState{job.key, store::BulkJob::State::abandoned});
    // A conflict: it was confirmed meanwhile.
    if (!abandoned && abandoned.error().code != ErrorCode::conflict) return abandoned;
  }
  return {};
}

// Counts one page at a time, because the thread is shared.
void BulkJobs::count_more(const CountingPtr& counting) {
  auto goes_on = stopping_ ? base::Result<bool>(false) : count_page(*counting);
  if (goes_on && *goes_on) {
    background_.run_low([this, counting] { count_more(counting); });
    return;
  }
  --jobs_;
  if (goes_on) return;
  spdlog::warn("cannot count the tasks of bulk job {}, which is abandoned: {}", counting->key.value,
               goes_on.error().for_log.empty() ? goes_on.error().for_caller : goes_on.error().for_log);
  drop(counting->key);
}

// Returns whether there are more pages.
base::Result<bool> BulkJobs::count_page(Counting& counting) {
  const auto job = store_.bulk_job(counting.key);
  if (!job) return fail(job.error());
  if (job->state != store::BulkJob::State::preparing) return false;  // it was given up
  const auto page = store_.page(counting.query);
  if (!page) return fail(page.error());
  if (page->is_cut && !page->next)
    return fail(ErrorCode::overloaded, "counting the tasks takes too long: use a narrower filter");
  std::vector<task::TaskKey> found;
  for (const store::TaskLine& line : page->lines) found.push_back(line.head.key);
  counting.tasks += std::ssize(found);
  if (counting.tasks > kTasksMax)
    return fail(ErrorCode::too_large,
                "a job may have at most " + std::to_string(kTasksMax) + " tasks: use a narrower filter");
  counting.query.after = page->next;
  auto written = write_items(counting.key, found);
  const bool is_last = !page->next;
  if (written) written = write(store::BulkCount{counting.key, counting.tasks, is_last});
  if (written && is_last && counting.tasks == 0)
    written = write(store::BulkState{counting.key, store::BulkJob::State::done});
  if (!written) return fail(std::move(written.error()));
  return !is_last;
}

base::Result<void> BulkJobs::confirm(task::BulkJobKey key, std::int64_t expected, const std::string& actor) {
  const auto job = store_.bulk_job(key);
  if (!job) return fail(job.error());
  const auto action = action_named(job->action);
  if (job->state != store::BulkJob::State::preparing || !action)
    return fail(ErrorCode::conflict, "the job is not waiting for confirmation");
  if (!job->counted)
    return fail(ErrorCode::conflict,
                "the job's tasks are still being counted; tasks so far: " + std::to_string(job->tasks));
  if (job->actor != actor)
    return fail(ErrorCode::conflict, "the job belongs to " + job->actor +
                                         ", who alone can confirm it because the audit names its creator");
  if (job->tasks != expected)
    return fail(ErrorCode::conflict,
                "the job has " + base::counted(job->tasks, "task") + ", not " + std::to_string(expected));
  if (*action == BulkAction::erase && erasure_ == nullptr)
    return fail(ErrorCode::unsupported, "this store cannot delete tasks");
  if (auto taken = take_place(); !taken) return taken;
  auto begun = write(store::BulkState{key, store::BulkJob::State::running});
  if (begun && is_runner()) {
    run(key, *action, job->actor, job->reason);
  } else {
    --jobs_;
  }
  return begun;
}

base::Result<void> BulkJobs::abandon(task::BulkJobKey key) {
  const auto job = store_.bulk_job(key);
  if (!job) return fail(job.error());
  if (job->state != store::BulkJob::State::preparing)
    return fail(ErrorCode::conflict, "the job is not being prepared, so it cannot be abandoned");
  return write(store::BulkState{key, store::BulkJob::State::abandoned});
}

// Returns the tasks; fails with conflict if their number is not the expected one.
base::Result<std::vector<task::TaskKey>> BulkJobs::find(const store::TaskFilter& filter,
                                                        std::int64_t expected) const {
  std::vector<task::TaskKey> found;
  store::TaskQuery query;
  query.filter = filter;
  query.limit = kFindPage;
  query.time_max = kFindTime;
  query.keys_only = true;
  do {
    const auto page = store_.page(query);
    if (!page) return fail(page.error());
    for (const store::TaskLine& line : page->lines) found.push_back(line.head.key);
    if (page->is_cut && !page->next)
      return fail(ErrorCode::overloaded, "the tasks could not be counted in time: use a narrower filter");
    query.after = page->next;
  } while (query.after && std::ssize(found) <= expected);
  if (std::ssize(found) == expected) return found;
  const std::string is = query.after ? "more than " + std::to_string(expected) : std::to_string(found.size());
  return fail(ErrorCode::conflict,
              "the filter finds " + is + " tasks, not " + std::to_string(expected) + " as expected");
}

base::Result<task::BulkJobKey> BulkJobs::write_down(const BulkRequest& request,
                                                    const std::vector<task::TaskKey>& tasks) {
  auto key = write_job(request, std::ssize(tasks));
  if (!key) return key;
  auto written = write_items(*key, tasks);
  if (written) written = write(store::BulkState{*key, store::BulkJob::State::running});
  if (written) return key;
  drop(*key);
  return fail(std::move(written.error()));
}

// Abandons a job that could not be recorded whole. If the store cannot write that now, tries again later.
void BulkJobs::drop(task::BulkJobKey key) {
  const auto dropped = write(store::BulkState{key, store::BulkJob::State::abandoned});
  if (dropped || !base::may_pass(dropped.error())) return;
  background_.again([this, key] { background_.run_low([this, key] { drop(key); }); });
}

// Writes a job in the state `preparing`.
base::Result<task::BulkJobKey> BulkJobs::write_job(const BulkRequest& request, std::int64_t tasks) {
  store::BulkJob job;
  job.actor = request.actor;
  job.action = kActions[static_cast<std::size_t>(request.action)];
  job.reason = request.reason;
  job.filter = request.filter_text;
  job.tasks = tasks;
  if (peers_ != nullptr) job.node = peers_->self();
  base::Result<void> written = fail(ErrorCode::already_exists, "no free key for the job; try again");
  // Another job may get the key first.
  for (int tries = 0; tries < kKeyTriesMax && !written && written.error().code == ErrorCode::already_exists;
       ++tries) {
    const auto last = store_.bulk_jobs(1);
    if (!last) return fail(last.error());
    job.key = {last->empty() ? 1 + tries : last->front().key.value + 1 + tries};
    written = write(job);
  }
  if (!written) return fail(std::move(written.error()));
  return job.key;
}

base::Result<void> BulkJobs::write_items(task::BulkJobKey job, const std::vector<task::TaskKey>& tasks) {
  for (std::size_t from = 0; from < tasks.size(); from += kItemsAtOnce) {
    const auto to = std::min(from + kItemsAtOnce, tasks.size());
    auto written = write(store::BulkItems{job,
                                          {tasks.begin() + static_cast<std::ptrdiff_t>(from),
                                           tasks.begin() + static_cast<std::ptrdiff_t>(to)}});
    if (!written) return written;
  }
  return {};
}

base::Result<void> BulkJobs::write(store::OperatorWrite what) {
  base::Promise<base::Result<void>> written;
  inbox_.write([&] { return store_.write(what); },
               [&](base::Result<void> result) { written.set_value(std::move(result)); });
  return written.get_future().get();
}

void BulkJobs::run(task::BulkJobKey key, BulkAction action, std::string actor, std::string reason) {
  if (!running_.with([&](auto& running) { return running.insert(key).second; })) {
    --jobs_;  // it was started meanwhile by `look`
    return;
  }
  const auto job = std::make_shared<RunningJob>();
  job->key = key;
  job->action = action;
  job->actor = {std::move(actor), std::move(reason), key};
  advance(job);
}

// Acts on the items that were read, reads more, or ends the job.
void BulkJobs::advance(const RunningJobPtr& job) {
  const bool ends = stopping_ || !is_runner();  // another node then continues the job
  bool reads = false, is_over = false, is_left = false;
  std::vector<task::TaskKey> next;
  job->state.with([&](RunningJob::State& state) {
    // Two threads may end the last two items, or the last item and the reading of more.
    if (state.has_ended) return;
    while (!ends && state.acting < kWindow && !state.next.empty()) {
      next.push_back(state.next.front());
      state.next.pop_front();
      ++state.acting;
    }
    reads = !ends && state.next.empty() && !state.all_read && !state.reading;
    state.reading |= reads;
    is_over = state.next.empty() && state.all_read && state.acting == 0;
    is_left = ends && !is_over && state.acting == 0 && !state.reading;
    state.has_ended = is_over || is_left;
  });
  for (const task::TaskKey task : next) act(job, task);
  if (reads) background_.run([this, job] { read_more(job); });
  if (is_over) return finish(job);
  if (!is_left) return;
  --jobs_;
  running_.with([&](auto& running) { running.erase(job->key); });
}

void BulkJobs::read_more(const RunningJobPtr& job) {
  const task::TaskKey last = job->state.with([](const RunningJob::State& state) { return state.last; });
  const auto items = store_.bulk_items(job->key, last, kReadAtOnce, true);
  job->state.with([&](RunningJob::State& state) {
    state.reading = false;
    if (!items) return;
    for (const store::BulkItem& item : *items) state.next.push_back(item.task);
    state.all_read = items->empty();
    if (!items->empty()) state.last = items->back().task;
  });
  if (items) return advance(job);
  spdlog::warn("cannot read bulk job {}; retrying: {}", job->key.value, items.error().for_log);
  background_.timers().after(kBulkRetry, [this, job] { advance(job); });
}

void BulkJobs::act(const RunningJobPtr& job, task::TaskKey task) {
  const auto done = [this, job, task](const auto& result) {
    acted(job, task, result ? nullptr : &result.error());
  };
  switch (job->action) {
    case BulkAction::cancel:
      return actions_.cancel(task, job->actor, done);
    case BulkAction::retry:
      return actions_.retry(task, std::nullopt, job->actor, done);
    case BulkAction::requeue:
      return actions_.requeue(task, job->actor, done);
    case BulkAction::resend:
      return actions_.resend(task, job->actor, done);
    case BulkAction::skip:
      return actions_.skip(task, job->actor, done);
    case BulkAction::erase:
      return erasure_->erase_task(task, job->actor, done);
  }
}

// An item that could not be stored, or found no place in the queue, is retried after kBulkRetry. Any other
// refusal is recorded, and so is the item's outcome.
void BulkJobs::acted(const RunningJobPtr& job, task::TaskKey task, const base::Error* error) {
  const bool again = error != nullptr && base::may_pass(*error);
  if (again && !stopping_) {
    background_.timers().after(kBulkRetry, [this, job, task] { act(job, task); });
    return;
  }
  job->state.with([](RunningJob::State& state) { --state.acting; });
  if (!stopping_) advance(job);
}

void BulkJobs::finish(const RunningJobPtr& job) {
  inbox_.write(
      [this, job] {
        return store_.write(store::BulkState{job->key, store::BulkJob::State::done});
      },
      [this, job](const base::Result<void>& written) {
        if (written) {
          --jobs_;
          running_.with([&](auto& running) { running.erase(job->key); });
          if (job->action == BulkAction::erase) erasure_->tidy();
          return;
        }
        background_.timers().after(kBulkRetry, [this, job] { finish(job); });
      });
}

}  // namespace baton::engine

#include "engine/upkeep/removals.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace baton::engine {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kBatchFirst = 16, kBatchMax = 128;
// The time on the engine's thread that a batch should take. A send that arrives right after it waits that
// long.
constexpr milliseconds kBatchTime{2};
// The pause after a batch, as a multiple of the time it took: removals take a twentieth of the thread, plus
// the cost of their commits.
constexpr int kRest = 20;
constexpr milliseconds kRestMin{1}, kStoreRetry{1'000};

}  // namespace

struct Removals::Job {
  store::Removal removal;  // the tasks that are left, the next one last
  Inbox::Also also;
  Done done;
  Noted noted = Noted::first;
  std::size_t batch = kBatchFirst;
  std::int64_t gone = 0;
};

void Removals::run(store::Removal removal, Inbox::Also also, Done done, Noted noted) {
  const auto job = std::make_shared<Job>(Job{std::move(removal), std::move(also), std::move(done), noted});
  std::ranges::reverse(job->removal.tasks);
  if (job->removal.tasks.empty() && !job->also) return job->done(0);
  next(job);
}

void Removals::next(const JobPtr& job) {
  auto& left = job->removal.tasks;
  const std::size_t count = std::min(job->batch, left.size());
  store::Removal batch{{left.rbegin(), left.rbegin() + static_cast<std::ptrdiff_t>(count)},
                       job->removal.erases};
  const bool notes = job->also && (job->noted == Noted::first || count == left.size());
  auto also = notes ? [job](std::int64_t gone) { return job->also(job->gone + gone); } : Inbox::Also();
  inbox_.remove(store_, std::move(batch), std::move(also),
                [this, job, count, notes](const base::Result<std::vector<store::Removed>>& removed,
                                          std::chrono::nanoseconds took) {
                  if (!removed && base::may_pass(removed.error())) {
                    background_.timers().after(kStoreRetry, [this, job] { next(job); });
                    return;
                  }
                  if (!removed) spdlog::error("cannot remove tasks: {}", removed.error().for_log);
                  if (notes) job->also = nullptr;
                  job->gone += removed ? std::ssize(*removed) : 0;
                  auto& tasks = job->removal.tasks;
                  tasks.resize(tasks.size() - count);
                  if (took > kBatchTime) job->batch = std::max<std::size_t>(job->batch / 2, 1);
                  if (took < kBatchTime / 2) job->batch = std::min(job->batch * 2, kBatchMax);
                  if (tasks.empty()) return job->done(job->gone);
                  rest(took, [this, job] { next(job); });
                });
}

void Removals::tidy(std::int64_t spare_pages, std::function<void()> done) {
  inbox_.tidy(store_, spare_pages,
              [this, spare_pages, done = std::move(done)](const base::Result<bool>& more,
                                                          std::chrono::nanoseconds took) {
                if (more && !*more) return done();
                const auto again = [this, spare_pages, done] { tidy(spare_pages, done); };
                if (more) return rest(took, again);
                spdlog::warn("cannot reclaim free database pages now; retrying: {}", more.error().for_log);
                background_.timers().after(kStoreRetry, again);
              });
}

void Removals::rest(std::chrono::nanoseconds after, std::function<void()> then) {
  const auto time = std::chrono::duration_cast<milliseconds>(after * kRest);
  background_.timers().after(std::max(time, kRestMin), std::move(then));
}

}  // namespace baton::engine

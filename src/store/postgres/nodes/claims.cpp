#include "store/postgres/nodes/claims.h"

#include <array>
#include <chrono>
#include <utility>

#include "base/threads.h"
#include "store/sql/failure.h"

namespace baton::store::postgres {
namespace {

using base::ErrorCode;
using base::fail;

// The server's lock table has room for 64 locks per allowed connection, and all clients of the server share
// it.
constexpr int kHeldMax = 500;
// A claim is held only for the time that a change takes to be stored.
constexpr std::chrono::milliseconds kClaimPatience(500), kAskAgain(10);

#define BATON_NAME "hashtextextended(current_schema() || ' claim ' || $1, 0)"
constexpr char kLock[] = "SELECT pg_try_advisory_lock(" BATON_NAME ")";
constexpr char kUnlock[] = "SELECT pg_advisory_unlock(" BATON_NAME ")";
#undef BATON_NAME

}  // namespace

base::Result<Peers::Claim> Claims::claim(const task::Caller& caller, const std::string& name) {
  if (!count(caller)) {
    return fail(ErrorCode::overloaded, "too many tasks are starting at once; try again later");
  }
  const std::shared_ptr<Held> held(new Held{caller, name}, [self = shared_from_this()](Held* given) {
    self->give_back(std::move(*std::unique_ptr<Held>(given)));
  });
  return sql::catching("claiming a name", [&]() -> base::Result<Peers::Claim> {
    const auto until = base::SteadyTime::now() + kClaimPatience;
    while (!ask(*held)) {
      if (base::SteadyTime::now() >= until) return Peers::Claim();
      base::sleep_for(kAskAgain);
    }
    return Peers::Claim(held);
  });
}

// Counts a claim of the caller. Returns false if the caller already has as many claims as are left for all.
// So one caller cannot take all claims from a caller that has none.
bool Claims::count(const task::Caller& caller) {
  return counts_.with([&](Counts& counts) {
    const auto held = counts.of.find(caller);
    if ((held == counts.of.end() ? 0 : held->second) >= kHeldMax - counts.all) return false;
    ++counts.all;
    ++counts.of[caller];
    return true;
  });
}

void Claims::uncount(const task::Caller& caller) {
  counts_.with([&](Counts& counts) {
    --counts.all;
    if (const auto held = counts.of.find(caller); --held->second == 0) counts.of.erase(held);
  });
}

// Tries to take the lock. Returns false if another session holds it.
bool Claims::ask(Held& held) {
  {
    std::lock_guard lock(link_mutex_);
    if (is_over_) throw sql::Failure(ErrorCode::unavailable, "this node has left the group");
    for (bool is_again = false; held.session == 0; is_again = true) {
      try {
        if (!link_) {
          auto link = std::make_unique<Link>(address_);
          check_(*link);
          link_ = std::move(link);
          ++session_;
        }
        queue_returned();
        const std::array names{sql::Parameter(held.name)};
        link_->send(kLock, names);
        if (text_at(link_->finish().get(), 0, 0) != "t") break;
        held.session = session_;
      } catch (const sql::Failure&) {
        link_.reset();  // an idle connection may have been cut long ago
        if (is_again) throw;
      }
    }
  }
  unlock_returned();
  return held.session != 0;
}

void Claims::give_back(Held held) {
  uncount(held.caller);
  if (held.session == 0) return;
  {
    std::lock_guard lock(returned_mutex_);
    returned_.push_back(std::move(held));
  }
  unlock_returned();
}

// If another thread uses the link now, that thread unlocks them afterwards.
void Claims::unlock_returned() {
  const std::unique_lock lock(link_mutex_, std::try_to_lock);
  if (!lock || !link_) return;
  try {
    queue_returned();
    link_->flush();
  } catch (const sql::Failure&) {
    link_.reset();
  }
}

void Claims::queue_returned() {
  std::vector<Held> returned;
  {
    std::lock_guard lock(returned_mutex_);
    returned.swap(returned_);
  }
  for (const Held& held : returned) {
    const std::array names{sql::Parameter(held.name)};
    if (held.session == session_) link_->send(kUnlock, names);
  }
}

void Claims::end() {
  std::lock_guard lock(link_mutex_);
  is_over_ = true;
  link_.reset();
}

}  // namespace baton::store::postgres

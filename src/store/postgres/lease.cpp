#include "store/postgres/lease.h"

#include <pthread.h>

#include <memory>

#include "store/postgres/opening.h"

namespace baton::store::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// kGoneAfter is longer than a holder needs to renew its lease, also once the database is back.
constexpr milliseconds kLookEvery(100), kRetryEvery(200), kGoneAfter(1'000);

// The backends that hold the schema's lock (lock_schema).
constexpr char kHolders[] =
    "FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = 1111577678 AND "
    "objid = hashtext(current_schema())::oid AND "
    "database = (SELECT oid FROM pg_database WHERE datname = current_database())";

struct Holding {
  bool is_locked = false;
  std::string lease;  // when the last one of all nodes ends; empty: there is none
  bool is_leased = false;
};

Holding look(Link& link) {
  Holding found;
  found.is_locked = link.ask_text(std::string("SELECT count(*) ") + kHolders) != "0";
  if (!has_table(link, "nodes")) return found;
  const Rows rows =
      link.ask("SELECT max(lease_until), coalesce(max(lease_until) > clock_timestamp(), false) FROM nodes");
  found.lease = text_at(rows.get(), 0, 0);
  found.is_leased = integer_at(rows.get(), 0, 1) != 0;
  return found;
}

}  // namespace

Lease::Lease(const Address& address, std::int64_t node, LeaseTimes times, std::function<void(Link&)> check,
             std::function<void()> on_lost)
    : address_(address),
      node_(node),
      times_(times),
      check_(std::move(check)),
      on_lost_(std::move(on_lost)),
      thread_([this] { run(); }) {}

Lease::~Lease() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

// False: it is to stop.
bool Lease::rest(milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

std::unique_ptr<Link> Lease::connect() {
  auto link = std::make_unique<Link>(address_);
  check_(*link);
  // A sign of life is for now: it does not wait for a synchronous standby, which may be away.
  link->ask("SET synchronous_commit = local");
  return link;
}

bool Lease::renew(Link& link) {
  const std::string length = std::to_string(times_.length.count()) + " milliseconds";
  const Rows rows = link.ask("UPDATE nodes SET lease_until = clock_timestamp() + interval '" + length +
                             "' WHERE node_id = " + std::to_string(node_) + " RETURNING 1");
  return PQntuples(rows.get()) == 1;
}

void Lease::run() {
  pthread_setname_np(pthread_self(), "lease");
  std::unique_ptr<Link> link;
  for (bool goes_on = true; goes_on;) {
    try {
      if (!link) link = connect();
      if (!renew(*link)) return on_lost_();
      goes_on = rest(times_.renewal);
    } catch (const sql::Failure&) {  // the database is away, or this connection
      link.reset();
      goes_on = rest(kRetryEvery);
    }
  }
  try {
    if (link) link->ask("DELETE FROM nodes WHERE node_id = " + std::to_string(node_));
  } catch (const sql::Failure&) {  // it ends by itself
  }
}

bool wait_until_free(const Address& address, const std::function<bool()>& waits) {
  std::unique_ptr<Link> link;
  std::string lease;
  auto unchanged_since = steady_clock::now();
  auto back_since = unchanged_since - kGoneAfter;
  while (true) {
    milliseconds pause = kLookEvery;
    try {
      if (!link) link = std::make_unique<Link>(address);
      const Holding found = look(*link);
      if (found.is_locked || found.lease != lease) unchanged_since = steady_clock::now();
      lease = found.lease;
      // While the database was away nobody could renew a lease.
      const bool is_over = !found.is_leased && steady_clock::now() - back_since >= kGoneAfter;
      const bool is_gone = is_over || steady_clock::now() - unchanged_since >= kGoneAfter;
      if (!found.is_locked && is_gone) return true;
      if (!found.lease.empty() && is_over)
        link->ask(std::string("SELECT pg_terminate_backend(pid) ") + kHolders);
    } catch (const sql::Failure&) {
      link.reset();
      back_since = unchanged_since = steady_clock::now();
      pause = kRetryEvery;
    }
    if (!waits()) return false;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace baton::store::postgres

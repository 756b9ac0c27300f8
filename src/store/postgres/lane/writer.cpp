#include "store/postgres/lane/writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/threads.h"
#include "store/postgres/lane/nodes.h"

namespace baton::store::postgres {
namespace {

using base::ErrorCode;
using sql::Parameter;

// How long to wait for the database: during a group, and for a group that begins while the connection is
// lost.
constexpr std::chrono::milliseconds kPatience(30'000), kShortPatience(2'000);
constexpr std::chrono::milliseconds kPauseMin(10), kPauseMax(500);

constexpr char kBeginGroup[] = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
// The writer finds every row that it changes by its key, so hash and merge joins are switched off.
constexpr char kByKeys[] =
    "SELECT set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false)";
// Divides by zero if the row does not have the expected number. Only an error stops the following statements
// of a pipeline.
constexpr char kMove[] =
    "WITH moved AS (UPDATE lanes SET last_group = $3 "
    "WHERE node_id = $1 AND lane = $2 AND last_group = $3 - 1 RETURNING 1) SELECT 1 / count(*) FROM moved";
constexpr char kKeptUnknown[] =
    "the database has changes that it did not confirm in time and that this server does not know";
constexpr std::string_view kDivisionByZero = "22012", kDoubleKey = "23505", kSerialization = "40001",
                           kDeadlock = "40P01";
constexpr char kStands[] = "SELECT count(*) FROM lanes WHERE node_id = $1 AND lane = $2 AND last_group = $3";
constexpr char kCommitGroup[] = "COMMIT";
constexpr char kRollBackGroup[] = "ROLLBACK";
// A node that takes over has a higher number.
constexpr char kLastGroup[] =
    "SELECT max(last_group) FILTER (WHERE node_id = $1 AND lane = $2), coalesce(max(node_id) > $1, false) "
    "FROM lanes";
// Writes the row again. The last commit may still be waiting for a synchronous standby, or its wait may have
// been canceled; then its data is visible but a failover would lose it. Once this write is committed, the
// standby has both.
constexpr char kConfirm[] = "UPDATE lanes SET last_group = $3 WHERE node_id = $1 AND lane = $2";
constexpr std::string_view kNoSuchTable = "42P01";
constexpr char kWho[] = "SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()";
// Process numbers are reused, so the start time identifies the process too.
constexpr char kEndBackend[] =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2";

// Whether a group has failed because of another node, which has moved the lane, changed a row, or added a row
// with the same key.
bool is_race(std::string_view state) {
  return state == kDivisionByZero || state == kDoubleKey || state == kSerialization || state == kDeadlock;
}

}  // namespace

Writer::Writer(const Address& address, SchemaLock lock, OnLost on_lost)
    : address_(address),
      lock_(lock),
      on_lost_(std::move(on_lost)),
      session_(std::make_unique<Session>(address)) {
  connect();
}

Writer::~Writer() {
  rollback();
  try {
    // Unlocks at once, because the server may take a while to notice that the connection is closed.
    if (session_) unlock_all(session_->link());
  } catch (const sql::Failure&) {  // the lock ends with the connection
  }
}

// Prepares the connection and notes the server process behind it.
void Writer::connect() {
  session_->link().ask(kByKeys);
  const Rows rows = session_->link().ask(kWho);
  backend_ = static_cast<int>(integer_at(rows.get(), 0, 0));
  backend_since_ = text_at(rows.get(), 0, 1);
}

void Writer::adopt(Lane lane) {
  lane_ = lane;
  done_ = 0;
  lock_node(session_->link(), lane.node);
}

std::string Writer::lost() const {
  return lost_.with([](const std::string& why) { return why; });
}

// Records why the writer ends. Returns whether this is the first reason.
bool Writer::note_end(const std::string& why) {
  return lost_.with([&](std::string& lost) {
    if (!lost.empty()) return false;
    lost = why;
    return true;
  });
}

void Writer::end(const std::string& why) {
  if (note_end(why) && on_lost_) on_lost_(why);
}

void Writer::retire() {
  note_end("this node has left the group");
}

void Writer::give_up(const std::string& why) {
  end(why);
  throw sql::Failure(ErrorCode::unavailable, why);
}

void Writer::lose(const LinkFailure& failure) {
  rollback();
  if (session_ && !stands()) give_up(kTakenOver);
  throw sql::Failure(ErrorCode::raced, failure.what());
}

// Whether the lane's number is still the one that this writer has stored. If the connection is lost too,
// returns true; the next group will find out.
bool Writer::stands() {
  try {
    const std::array lane{Parameter(lane_.node), Parameter(lane_.lane),
                          Parameter(static_cast<std::int64_t>(done_))};
    session_->link().send(kStands, lane);
    const Rows rows = session_->link().finish();
    return integer_at(rows.get(), 0, 0) != 0;
  } catch (const LinkFailure& failure) {
    if (!failure.is_lost()) throw;
    session_.reset();
    return true;
  }
}

void Writer::begin() {
  if (const std::string why = lost(); !why.empty()) throw sql::Failure(ErrorCode::unavailable, why);
  former_.clear();
  log_.clear();
  is_begun_ = false;
  lost_since_.reset();
  // A group whose commit failed may have been committed. Its callers got an error, and neither memory nor the
  // followers of a task know of its changes, so the program must restart.
  if (!session_ && recover(kShortPatience) == Outcome::happened) give_up(kKeptUnknown);
}

// Queues the beginning of the group, unless it was already sent, and its writes up to now.
void Writer::send_writes() {
  Link& link = session_->link();
  if (!is_begun_) {
    session_->note_begin();
    link.send(kBeginGroup);
    const std::array move{Parameter(lane_.node), Parameter(lane_.lane), Parameter(done_ + 1)};
    link.send(kMove, move);
    log_.rewind();
    is_begun_ = true;
  }
  log_.send(*session_);
}

// Runs `work`, which talks to the server. If the connection is lost, reconnects and runs it again.
template <class F>
auto Writer::in_group(F&& work) -> decltype(work()) {
  while (true) {
    try {
      send_writes();
      return work();
    } catch (const LinkFailure& failure) {
      if (is_race(failure.state())) lose(failure);
      if (!failure.is_lost()) throw;
      // No commit was requested, so this group cannot have been committed.
      if (recover(kPatience) == Outcome::happened) give_up(kKeptUnknown);
    }
  }
}

sql::Cursor& Writer::start(const char* sql, Parameters parameters, bool perhaps_some) {
  return in_group([&]() -> sql::Cursor& { return session_->query(sql, parameters, perhaps_some); });
}

void Writer::execute(const char* sql, Parameters parameters) {
  log_.add(sql, parameters);
}

std::int64_t Writer::execute_counted(const char* sql, Parameters parameters) {
  log_.add_alone(sql, parameters);
  return in_group([&]() -> std::int64_t {
    const Rows rows = session_->link().finish();
    return std::stoll("0" + std::string(PQcmdTuples(rows.get())));
  });
}

void Writer::commit() {
  bool has_happened = false, may_have = false;  // on an earlier connection
  while (!has_happened) {
    bool is_asked = false;
    try {
      send_writes();
      is_asked = true;
      session_->link().send(kCommitGroup);
      const Rows rows = session_->link().finish();
      // After a failed statement the server would answer ROLLBACK.
      if (std::string_view(PQcmdStatus(rows.get())) != kCommitGroup)
        throw sql::Failure(ErrorCode::internal, "the transaction failed");
      ++done_;
      has_happened = true;
    } catch (const LinkFailure& failure) {
      const bool is_raced = is_race(failure.state());
      if (is_raced && !may_have) lose(failure);
      if (!is_raced && !failure.is_lost()) throw;
      may_have = may_have || is_asked;
      has_happened = recover(kPatience) == Outcome::happened;
      if (has_happened && !may_have) give_up(kKeptUnknown);
      // The conflict may be with this same group, committed late by the previous connection; otherwise
      // another node was first.
      if (is_raced && !has_happened) throw sql::Failure(ErrorCode::raced, failure.what());
    }
  }
  is_begun_ = false;
  log_.clear();
}

void Writer::rollback() noexcept {
  log_.clear();
  if (!std::exchange(is_begun_, false) || !session_) return;
  try {
    session_->link().send_once(kRollBackGroup);
    session_->link().finish();
  } catch (const sql::Failure&) {
    // The transaction ends with the connection; the next group makes a new one.
    session_.reset();
  }
}

// Makes a new connection and finds out whether the group was committed.
Writer::Outcome Writer::recover(std::chrono::milliseconds patience) {
  // The time counts from the first loss: a group that breaks every connection must not be retried for ever.
  if (!lost_since_) lost_since_ = base::SteadyTime::now();
  const auto until = *lost_since_ + patience;
  if (session_) former_.push_back(std::move(session_));
  is_begun_ = false;
  std::chrono::milliseconds pause = kPauseMin;
  for (int tries = 0;; ++tries) {
    try {
      if (tries == 0 && base::SteadyTime::now() >= until)
        throw sql::Failure(ErrorCode::unavailable, "the connection to the database is lost repeatedly");
      return resolve_outcome();
    } catch (const sql::Failure& failure) {
      session_.reset();
      if (!lost().empty() || failure.code() != ErrorCode::unavailable) throw;
      if (base::SteadyTime::now() + pause >= until) throw;
    }
    base::sleep_for(pause);
    pause = std::min(pause * 2, kPauseMax);
  }
}

// Ends the server process of the former connection, which may still be working. A process that is committing
// cannot be ended. Its group then holds the lane's row until it has committed, and the next group, or the
// same one again, conflicts with it.
void Writer::end_former(Link& link) {
  const std::array former{Parameter(static_cast<std::int64_t>(backend_)), Parameter(backend_since_)};
  link.send(kEndBackend, former);
  link.finish();
}

std::int64_t Writer::check(Link& link) {
  link.set_patience(kServerPatience);
  const std::int64_t done = done_;  // read before the query, because a later value may be ahead of its result
  const std::string confirmed = "the database lost changes that it had confirmed: group " +
                                std::to_string(done) + " of node " + std::to_string(lane_.node);
  // After a failover the address may still lead to the old server, which no longer accepts writes.
  if (link.ask_text("SELECT pg_is_in_recovery()") == "t")
    throw sql::Failure(ErrorCode::unavailable, "the database is a standby");
  try {
    const std::array lane{Parameter(lane_.node), Parameter(lane_.lane)};
    link.send(kLastGroup, lane);
    const Rows rows = link.finish();
    const bool is_there = PQgetisnull(rows.get(), 0, 0) == 0;
    if (!is_there && integer_at(rows.get(), 0, 1) != 0) give_up(kTakenOver);
    if (!is_there) give_up(confirmed + "; it has no record of the node");
    const std::int64_t last = integer_at(rows.get(), 0, 0);
    if (last == kClosedLane) give_up(kTakenOver);
    if (last < done) give_up(confirmed + "; its last group is " + std::to_string(last));
    return last;
  } catch (const LinkFailure& failure) {
    if (failure.state() == kNoSuchTable) give_up(confirmed + "; it has no Baton tables");
    throw;
  }
}

Writer::Outcome Writer::resolve_outcome() {
  auto session = std::make_unique<Session>(address_);
  Link& link = session->link();
  link.set_patience(kServerPatience);
  end_former(link);
  const bool is_ours = try_lock(link, lock_);
  const std::int64_t last = check(link);
  if (!is_ours) throw sql::Failure(ErrorCode::unavailable, "another connection holds the database");
  lock_node(link, lane_.node);
  const bool has_happened = last > done_;
  if (has_happened) {
    const std::array lane{Parameter(lane_.node), Parameter(lane_.lane), Parameter(last)};
    link.send(kConfirm, lane);
    link.finish();
  }
  session_ = std::move(session);
  connect();
  done_ = last;
  return has_happened ? Outcome::happened : Outcome::open;
}

}  // namespace baton::store::postgres

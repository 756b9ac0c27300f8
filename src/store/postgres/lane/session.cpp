#include "store/postgres/lane/session.h"

#include <algorithm>

#include "store/postgres/lane/dialect.h"

namespace baton::store::postgres {
namespace {

// The rows of the first piece of a scan and of the following pieces; fewer if the rows are large.
constexpr int kFirstRows = 64, kMoreRows = 512;
constexpr std::size_t kPieceBytes = 8 << 20;
constexpr char kFirstLimit[] = " LIMIT 64";

constexpr char kBeginReading[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
constexpr char kEndReading[] = "COMMIT";

}  // namespace

void Cursor::start(Rows rows) {
  rows_ = std::move(rows);
  row_ = -1;
  session_ = nullptr;
}

void Cursor::start_scan(Rows rows, Session& session, const std::string& sql, Link::Parameters parameters) {
  start(std::move(rows));
  session_ = &session;
  is_declared_ = false;
  sql_ = sql;
  parameters_.assign(parameters.begin(), parameters.end());
  texts_.clear();
  for (sql::Parameter& parameter : parameters_) parameter.bytes = texts_.emplace_back(parameter.bytes);
}

bool Cursor::step() {
  if (++row_ < PQntuples(rows_.get())) return true;
  if (session_ == nullptr) return false;
  rows_ = session_->more_of(*this);
  row_ = 0;
  if (PQntuples(rows_.get()) < asked_) session_ = nullptr;
  return PQntuples(rows_.get()) > 0;
}

void Cursor::end() noexcept {
  rows_.reset();
  row_ = -1;
  session_ = nullptr;
}

Session::Known& Session::known(const char* sql) {
  Known& known = known_[sql];
  if (known.cursor) return known;
  known.sql = translated(sql);
  if (known.sql.find(" LIMIT ") == std::string::npos) known.first = known.sql + kFirstLimit;
  known.cursor = std::make_unique<Cursor>("c" + std::to_string(known_.size()));
  return known;
}

Cursor& Session::query(const char* sql, Link::Parameters parameters, bool perhaps_some) {
  Known& statement = known(sql);
  Cursor& cursor = *statement.cursor;
  if (!perhaps_some || statement.first.empty()) {
    link_.send(sql, statement.sql, parameters);
    cursor.start(link_.finish());
    return cursor;
  }
  link_.send(&statement.first, statement.first, parameters);
  Rows rows = link_.finish();
  if (PQntuples(rows.get()) < kFirstRows) {
    cursor.start(std::move(rows));
  } else {
    cursor.start_scan(std::move(rows), *this, statement.sql, parameters);
  }
  return cursor;
}

Rows Session::more_of(Cursor& cursor) {
  const auto last = static_cast<std::size_t>(PQntuples(cursor.rows_.get()));
  const std::size_t row_bytes = PQresultMemorySize(cursor.rows_.get()) / last + 1;
  cursor.asked_ = static_cast<int>(std::clamp<std::size_t>(kPieceBytes / row_bytes, 1, kMoreRows));
  const std::string fetch = "FETCH " + std::to_string(cursor.asked_) + " FROM " + cursor.name_;
  if (!cursor.is_declared_) {
    cursor.is_declared_ = true;
    // A cursor of an earlier scan in the same transaction still exists.
    if (cursor.declared_in_ == transactions_) link_.send_once("CLOSE " + cursor.name_);
    cursor.declared_in_ = transactions_;
    link_.send(&cursor, "DECLARE " + cursor.name_ + " NO SCROLL CURSOR FOR " + cursor.sql_,
               cursor.parameters_);
    link_.send_once("MOVE " + std::to_string(kFirstRows) + " FROM " + cursor.name_);
  }
  link_.send_once(fetch);
  return link_.finish();
}

Reader::Reader(const Address& address, Check check)
    : address_(address), check_(std::move(check)), session_(connect()) {}

std::unique_ptr<Session> Reader::connect() const {
  auto session = std::make_unique<Session>(address_);
  check_(session->link());
  return session;
}

void Reader::rollback() noexcept {
  if (!is_begun_) return;
  is_begun_ = false;
  try {
    session_->link().send(kEndReading);
    session_->link().flush();
  } catch (const sql::Failure&) {  // The next snapshot makes another connection.
  }
}

sql::Cursor& Reader::start(const char* sql, Parameters parameters, bool perhaps_some) {
  for (bool is_again = false;; is_again = true) {
    const bool was_begun = is_begun_;
    try {
      if (!session_ || session_->link().is_lost()) {
        if (was_begun)
          throw LinkFailure(base::ErrorCode::unavailable, "the connection to the database was lost", "",
                            true);
        session_ = connect();
      }
      if (!was_begun) {
        session_->note_begin();
        session_->link().send(kBeginReading);
      }
      is_begun_ = true;
      return session_->query(sql, parameters, perhaps_some);
    } catch (const LinkFailure& failure) {
      if (!failure.is_lost()) throw;
      is_begun_ = was_begun;
      // An idle connection may have been cut long ago, so one retry is worthwhile.
      if (was_begun || is_again) throw;
      session_.reset();
    }
  }
}

std::int64_t Reader::execute_counted(const char*, Parameters) {
  throw sql::Failure(base::ErrorCode::internal, "a reader writes");
}

}  // namespace baton::store::postgres

#include "store/postgres/session.h"

#include <charconv>

#include "store/postgres/dialect.h"

namespace baton::store::postgres {
namespace {

// Rows of a scan that come at first, and then at once.
constexpr const char* kFirst = "FETCH 64 FROM ";
constexpr const char* kMore = "FETCH 512 FROM ";
constexpr int kFirstRows = 64, kMoreRows = 512;

constexpr char kBeginReading[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
constexpr char kEndReading[] = "COMMIT";

}  // namespace

void Cursor::start(Rows rows, Link* link) {
  rows_ = std::move(rows);
  row_ = -1;
  link_ = link;
}

bool Cursor::step() {
  if (++row_ < PQntuples(rows_.get())) return true;
  if (link_ == nullptr) return false;
  const int asked_for = row_ <= kFirstRows ? kFirstRows : kMoreRows;
  if (row_ == 0 || row_ % asked_for != 0) return false;
  link_->send_once(kMore + name_);
  rows_ = link_->finish();
  row_ = 0;
  return PQntuples(rows_.get()) > 0;
}

void Cursor::end() noexcept {
  rows_.reset();
  row_ = -1;
}

const std::string& Session::text_of(const char* sql) {
  Known& known = known_[sql];
  if (known.sql.empty()) known.sql = translated(sql);
  return known.sql;
}

Cursor& Session::query(const char* sql, Link::Parameters parameters, bool perhaps_some) {
  const std::string& text = text_of(sql);
  Known& known = known_.find(sql)->second;
  if (!known.cursor) known.cursor = std::make_unique<Cursor>("c" + std::to_string(known_.size()));
  Cursor& cursor = *known.cursor;
  if (!perhaps_some) {
    link_.send(sql, text, parameters);
    cursor.start(link_.finish(), nullptr);
    return cursor;
  }
  // One of an earlier scan in the same transaction is still there.
  if (known.declared_in == transactions_) link_.send_once("CLOSE " + cursor.name());
  known.declared_in = transactions_;
  if (known.declaration.empty())
    known.declaration = "DECLARE " + cursor.name() + " NO SCROLL CURSOR FOR " + text;
  link_.send(&known.declaration, known.declaration, parameters);
  link_.send_once(kFirst + cursor.name());
  cursor.start(link_.finish(), &link_);
  return cursor;
}

Reader::Reader(const Address& address) : address_(address), session_(std::make_unique<Session>(address)) {}

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
        if (was_begun) throw LinkFailure(base::ErrorCode::unavailable, "the connection is lost", "", true);
        session_ = std::make_unique<Session>(address_);
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
      // What was idle may have been cut long ago.
      if (was_begun || is_again) throw;
      session_.reset();
    }
  }
}

std::int64_t Reader::execute_counted(const char*, Parameters) {
  throw sql::Failure(base::ErrorCode::internal, "a reader writes");
}

}  // namespace baton::store::postgres

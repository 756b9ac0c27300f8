#include "store/postgres/lane/link.h"

#include <endian.h>
#include <poll.h>

#include <array>
#include <charconv>
#include <utility>

#include "store/postgres/lane/dialect.h"

namespace baton::store::postgres {
namespace {

using base::ErrorCode;

// Type numbers of PostgreSQL's catalogue, which never change.
constexpr Oid kBool = 16, kBytea = 17, kInt8 = 20, kText = 25, kInt8s = 1016, kTexts = 1009;

Oid type_of(sql::Parameter::Kind kind) {
  switch (kind) {
    case sql::Parameter::Kind::integer:
      return kInt8;
    case sql::Parameter::Kind::text:
      return kText;
    default:
      return kBytea;
  }
}

// Whether the server or this connection to it is lost: the server is shut down, starting up, or not the one
// that accepts writes.
bool means_lost(std::string_view state) {
  return state.starts_with("08") || state.starts_with("57P") || state == "25006";
}

// Whether the statement may succeed later, because it did not cause the error.
bool may_pass(std::string_view state) {
  return state.starts_with("53") || state.starts_with("40") || state.starts_with("58") || state == "55P03" ||
         state == "57014";
}

// As a timeout of poll.
constexpr std::chrono::milliseconds kUnlimited(-1);

// Settings that a role or a database may have changed. Plans are cached and may be made while tables are
// empty, so sequential scans are the planner's last resort, and must not make it compile the statement (JIT).
// The keep-alive settings make the server notice soon when this machine is gone, because the session's lock
// keeps others out.
constexpr char kSettings[] =
    "SELECT set_config(name, value, false) FROM (VALUES ('statement_timeout', '0'), ('lock_timeout', '0'), "
    "('idle_in_transaction_session_timeout', '0'), ('enable_seqscan', 'off'), ('jit', 'off'), "
    "('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '3')) "
    "AS s (name, value)";

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

Link::Link(const Address& address, std::chrono::milliseconds patience)
    : address_(address), patience_(patience) {
  // Options in the URL override the keywords before dbname.
  constexpr std::array kKeywords{"connect_timeout",     "keepalives_idle",
                                 "keepalives_interval", "keepalives_count",
                                 "tcp_user_timeout",    "target_session_attrs",
                                 "application_name",    "dbname",
                                 "client_encoding",     static_cast<const char*>(nullptr)};
  const std::array<const char*, kKeywords.size()> values{
      "5", "5", "2", "3", "3000", "any", "baton", address.url().c_str(), "UTF8", nullptr};
  connection_ = PQconnectdbParams(kKeywords.data(), values.data(), 1);
  // By default libpq writes notices to standard error, for example when a listening session is ended.
  PQsetNoticeProcessor(
      connection_, [](void*, const char*) {}, nullptr);
  std::string wrong;
  if (PQstatus(connection_) != CONNECTION_OK) {
    wrong = text_or_empty(PQerrorMessage(connection_));
  } else if (PQsetnonblocking(connection_, 1) != 0 || PQenterPipelineMode(connection_) != 1) {
    wrong = "no pipeline mode";
  }
  if (wrong.empty()) {
    set_up();
    return;
  }
  PQfinish(connection_);
  while (wrong.ends_with('\n')) wrong.pop_back();
  throw LinkFailure(ErrorCode::unavailable, address.redacted(std::move(wrong)), "", true);
}

void Link::set_up() {
  try {
    ask(kSettings);
    set_patience(kUnlimited);
  } catch (const sql::Failure&) {
    PQfinish(connection_);
    throw;
  }
}

Link::~Link() {
  PQfinish(connection_);
}

std::vector<std::string> Link::notifications() {
  check(PQconsumeInput(connection_));
  std::vector<std::string> payloads;
  while (PGnotify* notice = PQnotifies(connection_)) {
    payloads.emplace_back(notice->extra);
    PQfreemem(notice);
  }
  return payloads;
}

bool Link::is_lost() const {
  return is_silent_ || PQstatus(connection_) != CONNECTION_OK;
}

void Link::lost(const std::string& what) {
  std::string reason = text_or_empty(PQerrorMessage(connection_));
  while (reason.ends_with('\n')) reason.pop_back();
  throw LinkFailure(ErrorCode::unavailable, address_.redacted(what + (reason.empty() ? "" : ": " + reason)),
                    "", true);
}

void Link::check(int is_fine) {
  if (is_fine != 1) lost("the connection to the database was lost");
}

// Uses only the first line of the message, because the rest quotes rows.
LinkFailure Link::failure_of(const PGresult* result) const {
  const std::string state = text_or_empty(PQresultErrorField(result, PG_DIAG_SQLSTATE));
  std::string what = text_or_empty(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  if (what.empty()) what = text_or_empty(PQresultErrorMessage(result));
  what = address_.redacted(what) + " (SQLSTATE " + state + ")";
  const bool is_gone = is_lost() || means_lost(state);
  const ErrorCode code = is_gone || may_pass(state) ? ErrorCode::unavailable
                         : state.starts_with("54")  ? ErrorCode::too_large
                                                    : ErrorCode::internal;
  return {code, what, state, is_gone};
}

const Link::Prepared& Link::prepared(const void* key, const std::string& sql, std::span<const Oid> types) {
  const auto known = prepared_.find(key);
  if (known != prepared_.end()) return known->second;
  const Prepared& made = prepared_.try_emplace(key, Prepared{"s" + std::to_string(++names_)}).first->second;
  prepared_since_.push_back(key);
  check(PQsendPrepare(connection_, made.name.c_str(), sql.c_str(), static_cast<int>(types.size()),
                      types.data()));
  return made;
}

void Link::send_prepared(const Prepared& statement, int count) {
  check(PQsendQueryPrepared(connection_, statement.name.c_str(), count, values_.data(), lengths_.data(),
                            formats_.data(), 0));
  is_fresh_ = false;
}

void Link::send(const char* sql, Parameters parameters) {
  send(sql, sql, parameters);
}

void Link::send(const void* key, const std::string& sql, Parameters parameters) {
  const std::size_t count = parameters.size();
  values_.resize(count);
  lengths_.resize(count);
  formats_.assign(count, 1);
  numbers_.resize(count);
  types_.resize(count);
  escapes_.clear();
  escapes_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const sql::Parameter& parameter = parameters[i];
    types_[i] = type_of(parameter.kind);
    std::string_view bytes = parameter.bytes;
    if (parameter.kind == sql::Parameter::Kind::integer) {
      numbers_[i] = static_cast<std::int64_t>(htobe64(static_cast<std::uint64_t>(parameter.number)));
      bytes = {reinterpret_cast<const char*>(&numbers_[i]), sizeof(std::int64_t)};
    } else if (parameter.kind == sql::Parameter::Kind::text && needs_escapes(bytes)) {
      bytes = escapes_.emplace_back(escaped(bytes));
    }
    values_[i] = bytes.data();
    lengths_[i] = static_cast<int>(bytes.size());
  }
  send_prepared(prepared(key, sql, types_), static_cast<int>(count));
}

void Link::send_arrays(const void* key, const std::string& sql, std::span<const Array> arrays) {
  values_.clear();
  lengths_.clear();
  types_.clear();
  formats_.assign(arrays.size(), 1);
  for (const Array& array : arrays) {
    values_.push_back(array.bytes.data());
    lengths_.push_back(static_cast<int>(array.bytes.size()));
    types_.push_back(array.of_texts ? kTexts : kInt8s);
  }
  send_prepared(prepared(key, sql, types_), static_cast<int>(arrays.size()));
}

void Link::send_once(const std::string& sql) {
  check(PQsendQueryParams(connection_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0));
  is_fresh_ = false;
}

void Link::flush() {
  if (!is_fresh_) {
    check(PQpipelineSync(connection_));
    ++syncs_;
    is_fresh_ = true;
  }
  if (PQflush(connection_) < 0) lost("the connection to the database was lost");
}

// Waits until there is something to read. Writes and reads alternately, because the server stops reading
// while its answers are not read.
void Link::wait() {
  const int left = PQflush(connection_);
  if (left < 0) lost("the connection to the database was lost");
  pollfd watched{PQsocket(connection_), static_cast<short>(POLLIN | (left > 0 ? POLLOUT : 0)), 0};
  if (::poll(&watched, 1, static_cast<int>(patience_.count())) == 0) {
    is_silent_ = true;
    lost("the database does not answer");
  }
  if ((watched.revents & ~POLLOUT) != 0) check(PQconsumeInput(connection_));
}

Rows Link::finish() {
  flush();
  Rows last;
  std::unique_ptr<LinkFailure> failure;
  while (syncs_ > 0) {
    while (PQisBusy(connection_) != 0) wait();
    Rows result(PQgetResult(connection_));
    if (!result) {
      if (is_lost()) lost("the connection to the database was lost");
      continue;
    }
    switch (PQresultStatus(result.get())) {
      case PGRES_PIPELINE_SYNC:
        --syncs_;
        break;
      case PGRES_COMMAND_OK:
      case PGRES_TUPLES_OK:
        last = std::move(result);
        break;
      case PGRES_PIPELINE_ABORTED:
        break;
      default:
        if (!failure) failure = std::make_unique<LinkFailure>(failure_of(result.get()));
        if (failure->is_lost()) throw *failure;
    }
  }
  if (failure) {
    // It is unknown which of these statements the server has prepared.
    for (const void* key : prepared_since_) prepared_.erase(key);
    prepared_since_.clear();
    throw *failure;
  }
  prepared_since_.clear();
  return last;
}

Rows Link::ask(const std::string& sql) {
  send_once(sql);
  return finish();
}

std::string Link::ask_text(const std::string& sql) {
  const Rows rows = ask(sql);
  return PQntuples(rows.get()) == 0 ? std::string() : text_at(rows.get(), 0, 0);
}

std::string Link::parameter(const char* name) const {
  return text_or_empty(PQparameterStatus(connection_, name));
}

std::int64_t integer_at(const PGresult* rows, int row, int column) {
  const char* text = PQgetvalue(rows, row, column);
  if (PQftype(rows, column) == kBool) return *text == 't' ? 1 : 0;
  std::int64_t number = 0;
  std::from_chars(text, text + PQgetlength(rows, row, column), number);
  return number;
}

std::string text_at(const PGresult* rows, int row, int column) {
  const std::string_view stored(PQgetvalue(rows, row, column),
                                static_cast<std::size_t>(PQgetlength(rows, row, column)));
  return stored.find('\x01') == std::string_view::npos ? std::string(stored) : unescaped(stored);
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string(2, c) : std::string(1, c);
  return quoted + '"';
}

}  // namespace baton::store::postgres

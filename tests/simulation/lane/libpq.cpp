// The functions of libpq that the lane calls, on the simulated server.
#include <sys/eventfd.h>

#include <cstring>

#include "server.h"
#include "store/postgres/lane/libpq.h"

using baton::simulation::Answer;
using baton::simulation::BackendPtr;
using baton::simulation::Server;
using baton::simulation::Statement;
using baton::simulation::the_server;

struct pg_conn {
  BackendPtr backend;
  bool is_bad = false;
  std::string error;
  std::map<std::string, std::string> prepared;
  std::deque<Statement> unsent;
  // PQgetResult returns null after each answer but a sync.
  std::deque<Answer> arrived;
  bool is_after_answer = false;
};

struct pg_result {
  Answer answer;
};

namespace {

Server& server() {
  return *the_server();
}

// Returns a descriptor that is always ready.
int ready_socket() {
  static const int socket = eventfd(1, EFD_CLOEXEC);
  return socket;
}

int lose(PGconn* connection) {
  server().say("backend " + std::to_string(connection->backend->number) + " has lost its client");
  connection->is_bad = true;
  connection->error = "the connection is cut";
  connection->backend->has_client = false;
  return 0;
}

int send(PGconn* connection, std::string sql, int count, const char* const* values, const int* lengths) {
  if (connection->is_bad) return 0;
  Statement statement{std::move(sql), {}};
  for (int i = 0; i < count; ++i)
    statement.values.emplace_back(values[i], static_cast<std::size_t>(lengths[i]));
  connection->unsent.push_back(std::move(statement));
  return 1;
}

}  // namespace

baton::base::Result<void> baton::store::postgres::load_libpq() {
  return {};
}

extern "C" {

PGconn* PQconnectdbParams(const char* const*, const char* const*, int) {
  auto* connection = new PGconn;
  connection->backend = server().connect();
  connection->is_bad = !connection->backend;
  if (connection->is_bad) connection->error = "nobody is there";
  return connection;
}
void PQfinish(PGconn* connection) {
  if (connection->backend) connection->backend->has_client = false;
  delete connection;
}
ConnStatusType PQstatus(const PGconn* connection) {
  return connection->is_bad ? CONNECTION_BAD : CONNECTION_OK;
}
char* PQerrorMessage(const PGconn* connection) {
  return const_cast<char*>(connection->error.c_str());
}
PQnoticeProcessor PQsetNoticeProcessor(PGconn*, PQnoticeProcessor, void*) {
  return nullptr;
}
int PQsetnonblocking(PGconn*, int) {
  return 0;
}
int PQenterPipelineMode(PGconn*) {
  return 1;
}
int PQsocket(const PGconn*) {
  return ready_socket();
}
int PQserverVersion(const PGconn*) {
  return 150'000;
}
const char* PQparameterStatus(const PGconn*, const char*) {
  return nullptr;
}
PGnotify* PQnotifies(PGconn*) {
  return nullptr;
}
void PQfreemem(void*) {}
PQconninfoOption* PQconninfoParse(const char*, char**) {
  return nullptr;
}
void PQconninfoFree(PQconninfoOption*) {}

// Prepares at once: what preparing costs the server does not matter here.
int PQsendPrepare(PGconn* connection, const char* name, const char* sql, int, const Oid*) {
  if (connection->is_bad) return 0;
  connection->prepared[name] = sql;
  return 1;
}
int PQsendQueryPrepared(PGconn* connection, const char* name, int count, const char* const* values,
                        const int* lengths, const int*, int) {
  return send(connection, connection->prepared.at(name), count, values, lengths);
}
int PQsendQueryParams(PGconn* connection, const char* sql, int, const Oid*, const char* const*, const int*,
                      const int*, int) {
  return send(connection, sql, 0, nullptr, nullptr);
}
int PQpipelineSync(PGconn* connection) {
  return send(connection, {}, 0, nullptr, nullptr);
}

// If the connection is cut in the middle, only the statements before the cut arrive.
int PQflush(PGconn* connection) {
  if (connection->is_bad) return -1;
  while (!connection->unsent.empty()) {
    if (server().is_cut()) return lose(connection) - 1;
    if (server().random.chance(100)) return 1;
    connection->backend->received.push_back(std::move(connection->unsent.front()));
    connection->unsent.pop_front();
  }
  return 0;
}
int PQconsumeInput(PGconn* connection) {
  if (connection->is_bad) return 0;
  server().turn();
  if (server().is_cut()) return lose(connection);
  auto& answers = connection->backend->answers;
  const bool brings_none = answers.empty();
  for (; !answers.empty(); answers.pop_front()) connection->arrived.push_back(std::move(answers.front()));
  return brings_none && connection->backend->is_over ? lose(connection) : 1;
}
int PQisBusy(PGconn* connection) {
  return connection->arrived.empty() && !connection->is_after_answer && !connection->is_bad ? 1 : 0;
}
PGresult* PQgetResult(PGconn* connection) {
  if (std::exchange(connection->is_after_answer, false) || connection->arrived.empty()) return nullptr;
  auto* result = new PGresult{std::move(connection->arrived.front())};
  connection->arrived.pop_front();
  connection->is_after_answer = result->answer.status != PGRES_PIPELINE_SYNC;
  return result;
}

void PQclear(PGresult* result) {
  delete result;
}
ExecStatusType PQresultStatus(const PGresult* result) {
  return result->answer.status;
}
char* PQresultErrorField(const PGresult* result, int field) {
  return field == PG_DIAG_SQLSTATE ? const_cast<char*>(result->answer.state.c_str()) : nullptr;
}
char* PQresultErrorMessage(const PGresult*) {
  return const_cast<char*>("it has failed");
}
char* PQcmdStatus(PGresult* result) {
  return result->answer.command.data();
}
char* PQcmdTuples(PGresult* result) {
  return result->answer.tuples.data();
}
int PQntuples(const PGresult* result) {
  return static_cast<int>(result->answer.rows.size());
}
Oid PQftype(const PGresult* result, int column) {
  const bool is_last = column + 1 == std::ssize(result->answer.rows.at(0));
  return result->answer.is_truth && is_last ? 16 : 20;
}
int PQgetisnull(const PGresult* result, int row, int column) {
  return result->answer.rows.at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(column)) ? 0 : 1;
}
char* PQgetvalue(const PGresult* result, int row, int column) {
  const auto& value =
      result->answer.rows.at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(column));
  return const_cast<char*>(value ? value->c_str() : "");
}
int PQgetlength(const PGresult* result, int row, int column) {
  return static_cast<int>(std::strlen(PQgetvalue(result, row, column)));
}
std::size_t PQresultMemorySize(const PGresult*) {
  return 0;
}

}  // extern "C"

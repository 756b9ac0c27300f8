#include "store/postgres/lane/libpq.h"

#include <dlfcn.h>
#include <libpq-fe.h>

#include <cstdlib>

namespace baton::store::postgres {
namespace {

constexpr const char* kLibrary = "libpq.so.5";

struct Loaded {
  void* library = nullptr;
  std::string error;
};

Loaded load() {
  Loaded loaded;
  loaded.library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (loaded.library == nullptr) {
    const char* reason = ::dlerror();
    loaded.error = std::string("cannot load PostgreSQL's client library (") +
                   (reason == nullptr ? kLibrary : reason) +
                   "): install it; on Debian and Ubuntu: apt-get install libpq5";
  } else if (::dlsym(loaded.library, "PQenterPipelineMode") == nullptr) {
    loaded.error = std::string(kLibrary) + " is too old: version 14 or later is required";
  }
  return loaded;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

// The library's function, whose type is that of ours.
template <class Function>
Function* library_function(Function*, const char* name) {
  void* found = ::dlsym(loaded().library, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

}  // namespace

base::Result<void> load_libpq() {
  if (!loaded().error.empty()) return base::fail(base::ErrorCode::unsupported, loaded().error);
  return {};
}

}  // namespace baton::store::postgres

// NOLINTBEGIN(bugprone-macro-parentheses)
#define BATON_FORWARD(result, name, parameters, arguments)                            \
  result name parameters {                                                            \
    static auto* const real = baton::store::postgres::library_function(&name, #name); \
    return real arguments;                                                            \
  }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

BATON_FORWARD(void, PQclear, (PGresult * result), (result))
BATON_FORWARD(char*, PQcmdStatus, (PGresult * result), (result))
BATON_FORWARD(char*, PQcmdTuples, (PGresult * result), (result))
BATON_FORWARD(PGconn*, PQconnectdbParams,
              (const char* const* keywords, const char* const* values, int expand),
              (keywords, values, expand))
BATON_FORWARD(void, PQconninfoFree, (PQconninfoOption * options), (options))
BATON_FORWARD(PQconninfoOption*, PQconninfoParse, (const char* text, char** error), (text, error))
BATON_FORWARD(int, PQconsumeInput, (PGconn * connection), (connection))
BATON_FORWARD(int, PQenterPipelineMode, (PGconn * connection), (connection))
BATON_FORWARD(char*, PQerrorMessage, (const PGconn* connection), (connection))
BATON_FORWARD(void, PQfinish, (PGconn * connection), (connection))
BATON_FORWARD(int, PQflush, (PGconn * connection), (connection))
BATON_FORWARD(void, PQfreemem, (void* memory), (memory))
BATON_FORWARD(Oid, PQftype, (const PGresult* result, int column), (result, column))
BATON_FORWARD(int, PQgetisnull, (const PGresult* result, int row, int column), (result, row, column))
BATON_FORWARD(int, PQgetlength, (const PGresult* result, int row, int column), (result, row, column))
BATON_FORWARD(PGresult*, PQgetResult, (PGconn * connection), (connection))
BATON_FORWARD(char*, PQgetvalue, (const PGresult* result, int row, int column), (result, row, column))
BATON_FORWARD(int, PQisBusy, (PGconn * connection), (connection))
BATON_FORWARD(PGnotify*, PQnotifies, (PGconn * connection), (connection))
BATON_FORWARD(int, PQntuples, (const PGresult* result), (result))
BATON_FORWARD(const char*, PQparameterStatus, (const PGconn* connection, const char* name),
              (connection, name))
BATON_FORWARD(int, PQpipelineSync, (PGconn * connection), (connection))
BATON_FORWARD(char*, PQresultErrorField, (const PGresult* result, int field), (result, field))
BATON_FORWARD(char*, PQresultErrorMessage, (const PGresult* result), (result))
BATON_FORWARD(std::size_t, PQresultMemorySize, (const PGresult* result), (result))
BATON_FORWARD(ExecStatusType, PQresultStatus, (const PGresult* result), (result))
BATON_FORWARD(int, PQsendPrepare,
              (PGconn * connection, const char* name, const char* query, int count, const Oid* types),
              (connection, name, query, count, types))
BATON_FORWARD(int, PQsendQueryParams,
              (PGconn * connection, const char* command, int count, const Oid* types,
               const char* const* values, const int* lengths, const int* formats, int result_format),
              (connection, command, count, types, values, lengths, formats, result_format))
BATON_FORWARD(int, PQsendQueryPrepared,
              (PGconn * connection, const char* name, int count, const char* const* values,
               const int* lengths, const int* formats, int result_format),
              (connection, name, count, values, lengths, formats, result_format))
BATON_FORWARD(int, PQserverVersion, (const PGconn* connection), (connection))
BATON_FORWARD(int, PQsetnonblocking, (PGconn * connection, int to), (connection, to))
BATON_FORWARD(PQnoticeProcessor, PQsetNoticeProcessor,
              (PGconn * connection, PQnoticeProcessor processor, void* data), (connection, processor, data))
BATON_FORWARD(int, PQsocket, (const PGconn* connection), (connection))
BATON_FORWARD(ConnStatusType, PQstatus, (const PGconn* connection), (connection))

}  // extern "C"

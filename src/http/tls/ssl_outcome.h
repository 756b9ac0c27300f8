// SslOutcome: what a call of OpenSSL on a non-blocking connection came to. The one place that reads OpenSSL's
// results and its queue of errors, for connections of clients and of our own.
//
// Threads: any. The queue of errors belongs to the thread. Clear it (ERR_clear_error) before each call,
// because an old entry turns a call that has to wait into a failure.
#pragma once

#include <openssl/ssl.h>

#include <string>

namespace baton::http::tls {

enum class SslOutcome {
  done,
  wants_read,   // call again when more bytes have arrived
  wants_write,  // call again when bytes can be sent
  ended,        // the other side has closed the connection as TLS demands
  failed,       // the connection is of no use any more: only free it
};

// `result`: of the SSL call that was just made on this thread.
SslOutcome ssl_outcome(const SSL* ssl, int result);

struct Failure {
  std::string reason;  // "wrong version number"; empty if OpenSSL gave none
  std::string detail;  // for the log
};
// Returns the first error in the thread's queue, and clears the queue.
Failure take_failure();

}  // namespace baton::http::tls

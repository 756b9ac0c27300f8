// Error and Result: how every folder of Baton reports failures.
//
// Errors are values. They cross folder boundaries as `Result<T>`; exceptions stay inside the folder whose
// library throws them. `for_caller` may be shown to the caller; `for_log` may not.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace baton::base {

// A closed set. protocol/ maps each value to the numbers of each protocol.
enum class ErrorCode {
  parse_error,         // bytes that are not JSON
  invalid_request,     // JSON that is not a request
  method_not_found,    // a request for something that does not exist
  invalid_argument,    // a request whose parameters are wrong
  task_not_found,      // no such task, or it belongs to another caller
  not_found,           // anything else that does not exist
  already_exists,      // an id that is taken
  conflict,            // another writer was first: read again and decide again
  not_cancelable,      // the task has ended in another way
  unsupported,         // this operation is not offered here
  push_not_supported,  // webhooks are switched off
  content_type_not_supported,
  version_not_supported,
  extension_required,            // the request lacks an extension that the agent requires
  extended_card_not_configured,  // there is no extended card
  unauthenticated,
  permission_denied,
  too_large,   // over a limit on size
  overloaded,  // over a limit on number: try again later
  deadline_exceeded,
  raced,        // another program was first: nothing of the group is stored, read again and decide again
  unavailable,  // may or may not have happened: read before retrying
  internal,
};

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::internal;
  std::string for_caller;  // never names a file, a statement or a host
  std::string for_log;
};

template <class T>
using Result = tl::expected<T, Error>;

// Makes the failing side of a Result: `return fail(ErrorCode::not_found, "no such agent");`
inline tl::unexpected<Error> fail(ErrorCode code, std::string for_caller, std::string for_log = {}) {
  return tl::unexpected<Error>(Error{code, std::move(for_caller), std::move(for_log)});
}

// Whether a retry of the same call may succeed a moment later.
inline bool may_pass(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::overloaded;
}

// Propagates an error.
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace baton::base

// Errors that a language model's server sends instead of an answer.
//
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/document.h"

namespace baton::protocol::models {

struct AnswerError {
  std::string message;  // of the server; may be empty
  std::string code;     // "insufficient_quota", "503"; may be empty
  bool busy = false;    // another try may succeed
  bool unpaid = false;  // the account has nothing left, so no try will succeed, whatever the HTTP status
};

// Returns the error that a server sent in place of an answer, or nullopt.
std::optional<AnswerError> error_of(json::Value answer);

// Returns the error in the JSON of an "error" event, or of an answer whose status is not 2xx; empty if there
// is none.
AnswerError read_error(std::string_view body);

// Whether the images of a request are the reason of its refusal. no: the reason is another one. perhaps: the
// server may take the request without them. takes_none: its model takes no images at all.
enum class AboutImages { no, perhaps, takes_none };
// `status`: of HTTP; 0: the error came in place of an answer. `reason`: has the server's words.
AboutImages about_images(int status, std::string_view reason);

}  // namespace baton::protocol::models

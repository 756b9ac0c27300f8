// Errors in the form of OpenAI's API: {"error":{"message","type","param","code"}}.
//
// Threads: any; pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace baton::protocol::openai {

struct Failure {
  int status = 400;
  std::string_view type = "invalid_request_error";
  std::string_view code;  // empty: null
  std::string message;
  std::string param = {};  // the member of the request that is wrong; empty: null
};

Failure failure_of(const base::Error& error);
Failure no_such_model(std::string_view model);
void write_failure(std::string& out, const Failure& failure);

}  // namespace baton::protocol::openai

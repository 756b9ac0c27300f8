// Dialect: how one API of language models' servers writes a request and reads its answer. What calls models
// asks the dialect and does not know the API. Each API has a folder beside this file.
//
// Threads: pure functions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "protocol/models/shared/answer.h"
#include "protocol/models/shared/api.h"
#include "protocol/models/shared/conversation.h"

namespace baton::protocol::models {

struct Dialect {
  std::string_view path;            // where requests are posted, below the base of the API
  std::string_view version_header;  // a header of each request, and its value; empty: none
  std::string_view version;
  std::string_view provider;  // the provider's name, unless the card has one

  // Writes the body of a request for a streamed answer with its usage. Images and PDF files become parts of
  // the API, text files become text, and other files become a note that names them. Models answer in text,
  // so an assistant's message has only text, calls, and what is given back.
  std::string (*write_request)(const ModelRequest& request);
  std::unique_ptr<AnswerReader> (*reader)(const AnswerRules& rules);
  // The members of ModelRequest::parameters that a request sets itself.
  bool (*is_own_member)(std::string_view name);
  // Whether a server that refuses a request for this reason may take it with `without_extras`.
  bool (*is_about_extras)(std::string_view reason);
};

const Dialect& dialect_of(Api api);

// The URL to post to; `base` may have a query.
std::string url_of(const Dialect& dialect, std::string_view base);

}  // namespace baton::protocol::models

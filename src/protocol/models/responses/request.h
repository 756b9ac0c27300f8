// Requests to language models: POST {base}/responses, OpenAI's Responses API.
//
// The server is asked to store nothing. So everything goes back with each request, the model's reasoning
// included, which OpenAI hands out encrypted.
// Threads: pure functions. See Dialect.
#pragma once

#include <string>
#include <string_view>

#include "protocol/models/shared/conversation.h"

namespace baton::protocol::models::responses {

// The name, in a message's `others`, of the order of the answer's items.
constexpr std::string_view kItems = "responses items";

std::string write_request(const ModelRequest& request);

bool is_own_member(std::string_view name);

bool is_about_extras(std::string_view reason);

}  // namespace baton::protocol::models::responses

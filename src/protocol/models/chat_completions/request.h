// Requests to language models: POST {base}/chat/completions, as OpenAI defined it and many servers speak it.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "task/json.h"
#include "task/message.h"

namespace baton::protocol::models {

// A function call by the model. `arguments` is the model's text: valid JSON, unless the model broke the
// rules.
struct CalledTool {
  std::string id;
  std::string name;
  std::string arguments;
  // Members of the call and of its function that Baton does not know (GivenBack); absent: none.
  task::Json others = {};
  task::Json function_others = {};

  friend bool operator==(const CalledTool&, const CalledTool&) = default;
};

struct ChatMessage {
  enum class Role { system, user, assistant, tool };

  Role role = Role::user;
  std::vector<task::Part> parts;
  std::vector<CalledTool> calls;  // of an assistant's message
  std::string call_id;            // of a tool's message: the call that it answers
  task::Json others = {};         // of an assistant's message: as in CalledTool

  static ChatMessage of_text(Role role, std::string text) {
    return {role, {task::Part::of_text(std::move(text))}, {}, {}, {}};
  }
  friend bool operator==(const ChatMessage&, const ChatMessage&) = default;
};

// A function that the model may call.
struct ToolFunction {
  std::string name;
  std::string description;
  task::Json parameters;  // JSON Schema; absent: none
};

struct ChatRequest {
  std::string model;
  task::Json parameters;  // an object, whose members become the request's; or absent
  std::vector<ChatMessage> messages;
  std::vector<ToolFunction> tools;
};

// Writes the body of a request for a streamed answer with its usage. Images and PDF files become content
// parts, text files become text, and other files become a note that names them. Models answer in text, so an
// assistant's message has only text.
std::string write_request(const ChatRequest& request);

// The URL to post to; `base` may have a query.
std::string completions_url(std::string_view base);

// The members of ChatRequest::parameters that a request sets itself.
bool is_own_member(std::string_view name);

}  // namespace baton::protocol::models

// Requests to a language model: messages and tools, for every API.
//
// Threads: values.
#pragma once

#include <string>
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
  std::vector<task::Part> parts;  // of a tool's message: a text, and images that the text names
  std::vector<CalledTool> calls;  // of an assistant's message
  std::string call_id;            // of a tool's message: the call that it answers
  // The members that the server expects back with an assistant's message (AnswerReader::others). Only the API
  // that they came from reads them.
  task::Json others = {};

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

struct ModelRequest {
  std::string model;
  task::Json parameters;  // an object, whose members become the request's; or absent
  std::vector<ChatMessage> messages;
  std::vector<ToolFunction> tools;
  bool without_extras = false;  // leaves out what some servers and models refuse
};

// The most levels of JSON in an event of a model's server. Its values are stored and given back inside other
// objects, which json::ParseOptions::depth_max bounds.
constexpr int kDepthMax = 90;

// The schema of a function without parameters.
constexpr std::string_view kNoParameters = R"({"type":"object","properties":{}})";

}  // namespace baton::protocol::models

// The Model Context Protocol, as a client speaks it: a server's tools and the calls of them.
//
// A server speaks 2026-07-28 ("modern"), or a revision that begins with `initialize` ("legacy"); mcp.h has
// both. Nothing in an answer is trusted, and all of it is bounded.
//
// Threads: any; pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/document.h"
#include "protocol/mcp/mcp.h"
#include "task/json.h"
#include "task/message.h"

namespace baton::protocol::mcp {

using Headers = std::vector<std::pair<std::string, std::string>>;

// How a server is spoken to.
struct Spoken {
  std::string version{kModern};
  std::string session = {};  // of a legacy server; empty: none

  bool is_modern() const { return version == kModern; }
  friend bool operator==(const Spoken&, const Spoken&) = default;
};

// A request or notification of the client. `params`: an object without `_meta`; absent: none.
struct Asking {
  std::string method;
  task::Json params = {};
  std::string name = {};  // the tool or the task that the request is about (Mcp-Name); empty: none
  Headers headers = {};   // further ones (param_headers)
};
// `id` 0: a notification.
std::string write_request(const Asking& asking, const Spoken& how, int id);
Headers headers_of(const Asking& asking, const Spoken& how);
// The legacy revision to begin with.
Asking initialize();
// The revision that the server has chosen, from the result of `initialize`; empty: one that is not spoken.
std::string chosen_version(json::Value result);

// The response to the request `id`; empty if the message is something else, such as a notification.
struct Response {
  json::Value result;  // missing: it failed
  Failure failure = {};
};
std::optional<Response> read_response(json::Value message, int id);
// The answer to a request of a legacy server, as the body of a message: a ping is answered, and nothing else
// is offered. Nullopt if the message is no request.
std::optional<std::string> reply_to(json::Value message);

struct ListedTool {
  std::string name;
  std::string description;
  task::Json schema;           // of the arguments: an object
  bool may_repeat = false;     // it says that a second call does no harm
  Headers param_headers = {};  // the headers that repeat arguments: name of the header, name of the argument
};
// A page of tools/list. Leaves out tools that cannot be called. `next`: the cursor of the next page; empty:
// none.
struct ToolPage {
  std::vector<ListedTool> tools;
  std::string next;
};
ToolPage read_tools(json::Value result);
// The headers of a call with these arguments.
Headers param_headers(const Headers& of_tool, json::Value arguments);

// The server's question to the user: a form, or a URL to visit.
struct InputWanted {
  std::string key;  // in `inputRequests`
  std::string message;
  task::Json schema;  // of a form; absent: none
  std::string url;    // to visit; empty: none
};

// The state of a call, from the answer to it or to a request about its task.
struct CallResult {
  enum class Kind {
    done,
    failed,  // `text` says why
    canceled,
    works,  // as a task
    asks,   // `wanted`
  };
  Kind kind = Kind::done;
  std::vector<task::Part> parts = {};  // done: text or data, and images that the text names
  std::string text = {};
  std::string task = {};                  // its id; empty: the call is none
  std::chrono::milliseconds poll{5'000};  // when to look at it again
  InputWanted wanted = {};
  std::string state = {};  // asks, without a task: `requestState`, to be given back
};
CallResult read_call(json::Value result);  // of tools/call
CallResult read_task(json::Value result);  // of tasks/get

// Writes the value of the member "inputResponses" with the user's answer. Data {"cancelled": true} declines.
std::string write_input_responses(const InputWanted& wanted, const task::Message& answer);

}  // namespace baton::protocol::mcp

// The Model Context Protocol, as a server speaks it: a call of a tool is a task.
//
// Revision 2026-07-28 ("modern"): each request stands alone and says its version and what the client can do
// in params._meta and in headers. A call may become a handle whose id is the task's (extension
// io.modelcontextprotocol/tasks), and questions are elicitation requests in a result. Revisions 2024-10-07 to
// 2025-11-25 ("legacy"): begun by `initialize`. A client that can be asked gets a session, and questions in
// the stream of a call; for others a question is a result in words, which the next call answers.
//
// Threads: any; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "json/writer.h"
#include "task/task.h"

namespace baton::protocol::mcp {

inline constexpr std::string_view kModern = "2026-07-28";
inline constexpr std::string_view kTasksExtension = "io.modelcontextprotocol/tasks";

// The numbers of errors that MCP adds to JSON-RPC's.
inline constexpr int kHeaderMismatch = -32020, kMissingCapability = -32021, kUnsupportedVersion = -32022;
inline constexpr int kInvalidRequest = -32600, kMethodNotFound = -32601, kInvalidParams = -32602;

struct Failure {
  int code = kInvalidParams;
  std::string text;
  int status = 200;  // of HTTP
  task::Json data = {};
};

// The abilities of a client that concern its calls.
struct Abilities {
  bool tasks = false, forms = false, urls = false;
  bool links = true;  // reads links in results; false: its revision has none
};

// The headers that repeat what the body says; empty: not given.
struct Head {
  std::string_view version, method, name;
};

// A request, a notification (`id` is empty) or a response.
struct Request {
  std::string id;  // as JSON: a string or a whole number
  std::string method;
  json::Value params;  // an object, or missing
  bool is_modern = false;
  bool is_response = false;  // `method` is empty
  Abilities client;
  std::string progress_token;  // as JSON; empty: no progress is wanted
};
struct Refusal {
  std::string id;  // as JSON; empty: the request's id cannot be read
  Failure failure;
};
// Whether the value may be the id of a request, or a progress token: a string or a whole number of at most
// 1 KiB. Its bytes have no line end.
bool is_request_id(json::Value id);
// Whether the value is an empty list: clients in PHP write an empty object like this.
bool is_empty_list(json::Value value);
// Reads an object of capabilities.
Abilities abilities_in(json::Value capabilities);
// Whether results of this legacy revision may have links.
bool has_links(std::string_view version);
// Reads the envelope, and checks that headers and body agree. `root` must outlive the request.
tl::expected<Request, Refusal> read_request(json::Value root, const Head& head);

// The revisions that are spoken, the newest first.
std::vector<std::string> versions();
// The legacy revision that `initialize` agrees on if the client asks for `asked`.
std::string_view agreed_version(std::string_view asked);

// Writes {"jsonrpc":"2.0","id":...,"error":{...}}.
void write_failure(std::string& out, std::string_view id, const Failure& failure);

// The arguments of a call of an agent's tool. Unset members were not given.
struct Arguments {
  task::Message message;  // without an id if the caller named none; without parts only if `task` is given
  task::ContextId context;
  task::TaskId task;  // to answer, to continue or to wait for
};
// Fails with a text for the model that made the call.
//
// Claude's clients sometimes send an object or a list as a text with its JSON, whatever its declared type is.
// Such a text counts as the object or list.
base::Result<Arguments> read_arguments(json::Value arguments);
// The object of arguments with such texts replaced by their objects and lists.
std::string unquoted(json::Value arguments);
// Writes a JSON Schema whose values `read_arguments` accepts. Every argument has one type, because Gemini CLI
// leaves out a tool with an argument without a type. So `data` is declared as an object, although
// `read_arguments` accepts any JSON. There are no keywords but those that Gemini's API knows: it refuses a
// request with any other, and some hosts pass schemas on as they are.
void write_input_schema(json::Writer& out);

// The state of a task, as the tasks extension names it. `asks`: the client can be asked the question that the
// task waits with. If it cannot, the call is over, with the question as its result.
std::string_view status_name(task::State state, bool asks);

// Writes the members of a tool's result: the output of the task, and its question if it waits for an answer.
// The ids that the next call needs are in the last text, as JSON, and in structuredContent, which a result
// with images or audio does not have. `tasks_url`: the URL under which the bytes of artifacts are served.
// `links`: as of Abilities; without them a link is a text.
void write_tool_result(json::Writer& out, const task::Task& task, const std::string& tasks_url,
                       bool links = true);
// Writes the result of a call that could not be made. `asks`: the task that still waits for an answer; empty:
// none.
void write_tool_error(json::Writer& out, std::string_view text, const task::TaskId& asks = {});

// Writes the members that a handle and the answer to tasks/get share.
struct Handle {
  const task::Task& task;
  base::Timestamp created{};
  int poll_ms = 0;
  bool asks = false;  // as of status_name
};
void write_handle(json::Writer& out, const Handle& handle);

}  // namespace baton::protocol::mcp

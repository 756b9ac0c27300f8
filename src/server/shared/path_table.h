// PathTable: every path of the program, a row each, and the matcher of all of them. A binding keeps its rows
// beside its code; pipeline/paths.cpp puts them together.
//
// A pattern is literal text, except for:
//   {name}     one segment or the rest of one, percent-decoded: not empty, and UTF-8
//   {name...}  the same, with any slashes in it
//   {#name}    one segment that is a whole number
//   [/]        at the end: a slash or nothing
// Text behind {name} ends the same segment: "/tasks/{task}:cancel" is a verb behind the segment's last colon.
//
// Pure functions. Threads: any. The rows live as long as the program.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/a2a/dialect.h"
#include "server/shared/request_stats.h"
#include "server/shared/scopes.h"

namespace baton::server {

namespace chat {
struct ChatCall;
}
namespace openai {
struct Request;
}
namespace operate {
struct Call;
}

// Where a row's pattern begins, and which form of the path it is compared with.
enum class Place {
  root,          // the program's root; the decoded path
  operators,     // the root, for operators alone; the decoded path
  operator_api,  // the root, behind the operators' checks; the path as received
  agent,         // behind /agents/<name>, or the default agent's at the root; the decoded path
  agent_ids,     // the same; the path as received, because ids may contain encoded slashes
};

// A step of the pipeline that answers the path itself or calls the one handler of the path.
enum class Stage {
  is_alive,  // the three health checks
  is_healthy,
  is_ready,
  metrics,
  agents,
  tokens,
  start_page,
  chat_page,
  console,
  operator_api,
  sign_in,
  json_rpc,
  card,
  catalog,
  server_card,
  resource,   // metadata of RFC 9728
  card_keys,  // that cards are signed with
  plan,
  extended_card,
  conversations,
  conversation_events,
  mcp
};

// An operation of A2A over REST. In 0.3 the pattern stands behind /v1. In 1.0 it stands as it is written, or
// behind one segment that names the tenant.
struct RestOperation {
  protocol::a2a::Operation operation;
  task::VersionRange versions;
};
struct ChatProtocol {
  void (*handle)(const std::shared_ptr<chat::ChatCall>&);
  Protocol speaks;
  Scope scope = Scope::send;
};
struct OpenAiRoute {
  void (*handle)(const std::shared_ptr<openai::Request>&);
  std::optional<Scope> scope;  // that it needs; nullopt: any token may
};
struct OperatorRoute {
  bool acts;  // else viewers may call it, too
  void (*handle)(const std::shared_ptr<const operate::Call>&);
};

// Whether a row that serves GET serves HEAD, too.
enum class Head { served, served_and_allowed, refused };  // `served`: Allow does not name it

struct PathRow {
  Place place;
  std::string_view methods;  // as Allow lists them; empty: any, and the row's code decides
  std::string_view pattern;
  std::variant<Stage, RestOperation, ChatProtocol, OpenAiRoute, OperatorRoute> answered_by;
  Head head = Head::served;
};

struct PathMatch {
  const PathRow* row = nullptr;  // null: nothing is served at the path
  bool allowed = false;          // the row serves the method
  std::string allow;             // if not: the methods that the path serves
  std::string tenant;            // of A2A 1.0
  bool below_v1 = false;         // the path is one of A2A 0.3
  std::vector<std::pair<std::string_view, std::string>> parameters;  // names are the pattern's

  // Returns the parameter with this name; empty if the pattern has none.
  std::string_view operator[](std::string_view name) const;
  // What answers, if it is a T; else null.
  template <class T>
  const T* answered_by() const {
    return row == nullptr ? nullptr : std::get_if<T>(&row->answered_by);
  }
  bool is(Stage stage) const {
    const Stage* const found = answered_by<Stage>();
    return found != nullptr && *found == stage;
  }
};

// The row of `rows`, which are of one place, that serves the method at the path; else the first one with the
// path. `path`: in the form of the rows' place, without the query. A row that fits the path as it stands
// comes before one behind a tenant. Some clients encode the colon before a verb: such a path is tried last.
PathMatch find_path(std::span<const PathRow> rows, std::string_view method, std::string_view path);

// The scope that a request needs that a row serves; nullopt: any token may, or the body decides, as in
// JSON-RPC and MCP. DELETE needs `cancel` and PATCH `send`, whatever the row says.
std::optional<Scope> scope_of(const PathMatch& found, std::string_view method);

// Every row of the place. Defined in pipeline/paths.cpp, which knows every binding.
std::span<const PathRow> paths_at(Place place);

}  // namespace baton::server

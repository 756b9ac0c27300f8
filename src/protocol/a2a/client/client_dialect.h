// ClientDialect: the client side of one JSON form of A2A in one binding, the counterpart of dialect.h. It
// writes requests and reads answers.
//
// It writes the requests that the Dialect of its version reads, from the same types. Members of a Submission
// that A2A cannot express are left out. Reading does not trust the server: lengths of ids and numbers are
// bounded and types are checked. Valid shapes of any version are accepted (both tags, snake_case, numbers for
// enums). Anything else fails with invalid_argument and a text that names the member. An unknown state is
// read as failed. Threads: any; immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "protocol/a2a/client/read_objects.h"
#include "protocol/a2a/dialect.h"
#include "protocol/card/remote_card.h"

namespace baton::protocol::a2a {

// An HTTP request to send. Last-Event-ID is a header in every version: the sender adds it.
struct ClientRequest {
  std::string method = "POST";
  std::string path;  // path and query, appended to the interface's URL; empty: the URL itself
  std::string body;  // JSON; empty: no body
};

// A list request. Empty members are not sent.
struct ListQuery {
  task::ContextId context;
  std::optional<task::State> state;
  std::optional<base::Timestamp> status_since;
  std::optional<int> page_size;
  std::string page_token;
  std::optional<int> history_length = 0;  // as in task::Depth: absent means all
  bool artifacts = false;
};

// An answer: either `result` or `error` is set.
struct ClientAnswer {
  json::Value result;
  std::optional<RemoteError> error;
};

class ClientDialect : public ObjectReader {
 public:
  using ObjectReader::ObjectReader;
  virtual ~ClientDialect() = default;

  // Whether the client chooses the id of a new task (0.1). Otherwise the server does, and the client chooses
  // the id of its message.
  virtual bool names_tasks() const { return false; }

  virtual ClientRequest write_send(const SendRequest& send, bool streams) const = 0;
  virtual ClientRequest write_get(const TaskRequest& get) const = 0;
  virtual ClientRequest write_cancel(const task::TaskId& task) const = 0;
  virtual ClientRequest write_subscribe(const task::TaskId& task) const = 0;
  // Returns unsupported if the version lacks the operation.
  virtual base::Result<ClientRequest> write_list(const ListQuery& list) const;
  virtual ClientRequest write_set_push(const PushRequest& push) const = 0;
  virtual ClientRequest write_get_push(const PushRef& push) const = 0;
  virtual base::Result<ClientRequest> write_list_push(const task::TaskId& task) const = 0;
  virtual base::Result<ClientRequest> write_delete_push(const PushRef& push) const = 0;

  // Reads an answer's body or an item of a stream. `good`: the HTTP status is 2xx and, in a stream, the
  // event's type is not "error".
  virtual base::Result<ClientAnswer> read_answer(json::Value body, bool good) const = 0;
};

using ClientDialectPtr = std::shared_ptr<const ClientDialect>;

// Returns null for gRPC, and for 0.1 over REST. `tenant`: the interface's; only 1.0 uses it. `items_max`: see
// ObjectReader.
ClientDialectPtr client_dialect(task::ProtocolVersion version, Binding binding, std::string tenant = {},
                                std::size_t items_max = std::numeric_limits<std::size_t>::max());

}  // namespace baton::protocol::a2a

// ClientDialect: one JSON of A2A in one binding as a client speaks it, the counterpart of dialect.h. Requests
// out, answers in.
//
// What it writes is what the Dialect of its generation reads, in the same types; of a Submission only what
// A2A can say. Reading trusts nobody: sizes of ids and numbers are bounded and types are checked, but every
// shape that makes sense is taken, of whatever generation (both tags, snake_case, numbers for enums). What
// makes none fails with invalid_argument and a text that names the member. A state that is not known is read
// as failed. Threads: any; immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/a2a/client/updates.h"
#include "wire/a2a/dialect.h"
#include "wire/card/remote_card.h"
#include "wire/json/document.h"

namespace baton::wire::a2a {

// For HTTP to send. Last-Event-ID is a header in every generation: whoever sends it adds it.
struct ClientRequest {
  std::string method = "POST";
  std::string path;  // and query, behind the interface's URL; empty: the URL itself
  std::string body;  // of JSON; empty: none
};

// A list. Nothing and empty mean: not said.
struct ListQuery {
  task::ContextId context;
  std::optional<task::State> state;
  std::optional<base::Timestamp> status_since;
  std::optional<int> page_size;
  std::string page_token;
  std::optional<int> history_length = 0;  // as in task::Depth: nothing means all
  bool artifacts = false;
};

// Exactly one of the two.
struct ClientAnswer {
  Value result;
  std::optional<RemoteError> error;
};

class ClientDialect {
 public:
  virtual ~ClientDialect() = default;

  virtual task::Generation generation() const = 0;
  // Whether the client names a new task (0.1), or else the server does and the client names its message.
  virtual bool names_tasks() const { return false; }

  virtual ClientRequest write_send(const SendRequest& send, bool streams) const = 0;
  virtual ClientRequest write_get(const TaskRequest& get) const = 0;
  virtual ClientRequest write_cancel(const task::TaskId& task) const = 0;
  virtual ClientRequest write_subscribe(const task::TaskId& task) const = 0;
  // These fail with unsupported where the generation has no such thing.
  virtual base::Result<ClientRequest> write_list(const ListQuery& list) const;
  virtual ClientRequest write_set_push(const PushRequest& push) const = 0;
  virtual ClientRequest write_get_push(const PushRef& push) const = 0;
  virtual base::Result<ClientRequest> write_list_push(const task::TaskId& task) const = 0;
  virtual base::Result<ClientRequest> write_delete_push(const PushRef& push) const = 0;

  // What an answer's body or an item of a stream holds. `good`: an HTTP status of 2xx and, in a stream, no
  // event of the type "error".
  virtual base::Result<ClientAnswer> read_answer(Value body, bool good) const = 0;

  // The results.
  virtual base::Result<Update> read_update(Value result) const = 0;  // of a send, or an item of a stream
  virtual base::Result<task::Task> read_task(Value result) const = 0;
  virtual base::Result<ListPage> read_list(Value result) const = 0;
  virtual base::Result<PushRequest> read_push(Value result) const = 0;
  virtual base::Result<std::vector<PushRequest>> read_pushes(Value result) const = 0;
};

using ClientDialectPtr = std::shared_ptr<const ClientDialect>;

// JSON-RPC and REST; none for gRPC, and none for REST before 0.2. `tenant`: the interface's.
ClientDialectPtr client_dialect(task::Generation generation, Binding binding, std::string tenant = {});

}  // namespace baton::wire::a2a

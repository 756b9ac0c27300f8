// Operations: the A2A operations, the same for every version and binding. Each takes its request as a value,
// calls the engine and answers the call with a value, an error or a stream, now or later. No rules about
// tasks live here.
//
// Threads: any of the server's, several at a time; an operation that may wait for the disk calls
// Call::block first.
#pragma once

#include "server/a2a/call.h"

namespace baton::server::a2a {

using protocol::a2a::Operation;

struct CardRequest {};
using Request = std::variant<protocol::a2a::SendRequest, protocol::a2a::TaskRequest,
                             protocol::a2a::ListRequest, protocol::a2a::PushRequest, protocol::a2a::PushRef,
                             protocol::a2a::ContentRequest, CardRequest>;

// One operation of the table in operations.cpp.
struct OperationRow {
  Operation operation;
  std::optional<Scope> scope;  // that it needs; nullopt: any token may
  std::string_view name;       // as A2A 1.0 calls it; for logs and spans of every version
  // Reads the request from JSON and, in REST, the texts around it.
  base::Result<Request> (*decode)(const protocol::a2a::Dialect& dialect, const protocol::a2a::Params& params);
  // Returns true if this request may wait for the disk; null: each one may.
  bool (*reads_disk)(const Call& call, const Request& request);
  // The request is of the operation's type.
  void (*run)(const CallPtr& call, Request request);

  bool allows(Scopes scopes) const { return !scope || scopes.has(*scope); }
};
const OperationRow& row_of(Operation operation);

// Calls the operation, if the caller's token has its scope, where it may block if it may. The request is of
// its type.
void run(const CallPtr& call, Operation operation, Request request);

void send(const CallPtr& call, protocol::a2a::SendRequest request);
void send_stream(const CallPtr& call, protocol::a2a::SendRequest request);
void get(const CallPtr& call, protocol::a2a::TaskRequest request);
void list(const CallPtr& call, protocol::a2a::ListRequest request);
void cancel(const CallPtr& call, protocol::a2a::TaskRequest request);
void subscribe(const CallPtr& call, protocol::a2a::TaskRequest request);
void set_push(const CallPtr& call, protocol::a2a::PushRequest request);
void get_push(const CallPtr& call, protocol::a2a::PushRef ref);
void list_push(const CallPtr& call, protocol::a2a::PushRef ref);
void delete_push(const CallPtr& call, protocol::a2a::PushRef ref);
void extended_card(const CallPtr& call);
// The bytes of an artifact or message, or of one of its parts, as a download.
void artifact_bytes(const CallPtr& call, protocol::a2a::ContentRequest request);
void message_bytes(const CallPtr& call, protocol::a2a::ContentRequest request);
// The task with its children and its log as JSON, and the run of a plan as a picture.
void task_tree(const CallPtr& call, const protocol::a2a::TaskRequest& request);
void task_log(const CallPtr& call, const protocol::a2a::TaskRequest& request);
void plan_picture(const CallPtr& call, const protocol::a2a::TaskRequest& request);

}  // namespace baton::server::a2a

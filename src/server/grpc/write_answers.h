// Writes answers and the items of streams as gRPC's messages, with the same content as in the version's
// REST binding.
//
// Threads: any; no state.
#pragma once

#include "protocol/a2a/dialect.h"
#include "protocol/grpc/methods.h"
#include "server/a2a/answer.h"
#include "server/grpc/fields.h"

namespace baton::server::grpc {

// `out`: the message of the method's response. Cards and downloads are not written here. `files_are_text`:
// see base64_files.h.
void write_answer(const protocol::grpc::Method& method, const Writing& out, const server::a2a::Answer& answer,
                  bool files_are_text = false);

// The items of a stream; `out` is a StreamResponse. First the task, or, if it is hidden, the message that
// takes its place.
void write_item(task::ProtocolVersion version, const Writing& out, const task::Task& task,
                bool files_are_text = false);
// Returns false if the version does not show the event.
bool write_event(task::ProtocolVersion version, const Writing& out, const protocol::a2a::TaskNames& names,
                 const task::Event& event, const protocol::a2a::InStream& place, bool files_are_text = false);

}  // namespace baton::server::grpc

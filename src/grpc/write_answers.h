// Writes answers and the items of streams as gRPC's messages. What is shown is what the version's REST
// binding shows.
//
// Threads: any; no state.
#pragma once

#include "grpc/fields.h"
#include "grpc/methods.h"
#include "server/a2a/answer.h"
#include "wire/a2a/dialect.h"

namespace baton::grpc {

// `out` is of the method's response. Cards and downloads are not written here.
void write_answer(const Method& method, const Writing& out, const server::a2a::Answer& answer);

// The items of a stream; `out` is a StreamResponse. First the task, or, if it is hidden, the message that
// takes its place.
void write_item(task::ProtocolVersion version, const Writing& out, const task::Task& task);
// Returns false if the version does not show the event.
bool write_event(task::ProtocolVersion version, const Writing& out, const wire::a2a::TaskNames& names,
                 const task::Event& event, const wire::a2a::InStream& place);

}  // namespace baton::grpc

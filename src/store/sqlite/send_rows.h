// Rows of `sends`: by which messages a repeated send is known. Everything throws SQLite::Exception.
#pragma once

#include <optional>

#include "store/sqlite/write_state.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

// The last send of this digest, if it was after `after`.
std::optional<EarlierSend> find_send(Connection& connection, const SendDigest& digest, base::Timestamp after);
// Now and then some of those that need no longer be remembered go.
void remember_send(WriteState& state, const SendDigest& digest, const EarlierSend& send, base::Timestamp now);

}  // namespace baton::store::sqlite

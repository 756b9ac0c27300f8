// Call: what a call of any protocol owns until it is answered. Each protocol derives its own.
//
// Threads: used by one thread at a time, the one that answers next. Lifetime: pending callbacks hold it; the
// services outlive it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/shared/services.h"

namespace baton::server {

struct Call {
  const Services& services;
  RequestNotePtr note = {};           // null: requests are not recorded
  CallerLimit::Hold hold = {};        // for this call's stream or waiting reply
  AnswerBudget::SharePtr share = {};  // the answer's part of the budget of large answers; null: it takes none
};

// Takes a share of the budget of large answers for the call, and calls `done` with whether there was room: on
// this thread, or later on the budget's pool. `account`: the account that the share counts for.
template <class AnyCall>
void take_share(const std::shared_ptr<AnyCall>& call, const std::string& account, std::size_t bytes,
                std::function<void(bool)> done) {
  if (call->services.answers == nullptr) return done(true);
  call->services.answers->enter(account, bytes, [call, done = std::move(done)](AnswerBudget::SharePtr share) {
    call->share = std::move(share);
    done(call->share != nullptr);
  });
}

}  // namespace baton::server

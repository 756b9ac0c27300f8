// KeyTable: the API keys of the MemoryStore.
//
// Threads: guarded by its owner.
#pragma once

#include <vector>

#include "store/operator_store.h"

namespace baton::store::memory {

class KeyTable {
 public:
  // Checks that the write can be applied, and counts what it removes; every write that is not about keys can.
  base::Result<void> check(const OperatorWrite& write, base::Timestamp at) const;

  void put(const NewApiKey& made, base::Timestamp at);
  void put(const RevokedApiKey& revoked, base::Timestamp at);
  void put(const UsedApiKeys& used, base::Timestamp at);
  void put(const OldApiKeys& old, base::Timestamp at);
  void put(const ApiKeysOfCaller& gone, base::Timestamp at);
  // Applies the write if it is about keys.
  void apply(const OperatorWrite& write, base::Timestamp at);

  const std::vector<ApiKey>& all() const { return keys_; }
  std::int64_t state() const { return state_; }

  // Returns null if there is none.
  const ApiKey* find(const std::string& id) const;

 private:
  base::Result<void> check(const NewApiKey& made, base::Timestamp at) const;

  std::vector<ApiKey> keys_;  // in order of their creation
  std::int64_t state_ = 0;
};

}  // namespace baton::store::memory

#include "store/memory/key_table.h"

#include <algorithm>
#include <type_traits>

namespace baton::store::memory {

using base::ErrorCode;
using base::fail;

const ApiKey* KeyTable::find(const std::string& id) const {
  const auto found = std::ranges::find(keys_, id, &ApiKey::id);
  return found == keys_.end() ? nullptr : &*found;
}

base::Result<void> KeyTable::check(const NewApiKey& made, base::Timestamp at) const {
  if (find(made.key.id) != nullptr) return fail(ErrorCode::already_exists, "the key already exists");
  if (!made.replaces.empty()) {
    const ApiKey* const old = find(made.replaces);
    if (old == nullptr || old->caller != made.key.caller) return fail(no_such_api_key());
    if (!old->is_valid(at)) return fail(api_key_is_over());
  }
  int valid = 0, ended = 0;
  for (const ApiKey& key : keys_) {
    if (key.caller == made.key.caller) ++(counts(key, made, at) ? valid : ended);
  }
  if (valid >= kApiKeysPerCaller) return fail(too_many_api_keys());
  if (ended >= kEndedApiKeysPerCaller) return fail(too_many_ended_api_keys());
  const auto all = std::ranges::count_if(keys_, [&](const ApiKey& key) { return key.is_valid(at); });
  if (all >= made.all_max) return fail(all_api_keys_taken());
  return {};
}

base::Result<void> KeyTable::check(const OperatorWrite& write, base::Timestamp at) const {
  if (const auto* made = std::get_if<NewApiKey>(&write)) return check(*made, at);
  if (const auto* revoked = std::get_if<RevokedApiKey>(&write)) {
    const ApiKey* const key = find(revoked->id);
    if (key == nullptr) return fail(no_such_api_key());
    if (key->revoked) return fail(api_key_is_revoked());
  }
  if (const auto* gone = std::get_if<ApiKeysOfCaller>(&write); gone != nullptr && gone->gone != nullptr)
    *gone->gone = std::ranges::count(keys_, gone->caller, &ApiKey::caller);
  return {};
}

void KeyTable::put(const NewApiKey& made, base::Timestamp at) {
  for (ApiKey& old : keys_) {
    if (old.id == made.replaces) old.expires = std::min(old.expires.value_or(made.old_until), made.old_until);
  }
  keys_.push_back(made.key);
  keys_.back().created = at;
  ++state_;
}

void KeyTable::put(const RevokedApiKey& revoked, base::Timestamp at) {
  for (ApiKey& key : keys_) {
    if (key.id == revoked.id) key.revoked = at;
  }
  ++state_;
}

void KeyTable::put(const UsedApiKeys& used, base::Timestamp) {
  for (const auto& [id, at] : used.keys) {
    for (ApiKey& key : keys_) {
      if (key.id == id) key.used = std::max(key.used.value_or(at), at);
    }
  }
}

void KeyTable::put(const OldApiKeys& old, base::Timestamp) {
  std::erase_if(keys_, [&](const ApiKey& key) {
    return (key.revoked && *key.revoked < old.before) || (key.expires && *key.expires < old.before);
  });
  ++state_;
}

void KeyTable::put(const ApiKeysOfCaller& gone, base::Timestamp) {
  std::erase_if(keys_, [&](const ApiKey& key) { return key.caller == gone.caller; });
  ++state_;
}

void KeyTable::apply(const OperatorWrite& write, base::Timestamp at) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { put(one, at); }) put(one, at);
      },
      write);
}

}  // namespace baton::store::memory

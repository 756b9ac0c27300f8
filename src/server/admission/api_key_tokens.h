// ApiKeyTokens: the API keys that requests may bring, in memory.
//
// A key with a wrong checksum is refused without a look-up. Others are found by their id, and their secret's
// digest is compared in constant time. A key whose role this program does not know is no key. Streams that
// are open when a key ends stay open.
// Threads: any. Lifetime: the clock must outlive it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/api_key_text.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "engine/operators/api_keys.h"
#include "server/shared/options.h"
#include "server/shared/token_source.h"

namespace baton::server {

// The words for a role, as in the configuration: "caller", "viewer" and "operator".
std::string_view name_of(Role role);
std::optional<Role> role_named(std::string_view name);
// The words of a list that is separated by spaces.
std::vector<std::string> split_words(std::string_view list);

// The callers that may call agents with a key that is valid at this time.
std::set<std::string> callers_of(const engine::ApiKeys::Keys& keys, base::Timestamp at);

class ApiKeyTokens final : public TokenSource {
 public:
  explicit ApiKeyTokens(const base::Clock& clock) : clock_(clock) {}

  // Replaces the keys.
  void set(const engine::ApiKeys::Keys& keys);

  Found find(std::string_view secret) override;
  TokenPtr named(std::string_view id) const override;
  Wait await(std::string_view, const std::string&, std::function<void()>) override { return Wait::none; }
  std::vector<Issuer> issuers() const override { return {}; }

  // The keys that were used since the last call, with the minute of their last use.
  store::UsedApiKeys take_used();
  // Called on the thread of a request when a key was used for the first time after `take_used`, or in another
  // minute. Set it before the first request; it must not block.
  void set_on_used(std::function<void()> on_used) { on_used_ = std::move(on_used); }

 private:
  struct Known {
    Token token;
    base::KeyDigest digest{};
    bool is_revoked = false;
    std::optional<base::Timestamp> expires;
    std::atomic<std::int64_t> used{0};   // the minute, since 1970
    std::atomic<std::int64_t> taken{0};  // `used` when it was taken
  };
  using KnownPtr = std::shared_ptr<Known>;
  using Map = std::unordered_map<std::string, KnownPtr>;

  void note_use(Known& key, base::Timestamp now);

  const base::Clock& clock_;
  std::function<void()> on_used_;
  std::atomic<bool> has_used_{false};
  base::Guarded<std::shared_ptr<const Map>> keys_;  // null: none
};

}  // namespace baton::server

#include "engine/operators/api_keys.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/error_names.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

std::string named_key(const std::string& id) {
  return "key " + id;
}

}  // namespace

base::Result<void> ApiKeys::start() {
  if (!is_on()) return {};
  if (auto keys = read(); !keys) return keys;
  sweep();
  return {};
}

// The state is read first, so that the next look finds a change in between.
base::Result<void> ApiKeys::read() {
  const auto state = store_.api_keys_state();
  if (!state) return fail(state.error());
  const auto keys = store_.api_keys();
  if (!keys) return fail(keys.error());
  seen_ = *state;
  has_keys_ = !keys->empty();
  took_(*keys);
  if (has_keys_) sweep_later();
  return {};
}

void ApiKeys::look(bool is_told) {
  if (!is_on() || peers_ == nullptr) return;
  const bool is_alone = peers_->is_alone();
  const bool has_changed = was_alone_.exchange(is_alone) != is_alone;
  const bool must_look = !is_alone && (has_keys_ || !peers_->hears());
  if (!is_told && !has_changed && !must_look) return;
  const auto state = store_.api_keys_state();
  if (state && *state != seen_) reload([] {}, false);
}

// Reads the keys, then calls `then`; if they are being read, once more afterwards. `tells`: the other nodes.
void ApiKeys::reload(std::function<void()> then, bool tells) {
  if (!is_on()) return then();
  const bool begins = state_.with([&](State& state) {
    state.waiting.push_back(std::move(then));
    state.tells |= tells;
    return !std::exchange(state.is_reading, true);
  });
  if (begins && !background_.run([this] { read_waiting(); })) {
    for (const auto& each : state_.with([](State& state) { return std::exchange(state.waiting, {}); }))
      each();
  }
}

void ApiKeys::read_waiting() {
  bool goes_on = true;
  while (goes_on) {
    std::vector<std::function<void()>> waiting;
    const bool tells = state_.with([&](State& state) {
      waiting = std::exchange(state.waiting, {});
      return std::exchange(state.tells, false);
    });
    if (const auto keys = read(); !keys) {
      spdlog::warn("cannot read the API keys; retrying: {}", keys.error().for_log);
      background_.again([this] { reload([] {}, false); });
    }
    if (tells && peers_ != nullptr) peers_->tell({{kApiKeysNotice, {}}});
    for (const auto& each : waiting) each();
    goes_on = state_.with([](State& state) { return state.is_reading = !state.waiting.empty(); });
  }
}

base::Result<void> ApiKeys::check(const Actor& actor) const {
  if (!is_on())
    return fail(ErrorCode::conflict,
                "API keys are off, because callers need no token here: set api_keys and restart");
  if (actor.name.empty() || actor.reason.empty() || actor.reason.size() > kReasonMax)
    return fail(ErrorCode::invalid_argument,
                "an actor and a reason of 1 to " + std::to_string(kReasonMax) + " bytes are required");
  return {};
}

// Writes the action and its audit row, or the row of its refusal.
void ApiKeys::act(task::AuditEntry entry, const base::Result<store::OperatorWrite>& what, store::ApiKey after,
                  Done done) {
  const auto refuse = [this](task::AuditEntry refused, base::Error error, const Done& told) {
    refused.outcome = base::name_of(error.code);
    inbox_.write([this, refused] { return store_.write(refused); },
                 [told, error = std::move(error)](const base::Result<void>&) { told(fail(error)); });
  };
  if (!what) return refuse(std::move(entry), what.error(), done);
  auto write = [this, what = *what, entry]() -> base::Result<void> {
    if (auto written = store_.write(what); !written) return written;
    return store_.write(entry);
  };
  inbox_.write(std::move(write), [this, refuse, entry, after = std::move(after),
                                  done = std::move(done)](base::Result<void> written) {
    if (!written) return refuse(entry, std::move(written.error()), done);
    reload([done, after] { done(after); }, true);
  });
}

void ApiKeys::create(store::ApiKey key, Actor actor, Done done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  task::AuditEntry entry;
  entry.actor = actor.name;
  entry.action = "create-key";
  entry.reason = actor.reason;
  entry.caller = {key.caller};
  entry.detail = named_key(key.id) + ", " + key.role;
  key.by = actor.name;
  key.created = clock_.now();
  act(std::move(entry), store::OperatorWrite(store::NewApiKey{key}), key, std::move(done));
}

// Reads the key, then calls `then` with it, or with null.
void ApiKeys::find_first(const std::string& id, Done done,
                         std::function<void(const store::ApiKey*, Done)> then) {
  const auto find = [this, id, done, then = std::move(then)] {
    const auto keys = store_.api_keys();
    if (!keys) return done(fail(keys.error()));
    const auto found = std::ranges::find(*keys, id, &store::ApiKey::id);
    then(found == keys->end() ? nullptr : &*found, done);
  };
  if (!background_.run(find)) done(fail(ErrorCode::unavailable, "the server is stopping; try again"));
}

void ApiKeys::rotate(Rotation rotation, Actor actor, Done done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  const std::string id = rotation.old;
  const auto make = [this, rotation = std::move(rotation), actor = std::move(actor)](const store::ApiKey* old,
                                                                                     Done told) {
    task::AuditEntry entry{actor.name, "rotate-key", actor.reason, named_key(rotation.old)};
    if (old == nullptr) return act(std::move(entry), fail(store::no_such_api_key()), {}, std::move(told));
    entry.caller = {old->caller};
    entry.detail += " by " + named_key(rotation.id);
    const base::Timestamp now = clock_.now();
    store::NewApiKey made{*old, old->id, now + rotation.overlap};
    made.key.id = rotation.id;
    made.key.digest = rotation.digest;
    made.key.by = actor.name;
    made.key.created = now;
    made.key.used.reset();
    if (old->expires) made.key.expires = now + (*old->expires - old->created);
    if (rotation.lifetime) made.key.expires = now + *rotation.lifetime;
    act(std::move(entry), store::OperatorWrite(made), made.key, std::move(told));
  };
  find_first(id, std::move(done), make);
}

void ApiKeys::revoke(const std::string& id, Actor actor, Done done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  const auto end = [this, id, actor = std::move(actor)](const store::ApiKey* key, Done told) {
    task::AuditEntry entry{actor.name, "revoke-key", actor.reason, named_key(id)};
    if (key == nullptr) return act(std::move(entry), fail(store::no_such_api_key()), {}, std::move(told));
    entry.caller = {key->caller};
    store::ApiKey after = *key;
    after.revoked = clock_.now();
    act(std::move(entry), store::OperatorWrite(store::RevokedApiKey{id}), std::move(after), std::move(told));
  };
  find_first(id, std::move(done), end);
}

void ApiKeys::note_used(store::UsedApiKeys used) {
  inbox_.write([this, used = std::move(used)] { return store_.write(used); }, [](auto&&) {});
}

base::Result<std::int64_t> ApiKeys::number_of(const std::string& caller) const {
  const auto keys = store_.api_keys();
  if (!keys) return fail(keys.error());
  return std::ranges::count(*keys, caller, &store::ApiKey::caller);
}

base::Result<void> ApiKeys::forget(const std::string& caller) {
  return store_.write(store::ApiKeysOfCaller{caller});
}

// Removes the keys that ended long ago. Only the leading node does.
void ApiKeys::sweep() {
  if (peers_ != nullptr && !peers_->leads()) return;
  const auto keys = store_.api_keys();
  if (!keys) return;
  const base::Timestamp before = clock_.now() - kEndedFor;
  const bool any = std::ranges::any_of(*keys, [&](const store::ApiKey& key) {
    return (key.revoked && *key.revoked < before) || (key.expires && *key.expires < before);
  });
  if (!any) return;
  inbox_.write([this, before] { return store_.write(store::OldApiKeys{before}); },
               [this](const base::Result<void>& written) {
                 if (written) reload([] {}, true);
               });
}

void ApiKeys::sweep_later() {
  if (sweeps_.exchange(true)) return;
  background_.timers().after(kSweepEvery, [this] {
    background_.run_low([this] {
      sweeps_ = false;
      sweep();
      if (has_keys_) sweep_later();
    });
  });
}

}  // namespace baton::engine

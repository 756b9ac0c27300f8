#include "engine/operators/api_keys.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/error_names.h"
#include "base/text.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

// The list of agents may be long; the audit has its beginning.
constexpr std::size_t kAgentsTold = 200;

std::string named_key(const std::string& id) {
  return "key " + id;
}

// "caller, scopes send read, agents echo, until 2026-12-01T00:00:00Z".
std::string rights_of(const store::ApiKey& key) {
  std::string text = key.role + ", scopes " + key.scopes;
  if (!key.agents.empty()) {
    const std::string_view agents = base::beginning_of(key.agents, kAgentsTold);
    text.append(", agents ").append(agents).append(agents.size() < key.agents.size() ? "..." : "");
  }
  if (key.binds_children) text += ", own children";
  return text + (key.expires ? ", until " + base::to_rfc3339(*key.expires) : ", without end");
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
  if (state && *state != seen_) reload([](auto&&) {}, false);
}

// Calls `then` after a read of the keys that begins later. `tells`: the other nodes.
void ApiKeys::reload(Read then, bool tells) {
  if (!is_on()) return then({});
  state_.with([&](State& state) {
    state.waiting.push_back({std::move(then)});
    state.tells |= tells;
    state.is_due = true;
  });
  begin_reading();
}

void ApiKeys::begin_reading() {
  const bool begins =
      state_.with([](State& state) { return state.is_due && !std::exchange(state.is_reading, true); });
  if (!begins || background_.run([this] { read_waiting(); })) return;
  const auto waiting = state_.with([](State& state) {
    state.is_reading = false;
    return std::exchange(state.waiting, {});
  });
  for (const Waiting& each : waiting)
    each.then(fail(ErrorCode::unavailable, "the server is stopping: it is stored, but not everywhere known"));
}

void ApiKeys::read_waiting() {
  try {
    while (read_once()) {
    }
  } catch (const std::exception& error) {
    spdlog::error("reading the API keys: {}", error.what());
    state_.with([](State& state) {
      state.is_reading = false;
      state.is_due = true;
    });
    background_.again([this] { begin_reading(); });
  }
}

// Reads the keys for those who wait. Returns whether to read once more now.
bool ApiKeys::read_once() {
  bool tells = false;
  std::vector<Waiting> waiting = state_.with([&](State& state) {
    state.is_due = false;
    tells = std::exchange(state.tells, false);
    return std::exchange(state.waiting, {});
  });
  const auto keys = read_safely();
  if (tells && peers_ != nullptr) peers_->notify({{kApiKeysNotice, {}}});
  if (keys) {
    for (const Waiting& each : waiting) each.then({});
    return state_.with([](State& state) { return state.is_reading = state.is_due; });
  }
  spdlog::warn("cannot read the API keys; retrying: {}", keys.error().for_log);
  std::vector<Waiting> given_up;
  state_.with([&](State& state) {
    for (Waiting& each : waiting)
      (--each.reads_left > 0 ? state.waiting : given_up).push_back(std::move(each));
    state.is_reading = false;
    state.is_due = true;
  });
  background_.again([this] { begin_reading(); });
  for (const Waiting& each : given_up)
    each.then(fail(ErrorCode::unavailable,
                   "it is stored, but this node cannot read the keys and may still use those that it knows"));
  return false;
}

base::Result<void> ApiKeys::read_safely() {
  try {
    return read();
  } catch (const std::exception& error) {
    return base::fail({ErrorCode::internal, {}, error.what()});
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
    reload(
        [done, after](base::Result<void> read) {
          if (!read) return done(fail(std::move(read.error())));
          done(after);
        },
        true);
  });
}

void ApiKeys::create(store::ApiKey key, Actor actor, Done done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  task::AuditEntry entry;
  entry.actor = actor.name;
  entry.action = "create-key";
  entry.reason = actor.reason;
  entry.caller = {key.caller};
  key.by = actor.name;
  key.created = clock_.now();
  if (key.lifetime) key.expires = key.created + *key.lifetime;
  entry.detail = named_key(key.id) + ", " + rights_of(key);
  act(std::move(entry), store::OperatorWrite(store::NewApiKey{key}), key, std::move(done));
}

// Reads the key, then calls `then` with it. If there is none, records that.
void ApiKeys::find_first(const std::string& id, task::AuditEntry entry, Done done,
                         std::function<void(const store::ApiKey&, task::AuditEntry, Done)> then) {
  const auto find = [this, id, entry = std::move(entry), done, then = std::move(then)] {
    const auto key = store_.api_key(id);
    if (key) return then(*key, entry, done);
    if (key.error().code == ErrorCode::not_found) return act(entry, fail(key.error()), {}, done);
    done(fail(key.error()));
  };
  if (!background_.run(find)) done(fail(ErrorCode::unavailable, "the server is stopping; try again"));
}

void ApiKeys::rotate(Rotation rotation, Actor actor, Done done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  const std::string id = rotation.old;
  task::AuditEntry entry{actor.name, "rotate-key", actor.reason, named_key(id)};
  const auto make = [this, rotation = std::move(rotation), by = actor.name](
                        const store::ApiKey& old, task::AuditEntry noted, Done told) {
    noted.caller = {old.caller};
    const base::Timestamp now = clock_.now();
    store::NewApiKey made{old, old.id, now + rotation.overlap};
    made.key.id = rotation.id;
    made.key.digest = rotation.digest;
    made.key.by = by;
    made.key.created = now;
    made.key.used.reset();
    made.key.revoked.reset();
    made.key.expires.reset();
    if (rotation.lifetime) made.key.lifetime = rotation.lifetime;
    if (made.key.lifetime) made.key.expires = now + *made.key.lifetime;
    noted.detail += " by " + named_key(rotation.id) + ", " + rights_of(made.key);
    const auto allowed = rotation.check ? rotation.check(made.key) : base::Result<void>();
    if (!allowed) return act(std::move(noted), fail(allowed.error()), {}, std::move(told));
    act(std::move(noted), store::OperatorWrite(made), made.key, std::move(told));
  };
  find_first(id, std::move(entry), std::move(done), make);
}

void ApiKeys::revoke(const std::string& id, Actor actor, Done done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  const auto end = [this](const store::ApiKey& key, task::AuditEntry entry, Done told) {
    entry.caller = {key.caller};
    store::ApiKey after = key;
    after.revoked = clock_.now();
    act(std::move(entry), store::OperatorWrite(store::RevokedApiKey{key.id}), std::move(after),
        std::move(told));
  };
  find_first(id, {actor.name, "revoke-key", actor.reason, named_key(id)}, std::move(done), end);
}

void ApiKeys::note_used(store::UsedApiKeys used) {
  inbox_.write([this, used = std::move(used)] { return store_.write(used); }, [](auto&&) {});
}

void ApiKeys::forget(const std::string& caller, Actor actor, Forgot done) {
  const auto keys = std::make_shared<std::int64_t>(0);  // shared by the write and its end
  auto write = [this, caller, actor = std::move(actor), keys]() -> base::Result<void> {
    if (auto written = store_.write(store::ApiKeysOfCaller{caller, keys.get()}); !written) return written;
    if (*keys == 0) return {};
    task::AuditEntry entry{actor.name, "delete-keys", actor.reason, base::counted(*keys, "API key")};
    entry.caller = {caller};
    return store_.write(entry);
  };
  inbox_.write(std::move(write), [this, keys, done = std::move(done)](base::Result<void> written) {
    if (!written) return done(fail(std::move(written.error())));
    if (*keys == 0) return done(0);
    reload(
        [keys, done](base::Result<void> read) {
          if (!read) return done(fail(std::move(read.error())));
          done(*keys);
        },
        true);
  });
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
                 if (written) reload([](auto&&) {}, true);
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

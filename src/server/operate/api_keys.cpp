// API keys: the lists of them, and operators' actions on them. Only the answer that makes a key has its text.
#include "engine/operators/api_keys.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/api_key_text.h"
#include "json/writer.h"
#include "server/admission/api_key_tokens.h"
#include "server/operate/action_body.h"
#include "server/operate/handlers.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;
using base::fail;
using json::Writer;
using std::chrono::seconds;

constexpr std::size_t kCallerMax = 256, kAgentsTextMax = 4'096;
constexpr seconds kOverlapUsual{86'400}, kOverlapMax{30 * 86'400};
constexpr seconds kLifetimeMax{std::int64_t{10} * 366 * 86'400};

std::string_view state_of_key(const store::ApiKey& key, base::Timestamp now) {
  if (key.revoked) return "revoked";
  return key.is_valid(now) ? "valid" : "expired";
}

void write_api_key(Writer& out, const store::ApiKey& key, base::Timestamp now) {
  const auto time = [&](std::string_view name, const std::optional<base::Timestamp>& at) {
    if (at) out.member(name, base::to_rfc3339(*at));
  };
  out.object([&] {
    out.member("id", key.id).member("caller", key.caller).member("role", key.role);
    out.member("state", state_of_key(key, now));
    out.key("scopes").strings(split_words(key.scopes));
    if (!key.agents.empty()) out.key("agents").strings(split_words(key.agents));
    if (key.binds_children) out.member("children", "own");
    out.member("createdAt", base::to_rfc3339(key.created)).member("createdBy", key.by);
    time("expiresAt", key.expires);
    time("revokedAt", key.revoked);
    time("usedAt", key.used);
  });
}

// `text`: the key itself, if it was just made. The row that the answer shows is on the disk already.
engine::ApiKeys::Done done_with_key(const CallPtr& call, std::string text = {}) {
  return [call, text = std::move(text)](base::Result<store::ApiKey> key) {
    if (!key) return call->exchange->reply(error_reply(key.error()));
    std::string body;
    Writer out(body);
    out.object([&] {
      out.optional("apiKey", text);
      out.key("key");
      write_api_key(out, *key, base::SystemClock().now());
    });
    call->exchange->reply(json_reply(std::move(body), text.empty() ? 200 : 201));
  };
}

base::Error wrong_member(std::string_view member, std::string_view what) {
  return {ErrorCode::invalid_argument, std::string(member) + ": " + std::string(what), {}};
}

// A null is not taken for no value: it would lift the limit that somebody meant to set.
base::Result<std::optional<seconds>> seconds_in(const ActionBody& body, std::string_view member,
                                                seconds least, seconds most) {
  const json::Value given = body[member];
  if (given.missing()) return std::optional<seconds>();
  const auto number = given.integer();
  if (number && *number >= least.count() && *number <= most.count()) return std::optional(seconds(*number));
  return fail(wrong_member(member, "must be a whole number from " + std::to_string(least.count()) + " to " +
                                       std::to_string(most.count())));
}

// The strings of a list, separated by spaces; empty if it is missing.
base::Result<std::string> list_in(const ActionBody& body, std::string_view member) {
  const json::Value list = body[member];
  std::string text;
  if (list.missing()) return text;
  const auto is_word = [](std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return c > ' ' && c != 0x7f; });
  };
  bool is_good = list.is_array();
  for (const json::Value each : list) {
    is_good = is_good && is_word(each.string());
    text += (text.empty() ? "" : " ") + each.str();
  }
  if (!is_good || text.empty() || text.size() > kAgentsTextMax)
    return fail(wrong_member(member, "must be a list of at least one name"));
  return text;
}

// The scopes that have an effect in this role.
Scopes scopes_of_role(Role role) {
  if (role == Role::operates) return Scopes::all();
  Scopes scopes;
  scopes.add(Scope::read);
  if (role == Role::views) return scopes;
  scopes.add(Scope::send);
  scopes.add(Scope::cancel);
  return scopes;
}

Scopes scopes_named(std::string_view words) {
  Scopes scopes;
  for (const std::string& word : split_words(words)) scopes.add(word);
  return scopes;
}

std::string scope_words(Scopes scopes) {
  std::string words;
  for (const std::string& name : names_of(scopes)) words += (words.empty() ? "" : " ") + name;
  return words;
}

// All that have an effect in the role, if none are given.
base::Result<Scopes> scopes_in(const ActionBody& body, Role role) {
  const Scopes useful = scopes_of_role(role);
  const auto given = list_in(body, "scopes");
  if (given && given->empty()) return useful;
  Scopes scopes;
  bool is_good = given.has_value();
  for (const std::string& word : split_words(given.value_or(""))) is_good = is_good && scopes.add(word);
  if (!is_good)
    return fail(wrong_member("scopes", "must be a list of at least one of send, read, cancel and operate"));
  Scopes all = useful;
  all.add(scopes);
  const std::string whose = "of the role " + std::string(name_of(role));
  if (all != useful)
    return fail(wrong_member("scopes", "a key " + whose + " can only use " + scope_words(useful)));
  // Reading is a condition of all that the operator API does.
  if (role != Role::calls && !scopes.has(Scope::read))
    return fail(wrong_member("scopes", "a key " + whose + " is of no use without read"));
  return scopes;
}

base::Result<store::ApiKey> read_new_key(const ActionBody& body) {
  store::ApiKey key;
  key.caller = body["caller"].str();
  const bool is_readable =
      std::ranges::none_of(key.caller, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (key.caller.empty() || key.caller.size() > kCallerMax || !is_readable ||
      key.caller == task::kAnonymous.value)
    return fail(wrong_member(
        "caller",
        "must be a name of 1 to 256 bytes, without control characters, and not " + task::kAnonymous.value));
  const auto role = body["role"].missing() ? Role::calls : role_named(body["role"].str());
  if (!role) return fail(wrong_member("role", "must be caller, viewer or operator"));
  key.role = name_of(*role);
  const auto scopes = scopes_in(body, *role);
  if (!scopes) return fail(scopes.error());
  key.scopes = scope_words(*scopes);
  auto agents = list_in(body, "agents");
  if (!agents) return fail(agents.error());
  key.agents = std::move(*agents);
  for (const char* member : {"agents", "children"}) {
    if (*role == Role::views && !body[member].missing())
      return fail(wrong_member(member, "has no effect for a viewer, who calls no agents"));
  }
  key.binds_children = body["children"].str() == "own";
  const bool is_any = body["children"].missing() || body["children"].str() == "any";
  if (!is_any && (!key.binds_children || key.agents.empty()))
    return fail(wrong_member("children", "must be any, or own together with agents"));
  const auto lifetime = seconds_in(body, "seconds", seconds(1), kLifetimeMax);
  if (!lifetime) return fail(lifetime.error());
  if (*lifetime) key.lifetime = **lifetime;
  return key;
}

// Fails with permission_denied if the key allows what the operator's own token does not.
base::Result<void> check_rights(const Operator& maker, const store::ApiKey& key) {
  const auto refuse = [](const std::string& what) {
    return fail(ErrorCode::permission_denied, "your own token " + what + ", so it cannot give that to a key");
  };
  const Scopes scopes = scopes_named(key.scopes);
  for (std::size_t i = 0; i < kScopeNames.size(); ++i) {
    const auto scope = static_cast<Scope>(i);
    if (scopes.has(scope) && !maker.scopes.has(scope))
      return refuse("lacks the scope " + std::string(kScopeNames[i]));
  }
  if (key.role == name_of(Role::views) || maker.agents.empty()) return {};
  if (key.agents.empty()) return refuse("is not valid for all agents");
  for (const std::string& agent : split_words(key.agents)) {
    if (std::ranges::find(maker.agents, agent) == maker.agents.end())
      return refuse("is not valid for the agent " + agent);
  }
  if (maker.binds_children && !key.binds_children)
    return refuse("lets tasks delegate to its own agents only");
  return {};
}

// The id of the key in the path, which may be a whole key. Fails with not_found for all that is no id: that
// may be a secret, so it must not reach the audit.
base::Result<std::string> id_in_path(const Call& call) {
  if (base::is_api_key_id(call.parameter)) return call.parameter;
  const auto whole = base::read_api_key(call.parameter);
  if (!whole) return fail(store::no_such_api_key());
  return std::string(whole->id);
}

}  // namespace

void list_api_keys(const CallPtr& call) {
  Query query(call->request().query);
  const std::string caller = query.text("caller");
  const std::string state = query.choice("state", {"", "valid", "expired", "revoked"});
  if (const auto good = query.checked(); !good) return answer(call, fail(good.error()));
  const auto keys = call->facts.store.api_keys();
  if (!keys) return answer(call, fail(keys.error()));
  const base::Timestamp now = base::SystemClock().now();
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(now)).key("keys").array([&] {
      for (const store::ApiKey& key : *keys) {
        const bool passes =
            (caller.empty() || key.caller == caller) && (state.empty() || state_of_key(key, now) == state);
        if (passes) write_api_key(out, key, now);
      }
    });
  });
  answer(call, std::move(text));
}

void create_api_key(const CallPtr& call) {
  const auto body = ActionBody::read(*call, {"caller", "role", "scopes", "agents", "children", "seconds"});
  if (!body) return answer(call, fail(body.error()));
  auto key = read_new_key(*body);
  if (!key) return answer(call, fail(key.error()));
  if (const auto allowed = check_rights(call->by, *key); !allowed) return answer(call, fail(allowed.error()));
  base::MadeApiKey made = base::make_api_key();
  key->id = made.id;
  key->digest = std::move(made.digest);
  call->facts.services.engine.api_keys().create(std::move(*key), body->actor(),
                                                done_with_key(call, std::move(made.text)));
}

void rotate_api_key(const CallPtr& call) {
  const auto body = ActionBody::read(*call, {"seconds", "overlapSeconds"});
  if (!body) return answer(call, fail(body.error()));
  const auto lifetime = seconds_in(*body, "seconds", seconds(1), kLifetimeMax);
  if (!lifetime) return answer(call, fail(lifetime.error()));
  const auto overlap = seconds_in(*body, "overlapSeconds", seconds(0), kOverlapMax);
  if (!overlap) return answer(call, fail(overlap.error()));
  const auto id = id_in_path(*call);
  if (!id) return answer(call, fail(id.error()));
  base::MadeApiKey made = base::make_api_key();
  engine::ApiKeys::Rotation rotation{
      *id, made.id, std::move(made.digest), {}, overlap->value_or(kOverlapUsual)};
  rotation.check = [by = call->by](const store::ApiKey& key) { return check_rights(by, key); };
  if (*lifetime) rotation.lifetime = **lifetime;
  call->facts.services.engine.api_keys().rotate(std::move(rotation), body->actor(),
                                                done_with_key(call, std::move(made.text)));
}

void revoke_api_key(const CallPtr& call) {
  const auto body = ActionBody::read(*call, {});
  if (!body) return answer(call, fail(body.error()));
  const auto id = id_in_path(*call);
  if (!id) return answer(call, fail(id.error()));
  call->facts.services.engine.api_keys().revoke(*id, body->actor(), done_with_key(call));
}

}  // namespace baton::server::operate

#include "server/admission/jwt_claims.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "json/document.h"
#include "server/admission/token_secret.h"
#include "server/shared/endpoint.h"

namespace baton::server {
namespace {

using json::Value;
using Names = std::vector<std::string>;

constexpr std::size_t kSubjectMax = 256, kShownNameMax = 100;
constexpr std::size_t kActorsMax = 5;
constexpr double kSecondsMax = 253'402'300'800;  // the year 10000

tl::unexpected<base::Error> refused_claims(std::string reason) {
  return base::fail(base::ErrorCode::unauthenticated, "a valid bearer token is required", std::move(reason));
}

// The claim of this name, or else the member that a path such as "realm_access.roles" leads to. Names in a
// path may have dots themselves: Keycloak calls its clients by their ids, which may be URLs, and Kubernetes
// has the claim "kubernetes.io".
Value claim_at(Value claims, std::string_view name) {
  if (const Value whole = claims[name]; !whole.missing()) return whole;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    const Value member = claims[name.substr(0, dot)];
    if (!member.is_object()) continue;
    if (const Value found = claim_at(member, name.substr(dot + 1)); !found.missing()) return found;
  }
  return {};
}

// The names in a claim: a list of strings, a string with blanks between them, or an object whose members have
// these names (ZITADEL's roles; each member is an object of the organisations that gave the role).
Names names_in(Value claim) {
  Names names;
  if (claim.is_array()) {
    for (const Value each : claim) {
      if (each.is_string()) names.push_back(each.str());
    }
  }
  if (claim.is_object()) {
    for (const Value member : claim) {
      if (member.is_object() && member.size() > 0) names.emplace_back(member.key());
    }
  }
  std::string_view text = claim.string();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

bool share_one(const Names& one, const Names& other) {
  return std::ranges::any_of(
      one, [&](const std::string& name) { return std::ranges::find(other, name) != other.end(); });
}

// A NumericDate: seconds since 1970, perhaps with a fraction.
std::optional<base::Timestamp> time_in(Value claim) {
  const auto seconds = claim.real();
  if (!seconds || !(*seconds >= 0) || *seconds > kSecondsMax) return std::nullopt;
  return base::from_ms(static_cast<std::int64_t>(*seconds * 1'000));
}

// The agents that an audience opens; nullopt: it is not ours. An empty list: all.
std::optional<Names> agents_of(const Issuer& issuer, std::string_view public_url, std::string_view audience) {
  if (!issuer.audiences.empty()) {
    if (std::ranges::find(issuer.audiences, audience) != issuer.audiences.end()) return Names();
    return std::nullopt;
  }
  while (public_url.ends_with('/')) public_url.remove_suffix(1);
  if (public_url.empty() || !audience.starts_with(public_url)) return std::nullopt;
  std::string_view rest = audience.substr(public_url.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.empty() || rest == "/mcp") return Names();
  if (!rest.starts_with(kAgents)) return std::nullopt;
  rest.remove_prefix(kAgents.size());
  if (rest.ends_with("/mcp")) rest.remove_suffix(4);
  if (rest.empty() || rest.find('/') != std::string_view::npos) return std::nullopt;
  return Names{std::string(rest)};
}

// The agents that the token's audiences open together.
std::optional<Names> agents_by_audience(const Issuer& issuer, std::string_view public_url, Value audience) {
  std::optional<Names> all;
  Names each;
  if (audience.is_string()) {
    each.push_back(audience.str());
  } else if (audience.is_array()) {
    for (const Value one : audience) {
      if (one.is_string()) each.push_back(one.str());
    }
  }
  for (const std::string& one : each) {
    auto opened = agents_of(issuer, public_url, one);
    if (!opened) continue;
    if (opened->empty()) return Names();
    if (!all) all.emplace();
    all->push_back(std::move(opened->front()));
  }
  return all;
}

// Those of `agents` that `more` has, too; an empty list is all. Returns false if none are left.
bool narrow(Names& agents, const Names& more) {
  if (more.empty()) return true;
  if (agents.empty()) {
    agents = more;
    return true;
  }
  std::erase_if(agents, [&](const std::string& name) { return std::ranges::find(more, name) == more.end(); });
  return !agents.empty();
}

// A string is one role as a whole, too: ADFS writes a list of one as a string, and groups have names with
// blanks.
Names roles_in(const Issuer& issuer, Value claims) {
  const Value claim = claim_at(claims, issuer.roles_claim);
  Names roles = names_in(claim);
  if (!claim.string().empty()) roles.push_back(claim.str());
  return roles;
}

Role role_of(const Issuer& issuer, Value claims) {
  if (issuer.operator_roles.empty() && issuer.viewer_roles.empty()) return Role::calls;
  const Names roles = roles_in(issuer, claims);
  if (share_one(roles, issuer.operator_roles)) return Role::operates;
  return share_one(roles, issuer.viewer_roles) ? Role::views : Role::calls;
}

Scopes scopes_of(const Issuer& issuer, Value claims) {
  Scopes scopes = issuer.scopes;
  for (const std::string& claim : issuer.scope_claims) {
    for (const std::string& name : names_in(claim_at(claims, claim))) {
      if (name.starts_with(issuer.scope_prefix))
        scopes.add(std::string_view(name).substr(issuer.scope_prefix.size()));
    }
  }
  return scopes;
}

Names actors_of(Value claims) {
  Names actors;
  for (Value act = claims["act"]; act.is_object() && actors.size() < kActorsMax; act = act["act"])
    actors.push_back(act["sub"].str());
  return actors;
}

bool is_subject(std::string_view subject) {
  return !subject.empty() && subject.size() <= kSubjectMax && base::is_utf8(subject) &&
         std::ranges::all_of(subject, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

}  // namespace

task::Caller caller_of(std::string_view issuer, std::string_view subject) {
  return {std::string(issuer) + task::kSubjectBegin + std::string(subject)};
}

std::string issuer_of(const task::Caller& caller) {
  const std::size_t end = caller.value.find(task::kSubjectBegin);
  return end == std::string::npos ? std::string() : caller.value.substr(0, end);
}

bool is_access_token(const Issuer& issuer, std::string_view typ) {
  constexpr std::string_view kMedia = "application/";
  if (base::begins_with(typ, kMedia)) typ.remove_prefix(kMedia.size());
  if (base::same_word(typ, "at+jwt")) return true;
  return issuer.any_typ && (typ.empty() || base::same_word(typ, "JWT"));
}

base::Result<Claimed> read_claims(const Issuer& issuer, std::string_view public_url, std::string_view text,
                                  base::Timestamp now) {
  const auto document = json::Document::parse_view(text, {.depth_max = 20});
  if (!document || !document->root().is_object()) return refused_claims("its claims are not a JSON object");
  const Value claims = document->root();
  for (const Value member : claims) {
    if (claims.repeats(member.key())) return refused_claims("it repeats a claim");
  }
  if (claims["iss"].string() != issuer.url) return refused_claims("iss is another issuer");
  // Only the holder of a key (RFC 9449) or a certificate (RFC 8705) may use the token. We check no such
  // proof, so as a plain bearer token it would serve a thief, too.
  if (!claims["cnf"].missing())
    return refused_claims("it is bound to a key (cnf), which is not checked here");
  auto agents = agents_by_audience(issuer, public_url, claims["aud"]);
  if (claims["aud"].missing() &&
      std::ranges::find(issuer.clients, claims["client_id"].string()) != issuer.clients.end())
    agents.emplace();
  if (!agents) return refused_claims("aud is not this server");
  const bool is_for_server = agents->empty();
  const auto expires = time_in(claims["exp"]);
  if (!expires) return refused_claims("it has no exp");
  if (*expires + issuer.skew <= now) return refused_claims("it has expired");
  for (const char* name : {"nbf", "iat"}) {
    const Value claim = claims[name];
    if (claim.missing()) continue;
    const auto at = time_in(claim);
    if (!at) return refused_claims(std::string(name) + " is not a time");
    if (*at > now + issuer.skew) return refused_claims(std::string(name) + " is in the future");
  }
  const std::string_view subject = claim_at(claims, issuer.subject_claim).string();
  if (!is_subject(subject)) return refused_claims("it has no usable subject");
  const bool left = narrow(*agents, issuer.agents);
  if (!left) return refused_claims("it is for none of the issuer's agents");
  if (!issuer.agents_claim.empty()) {
    const Names named = names_in(claim_at(claims, issuer.agents_claim));
    if (named.empty() || !narrow(*agents, named))
      return refused_claims("its agents claim names no agent of the issuer's");
  }
  Claimed claimed;
  claimed.token.caller = caller_of(issuer.url, subject);
  claimed.token.agents = std::move(*agents);
  claimed.token.role = is_for_server ? role_of(issuer, claims) : Role::calls;
  claimed.token.scopes = scopes_of(issuer, claims);
  claimed.expires = *expires;
  claimed.until = *expires + issuer.skew;
  claimed.actors = actors_of(claims);
  return claimed;
}

bool is_id_token(std::string_view typ) {
  return typ.empty() || base::same_word(typ, "JWT");
}

base::Result<SignedIn> read_id_claims(const Issuer& issuer, const SignInRules& rules, std::string_view nonce,
                                      std::string_view text, base::Timestamp now) {
  Issuer for_client = issuer;
  for_client.audiences = {rules.client_id};
  for_client.clients.clear();
  auto claimed = read_claims(for_client, {}, text, now);
  if (!claimed) return base::fail(std::move(claimed.error()));
  const auto document = json::Document::parse_view(text, {.depth_max = 20});
  const Value claims = document->root();
  if (nonce.empty() || !equal_in_constant_time(claims["nonce"].string(), nonce))
    return refused_claims("nonce is not that of the sign-in");
  // Required of a token for several.
  const Value party = claims["azp"];
  const bool has_several = claims["aud"].is_array() && claims["aud"].size() > 1;
  if ((has_several || !party.missing()) && party.string() != rules.client_id)
    return refused_claims("azp is another client");
  if (claimed->expires <= now) return refused_claims("it has expired");
  const Names roles = roles_in(issuer, claims);
  const bool may_call = share_one(roles, rules.caller_roles) || share_one({"*"}, rules.caller_roles);
  if (claimed->token.role == Role::calls && !may_call)
    return base::fail(base::ErrorCode::permission_denied,
                      "your account has none of the roles that may use this server");
  SignedIn person{std::move(claimed->token), {}, claimed->expires};
  person.token.scopes = Scopes::all();
  for (const std::string_view name : {std::string_view("preferred_username"), std::string_view("email"),
                                      std::string_view("name"), std::string_view(issuer.subject_claim)}) {
    if (const std::string_view said = claim_at(claims, name).string();
        person.name.empty() && is_subject(said))
      person.name = base::beginning_of(said, kShownNameMax);
  }
  return person;
}

}  // namespace baton::server

#include "server/admission/page_tokens.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/base64.h"
#include "base/sha256.h"
#include "jose/base64url.h"
#include "json/document.h"
#include "json/writer.h"
#include "server/admission/sessions.h"
#include "server/admission/token_secret.h"
#include "server/shared/tenants.h"

namespace baton::server {
namespace {

using base::ErrorCode;
using base::fail;
using Seconds = std::chrono::seconds;

constexpr std::string_view kBegin = "bp1.", kBeginOfServer = "bp2.", kPagePurpose = "page";
constexpr std::size_t kTokenMax = 4096;
// The minimum length of a token that signs page tokens, because a page token lets its holder guess the
// signing token offline, as fast as the hardware allows.
constexpr std::size_t kSecretMin = 32;
constexpr Seconds kNormalTime{900}, kTimeMax{86'400}, kTimeMaxOfOthers{3'600};

bool is_user(std::string_view user) {
  return !user.empty() && check_tenant(user).has_value();
}

// Reads the token's claims.
std::optional<PageGrant> grant_in(json::Value said) {
  const auto until = said["until"].integer();
  const bool is_time = until && *until >= 0 && *until <= std::numeric_limits<std::uint32_t>::max();
  const json::Value user = said["user"];
  if (!is_time || (!user.absent() && !is_user(user.string()))) return std::nullopt;
  return PageGrant{{said["caller"].str()}, user.str(), said["agent"].str(), base::Timestamp(Seconds(*until))};
}

void write_grant(json::Writer& out, const PageGrant& grant) {
  out.member("caller", grant.caller.value).optional("user", grant.user).optional("agent", grant.agent);
  out.member("until", std::chrono::duration_cast<Seconds>(grant.until.time_since_epoch()).count());
}

bool is_for(const Token& token, const std::string& agent) {
  return token.agents.empty() || std::ranges::find(token.agents, agent) != token.agents.end();
}

TokenPtr unowned(const Token& token) {
  return TokenPtr(TokenPtr(), &token);
}

// A page token that a valid signature is on, and the rights that it has now; null rights: what it was made
// from has ended.
struct Signed {
  PageGrant grant;
  TokenPtr rights;
};

std::optional<Signed> signed_by_token(const ServerOptions& options, std::string_view token) {
  const std::size_t end = token.rfind('.');
  if (end < kBegin.size()) return std::nullopt;
  const std::string_view payload = token.substr(kBegin.size(), end - kBegin.size());
  const auto normal = base::normalize_base64(payload);
  const auto text = normal ? base::decode_base64(*normal) : std::nullopt;
  if (!text) return std::nullopt;
  const auto document = json::Document::parse_view(*text);
  if (!document) return std::nullopt;
  auto grant = grant_in(document->root());
  if (!grant || grant->user.empty()) return std::nullopt;
  const std::vector<Token>& tokens = options.tokens.now();
  const auto signer = std::ranges::find_if(tokens, [&](const Token& one) {
    return one.role == Role::calls && one.secret.size() >= kSecretMin && one.caller == grant->caller &&
           equal_in_constant_time(token.substr(end + 1), base::hmac_sha256(one.secret, token.substr(0, end)));
  });
  if (signer == tokens.end()) return std::nullopt;
  return Signed{std::move(*grant), unowned(*signer)};
}

// The rights that were written into the token, as nothing here has them any more.
TokenPtr written_rights(json::Value said, const task::Caller& caller) {
  auto token = std::make_shared<Token>();
  token->caller = caller;
  token->scopes = Scopes();
  for (const json::Value agent : said["agents"]) token->agents.push_back(agent.str());
  for (const json::Value scope : said["scopes"]) token->scopes.add(scope.string());
  return token;
}

// The rights now of what the token was made from; null: it has ended.
TokenPtr rights_of(const ServerOptions& options, json::Value said, const PageGrant& grant) {
  const task::Caller& caller = grant.caller;
  const std::string name = said["of"].str();
  TokenPtr found;
  switch (static_cast<PageSource::Kind>(said["kind"].integer().value_or(0))) {
    case PageSource::Kind::certificate:
      for (const Token& one : options.tokens.now()) {
        if (!one.certificate.empty() && one.certificate == name) found = unowned(one);
      }
      break;
    case PageSource::Kind::api_key:
      if (options.api_keys) found = options.api_keys->named(name);
      break;
    case PageSource::Kind::jwt: {
      const auto issuers = options.jwt ? options.jwt->issuers() : std::vector<TokenSource::Issuer>();
      const bool is_good = std::ranges::any_of(issuers, [&](const TokenSource::Issuer& each) {
        return each.url == name && each.rules == said["rules"].string();
      });
      return is_good ? written_rights(said, caller) : nullptr;
    }
    case PageSource::Kind::session: {
      // An earlier version did not write the session's end, which is not before the token's.
      const auto ends = said["ends"].integer();
      const base::Timestamp until = ends ? base::from_ms(*ends) : grant.until;
      return options.sessions && !options.sessions->has_ended(name, until, said["rules"].string())
                 ? written_rights(said, caller)
                 : nullptr;
    }
    default:
      break;
  }
  return found && found->role == Role::calls && found->caller == caller ? found : nullptr;
}

std::optional<Signed> signed_by_server(const ServerOptions& options, std::string_view token) {
  if (!options.token_secret) return std::nullopt;
  const auto payload = options.token_secret->payload_of(kPagePurpose, token.substr(kBeginOfServer.size()));
  if (!payload) return std::nullopt;
  const auto document = json::Document::parse_view(*payload);
  if (!document) return std::nullopt;
  auto grant = grant_in(document->root());
  if (!grant) return std::nullopt;
  TokenPtr rights = rights_of(options, document->root(), *grant);
  return Signed{std::move(*grant), std::move(rights)};
}

}  // namespace

bool is_page_token(std::string_view token) {
  return token.starts_with(kBegin) || token.starts_with(kBeginOfServer);
}

base::Result<std::string> make_page_token(const ServerOptions& options, const PageGrant& grant,
                                          const PageSource& source) {
  std::string claims;
  json::Writer out(claims);
  if (source.kind == PageSource::Kind::token) {
    out.object([&] { write_grant(out, grant); });
    const std::string text = std::string(kBegin) + jose::encode_base64url(claims);
    return text + "." + base::hmac_sha256(source.token->secret, text);
  }
  out.object([&] {
    write_grant(out, grant);
    out.member("kind", static_cast<int>(source.kind)).member("of", source.name);
    if (source.kind != PageSource::Kind::jwt && source.kind != PageSource::Kind::session) return;
    out.member("rules", source.rules);
    if (source.kind == PageSource::Kind::session && source.until)
      out.member("ends", base::to_ms(*source.until));
    out.optional("agents", source.token->agents).key("scopes").strings(names_of(source.token->scopes));
  });
  std::string token = std::string(kBeginOfServer) + options.token_secret->sign(kPagePurpose, claims);
  if (token.size() > kTokenMax)
    return fail(ErrorCode::invalid_argument, "your token names more agents than a page token can hold");
  return token;
}

base::Result<PageCaller> identify_page(const ServerOptions& options, std::string_view token,
                                       const task::AgentName& agent, base::Timestamp now) {
  const auto unknown = fail(ErrorCode::unauthenticated, "a valid bearer token is required");
  if (!is_page_token(token) || token.size() > kTokenMax) return unknown;
  auto found = token.starts_with(kBegin) ? signed_by_token(options, token) : signed_by_server(options, token);
  if (!found) return unknown;
  const PageGrant& grant = found->grant;
  if (grant.until <= now) return fail(ErrorCode::unauthenticated, "this token has expired");
  if (!found->rights)
    return fail(ErrorCode::unauthenticated, "a valid bearer token is required",
                "what this page's token was made from has ended");
  const bool is_other = !grant.agent.empty() && grant.agent != agent.value;
  if (!agent.empty() && (is_other || !is_for(*found->rights, agent.value)))
    return fail(ErrorCode::permission_denied, "this token is not valid for this agent");
  return PageCaller{caller_in(grant.user, grant.caller), std::move(found->rights)};
}

base::Result<PageGrant> read_page_grant(std::string_view body, const PageSource& by, base::Timestamp now) {
  if (by.kind == PageSource::Kind::token && by.token->secret.size() < kSecretMin)
    return fail(ErrorCode::invalid_argument,
                "your token is too short to sign page tokens: it needs at least " +
                    std::to_string(kSecretMin) + " random characters");
  const auto document = json::Document::parse_view(body);
  if (!document) return fail(document.error());
  const json::Value root = document->root();
  if (!root.is_object()) return fail(ErrorCode::invalid_argument, "the body must be an object");
  for (const json::Value member : root) {
    if (member.key() != "user" && member.key() != "agent" && member.key() != "seconds")
      return fail(ErrorCode::invalid_argument, std::string(member.key()) + ": is unknown");
  }
  const json::Value user = root["user"], agent = root["agent"], time = root["seconds"];
  const bool needs_user = by.kind != PageSource::Kind::session || !user.absent();
  if (needs_user && !is_user(user.string()))
    return fail(ErrorCode::invalid_argument,
                "user: must be a string of 1 to 256 bytes without a slash, and not v1, tasks, agents or "
                "conversations");
  if (!agent.absent() && (agent.string().empty() || !is_for(*by.token, agent.str())))
    return fail(ErrorCode::invalid_argument, "agent: must be one of your own token's agents");
  const auto wanted = time.absent() ? std::optional(kNormalTime.count()) : time.integer();
  if (!wanted || *wanted < 1 || *wanted > kTimeMax.count())
    return fail(ErrorCode::invalid_argument,
                "seconds: must be a whole number from 1 to " + std::to_string(kTimeMax.count()));
  // Whole seconds, the unit of the token's `until`.
  const auto from = std::chrono::floor<Seconds>(now);
  const bool is_of_others = by.kind == PageSource::Kind::jwt || by.kind == PageSource::Kind::certificate;
  auto until = base::Timestamp(from + std::min(Seconds(*wanted), is_of_others ? kTimeMaxOfOthers : kTimeMax));
  if (by.until) until = std::min(until, base::Timestamp(std::chrono::floor<Seconds>(*by.until)));
  if (until <= now) return fail(ErrorCode::unauthenticated, "your token ends now");
  return PageGrant{by.token->caller, user.str(), agent.str(), until};
}

}  // namespace baton::server

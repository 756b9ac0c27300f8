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
#include "server/admission/access.h"
#include "server/shared/tenants.h"

namespace baton::server {
namespace {

using base::ErrorCode;
using base::fail;
using Seconds = std::chrono::seconds;

constexpr std::string_view kBegin = "bp1.";
constexpr std::size_t kTokenMax = 4096;
// The minimum length of a token that signs page tokens, because a page token lets its holder guess the
// signing token offline, as fast as the hardware allows.
constexpr std::size_t kSecretMin = 32;
constexpr Seconds kNormalTime{900}, kTimeMax{86'400};

bool is_user(std::string_view user) {
  return !user.empty() && check_tenant(user).has_value();
}

// Reads the token's claims. Does not check the signature.
std::optional<PageGrant> claims_of(std::string_view payload) {
  const auto normal = base::normalize_base64(payload);
  const auto text = normal ? base::decode_base64(*normal) : std::nullopt;
  if (!text) return std::nullopt;
  const auto document = json::Document::parse_view(*text);
  if (!document) return std::nullopt;
  const json::Value said = document->root();
  const auto until = said["until"].integer();
  const bool is_time = until && *until >= 0 && *until <= std::numeric_limits<std::uint32_t>::max();
  if (!is_time || !is_user(said["user"].string())) return std::nullopt;
  return PageGrant{
      {said["caller"].str()}, said["user"].str(), said["agent"].str(), base::Timestamp(Seconds(*until))};
}

bool is_for(const Token& token, const std::string& agent) {
  return token.agents.empty() || std::ranges::find(token.agents, agent) != token.agents.end();
}

}  // namespace

bool is_page_token(std::string_view token) {
  return token.starts_with(kBegin);
}

std::string make_page_token(const PageGrant& grant, std::string_view secret) {
  std::string claims;
  json::Writer out(claims);
  out.object([&] {
    out.member("caller", grant.caller.value).member("user", grant.user).optional("agent", grant.agent);
    out.member("until", std::chrono::duration_cast<Seconds>(grant.until.time_since_epoch()).count());
  });
  const std::string text = std::string(kBegin) + jose::encode_base64url(claims);
  return text + "." + base::hmac_sha256(secret, text);
}

base::Result<PageCaller> identify_page(const std::vector<Token>& tokens, std::string_view token,
                                       const task::AgentName& agent, base::Timestamp now) {
  const auto unknown = fail(ErrorCode::unauthenticated, "a valid bearer token is required");
  const std::size_t end = token.rfind('.');
  if (!is_page_token(token) || token.size() > kTokenMax || end < kBegin.size()) return unknown;
  const auto grant = claims_of(token.substr(kBegin.size(), end - kBegin.size()));
  if (!grant) return unknown;
  const auto signer = std::ranges::find_if(tokens, [&](const Token& one) {
    return one.role == Role::calls && one.secret.size() >= kSecretMin && one.caller == grant->caller &&
           equal_in_constant_time(token.substr(end + 1), base::hmac_sha256(one.secret, token.substr(0, end)));
  });
  if (signer == tokens.end()) return unknown;
  if (grant->until <= now) return fail(ErrorCode::unauthenticated, "this token has expired");
  const bool is_other = !grant->agent.empty() && grant->agent != agent.value;
  if (!agent.empty() && (is_other || !is_for(*signer, agent.value)))
    return fail(ErrorCode::permission_denied, "this token is not valid for this agent");
  return PageCaller{caller_in(grant->user, grant->caller), *signer};
}

base::Result<task::Caller> caller_of_page(const std::vector<Token>& tokens, std::string_view token,
                                          const task::AgentName& agent, base::Timestamp now) {
  auto page = identify_page(tokens, token, agent, now);
  if (!page) return fail(std::move(page.error()));
  return std::move(page->caller);
}

base::Result<PageGrant> read_page_grant(std::string_view body, const Token& by, base::Timestamp now) {
  if (by.secret.size() < kSecretMin)
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
  if (!is_user(user.string()))
    return fail(ErrorCode::invalid_argument,
                "user: must be a string of 1 to 256 bytes without a slash, and not v1, tasks, agents or "
                "conversations");
  if (!agent.absent() && (agent.string().empty() || !is_for(by, agent.str())))
    return fail(ErrorCode::invalid_argument, "agent: must be one of your own token's agents");
  const auto wanted = time.absent() ? std::optional(kNormalTime.count()) : time.integer();
  if (!wanted || *wanted < 1 || *wanted > kTimeMax.count())
    return fail(ErrorCode::invalid_argument,
                "seconds: must be a whole number from 1 to " + std::to_string(kTimeMax.count()));
  // Whole seconds, the unit of the token's `until`.
  const auto from = std::chrono::floor<Seconds>(now);
  return PageGrant{by.caller, user.str(), agent.str(), base::Timestamp(from + Seconds(*wanted))};
}

}  // namespace baton::server

// Tokens and keys of authorization servers. Anybody may send a token.
#include <algorithm>
#include <initializer_list>
#include <string>

#include "base/clock.h"
#include "fuzz/target.h"
#include "jose/base64url.h"
#include "jose/jwk.h"
#include "jose/jws.h"
#include "json/document.h"
#include "server/admission/jwt_claims.h"

namespace baton::fuzz {
namespace {

// A token has one text, and no text but ours has the signature of our key.
void jws(std::string_view input) {
  static const jose::Jwk known{*jose::Key::ed25519_private(std::string(32, 'k')), "ours", {}};
  constexpr auto kAlgorithm = jose::Algorithm::eddsa;
  const auto read = jose::parse_jws(input);
  if (read) {
    const std::string text(read->signed_text);
    require_same(text + "." + jose::encode_base64url(read->signature), input, "a signature has two texts");
    require(text.ends_with("." + jose::encode_base64url(read->payload)), "a payload has two texts");
    require(!jose::is_signed_by(*read, known), "a signature was forged");
  }
  const auto ours = jose::sign_jws(known.key, kAlgorithm, R"("typ":"at+jwt")", input);
  require(ours.has_value(), "a payload cannot be signed");
  const auto again = jose::parse_jws(*ours);
  if (ours->size() > jose::kJwsBytesMax) return require(!again, "a token is too long");
  require(jose::looks_like_jws(*ours), "our own token does not look like one");
  require(again && jose::is_signed_by(*again, known), "our own signature is not good");
  require_same(again->payload, input, "a payload changes on its way");
}

// Keys that were read verify with an algorithm of theirs, and can be read again as they are published.
void jwk_set(std::string_view input) {
  for (const auto& set : {jose::read_jwk_set(input), jose::read_public_keys(std::string(input))}) {
    if (!set) continue;
    require(!set->keys.empty() && set->keys.size() + set->ignored <= jose::kJwkSetKeysMax,
            "a set has no key, or too many");
    for (const jose::Jwk& each : set->keys) {
      const jose::Algorithm algorithm = each.algorithm.value_or(each.key.algorithm());
      require(each.serves(algorithm), "a key is for an algorithm of another type");
      const std::string text = jose::write_jwk(each.key, algorithm);
      const auto document = json::Document::parse_view(text);
      require(document.has_value(), "a key that was written is not JSON");
      const auto again = jose::read_jwk(document->root());
      require(again.has_value(), "a key that was written cannot be read");
      require_same(again->key.thumbprint(), each.key.thumbprint(), "a key changes on its way");
    }
  }
}

// The claims of an access token or of an ID token: no claim takes more than the issuer may give.
void jwt_claims(std::string_view input) {
  static const server::Issuer issuer = [] {
    server::Issuer made;
    made.url = "https://id.example";
    made.roles_claim = "realm_access.roles";
    made.viewer_roles = {"viewer"};
    made.operator_roles = {"operator"};
    made.agents = {"one", "two"};
    made.agents_claim = "agents";
    return made;
  }();
  constexpr std::int64_t kNow = 1'800'000'000'000;
  const base::Timestamp now = base::from_ms(kNow);
  const auto check = [&](const server::Token& token) {
    require(server::issuer_of(token.caller) == issuer.url, "a caller is another issuer's");
    require(!token.agents.empty() &&
                std::ranges::all_of(token.agents,
                                    [](const std::string& name) { return name == "one" || name == "two"; }),
            "a token is for agents that the issuer's are not");
  };
  if (const auto read = server::read_claims(issuer, "https://host.example", input, now)) {
    check(read->token);
    require(read->expires <= read->until && now < read->until, "a token that has expired is good");
    require(read->actors.size() <= 5, "too many act for a caller");
  }
  if (const auto person =
          server::read_id_claims(issuer, {issuer.url, "client", {"*"}}, "nonce", input, now)) {
    check(person->token);
    require(now < person->until, "an ID token that has expired is good");
  }
}

const Targets kTargets{{"jws", jws}, {"jwk-set", jwk_set}, {"jwt-claims", jwt_claims}};

}  // namespace
}  // namespace baton::fuzz

#include "protocol/card/signatures.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "jose/base64url.h"
#include "jose/jws.h"
#include "json/writer.h"
#include "protocol/card/signed_forms.h"

namespace baton::protocol {
namespace {

// More than any card has. Each may be tried with each key, for each text.
constexpr std::size_t kSignaturesMax = 8;

// Each text once.
base::Result<std::vector<std::string>> texts_to_sign(json::Value card, bool signs_python) {
  std::vector<CardForm> forms{CardForm::sdk, CardForm::specification, CardForm::sdk_decoded};
  if (signs_python) forms.push_back(CardForm::python);
  std::vector<std::string> texts;
  for (const CardForm form : forms) {
    auto text = canonical_card(card, form);
    if (!text) return base::fail(std::move(text.error()));
    if (std::ranges::find(texts, *text) == texts.end()) texts.push_back(std::move(*text));
  }
  return texts;
}

std::string header_of(const CardSigning& signing) {
  std::string members;
  json::Writer out(members);
  out.object([&] {
    out.member("kid", signing.key.thumbprint()).member("typ", "JOSE");
    out.optional("jku", signing.keys_url);
  });
  return members.substr(1, members.size() - 2);
}

// The canonical texts of a card, each made when it is first needed.
class Texts {
 public:
  explicit Texts(json::Value card) : card_(card) {}

  // Encoded as in a JWS; empty if the card has no such text.
  const std::string& of(CardForm form) {
    auto& text = texts_[static_cast<std::size_t>(form)];
    if (!text) {
      const auto canonical = canonical_card(card_, form);
      text = canonical ? jose::encode_base64url(*canonical) : std::string();
    }
    return *text;
  }

 private:
  json::Value card_;
  std::array<std::optional<std::string>, kCardForms.size()> texts_;
};

// The form of which the key has signed; nullopt: of none.
std::optional<CardForm> signed_form(const jose::Jwk& key, jose::Algorithm algorithm, std::string_view header,
                                    std::string_view signature, Texts& texts) {
  for (const CardForm form : kCardForms) {
    const std::string& text = texts.of(form);
    const std::string signed_text = std::string(header) + "." + text;
    if (!text.empty() && key.key.verifies(algorithm, signed_text, signature)) return form;
  }
  return std::nullopt;
}

CardCheck check_signature(json::Value object, const jose::JwkSet& known, Texts& texts) {
  using Outcome = CardCheck::Outcome;
  const std::string_view encoded = object["protected"].string();
  const auto header = jose::parse_jws_header(encoded);
  const auto signature = jose::decode_base64url(object["signature"].string());
  if (!header || !signature) return {Outcome::unknown_key, {}, {}};
  const bool is_named = !header->kid.empty() && known.has(header->kid);
  // All keys are tried if the header names none of ours.
  for (const jose::Jwk* key : known.candidates(is_named ? header->kid : "", header->algorithm)) {
    const auto form = signed_form(*key, header->algorithm, encoded, *signature, texts);
    if (form) return {Outcome::good, key->kid, name_of(*form)};
  }
  return {is_named ? Outcome::wrong : Outcome::unknown_key, header->kid, {}};
}

std::string shown(const std::string& kid) {
  return kid.empty() ? "" : " " + kid;
}

}  // namespace

base::Result<std::string> sign_card(const std::string& card, const CardSigning& signing) {
  const auto document = json::Document::parse_view(card);
  if (!document) return base::fail(document.error());
  if (const auto empty = empty_values(document->root()); !empty.empty())
    return base::fail(base::ErrorCode::invalid_argument,
                      (empty.front().empty() ? "the card" : empty.front()) + " is empty");
  auto texts = texts_to_sign(document->root(), signing.signs_python);
  if (!texts) return base::fail(std::move(texts.error()));
  const std::string header = header_of(signing);
  std::string result = card.substr(0, card.rfind('}'));
  result += R"(,"signatures":)";
  json::Writer out(result);
  std::optional<base::Error> failure;
  out.each(*texts, [&](const std::string& text) {
    const auto jws = jose::sign_jws(signing.key, signing.key.algorithm(), header, text);
    if (!jws) {
      failure = jws.error();
      return;
    }
    out.object([&] {
      out.member("protected", jws->substr(0, jws->find('.')));
      out.member("signature", jws->substr(jws->rfind('.') + 1));
    });
  });
  if (failure) return base::fail(std::move(*failure));
  return result + "}";
}

CardCheck check_signatures(json::Value card, const jose::JwkSet& known) {
  using Outcome = CardCheck::Outcome;
  Texts texts(card);
  CardCheck found;
  std::size_t count = 0;
  for (const json::Value each : card["signatures"]) {
    if (++count > kSignaturesMax) break;
    CardCheck check = check_signature(each, known, texts);
    if (check.outcome == Outcome::good) return check;
    // A wrong one counts more than one of a stranger.
    if (found.outcome != Outcome::wrong) found = std::move(check);
  }
  return found;
}

std::optional<std::string> card_refusal(const CardTrust& trust, std::string_view origin,
                                        std::string_view card) {
  using Outcome = CardCheck::Outcome;
  if (trust.policy == CardPolicy::off) return std::nullopt;
  const auto document = json::Document::view_of(card);
  if (!document.root().is_object()) return std::nullopt;
  const auto keys = trust.keys.find(origin);
  static const jose::JwkSet kNone;
  const CardCheck check = check_signatures(document.root(), keys == trust.keys.end() ? kNone : keys->second);
  if (check.outcome == Outcome::good) return std::nullopt;
  if (check.outcome == Outcome::wrong)
    return "the agent's card was changed: its signature by the key" + shown(check.kid) + " is wrong";
  if (trust.policy != CardPolicy::require) return std::nullopt;
  if (check.outcome == Outcome::absent) return "the agent's card is not signed";
  return "the agent's card is signed by a key that is not trusted for its origin:" + shown(check.kid);
}

}  // namespace baton::protocol

#include "protocol/card/signatures.h"

#include <algorithm>
#include <cstddef>
#include <optional>
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
// Verifications for one card, since others choose how many it would take.
constexpr std::size_t kTriesMax = 32;

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

// A canonical text of a card, and how it is in a JWS.
struct Text {
  CardForm form;
  std::string canonical, encoded;
};

// The different texts of a card, the fullest first.
std::vector<Text> texts_of(json::Value card) {
  std::vector<Text> texts;
  for (const CardForm form : kCardForms) {
    auto canonical = canonical_card(card, form);
    // Every card without members of its own has the text `{}`, so a signature of that says nothing.
    if (!canonical || *canonical == "{}") continue;
    if (std::ranges::find(texts, *canonical, &Text::canonical) != texts.end()) continue;
    std::string encoded = jose::encode_base64url(*canonical);
    texts.push_back({form, std::move(*canonical), std::move(encoded)});
  }
  return texts;
}

// Checks the signatures of a card one by one. Keeps the best outcome.
class Checker {
 public:
  Checker(json::Value card, const jose::JwkSet& known)
      : known_(known), texts_(texts_of(card)), end_(texts_.size()) {}

  void check(json::Value object) {
    using Outcome = CardCheck::Outcome;
    const std::string_view encoded = object["protected"].string();
    const auto header = jose::parse_jws_header(encoded);
    const auto signature = jose::decode_base64url(object["signature"].string());
    if (!header || !signature) return keep({Outcome::unknown_key, {}, {}, {}});
    const bool is_named = !header->kid.empty() && known_.has(header->kid);
    // All keys are tried if the header names none of ours.
    for (const jose::Jwk* key : known_.candidates(is_named ? header->kid : "", header->algorithm)) {
      const auto place = signed_text(*key, header->algorithm, encoded, *signature);
      if (!place) continue;
      end_ = *place;
      const Text& text = texts_[*place];
      found_ = {Outcome::good, key->kid, name_of(text.form), text.canonical};
      return;
    }
    keep({is_named ? Outcome::wrong : Outcome::unknown_key, header->kid, {}, {}});
  }

  CardCheck take() { return std::move(found_); }

 private:
  // Returns the place of the text that the key has signed. Looks only at texts fuller than the one found.
  std::optional<std::size_t> signed_text(const jose::Jwk& key, jose::Algorithm algorithm,
                                         std::string_view header, std::string_view signature) {
    for (std::size_t i = 0; i < end_ && tries_ < kTriesMax; ++i, ++tries_) {
      if (key.key.verifies(algorithm, std::string(header) + "." + texts_[i].encoded, signature)) return i;
    }
    return std::nullopt;
  }

  // A wrong signature of a known key counts more than one of an unknown key.
  void keep(CardCheck check) {
    using Outcome = CardCheck::Outcome;
    if (found_.outcome != Outcome::good && found_.outcome != Outcome::wrong) found_ = std::move(check);
  }

  const jose::JwkSet& known_;
  const std::vector<Text> texts_;
  std::size_t end_;  // of the texts that are still of interest
  std::size_t tries_ = 0;
  CardCheck found_;
};

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
  Checker checker(card, known);
  std::size_t count = 0;
  for (const json::Value each : card["signatures"]) {
    if (++count > kSignaturesMax) break;
    checker.check(each);
  }
  return checker.take();
}

base::Result<std::string> accepted_card(const CardTrust& trust, std::string_view origin,
                                        std::string_view card) {
  using Outcome = CardCheck::Outcome;
  const auto refused = [](std::string reason) {
    return base::fail(base::ErrorCode::permission_denied, std::move(reason));
  };
  if (trust.policy == CardPolicy::off) return std::string(card);
  const bool is_required = trust.policy == CardPolicy::require;
  if (card.empty() && is_required) return refused("the agent has no card, so none that is signed");
  if (card.empty()) return std::string();
  const auto document = json::Document::parse_view(card);
  if (!document || !document->root().is_object()) return refused("the agent's card is no JSON object");
  const auto keys = trust.keys.find(origin);
  static const jose::JwkSet kNone;
  const jose::JwkSet& known = keys == trust.keys.end() ? kNone : keys->second;
  CardCheck check = check_signatures(document->root(), known);
  switch (check.outcome) {
    case Outcome::good:
      return std::move(check.text);
    case Outcome::wrong:
      return refused("the agent's card was changed: its signature by the key" + shown(check.kid) +
                     " is wrong");
    case Outcome::unknown_key:
      if (!is_required && known.keys.empty()) break;
      return refused("the agent's card is signed by a key that is not trusted for its origin:" +
                     shown(check.kid));
    case Outcome::absent:
      if (!is_required) break;
      return refused("the agent's card is not signed");
  }
  return std::string(card);
}

}  // namespace baton::protocol

#include "protocol/card/signatures.h"

#include <doctest/doctest.h>

#include "jose/base64url.h"
#include "jose/jws.h"
#include "jose/signing_key.h"
#include "protocol/card/signed_forms.h"

namespace signatures_test {

using namespace baton;
using protocol::CardCheck;
using protocol::CardForm;
using protocol::CardPolicy;
using Outcome = protocol::CardCheck::Outcome;

namespace {

// RFC 7515, A.3.
const std::string kPublic = R"("kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
                            R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")";
const std::string kPrivate = "{" + kPublic + R"(,"d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"})";

// Has what the texts differ in: empty values, numbers, names beyond ASCII, members that 1.0 does not have.
const std::string kCard =
    R"({"name":"Café","description":"Tries","supportedInterfaces":[{"url":"https://a.example/","pro)"
    R"(tocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":""}],"version":"1","capabilities":{)"
    R"("streaming":false,"pushNotifications":true,"extensions":[{"uri":"urn:x","description":"","re)"
    R"(quired":false,"params":{"דּ":1e+21,"😀":0.5,"n":3,"none":null,"empty":{}}}]},"securitySchemes")"
    R"(:{"bearer":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},"securityRequirements":[{"schemes)"
    R"(":{"bearer":{"list":[]}}}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/pl)"
    R"(ain"],"skills":[{"id":"s","name":"S","description":"","tags":[],"examples":["a"]}],"iconUrl")"
    R"(:"","url":"https://old.example/","x_extra":1})";
// The signatures of @a2a-js/sdk 1.3.0 with kPrivate: of this card, and of what AgentCard.fromJSON makes of
// it.
const std::string kJs =
    R"([{"protected":"eyJhbGciOiJFUzI1NiIsImtpZCI6ImpzIiwidHlwIjoiSk9TRSJ9","signature":"TXjYNd4Xke)"
    R"(gwp6BsloS6_f7IA4RxC3Mit-unQzG6xl5hseNBzws2Gv9kS8MDlJrWzc3mt8kMM1KOrja5_YTcDQ"}])";
const std::string kJsDecoded =
    R"([{"protected":"eyJhbGciOiJFUzI1NiIsImtpZCI6ImpzIiwidHlwIjoiSk9TRSJ9","signature":"4M-B2dWc9o)"
    R"(QWQnHlG84thXbv1fSu36e72LJ1D6c7GwdqfSxJ6u1YZGwqU1Z1rFDJXOtr6EADXRAOYgGt9PGMow"}])";
const std::string kJsText =
    R"({"capabilities":{"extensions":[{"params":{"n":3,"😀":0.5,"דּ":1e+21},"uri":"urn:x"}],"pushNoti)"
    R"(fications":true,"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":[)"
    R"("text/plain"],"description":"Tries","name":"Café","securitySchemes":{"bearer":{"httpAuthSecu)"
    R"(rityScheme":{"scheme":"bearer"}}},"skills":[{"examples":["a"],"id":"s","name":"S"}],"support)"
    R"(edInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://a.example)"
    R"(/"}],"version":"1"})";
// json.dumps of the same, as a2a-python 1.1.0 makes it.
const std::string kPythonText =
    R"({"capabilities":{"extensions":[{"params":{"n":3.0,"\ufb33":1e+21,"\ud83d\ude00":0.5},"uri":")"
    R"(urn:x"}],"pushNotifications":true,"streaming":false},"defaultInputModes":["text/plain"],"def)"
    R"(aultOutputModes":["text/plain"],"description":"Tries","name":"Caf\u00e9","securitySchemes":{)"
    R"("bearer":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},"skills":[{"examples":["a"],"id":"s)"
    R"(","name":"S"}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0",")"
    R"(url":"https://a.example/"}],"version":"1"})";

jose::Key key() {
  auto read = jose::read_signing_key(kPrivate);
  REQUIRE(read);
  return read->key;
}

jose::JwkSet keys(const std::string& kid) {
  auto read = jose::read_public_keys("{" + kPublic + (kid.empty() ? "" : R"(,"kid":")" + kid + '"') + "}");
  REQUIRE(read);
  return *read;
}

CardCheck check(const std::string& card, const jose::JwkSet& known) {
  const auto document = json::Document::parse_view(card);
  REQUIRE(document);
  return protocol::check_signatures(document->root(), known);
}

std::string canonical(const std::string& card, CardForm form) {
  const auto document = json::Document::parse_view(card);
  REQUIRE(document);
  return protocol::canonical_card(document->root(), form).value_or("(refused)");
}

std::string with(const std::string& signatures, std::string card = kCard) {
  card.pop_back();
  return card + R"(,"signatures":)" + signatures + "}";
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  REQUIRE(text.find(old) != std::string::npos);
  return text.replace(text.find(old), old.size(), by);
}

// A signature of this text, as JSON.
std::string signed_by_hand(const std::string& text, const std::string& kid) {
  const auto jws = jose::sign_jws(key(), jose::Algorithm::es256, R"("kid":")" + kid + '"', text);
  return R"([{"protected":")" + jws->substr(0, jws->find('.')) + R"(","signature":")" +
         jws->substr(jws->rfind('.') + 1) + R"("}])";
}

// A card without empty values, as we serve one that needs a token.
const std::string kServed =
    R"({"name":"Ours","description":"d","supportedInterfaces":[{"url":"https://b.example/","protocolBinding":)"
    R"("JSONRPC","protocolVersion":"1.0"}],"version":"1","capabilities":{"streaming":true,"extensions":[]},)"
    R"("securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},"securityRequirements":)"
    R"([{"schemes":{"bearer":{"list":[]}}}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],)"
    R"("skills":[{"id":"s","name":"S","description":"d","tags":["t"]}]})";

}  // namespace

TEST_CASE("Card signatures: the canonical texts are those of the specification and of each SDK") {
  CHECK(canonical(kCard, CardForm::sdk) == kJsText);
  CHECK(canonical(kCard, CardForm::python) == kPythonText);
  CHECK(canonical(kCard, CardForm::sdk_decoded) ==
        replaced(kJsText, R"("securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},)",
                 ""));
  // Required and optional members stay, other defaults and members that 1.0 does not have go.
  const std::string by_specification = canonical(kCard, CardForm::specification);
  CHECK(by_specification.find(
            R"("skills":[{"description":"","examples":["a"],"id":"s","name":"S","tags":[]}])") !=
        std::string::npos);
  CHECK(by_specification.find(R"("iconUrl":"")") != std::string::npos);
  CHECK(by_specification.find(R"("securityRequirements":[{"schemes":{"bearer":{}}}])") != std::string::npos);
  CHECK(by_specification.find(R"("params":{"empty":{},"n":3,"none":null,)") != std::string::npos);
  for (const char* gone : {"tenant", "required\"", "old.example", "x_extra"})
    CHECK_MESSAGE(by_specification.find(gone) == std::string::npos, gone);
  CHECK(canonical(kCard, CardForm::as_sent)
            .find(R"("url":"https://old.example/","version":"1","x_extra":1})") != std::string::npos);
  // As ProtoJSON is read: names of both styles.
  CHECK(canonical(replaced(kCard, "supportedInterfaces", "supported_interfaces"), CardForm::sdk) == kJsText);
  CHECK(canonical("[]", CardForm::sdk) == "(refused)");
  CHECK(canonical(R"({"name":["x"],"skills":{},"capabilities":[],"securitySchemes":{"a":1}})",
                  CardForm::specification) == "{}");
}

TEST_CASE("Card signatures: those of a2a-js verify, whichever card it has signed") {
  CHECK(check(with(kJs), keys("js")).outcome == Outcome::good);
  CHECK(check(with(kJs), keys("js")).form == "as a2a-js signs");
  CHECK(check(with(kJsDecoded), keys("js")).form == "as a2a-js signs, without its security schemes");
  // The name of a key is a hint; but a known key that has not signed is a forgery.
  CHECK(check(with(kJs), keys("other")).outcome == Outcome::good);
  CHECK(check(with(kJs), keys("")).outcome == Outcome::good);
  const std::string changed = replaced(with(kJs), "Tries", "Lies");
  CHECK(check(changed, keys("js")).outcome == Outcome::wrong);
  CHECK(check(changed, keys("js")).kid == "js");
  CHECK(check(changed, keys("other")).outcome == Outcome::unknown_key);
  CHECK(check(kCard, keys("js")).outcome == Outcome::absent);
  CHECK(check(with("[]"), keys("js")).outcome == Outcome::absent);
  for (const char* odd : {"[{}]", "[1]", R"([{"protected":"e30","signature":"AAAA"}])",
                          R"([{"protected":"eyJhbGciOiJub25lIn0","signature":""}])"})
    CHECK_MESSAGE(check(with(odd), keys("js")).outcome == Outcome::unknown_key, odd);
  // One good signature among others is enough.
  CHECK(check(with("[{}," + kJs.substr(1)), keys("js")).outcome == Outcome::good);
}

TEST_CASE("Card signatures: one of each other text verifies, too, and a change of what it covers does not") {
  for (const auto& [form, name] : {std::pair(CardForm::specification, "as the specification says"),
                                   {CardForm::python, "as a2a-python signs"},
                                   {CardForm::as_sent, "of the card as it is"}}) {
    CAPTURE(name);
    const std::string card = with(signed_by_hand(canonical(kCard, form), "k"));
    CHECK(check(card, keys("k")).form == name);
    CHECK(check(replaced(card, "https://a.example/", "https://evil.example/"), keys("k")).outcome ==
          Outcome::wrong);
  }
}

TEST_CASE("sign_card: there is a signature for each reader's text, and none of a card with empty values") {
  const auto count = [](const std::string& card) {
    return json::Document::parse(card)->root()["signatures"].size();
  };
  const jose::Key ours = key();
  const auto card = protocol::sign_card(kServed, {ours, "https://b.example/.well-known/jwks.json"});
  REQUIRE(card);
  // The SDKs', the specification's with its requirement, and a2a-js's without security schemes.
  CHECK(count(*card) == 3);
  CHECK(card->starts_with(kServed.substr(0, kServed.size() - 1) + R"(,"signatures":[{"protected":")"));
  CHECK(check(*card, keys(ours.thumbprint())).outcome == Outcome::good);
  CHECK(canonical(*card, CardForm::sdk) == canonical(kServed, CardForm::sdk));
  const auto document = json::Document::parse_view(*card);
  const json::Value first = *document->root()["signatures"].begin();
  CHECK(jose::decode_base64url(first["protected"].string()) ==
        R"({"alg":"ES256","kid":")" + ours.thumbprint() +
            R"(","typ":"JOSE","jku":"https://b.example/.well-known/jwks.json"})");
  const std::string accented = replaced(kServed, "Ours", "N\u00f4tre");
  CHECK(count(*protocol::sign_card(accented, {ours, ""})) == 4);
  CHECK(count(*protocol::sign_card(accented, {ours, "", false})) == 3);
  const std::string open = replaced(
      replaced(kServed, R"("securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},)",
               ""),
      R"("securityRequirements":[{"schemes":{"bearer":{"list":[]}}}],)", "");
  CHECK(count(*protocol::sign_card(open, {ours, ""})) == 1);

  const auto refused = [&](const std::string& old, const std::string& by) {
    const auto result = protocol::sign_card(replaced(kServed, old, by), {ours, ""});
    return result ? "(signed)" : result.error().for_caller;
  };
  CHECK(refused(R"("description":"d","supp)", R"("description":"","supp)") == "/description is empty");
  CHECK(refused(R"("tags":["t"])", R"("tags":[])") == "/skills/0/tags is empty");
  CHECK(refused(R"("extensions":[])", R"("extensions":[{"uri":"u","params":{"a":[]}}])") ==
        "/capabilities/extensions/0/params/a is empty");
  CHECK(refused(R"("extensions":[])", R"("extensions":[{"uri":"u","params":{"a":9007199254740993}}])") ==
        "a whole number has too many digits");
}

TEST_CASE(
    "accepted_card: a wrong signature is refused unless checks are off, other cards only if one is "
    "required") {
  protocol::CardTrust trust;
  trust.keys["https://a.example"] = keys("js");
  const std::string good = with(kJs), wrong = replaced(good, "Tries", "Lies");
  const auto refused = [&](CardPolicy policy, const std::string& origin, const std::string& card) {
    trust.policy = policy;
    const auto accepted = protocol::accepted_card(trust, origin, card);
    return accepted ? std::string() : accepted.error().for_caller;
  };
  const std::string here = "https://a.example", elsewhere = "https://b.example";
  for (const auto policy : {CardPolicy::off, CardPolicy::if_present, CardPolicy::require})
    CHECK(refused(policy, here, good).empty());
  CHECK(refused(CardPolicy::off, here, wrong).empty());
  CHECK(refused(CardPolicy::if_present, here, wrong).ends_with("its signature by the key js is wrong"));
  CHECK(refused(CardPolicy::require, here, wrong).ends_with("its signature by the key js is wrong"));
  // Keys are those of one origin.
  CHECK(refused(CardPolicy::if_present, elsewhere, good).empty());
  CHECK(refused(CardPolicy::require, elsewhere, good).ends_with("not trusted for its origin: js"));
  CHECK(refused(CardPolicy::if_present, here, kCard).empty());
  CHECK(refused(CardPolicy::require, here, kCard) == "the agent's card is not signed");
  // Who has keys of an origin knows who signs there.
  trust.keys["https://c.example"] = keys("other");
  CHECK(refused(CardPolicy::if_present, "https://c.example", wrong)
            .ends_with("not trusted for its origin: js"));
  CHECK(refused(CardPolicy::if_present, "https://c.example", kCard).empty());
  // A card that cannot be read, or is not there.
  for (const std::string& odd : {"\xEF\xBB\xBF" + kCard, std::string("[]"), std::string(" "), kCard + "x"}) {
    CHECK(refused(CardPolicy::off, here, odd).empty());
    for (const auto policy : {CardPolicy::if_present, CardPolicy::require})
      CHECK(refused(policy, here, odd) == "the agent's card is no JSON object");
  }
  CHECK(refused(CardPolicy::if_present, here, "").empty());
  CHECK(refused(CardPolicy::require, here, "").starts_with("the agent has no card"));
}

TEST_CASE("accepted_card: a card is read from what its signature covers") {
  protocol::CardTrust trust{CardPolicy::require, {}};
  trust.keys["https://a.example"] = keys("js");
  const auto read = [&](const std::string& card) {
    return protocol::accepted_card(trust, "https://a.example", card).value_or("(refused)");
  };
  CHECK(read(with(kJs)) == kJsText);
  // The same text is signed of a card whose members have their other names, beside one that is not covered.
  const std::string renamed = replaced(replaced(with(kJs), "supportedInterfaces", "supported_interfaces"),
                                       "https://old.example/", "https://evil.example/");
  CHECK(read(renamed) == kJsText);
  const std::string whole = canonical(kCard, CardForm::as_sent);
  CHECK(read(with(signed_by_hand(whole, "js"))) == whole);
  // The fullest of the texts that are signed, in whichever order they are.
  const std::string decoded = kJsDecoded.substr(1, kJsDecoded.size() - 2);
  CHECK(read(with("[" + decoded + "," + kJs.substr(1))) == kJsText);
  CHECK(read(with("[" + kJs.substr(1, kJs.size() - 2) + "," + decoded + "]")) == kJsText);
  CHECK(read(with(kJsDecoded)).find("securitySchemes") == std::string::npos);
  trust.policy = CardPolicy::if_present;
  CHECK(read(with(kJs)) == kJsText);
  CHECK(read(kCard) == kCard);
  trust.policy = CardPolicy::off;
  CHECK(read(with(kJs)) == with(kJs));
}

TEST_CASE("Card signatures: one of a text that every card has is none, and tries are bounded") {
  // Half a surrogate pair leaves no text, and a card without members of its own the empty one.
  const std::string of_nothing = signed_by_hand("{}", "k");
  const std::string half = R"(\udc00)", card = replaced(kCard, "Tries", half);
  CHECK(canonical(card, CardForm::sdk) == "(refused)");
  CHECK(canonical(card, CardForm::sdk_decoded) == "(refused)");
  CHECK(canonical(card, CardForm::python) == "(refused)");
  CHECK(check(with(of_nothing, card), keys("k")).outcome == Outcome::wrong);
  const auto refused = protocol::sign_card(replaced(kServed, "Ours", half), {key(), ""});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().for_caller != "the card is empty");
  CHECK(check(R"({"url":"https://evil.example/","signatures":)" + of_nothing + "}", keys("k")).outcome ==
        Outcome::wrong);
  // A good signature behind many tries for others is not found.
  jose::JwkSet many;
  for (int i = 0; i < 40; ++i)
    many.keys.push_back({*jose::Key::generate(jose::Key::Type::p256), "other", {}});
  many.keys.push_back(keys("js").keys.front());
  CHECK(check(with(kJs), many).outcome == Outcome::good);
  many.keys.back().kid.clear();
  CHECK(check(with(kJs), many).outcome == Outcome::unknown_key);
}

}  // namespace signatures_test

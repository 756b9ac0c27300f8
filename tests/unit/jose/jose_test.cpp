#include <doctest/doctest.h>

#include "jose/base64url.h"
#include "jose/jwk.h"
#include "jose/jws.h"

namespace jose_test {

using namespace baton;
using jose::Algorithm;
using jose::Key;

namespace {

// RFC 7515, A.2 and A.3; RFC 8037, A.2; RFC 7638, 3.1.
const std::string kRsa =
    R"({"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPME)"
    R"(zP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexM)"
    R"(dbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8)"
    R"(NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"})";
const std::string kRsaJws =
    "eyJhbGciOiJSUzI1NiJ9."
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290I"
    "jp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
    "O8W2Fp5jujGb"
    "ds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_"
    "eSN"
    "9383LcOLn6_dO--xi12jzDwusC-"
    "eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkW"
    "ywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
const std::string kP256 = R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
                          R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})";
const std::string kP256Jws =
    "eyJhbGciOiJFUzI1NiJ9."
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290I"
    "jp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
const std::string kEd25519 =
    R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})";
const std::string kEd25519Jws =
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-"
    "09PGcvMg3AIbQR6dWbhij"
    "cNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
const std::string kEd25519Private =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";
const std::string kThumbprinted =
    R"({"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc)"
    R"(_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMi)"
    R"(cAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHa)"
    R"(Q-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"})";

base::Result<jose::Jwk> jwk(const std::string& text) {
  const auto document = json::Document::parse_view(text);
  REQUIRE(document);
  return jose::read_jwk(document->root());
}

bool verifies(const std::string& token, const std::string& key) {
  const auto jws = jose::parse_jws(token);
  return jws && jose::is_signed_by(*jws, *jwk(key));
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), with);
}

}  // namespace

TEST_CASE("Base64url: each sequence of bytes has exactly one text") {
  for (const std::string bytes : {"", "f", "fo", "foo", "\xfb\xff\xfe", "foobar!"}) {
    CHECK(jose::decode_base64url(jose::encode_base64url(bytes)) == bytes);
  }
  CHECK(jose::encode_base64url("\xfb\xff\xfe") == "-__-");
  for (const char* wrong :
       {"Zg==", "Zh", "Zm9=", "Zm9vY", "Zm9 v", "Zm9\n", "+/==", "+w", "/w", "Z", "Zm9p=", "Zm-"})
    CHECK_FALSE_MESSAGE(jose::decode_base64url(wrong), wrong);
}

TEST_CASE("JWS: the examples of the RFCs verify, and nothing that differs in one place") {
  const std::vector<std::pair<std::string, std::string>> examples{
      {kRsaJws, kRsa}, {kP256Jws, kP256}, {kEd25519Jws, kEd25519}};
  for (const auto& [token, key] : examples) {
    CAPTURE(token.substr(0, 20));
    CHECK(verifies(token, key));
    std::string changed = token;
    changed[30] = changed[30] == 'A' ? 'B' : 'A';
    CHECK_FALSE(verifies(changed, key));
    changed = token;
    changed[token.rfind('.') + 9] = changed[token.rfind('.') + 9] == 'A' ? 'B' : 'A';
    CHECK_FALSE(verifies(changed, key));
    CHECK_FALSE(verifies(token.substr(0, token.size() - 4), key));
    CHECK_FALSE(verifies(token + "AAAA", key));
    for (const auto& [other, other_key] : examples) CHECK(verifies(token, other_key) == (other == token));
  }
  // Both numbers zero: the forgery that some verifiers of ECDSA accept.
  CHECK_FALSE(verifies(kP256Jws.substr(0, kP256Jws.rfind('.') + 1) + std::string(86, 'A'), kP256));
}

TEST_CASE("Key: thumbprints are those of the RFCs, and a written key reads back") {
  CHECK(jwk(kThumbprinted)->key.thumbprint() == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
  CHECK(jwk(kEd25519)->key.thumbprint() == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  CHECK(jwk(kP256)->key.public_members().starts_with(R"({"crv":"P-256","kty":"EC","x":")"));
  const auto read = jwk(jose::write_jwk(jwk(kP256)->key, Algorithm::es256));
  REQUIRE(read);
  CHECK(read->kid == jwk(kP256)->key.thumbprint());
  CHECK(read->algorithm == Algorithm::es256);
  CHECK(read->key.public_members() == jwk(kP256)->key.public_members());
}

TEST_CASE("Key: signatures of every algorithm verify with the public key alone, but ES384 only verifies") {
  const std::vector<std::pair<Algorithm, Key::Type>> all{{Algorithm::rs256, Key::Type::rsa},
                                                         {Algorithm::ps256, Key::Type::rsa},
                                                         {Algorithm::es256, Key::Type::p256},
                                                         {Algorithm::eddsa, Key::Type::ed25519}};
  for (const auto& [algorithm, type] : all) {
    CAPTURE(jose::name_of(algorithm));
    const auto key = Key::generate(type);
    REQUIRE(key);
    // Twenty: numbers of ECDSA are shorter than their place now and then.
    for (int i = 0; i < 20; ++i) {
      const auto token = jose::sign_jws(*key, algorithm, R"("typ":"JOSE")", std::to_string(i));
      REQUIRE(token);
      const auto jws = jose::parse_jws(*token);
      REQUIRE(jws);
      CHECK(jws->typ == "JOSE");
      CHECK(jose::is_signed_by(*jws, *jwk(jose::write_jwk(*key, algorithm))));
    }
    CHECK_FALSE(jwk(jose::write_jwk(*key, algorithm))->key.sign(algorithm, "x"));
    const auto wrong = algorithm == Algorithm::es256 ? Algorithm::eddsa : Algorithm::es256;
    CHECK_FALSE(key->sign(wrong, "x"));
  }
  CHECK_FALSE(Key::generate(Key::Type::p384)->sign(Algorithm::es384, "x"));
  // RFC 8037, A.4: Ed25519 signs the same text the same way.
  const auto ed25519 = Key::from_pem(kEd25519Private);
  REQUIRE(ed25519);
  CHECK(*jose::sign_jws(*ed25519, Algorithm::eddsa, "", "Example of Ed25519 signing") == kEd25519Jws);
  CHECK_FALSE(Key::from_pem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"));
}

TEST_CASE("JWS: a form that is not exactly ours is refused before any key is looked at") {
  const auto with_header = [](const std::string& header) {
    return jose::encode_base64url(header) + ".e30.AAAA";
  };
  CHECK(jose::parse_jws(with_header(R"({"alg":"ES256","kid":"k","typ":"at+jwt"})"))->kid == "k");
  for (const char* header :
       {R"({"alg":"none"})", R"({"alg":"HS256"})", R"({"alg":"RS1"})", R"({"alg":"es256"})", R"({})",
        R"({"alg":["ES256"]})", R"(["ES256"])", R"({"alg":"none","alg":"ES256"})",
        R"({"alg":"ES256","kid":1})", R"({"alg":"ES256","crit":[]})",
        R"({"alg":"ES256","crit":["b64"],"b64":false})", R"({"alg":"ES256","\u0061lg":"ES256"})",
        R"({"alg":"ES256","enc":"A128GCM"})", "{\"alg\":\"ES256\"", ""}) {
    const auto refused = jose::parse_jws(with_header(header));
    CHECK_FALSE_MESSAGE(refused, header);
    if (!refused) CHECK(refused.error().for_caller == "the token is not valid");
  }
  // Anybody can send one, so that its header costs little.
  std::string many = R"({"alg":"ES256")";
  for (int i = 0; i < 16; ++i) many += ",\"" + std::to_string(i) + "\":0";
  CHECK_FALSE(jose::parse_jws(with_header(many + "}")));
  CHECK_FALSE(jose::parse_jws(with_header(R"({"alg":"ES256","x":")" + std::string(2'000, 'x') + "\"}")));
  for (const std::string& text : {std::string(), std::string("a.b"), kP256Jws + ".x", "." + kP256Jws,
                                  kP256Jws + "=", kP256Jws + "\n", std::string(17'000, 'A') + ".e30.AAAA"})
    CHECK_FALSE(jose::parse_jws(text));
  CHECK(jose::looks_like_jws(kP256Jws));
  for (const char* text : {"", "secret", "bp1.abc.def", "ey.a", "eyJ.a.b.c", "eyJ.a b.c"})
    CHECK_FALSE(jose::looks_like_jws(text));
}

TEST_CASE("JWK: keys that are weak, malformed or for something else are refused") {
  CHECK(jwk(kRsa));
  const std::string more = kP256.substr(0, kP256.size() - 1);
  for (const char* members :
       {R"(,"use":"sig"})", R"(,"alg":"ES256"})", R"(,"key_ops":["verify"],"x5c":["AA"]})"})
    CHECK_MESSAGE(jwk(more + members), members);
  for (const char* members :
       {R"(,"use":"enc"})", R"(,"use":1})", R"(,"alg":"ES384"})", R"(,"alg":"HS256"})", R"(,"alg":"RS256"})",
        R"(,"key_ops":["encrypt"]})", R"(,"key_ops":"verify"})", R"(,"kid":1})", R"(,"kty":"EC"})"})
    CHECK_FALSE_MESSAGE(jwk(more + members), members);
  // A point off the curve, one of another size, RSA with exponents 1, 2 and none, and 1,024 bits.
  CHECK_FALSE(jwk(replaced(kP256, "x_FEz", "x_FEy")));
  CHECK_FALSE(jwk(replaced(kP256, "f83OJ3D2", "f83O")));
  CHECK_FALSE(jwk(replaced(kP256, "P-256", "P-384")));
  CHECK_FALSE(jwk(replaced(kP256, "P-256", "secp256k1")));
  for (const char* exponent : {"AQ", "Ag", "", "AQAC", "A", "AQAB="})
    CHECK_FALSE_MESSAGE(jwk(replaced(kRsa, "AQAB", exponent)), exponent);
  const std::size_t from = kRsa.find("\"n\":\"") + 5;
  CHECK_FALSE(jwk(kRsa.substr(0, from + 171) + kRsa.substr(kRsa.find("\",\"e\""))));
  std::string crowded = more;
  for (int i = 0; i < 64; ++i) crowded += ",\"m" + std::to_string(i) + "\":1";
  CHECK_FALSE(jwk(crowded + "}"));
  CHECK_FALSE(jwk(R"({"kty":"oct","k":"AAAA"})"));
  CHECK_FALSE(jwk(R"({"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})"));
  CHECK_FALSE(jwk("[]"));
}

TEST_CASE("JwkSet: unusable keys are left out, and a set has bounds") {
  const auto set = jose::read_jwk_set(R"({"keys":[)" + kRsa + "," + kP256 + R"(,{"kty":"oct","k":"AA"},7,)" +
                                      kThumbprinted + "]}");
  REQUIRE(set);
  CHECK(set->keys.size() == 3);
  CHECK(set->ignored == 2);
  CHECK(set->has("2011-04-29"));
  CHECK(set->candidates("2011-04-29", Algorithm::rs256).size() == 1);
  CHECK(set->candidates("2011-04-29", Algorithm::ps256).empty());
  CHECK(set->candidates("", Algorithm::ps256).size() == 1);
  CHECK(set->candidates("", Algorithm::rs256).size() == 2);
  for (const std::string text :
       {"", "[]", "{}", R"({"keys":{}})", R"({"keys":[]})", R"({"keys":[{"kty":"oct"}]})"})
    CHECK_FALSE(jose::read_jwk_set(text));
  std::string many = R"({"keys":[)" + kP256;
  for (std::size_t i = 0; i < jose::kJwkSetKeysMax; ++i) many += "," + kP256;
  CHECK_FALSE(jose::read_jwk_set(many + "]}"));
  CHECK_FALSE(
      jose::read_jwk_set(R"({"keys":[)" + kP256 + "]" + std::string(jose::kJwkSetBytesMax, ' ') + "}"));
}

}  // namespace jose_test

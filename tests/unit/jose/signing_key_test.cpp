#include "jose/signing_key.h"

#include <doctest/doctest.h>

#include "jose/jws.h"

namespace signing_key_test {

using namespace baton;
using jose::Algorithm;
using jose::Key;

namespace {

// RFC 7515, A.3; RFC 8037, A.1; a key made with Python's cryptography.
const std::string kP256 =
    R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
    R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"})";
const std::string kEd25519 =
    R"({"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",)"
    R"("x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})";
const std::string kEd25519Pem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";
const std::string kEd25519PublicPem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";
const std::string kRsa =
    R"({"kty":"RSA","n":"rZsGllrhE8oBEH0TI937EfjC7L-neXGSiobZRlUHlfHO-iUFH0fH-BDbhkZd8cldfV79zcG4NLsvkjR86T)"
    R"(rd4YkswFaDdsBhfB0ww-JykJdJw9sly-V1x3tFJ7t4dUiqfUIjEa0g5REqqkczFOIVbB0BM1-1EZWYcgwCmOsQyCY3-N8PaqerRN)"
    R"(ajRL3cHKLGFxUwMgWyYN-UtTxKBQ4WCBvaHrDc6g_gzjxVesvsc2DUxTMOyDjhSkq2jT2OxqT4RQ1o8lZTMed8o_XT_AI1X8Xyea)"
    R"(J2VoaqRWmf5cfQFC8pOmUarMbrbyxCXGsA1qZZdYqQ00iuISCLuH8M69dG9Q","e":"AQAB","d":"BcmO-uitK6x2hB7zSiUOh1)"
    R"(8YWm2aLud9F96edCSGA_bjbD3bMZuCPFANjWifnZ2VnwYRZnBQjHt3_sL-rgS_HFNnGUNZDxajOVC8zS7pnE3a0Otnk2hDGKMQn1)"
    R"(41yg0h19qiUibIG7LKjhIhDw9pYOkHnveQEPXAdv7VAFWHwfBMIo2HJv86RDlTQ-amYWdFDix532rls7jV-MAU-2eJUyeWrzF0Ha)"
    R"(7FwSgh1CZOUm7AzWz_dNpyjFxFONO2t-SKCpCoxRfN-MBXrBck4uEx8g_QVhuBKTpwHeowL2T8KiS9oceHQpxfh1JHxJuQK89G5K)"
    R"(IkDtWaeXNCO31KaC9BeQ","p":"4lAwX-g7p09-9PjWRlt9BsjK0xMbnVP03l9dcmx74E8JJnoHFpLA6t7S_I9YN5aG5NF1MDlSa)"
    R"(MFCWs78bqCl1hNANe8zqJuuVpI9i_Knx4V0GPXLZG1Y9tlFJVWur4iZCztOzyDNlTo2Th1_o1LoqUcFcLb18IxqOBDT42EyOX0",)"
    R"("q":"xGDdHyzWylfCbelAooy5Ek1g8adVhLwAoXfQ3vrKqWlnUlMuNLRq8Zuk39gSqK2A4qk2QIjggaOQn8-anQQhxEuOh43r6Il)"
    R"(5DD1jruKHeXPRq9Nc0vXK6ROyknUCtddwh6_Mf7t5IUd3t0TTx7_buFYBGrkz6pl1tlE4KpHcfNk","dp":"zfsQXGphySE4uzy0)"
    R"(wirI--DLghu1GZftmmwQAHIuuXUWLfgI9YmyntMaE5dgQo_1zNO7pp21nPSxMTeNWB9NcS_qVGyXhxHTNqY58GN2Q8n6ZjFo4soH)"
    R"(m_0ayyVWLhvUt_1N-IWxt-3YuXZt0rhGXLPwhqtv43XZw5fFUwIHFX0","dq":"HZfLOqtzIsLe1dlUmCpEqXFnroLc7Ee4gJyhq)"
    R"(Th52dW8cDeAuwiFJSujSOgyx6B9z6pYNplp259eZ_bNAeRhgkcwj1TfvAcbarDFmNEiQTcm3ZHYZyILFdyWCGQBqI1ys7_WPVlvA)"
    R"(4jVjZSdpXhQEBNFz1UhcbT2fCb5I9EfPOE","qi":"cA5a2ENLcx6BcAdvysAfL9ppS4AHccnNVxbBQw-rNBcbfojUy-Ar7ghygi)"
    R"(AJz5Zbgt5eN88d7fGDxc55YNT8OVSdZq6DZzdjjeY3dZbnfpK28Og5-2rC3TMAX47JtzhhCylPExQChtd2VVvYrnD8LUhM1HN48U)"
    R"(74JvJ7xfPy5W0"})";

std::string with(const std::string& jwk, const std::string& members) {
  return jwk.substr(0, jwk.size() - 1) + "," + members + "}";
}

std::string without(const std::string& jwk, const std::string& member) {
  const std::size_t at = jwk.find(",\"" + member + "\":");
  REQUIRE(at != std::string::npos);
  const std::size_t end = jwk.find_first_of(",}", at + 1);
  return jwk.substr(0, at) + jwk.substr(end);
}

// What it signs is verified with its public JWK.
bool signs(const std::string& text, Algorithm algorithm, const std::string& kid) {
  const auto key = jose::read_signing_key(text);
  if (!key || key->algorithm != algorithm || (!kid.empty() && key->kid != kid)) return false;
  const auto token = jose::sign_jws(key->key, key->algorithm, {}, "{}");
  const std::string jwk = jose::write_jwk(key->key, key->algorithm);
  const auto document = json::Document::parse_view(jwk);
  const auto public_key = jose::read_jwk(document->root());
  const auto jws = jose::parse_jws(*token);
  return public_key && jws && jose::is_signed_by(*jws, *public_key);
}

}  // namespace

TEST_CASE("read_signing_key: PEM and private JWKs sign by the key's own algorithm and have a name") {
  CHECK(signs(kP256, Algorithm::es256, ""));
  CHECK(signs("\n  " + with(kP256, R"("kid":"k1","use":"sig","key_ops":["sign"])"), Algorithm::es256, "k1"));
  // RFC 8037, A.3.
  CHECK(signs(kEd25519, Algorithm::eddsa, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"));
  CHECK(signs(kEd25519Pem, Algorithm::eddsa, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"));
  CHECK(signs(kRsa, Algorithm::rs256, ""));
  CHECK(signs(with(kRsa, R"("alg":"PS256")"), Algorithm::ps256, ""));
  std::string bare = kRsa;
  for (const char* member : {"p", "q", "dp", "dq", "qi"}) bare = without(bare, member);
  CHECK(signs(bare, Algorithm::rs256, ""));
}

TEST_CASE("read_signing_key: public keys, keys that are no pair and other texts are refused") {
  for (const std::string& text :
       {std::string(), std::string("secret"), std::string("{}"), std::string("[]"), std::string("{"),
        kEd25519PublicPem, without(kP256, "d"), without(kRsa, "d"), without(kRsa, "q"),
        with(kP256, R"("alg":"ES384")"), with(kP256, R"("key_ops":["verify"])"),
        with(kP256, R"("use":"enc")"), with(kRsa, R"("oth":[])"), with(kP256, R"("d":"AAAA")"),
        R"({"kty":"oct","k":"AAAA"})" + std::string(jose::kSigningKeyBytesMax, ' ')}) {
    const auto key = jose::read_signing_key(text);
    CHECK_FALSE_MESSAGE(key, text.substr(0, 80));
  }
  // The private part of another key.
  std::string other = kP256;
  other.replace(other.find("jpsQ"), 4, "jpsR");
  CHECK_FALSE(jose::read_signing_key(other));
  other = kEd25519;
  other.replace(other.find("nWGx"), 4, "nWGy");
  const auto refused = jose::read_signing_key(other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().for_log.find("nWGy") == std::string::npos);
}

}  // namespace signing_key_test

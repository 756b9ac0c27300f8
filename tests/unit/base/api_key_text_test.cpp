#include "base/api_key_text.h"

#include <doctest/doctest.h>

#include <set>

namespace api_key_text_test {

using namespace baton;

TEST_CASE("API key: its text has a prefix, an id, a secret and a checksum, and no two are alike") {
  std::set<std::string> texts, ids;
  for (int i = 0; i < 100; ++i) {
    const auto made = base::make_api_key();
    CHECK(made.text.size() == 64);
    CHECK(made.text.starts_with("baton_" + made.id + "_"));
    const auto parts = base::read_api_key(made.text);
    REQUIRE(parts);
    CHECK(parts->id == made.id);
    CHECK(parts->secret.size() == 43);
    CHECK(base::read_key_digest(made.digest) == base::digest_of_key(parts->secret));
    CHECK(made.digest.find(std::string(parts->secret)) == std::string::npos);
    CHECK(texts.insert(made.text).second);
    ids.insert(made.id);
  }
  CHECK(ids.size() > 90);
}

TEST_CASE("API key: the text of a given id and secret is fixed, and any one changed character is found") {
  const std::string text = base::api_key_text("0123ABab", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ");
  CHECK(text == "baton_0123ABab_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ" + text.substr(58));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string typo = text;
    typo[i] = typo[i] == 'x' ? 'y' : 'x';
    CHECK(!base::read_api_key(typo));
  }
  for (const std::string& wrong : {text.substr(0, 63), text + "x", std::string("baton_"), std::string()})
    CHECK(!base::read_api_key(wrong));
  CHECK(!base::read_key_digest("12"));
  CHECK(!base::read_key_digest(std::string(64, 'x')));
}

TEST_CASE(
    "API key: its id is found in a whole key and in a part, and the secret is masked wherever it stands") {
  const auto made = base::make_api_key();
  CHECK(base::is_api_key_id(made.id));
  for (const std::string& wrong : {made.id + "x", made.id.substr(1), std::string("0123-bab"), made.text})
    CHECK(!base::is_api_key_id(wrong));
  CHECK(base::id_in_api_key(made.text) == made.id);
  CHECK(base::id_in_api_key(made.text.substr(0, 20)) == made.id);
  for (const std::string& wrong :
       {made.id, made.text.substr(0, 14), made.text.substr(1), std::string("baton_")})
    CHECK(base::id_in_api_key(wrong).empty());
  const std::string masked = "baton_" + made.id + "_***";
  CHECK(base::without_api_keys(made.text) == masked);
  CHECK(base::without_api_keys("/a/" + made.text + "/b?baton_" + made.text + "x") ==
        "/a/" + masked + "/b?baton_" + masked);
  CHECK(base::without_api_keys(made.text.substr(0, 40)) == masked);
  const std::string usual = "/agents/baton_customer_help/baton_" + made.id + "/baton_";
  CHECK(base::without_api_keys(usual) == usual);
}

}  // namespace api_key_text_test

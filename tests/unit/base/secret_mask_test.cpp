#include "base/secret_mask.h"

#include <doctest/doctest.h>

#include <ctime>

#include "base/base64.h"
#include "base/text.h"

namespace secret_mask_test {

using namespace baton;
using base::SecretMask;

// The masked text if `text` arrives in pieces of `size` bytes.
std::string in_pieces(const SecretMask& mask, const std::string& text, std::size_t size) {
  SecretMask::Pieces pieces(std::make_shared<const SecretMask>(mask));
  std::string shown;
  for (std::size_t at = 0; at < text.size(); at += size) shown += pieces.next(text.substr(at, size));
  return shown + pieces.end();
}

TEST_CASE("SecretMask: a secret is hidden as it is, escaped as in JSON, and in URLs") {
  const SecretMask mask({"sk/le+\"m\\n%25-0042"});
  for (const std::string form :
       {R"(sk/le+"m\n%25-0042)", R"(sk\/le+\"m\\n%25-0042)", R"(sk/le\u002B\u0022m\u005cn\u002525-0042)",
        R"(sk\\/le+\\\"m\\\\n%25-0042)", R"(%73k%2Fle%2B%22m%5cn%2525-0042)"}) {
    CAPTURE(form);
    const std::string text = "{\"key\": \"" + form + "\"}";
    if (form.find("%2525") == std::string::npos) CHECK(mask.masked(text) == "{\"key\": \"***\"}");
    for (const std::size_t size : {1u, 2u, 3u, 7u}) CHECK(in_pieces(mask, text, size) == mask.masked(text));
  }
}

TEST_CASE("SecretMask: a secret inside base64 is hidden at any offset, and the rest still decodes") {
  const std::string secret = "s3cret-?>~token";
  const SecretMask mask({secret});
  for (const std::string before : {"", "a", "ab", "client:", "Bearer "}) {
    const std::string text = base::encode_base64(before + secret + " and more");
    const auto shown = base::decode_base64(mask.masked(text));
    REQUIRE(shown);
    CHECK(shown->size() == before.size() + secret.size() + 9);
    CHECK(shown->find("cret-?>~tok") == std::string::npos);
    CHECK(shown->starts_with(before));
    CHECK(shown->ends_with(" and more"));
    std::string for_urls = text;
    for (char& c : for_urls) c = c == '+' ? '-' : c == '/' ? '_' : c;
    CHECK(mask.masked(for_urls).find("xxxxxxxx") != std::string::npos);
  }
}

TEST_CASE("SecretMask: other text is left as it is") {
  const SecretMask mask({"abcabcabd", "short", ""});
  for (const std::string text : {"abcabcabc", "short", "100% \\ \\\\ \\u0061 abcabcab", "", "\\", "%"}) {
    CAPTURE(text);
    CHECK(mask.masked(text) == text);
    CHECK(in_pieces(mask, text, 1) == text);
  }
  CHECK(mask.masked("abcabcabcabd") == "abc***");
  CHECK(in_pieces(mask, "abcabcabcabd", 1) == "abc***");
  CHECK(SecretMask({}).masked("anything \\ %") == "anything \\ %");
}

TEST_CASE("SecretMask: a complete line is passed on at once") {
  SecretMask::Pieces pieces(std::make_shared<const SecretMask>(std::vector<std::string>{"secret-one"}));
  CHECK(pieces.next("data: {\"a\": \"secr") == "data: {\"a\": \"");
  CHECK(pieces.next("et\"}\n\n") == "secret\"}\n\n");
  CHECK(pieces.end().empty());
}

TEST_CASE("SecretMask: a text made to cause long comparisons is still masked in linear time") {
  const std::string secret = std::string(16'000, 'a') + "b";
  const SecretMask mask({secret});
  const std::string text(256u << 10, 'a');
  const std::clock_t begun = std::clock();
  (void)mask.masked(text);
  (void)in_pieces(mask, text, 4'096);
  // A naive search needs 4e9 steps.
  CHECK(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC < 4);
}

}  // namespace secret_mask_test

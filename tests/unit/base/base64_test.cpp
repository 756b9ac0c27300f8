#include "base/base64.h"

#include <doctest/doctest.h>

namespace base64_test {

using namespace baton;

TEST_CASE("Base64: decoding returns the encoded bytes") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    CHECK(base::decode_base64(base::encode_base64(bytes)) == bytes);
    bytes += static_cast<char>(i * 7);
  }
  CHECK(base::encode_base64("hi") == "aGk=");
}

TEST_CASE("Base64: all spellings of the same bytes become one") {
  CHECK(base::normalize_base64("aGk") == "aGk=");
  CHECK(base::normalize_base64("aGk=") == "aGk=");
  CHECK(base::normalize_base64("-_8") == "+/8=");
  CHECK(base::normalize_base64("") == "");
  // The bits that the last character has beyond the last byte.
  CHECK(base::normalize_base64("aGl") == "aGk=");
  CHECK(base::normalize_base64("aGm=") == "aGk=");
  CHECK(base::normalize_base64("aX") == "aQ==");
  CHECK(base::normalize_base64("-_==") == "+w==");
}

TEST_CASE("Base64: line breaks are accepted") {
  CHECK(base::normalize_base64("aG\r\nkxaG\nkx\n") == "aGkxaGkx");
  CHECK(base::decode_base64("aG\nk=\n") == "hi");
  CHECK(base::normalize_base64("\n") == "");
}

TEST_CASE("Base64: anything else is refused") {
  for (const char* text :
       {"a", "aGk=a", "aG k", "aGk==", "====", "=", "a===", "<base64>", "aG\tk", "aGk\n=\n="}) {
    CAPTURE(text);
    CHECK_FALSE(base::normalize_base64(text));
  }
}

}  // namespace base64_test

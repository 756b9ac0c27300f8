#include "base/sha256.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sha256_test {

using baton::base::Sha256;

namespace {

std::array<std::uint64_t, 2> digest_of(const std::vector<std::string>& texts) {
  Sha256 sha;
  for (const std::string& text : texts) sha.add(text);
  return sha.first_128_bits();
}

}  // namespace

TEST_CASE("Sha256: each text is hashed with its length before it") {
  // printf '\0\0\0\0\0\0\0\3abc' | sha256sum
  const std::array<std::uint64_t, 2> expected{0xc3494ca1a2cf8eeb, 0x8a11ded316fb55b8};
  CHECK(digest_of({"abc"}) == expected);
}

TEST_CASE("Sha256: other boundaries between the texts give another digest") {
  CHECK(digest_of({"a", "bc"}) == digest_of({"a", "bc"}));
  CHECK(digest_of({"a", "bc"}) != digest_of({"ab", "c"}));
  CHECK(digest_of({"abc"}) != digest_of({"abc", ""}));
  CHECK(digest_of({}) != digest_of({""}));
  Sha256 none;
  none.add(std::string_view());  // has no address
  CHECK(none.first_128_bits() == digest_of({""}));
}

TEST_CASE("Sha256: the digest is right for texts of lengths around the buffer's size") {
  // python3: sha256(b"".join(len(t).to_bytes(8, "big") + t for t in texts)), with texts of the lengths below
  std::vector<std::string> texts;
  for (const std::size_t length : {0, 1, 503, 504, 505, 511, 512, 513, 2000, 7})
    texts.emplace_back(length, 'x');
  const std::array<std::uint64_t, 2> expected{0xee915834f149a3f7, 0x81e5fe28676ef468};
  CHECK(digest_of(texts) == expected);
}

TEST_CASE("uuid_of: equal texts give the same UUID, of version 5") {
  const std::string id = baton::base::uuid_of({"a", "bc"});
  CHECK(id == baton::base::uuid_of({"a", "bc"}));
  CHECK(id != baton::base::uuid_of({"ab", "c"}));
  REQUIRE(id.size() == 36);
  CHECK(id[14] == '5');
  CHECK(std::string("89ab").find(id[19]) != std::string::npos);
}

}  // namespace sha256_test

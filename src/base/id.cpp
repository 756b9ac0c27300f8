#include "base/id.h"

#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "base/hex.h"

namespace baton::base {
namespace {

void fill_random(unsigned char* bytes, int size) {
  // Aborts, because without randomness ids would be guessable.
  if (RAND_bytes(bytes, size) != 1) std::abort();
}

// Takes bytes from a block that is filled at once: one call to the generator per id would cost more than all
// the rest of make_uuid.
void take_pooled(unsigned char* bytes, std::size_t size) {
  static std::mutex mutex;
  static std::array<unsigned char, 4096> pool;
  static std::size_t used = pool.size();
  std::lock_guard lock(mutex);
  if (used + size > pool.size()) {
    fill_random(pool.data(), static_cast<int>(pool.size()));
    used = 0;
  }
  for (std::size_t i = 0; i < size; ++i) bytes[i] = pool[used++];
}

}  // namespace

std::string make_uuid() {
  std::array<unsigned char, 16> raw;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  for (int i = 0; i < 6; ++i) raw[i] = static_cast<unsigned char>(ms >> (40 - 8 * i));
  take_pooled(raw.data() + 6, 10);
  raw[6] = static_cast<unsigned char>((raw[6] & 0x0f) | 0x70);
  raw[8] = static_cast<unsigned char>((raw[8] & 0x3f) | 0x80);

  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kLowerHex[raw[i] >> 4];
    text += kLowerHex[raw[i] & 0x0f];
  }
  return text;
}

std::string random_hex(int bytes) {
  std::string raw(static_cast<std::size_t>(bytes), '\0');
  fill_random(reinterpret_cast<unsigned char*>(raw.data()), bytes);
  return hex_of(raw);
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  fill_random(reinterpret_cast<unsigned char*>(&number), sizeof number);
  return number;
}

}  // namespace baton::base

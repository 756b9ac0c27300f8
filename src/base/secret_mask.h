// SecretMask: hides secrets in text from another party, which may echo what it was sent.
//
// A secret is found in plain form, escaped as in JSON or a URL, and in base64 at any offset. A party that
// knows a secret can always reveal it in some other encoding; the mask only protects against echoes.
// Threads: a mask is immutable; a SecretMask::Pieces belongs to one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace baton::base {

class SecretMask {
 public:
  // Shorter secrets are not hidden: they cannot be distinguished from ordinary words.
  static constexpr std::size_t kSecretMin = 6;

  explicit SecretMask(const std::vector<std::string>& secrets);

  // Returns `text` with "***" in place of each secret. In base64 each character of the secret becomes "x", so
  // that the text can still be decoded.
  std::string masked(std::string_view text) const;

  // Masks a text that arrives in pieces.
  class Pieces {
   public:
    // If `mask` is null, nothing is hidden.
    explicit Pieces(std::shared_ptr<const SecretMask> mask) : mask_(std::move(mask)) {}

    // Returns the text that may be shown so far. Keeps back a tail that may be the beginning of a secret.
    std::string next(std::string_view piece);
    // Returns the rest. Call it at the end of the text.
    std::string end();

   private:
    std::shared_ptr<const SecretMask> mask_;  // shared with its owner, which may have replaced it since
    std::string held_;
    std::int64_t credit_ = kCredit;
  };

 private:
  // The comparisons that a text may cost, in addition to a number for each of its bytes. Without a limit, a
  // party that chooses both a secret and the text could make the cost the product of their sizes. When the
  // credit is used up, the beginning of a secret counts as the whole secret.
  static constexpr std::int64_t kCredit = std::int64_t{4} << 20;

  struct Form {
    std::string text;
    bool is_base64 = false;
  };
  struct Found;
  static Found find(const Form& form, std::string_view text, std::int64_t& credit);
  // Appends the masked text to `out` and returns the number of bytes of `text` that it covers. `is_whole`: no
  // more text follows.
  std::size_t mask_into(std::string& out, std::string_view text, bool is_whole, std::int64_t& credit) const;

  std::vector<Form> forms_;
  std::array<bool, 256> begins_{};  // first bytes of all forms
};

}  // namespace baton::base

// SecretMask: hides secrets in what another party sends, which may echo what it was sent.
//
// A secret is found as it is, escaped as in JSON or a URL, and in base64, whatever stands before it there. A
// party that knows a secret can always show it in a form of its own; this is about echoes.
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
  // Shorter secrets are not hidden: they cannot be told from words of the text.
  static constexpr std::size_t kSecretMin = 6;

  explicit SecretMask(const std::vector<std::string>& secrets);

  // `text` with "***" in place of each secret. In base64, "x" in place of each character, so that it can
  // still be decoded.
  std::string masked(std::string_view text) const;

  // The same for a text that comes in pieces.
  class Pieces {
   public:
    // Null: nothing is hidden.
    explicit Pieces(std::shared_ptr<const SecretMask> mask) : mask_(std::move(mask)) {}

    // What may be shown by now. Keeps back an end that may be the beginning of a secret.
    std::string next(std::string_view piece);
    // The rest, at the end of the text.
    std::string end();

   private:
    std::shared_ptr<const SecretMask> mask_;  // shared with its owner, which may have a newer one by now
    std::string held_;
    std::int64_t credit_ = kCredit;
  };

 private:
  // Comparisons that a text may cost, besides some for each of its bytes. Who chooses both a secret and the
  // text could make them cost the product of their sizes; beyond this the beginning of a secret counts as all
  // of it.
  static constexpr std::int64_t kCredit = std::int64_t{4} << 20;

  struct Form {
    std::string text;
    bool is_base64 = false;
  };
  struct Found;
  static Found find(const Form& form, std::string_view text, std::int64_t& credit);
  // Appends to `out` what may be shown, and returns how many bytes of the text that is about. `is_whole`: no
  // more text follows.
  std::size_t mask_into(std::string& out, std::string_view text, bool is_whole, std::int64_t& credit) const;

  std::vector<Form> forms_;
  std::array<bool, 256> begins_{};  // the bytes with which a form may begin
};

}  // namespace baton::base

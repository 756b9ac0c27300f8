#include "base/secret_mask.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"

namespace baton::base {
namespace {

// A longer run of backslashes is not treated as an escape. JSON in JSON in JSON needs seven.
constexpr std::size_t kBackslashesMax = 16;
constexpr std::int64_t kCreditEach = 8;  // see SecretMask::kCredit
constexpr std::size_t kEnough = 24;      // characters that suffice for a secret once the credit is used up

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

enum class Fits { no, yes, open };  // open: the text ends before it is decided

// Whether the text begins with the code of `c` in this many hexadecimal digits.
Fits fits_hex(std::string_view text, std::size_t digits, char c) {
  int value = 0;
  for (std::size_t at = 0; at < digits; ++at) {
    if (at == text.size()) return Fits::open;
    const int digit = hex_value(text[at]);
    if (digit < 0) return Fits::no;
    value = value * 16 + digit;
  }
  return value == static_cast<unsigned char>(c) ? Fits::yes : Fits::no;
}

// Whether the text begins with an escape of `c`. If so, sets `size` to the length of the escape.
Fits fits_escape(std::string_view text, char c, std::size_t& size) {
  if (text.front() == '%') {
    size = 3;
    return fits_hex(text.substr(1), 2, c);
  }
  const std::size_t most = std::min(text.size(), kBackslashesMax);
  std::size_t run = 0;
  while (run < most && text[run] == '\\') ++run;
  if (run == 0) return Fits::no;
  if (run < text.size() && text[run] == 'u') {
    size = run + 5;
    const Fits fits = fits_hex(text.substr(run + 1), 4, c);
    if (fits != Fits::no) return fits;
  }
  const bool is_backslash = c == '\\';
  size = is_backslash ? run : run + 1;
  if (is_backslash) return Fits::yes;
  if (run == text.size()) return Fits::open;
  return text[run] == c ? Fits::yes : Fits::no;
}

std::int64_t credit_of(std::string_view text) {
  return kCreditEach * static_cast<std::int64_t>(text.size());
}

// Maps the URL-safe alphabet of base64 to the standard one.
char standard(char c) {
  return c == '-' ? '+' : c == '_' ? '/' : c;
}

// Returns the base64 characters that depend only on the secret, if `before` bytes (modulo 3) precede it. The
// first and last characters may also encode neighbouring bytes and are left out.
std::string inside_base64(const std::string& secret, std::size_t before) {
  const std::string all = encode_base64(std::string(before, '\0') + secret);
  const std::size_t first = (before * 8 + 5) / 6;
  const std::size_t end = (before + secret.size()) * 8 / 6;
  return all.substr(first, end - first);
}

}  // namespace

struct SecretMask::Found {
  std::size_t size = 0;  // of the text; 0: not there
  bool is_open = false;  // the text ends in the middle of it
};

SecretMask::SecretMask(const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    if (secret.size() < kSecretMin) continue;
    forms_.push_back({secret, false});
    for (const std::size_t before : {0u, 1u, 2u}) forms_.push_back({inside_base64(secret, before), true});
  }
  for (const Form& form : forms_) {
    begins_[static_cast<unsigned char>(form.text.front())] = true;
    if (form.is_base64 && form.text.front() == '+') begins_['-'] = true;
    if (form.is_base64 && form.text.front() == '/') begins_['_'] = true;
  }
  begins_['\\'] = begins_['%'] = !forms_.empty();
}

// Compares the plain secret first, because a secret may contain something that looks like an escape.
SecretMask::Found SecretMask::find(const Form& form, std::string_view text, std::int64_t& credit) {
  const std::string& wanted = form.text;
  const auto is_same = [&](std::size_t at, char c) {
    return wanted[at] == c || (form.is_base64 && wanted[at] == standard(c));
  };
  const std::size_t enough = credit < 0 ? std::min(kEnough, wanted.size()) : wanted.size();
  std::size_t same = 0;
  while (same < wanted.size() && same < text.size() && is_same(same, text[same])) ++same;
  credit -= static_cast<std::int64_t>(same) + 1;
  if (same >= enough) return {same, false};
  if (same == text.size()) return {0, true};
  std::size_t at = same;
  for (; same < wanted.size(); ++same, --credit) {
    if (at == text.size()) return {same >= enough ? at : 0, same < enough};
    std::size_t size = 1;
    if (text[at] == '\\' || !is_same(same, text[at])) {
      const Fits fits = fits_escape(text.substr(at), wanted[same], size);
      if (fits == Fits::open) return {0, true};
      if (fits == Fits::no) break;
    }
    at += size;
  }
  return {same >= enough ? at : 0, false};
}

std::size_t SecretMask::mask_into(std::string& out, std::string_view text, bool is_whole,
                                  std::int64_t& credit) const {
  std::size_t shown = 0;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_in_escape = text[at] == '\\' && at > 0 && text[at - 1] == '\\';
    if (is_in_escape || !begins_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    std::size_t longest = 0;
    const Form* found_form = nullptr;
    bool is_open = false;
    for (const Form& form : forms_) {
      const Found found = find(form, text.substr(at), credit);
      is_open = is_open || found.is_open;
      if (found.size <= longest) continue;
      longest = found.size;
      found_form = &form;
    }
    const bool is_held = is_open && !is_whole;
    if (!is_held && found_form == nullptr) {
      ++at;
      continue;
    }
    out.append(text.substr(shown, at - shown));
    if (is_held) return at;
    if (found_form->is_base64) out.append(found_form->text.size(), 'x');
    if (!found_form->is_base64) out.append("***");
    at += longest;
    shown = at;
  }
  out.append(text.substr(shown));
  return text.size();
}

std::string SecretMask::masked(std::string_view text) const {
  std::string out;
  std::int64_t credit = kCredit + credit_of(text);
  mask_into(out, text, true, credit);
  return out;
}

std::string SecretMask::Pieces::next(std::string_view piece) {
  if (!mask_) return std::string(piece);
  held_.append(piece);
  credit_ += credit_of(piece);
  std::string out;
  const std::size_t done = mask_->mask_into(out, held_, false, credit_);
  held_.erase(0, done);
  return out;
}

std::string SecretMask::Pieces::end() {
  if (!mask_) return {};
  std::string out;
  mask_->mask_into(out, std::exchange(held_, {}), true, credit_);
  return out;
}

}  // namespace baton::base

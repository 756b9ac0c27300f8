#include "outbound/refusal.h"

#include <algorithm>
#include <cstddef>

#include "base/one_line.h"
#include "base/text.h"
#include "json/document.h"
#include "json/error_words.h"

namespace baton::outbound {
namespace {

constexpr std::size_t kWordsMax = 300;           // bytes that are shown of a server's words
constexpr std::size_t kWordsReadMax = 64 << 10;  // bytes of a body that are read for them

// A page is for people in front of a browser.
bool is_page(std::string_view body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  return first == body.npos || body[first] == '<' || !base::is_utf8(body);
}

// Hides words that may be keys or parts of them: servers quote the key that they refuse.
std::string without_keys(std::string_view text) {
  std::string shown;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const bool has_digit = std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
    const bool may_be_key =
        word.find('*') != word.npos || (word.size() >= 8 && has_digit && word.find("://") == word.npos);
    shown.append(may_be_key ? "***" : word);
    if (end < text.size()) shown.push_back(' ');
    at = end + 1;
  }
  return shown;
}

// Returns the error_description, or else the error, of a WWW-Authenticate header.
std::string words_of_challenge(std::string_view header) {
  for (const std::string_view name : {"error_description=\"", "error=\""}) {
    const std::size_t begin = header.find(name);
    if (begin == header.npos) continue;
    header.remove_prefix(begin + name.size());
    return std::string(header.substr(0, header.find('"')));
  }
  return {};
}

}  // namespace

std::string words_of(std::string_view body) {
  body = body.substr(0, kWordsReadMax);
  const auto document = json::Document::view_of(body);
  if (!document.root().missing()) return json::error_words(document.root());
  return is_page(body) ? std::string() : std::string(body);
}

std::string shown_error(std::string_view text, std::string_view secret) {
  std::string shown(text.substr(0, kWordsReadMax));
  for (std::size_t at = 0; !secret.empty() && (at = shown.find(secret, at)) != std::string::npos;) {
    shown.replace(at, secret.size(), "***");
    at += 3;
  }
  shown = base::one_line(shown);
  shown.resize(base::beginning_of(shown, kWordsMax).size());
  return shown;
}

std::string refusal_text(const HttpAnswer& answer, const RefusalView& view) {
  std::string words = words_of(answer.body);
  if (words.empty()) words = words_of_challenge(header_of(answer, "WWW-Authenticate"));
  words = shown_error(words, view.secret);
  const bool is_about_keys = view.is_about_keys || answer.status == 401 || answer.status == 403;
  if (is_about_keys && !view.shows_keys) words = without_keys(words);
  std::string text = "HTTP status " + std::to_string(answer.status);
  if (!words.empty()) text += ": " + words;
  if (!answer.moved_to.empty()) text += ": it has moved to " + shown_error(answer.moved_to, view.secret);
  return text;
}

}  // namespace baton::outbound

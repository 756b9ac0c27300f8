#include "server/http/http_text.h"

namespace baton::server::http {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view media_type(std::string_view content_type) {
  return trimmed(content_type.substr(0, content_type.find(';')));
}

std::string_view next_member(std::string_view& list) {
  const auto comma = list.find(',');
  const std::string_view member = trimmed(list.substr(0, comma));
  list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  return member;
}

bool list_has(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (same_word(next_member(list), word)) return true;
  }
  return false;
}

}  // namespace baton::server::http

#include "agents/delegate_urls.h"

#include <algorithm>

#include "base/text.h"
#include "outbound/http_client.h"

namespace baton::agents {
namespace {

constexpr std::size_t kDelegateUrlMax = 250;

bool is_plain_path(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/";
  if (path.find_first_not_of(kPlain) != std::string_view::npos) return false;
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment.empty() || segment == "." || segment == "..") return false;
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
  }
  return true;
}

}  // namespace

bool is_delegate_url(const std::vector<std::string>& allowed, std::string_view url) {
  if (url.size() > kDelegateUrlMax) return false;
  return std::ranges::any_of(allowed, [&](std::string_view entry) {
    // Scheme and host are case-insensitive, the path is not.
    const std::size_t path = std::min(entry.find('/', base::web_scheme(entry)), entry.size());
    if (!base::begins_with(url, entry.substr(0, path))) return false;
    const std::string_view below = url.substr(path);
    entry.remove_prefix(path);
    if (!entry.ends_with('/') || below == entry) return below == entry;
    return below.starts_with(entry) && is_plain_path(below.substr(entry.size()));
  });
}

std::string delegate_url_problem(std::string_view entry) {
  const auto url = outbound::parse_url(entry);
  if (!url) return url.error().for_caller;
  if (entry.find_first_of("?#\\") != std::string_view::npos)
    return "it must not contain a query, a fragment or a backslash";
  // With a path, every URL below the entry begins with the entry's own "/".
  if (entry.find('/', entry.find("://") + 3) == std::string_view::npos)
    return "it has no path: end it with \"/\" to allow all agents there";
  return entry.size() > kDelegateUrlMax ? "it is longer than 250 bytes" : "";
}

}  // namespace baton::agents

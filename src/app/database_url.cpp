#include "app/database_url.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace baton::app {
namespace {

constexpr std::string_view kSchemeEnd = "://", kHidden = "***";

struct UrlParts {
  std::string_view scheme, user;
  std::optional<std::string_view> password;
  std::string_view place;  // hosts with their ports, and the database's name
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
};

// Removes and returns the text before the first character of `ends`, which is removed too. Returns all of the
// text if there is no such character.
std::string_view cut(std::string_view& text, std::string_view ends) {
  const std::size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view before = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return before;
}

bool is_url(std::string_view database) {
  return database.find(kSchemeEnd) != std::string_view::npos;
}

// Matches "host:5432" and "[::1]:5432"; both parts may be missing.
bool is_host_with_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    host.remove_prefix(end + 1);
    if (!host.empty() && !host.starts_with(':')) return false;
  }
  cut(host, ":");
  return std::ranges::all_of(host, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_place(std::string_view place) {
  if (place.find('@') != std::string_view::npos) return false;
  std::string_view hosts = cut(place, "/");
  while (!hosts.empty()) {
    if (!is_host_with_port(cut(hosts, ","))) return false;
  }
  return place.find('/') == std::string_view::npos;
}

// Stricter than libpq: refuses a URL that could contain a password with a character that must be encoded.
std::optional<UrlParts> parts_of(std::string_view url) {
  if (!base::percent_decoded(url) || url.find("%00") != std::string_view::npos) return std::nullopt;
  UrlParts parts;
  const std::size_t scheme = url.find(kSchemeEnd) + kSchemeEnd.size();
  parts.scheme = url.substr(0, scheme);
  url.remove_prefix(scheme);
  const std::size_t at = url.find_first_of("@/");
  if (at != std::string_view::npos && url[at] == '@') {
    std::string_view user = cut(url, "@");
    if (user.find('?') != std::string_view::npos) return std::nullopt;
    const bool has_password = user.find(':') != std::string_view::npos;
    parts.user = cut(user, ":");
    if (has_password) parts.password = user;
  }
  parts.place = cut(url, "?");
  if (!is_place(parts.place)) return std::nullopt;
  while (!url.empty()) {
    std::string_view value = cut(url, "&");
    const std::string_view name = cut(value, "=");
    if (name.empty() || value.empty()) return std::nullopt;
    parts.parameters.emplace_back(name, value);
  }
  return parts;
}

bool is_secret(std::string_view parameter) {
  const std::string name = base::percent_decoded(parameter).value_or("");
  return name == "password" || name == "sslpassword";
}

}  // namespace

bool is_postgres(std::string_view database) {
  return database.starts_with("postgresql://") || database.starts_with("postgres://");
}

bool holds_password(std::string_view database) {
  const auto parts = is_postgres(database) ? parts_of(database) : std::nullopt;
  if (!parts) return false;
  return (parts->password && !parts->password->empty()) ||
         std::ranges::any_of(parts->parameters, [](const auto& one) { return is_secret(one.first); });
}

std::string shown_database(std::string_view database) {
  if (!is_url(database)) return std::string(database);
  const auto parts = parts_of(database);
  if (!parts) return std::string(cut(database, ":")) + std::string(kSchemeEnd) + std::string(kHidden);
  std::string shown(parts->scheme);
  shown += parts->user;
  if (parts->password) shown.append(":").append(kHidden);
  if (parts->password || !parts->user.empty()) shown += '@';
  shown += parts->place;
  char before = '?';
  for (const auto& [name, value] : parts->parameters) {
    shown.append(1, std::exchange(before, '&')).append(name).append("=");
    shown += is_secret(name) ? kHidden : value;
  }
  return shown;
}

std::string database_problem(std::string_view database) {
  if (!is_url(database)) return {};
  if (!is_postgres(database)) return "must be a file name, :memory: or a URL that begins with postgresql://";
  if (parts_of(database)) return {};
  return "must look like postgresql://user:password@host:5432/database?sslmode=verify-full. In names and "
         "passwords, write : / ? & @ and % as %3A %2F %3F %26 %40 and %25";
}

}  // namespace baton::app

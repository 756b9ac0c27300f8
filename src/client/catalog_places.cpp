#include "client/catalog_places.h"

#include <algorithm>

namespace baton::client {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f";

std::string lower(std::string_view text) {
  std::string all(text);
  for (char& c : all) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return all;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

// The value of name="value", name='value' or name=value among a tag's attributes or a link's parameters.
std::string_view value_of(std::string_view attributes, std::string_view name) {
  const std::string small = lower(attributes);
  for (std::size_t at = 0; (at = small.find(name, at)) != std::string::npos; at += name.size()) {
    const bool begins =
        at == 0 || std::string_view(" \t\r\n\f;").find(small[at - 1]) != std::string_view::npos;
    std::string_view rest = trimmed(attributes.substr(at + name.size()));
    if (!begins || !rest.starts_with('=')) continue;
    rest = trimmed(rest.substr(1));
    if (rest.empty()) return {};
    const char quote = rest.front();
    if (quote == '"' || quote == '\'') return rest.substr(1, rest.find(quote, 1) - 1);
    return rest.substr(0, rest.find_first_of(" \t\r\n\f;,>"));
  }
  return {};
}

// Whether a list of relations has the catalog's.
bool is_catalog(std::string_view relations) {
  const std::string words = " " + lower(relations) + " ";
  return words.find(" ard ") != std::string::npos || words.find(" ai-catalog ") != std::string::npos;
}

}  // namespace

std::vector<std::string> catalogs_in_robots(std::string_view text) {
  constexpr std::string_view kName = "agentmap:";
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (lower(line).starts_with(kName)) found.emplace_back(trimmed(line.substr(kName.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::vector<std::string> catalogs_in_page(std::string_view html) {
  std::vector<std::string> found;
  const std::string small = lower(html);
  for (std::size_t at = 0; (at = small.find("<link", at)) != std::string::npos; ++at) {
    const std::string_view tag = html.substr(at, html.find('>', at) - at);
    if (is_catalog(value_of(tag, "rel"))) found.emplace_back(value_of(tag, "href"));
  }
  return found;
}

std::vector<std::string> catalogs_in_link(std::string_view link) {
  std::vector<std::string> found;
  while (true) {
    const std::size_t begin = link.find('<'), end = link.find('>');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return found;
    const std::string_view url = link.substr(begin + 1, end - begin - 1);
    link.remove_prefix(end + 1);
    if (is_catalog(value_of(link.substr(0, link.find('<')), "rel"))) found.emplace_back(url);
  }
}

std::vector<CatalogPlace> catalog_places(const std::string& url, const Access& access) {
  std::vector<CatalogPlace> places;
  std::string root = url;
  while (root.ends_with('/')) root.pop_back();
  const auto base = outbound::parse_url(root + "/");
  const auto add = [&](const char* found_by, const std::vector<std::string>& references, bool is_named) {
    for (const std::string& reference : references) {
      const auto resolved = base ? outbound::resolved(*base, reference) : base;
      const std::string whole = resolved ? outbound::origin_of(*resolved) + resolved->target : reference;
      if (std::ranges::find(places, whole, &CatalogPlace::url) == places.end())
        places.push_back({found_by, whole, is_named});
    }
  };
  if (base) {
    if (const auto robots = http_get(outbound::origin_of(*base) + "/robots.txt", access, {}))
      add("robots.txt", catalogs_in_robots(robots->text), true);
  }
  if (const auto page = http_get(root + "/", access, {})) {
    add("a link of the page", catalogs_in_page(page->text), true);
    add("the header Link", catalogs_in_link(page->links), true);
  }
  add("its usual place", {root + "/.well-known/ard.json"}, false);
  add("its earlier place", {root + "/.well-known/ai-catalog.json"}, false);
  return places;
}

}  // namespace baton::client

#include "protocol/discovery/catalog.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/one_line.h"
#include "base/text.h"
#include "json/writer.h"

namespace baton::protocol::discovery {
namespace {

using json::Value;
using json::Writer;

constexpr std::string_view kUrn = "urn:air:";
constexpr std::size_t kNameMax = 200, kTextMax = 1'000, kTagMax = 100;  // code points
constexpr std::size_t kTagsMax = 16, kQueriesMin = 2, kQueriesMax = 5;

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// The texts without repetitions and empty ones, each as one line.
std::vector<std::string> shown(const std::vector<std::string>& texts, std::size_t count_max,
                               std::size_t length_max) {
  std::vector<std::string> all;
  for (const std::string& text : texts) {
    std::string line = base::shortened(base::one_line(text), length_max);
    if (all.size() == count_max) break;
    if (!line.empty() && std::ranges::find(all, line) == all.end()) all.push_back(std::move(line));
  }
  return all;
}

void write_entry(Writer& out, const CatalogEntry& entry) {
  out.object([&] {
    out.member("identifier", entry.identifier);
    out.member("displayName", base::shortened(base::one_line(entry.name), kNameMax));
    out.member("type", entry.type).member("url", entry.url);
    out.optional("description", base::shortened(base::one_line(entry.description), kTextMax));
    const auto tags = shown(entry.tags, kTagsMax, kTagMax);
    if (!tags.empty()) out.key("tags").strings(tags);
    const auto queries = shown(entry.queries, kQueriesMax, kTextMax);
    if (queries.size() >= kQueriesMin) out.key("representativeQueries").strings(queries);
    out.optional("version", base::shortened(base::one_line(entry.version), kTagMax));
    if (entry.updated != base::Timestamp()) out.member("updatedAt", base::to_rfc3339(entry.updated));
  });
}

// urn:air:<publisher>:<part>..., each part of letters, digits and . _ -
bool is_identifier(std::string_view text) {
  if (!text.starts_with(kUrn)) return false;
  text.remove_prefix(kUrn.size());
  int parts = 0;
  while (true) {
    const std::string_view part = text.substr(0, text.find(':'));
    const bool is_host = parts++ == 0;
    const auto fits = [&](char c) {
      return is_letter_or_digit(c) || c == '.' || c == '-' || (c == '_' && !is_host);
    };
    if (part.empty() || !std::ranges::all_of(part, fits)) return false;
    if (part.size() == text.size()) return parts >= 2;
    text.remove_prefix(part.size() + 1);
  }
}

class Checker {
 public:
  explicit Checker(std::string_view publisher) : publisher_(publisher) {}

  void check(Value root) {
    if (!root.is_object()) return error("", "must be an object");
    if (root["specVersion"].string() != "1.0") warn("/specVersion", "should be \"1.0\"");
    check_host(root["host"]);
    for (const Value member : root) {
      const std::string_view name = member.key();
      if (name != "specVersion" && name != "host" && name != "entries" && !name.starts_with('@'))
        warn("/" + std::string(name), "is unknown");
    }
    if (!root["entries"].is_array()) return error("/entries", "must be a list");
    std::size_t index = 0;
    for (const Value entry : root["entries"]) check_entry(entry, "/entries/" + std::to_string(index++));
    if (index == 0) warn("/entries", "is empty");
  }

  std::vector<CatalogProblem> found;

 private:
  void error(std::string pointer, std::string reason) {
    found.push_back({std::move(pointer), std::move(reason), true});
  }
  void warn(std::string pointer, std::string reason) {
    found.push_back({std::move(pointer), std::move(reason), false});
  }

  // Returns false if the member is there and no text.
  bool check_text(Value object, const std::string& place, std::string_view member, bool is_required) {
    const Value text = object[member];
    if (text.missing() && !is_required) return true;
    if (text.is_string() && (!is_required || !text.string().empty())) return true;
    error(place + "/" + std::string(member), text.missing() ? "is missing" : "must be a text");
    return false;
  }

  void check_host(Value host) {
    if (host.missing()) return warn("/host", "is missing: readers of the first version require it");
    if (!host.is_object()) return error("/host", "must be an object");
    check_text(host, "/host", "displayName", true);
    constexpr std::array<std::string_view, 5> kKnown{"displayName", "identifier", "documentationUrl",
                                                     "logoUrl", "trustManifest"};
    for (const Value member : host) {
      if (std::ranges::find(kKnown, member.key()) == kKnown.end())
        warn("/host/" + std::string(member.key()), "is unknown");
    }
  }

  void check_entry(Value entry, const std::string& place) {
    if (!entry.is_object()) return error(place, "must be an object");
    check_identifier(entry, place);
    check_text(entry, place, "displayName", true);
    check_type(entry, place);
    const Value url = entry["url"];
    if (url.missing() == entry["data"].missing()) error(place, "must have one of url and data");
    if (!url.missing() && base::web_scheme(url.string()) == 0) error(place + "/url", "must be a web URL");
    if (base::begins_with(url.string(), "http://")) warn(place + "/url", "should begin with https");
    check_text(entry, place, "description", false);
    check_text(entry, place, "version", false);
    check_texts(entry, place, "tags");
    check_texts(entry, place, "capabilities");
    check_texts(entry, place, "representativeQueries");
    check_updated(entry, place);
    check_queries(entry["representativeQueries"], place + "/representativeQueries");
    check_metadata(entry["metadata"], place + "/metadata");
    if (const Value trust = entry["trustManifest"]; !trust.missing())
      check_text(trust, place + "/trustManifest", "identity", true);
  }

  void check_identifier(Value entry, const std::string& place) {
    if (!check_text(entry, place, "identifier", true)) return;
    const std::string id = entry["identifier"].str();
    if (!is_identifier(id))
      return error(place + "/identifier", "must be like urn:air:example.com:agents:name");
    if (!ids_.insert(id).second) error(place + "/identifier", "another entry has the same");
    const std::string_view after = std::string_view(id).substr(kUrn.size());
    if (!publisher_.empty() && after.substr(0, after.find(':')) != publisher_)
      error(place + "/identifier", "must name the host that serves it, " + publisher_);
  }

  void check_type(Value entry, const std::string& place) {
    if (!check_text(entry, place, "type", true)) return;
    constexpr std::array<std::string_view, 5> kKnown{kA2aCard, kMcpCard, "application/ai-catalog+json",
                                                     "application/ai-registry+json",
                                                     "application/ai-skill+md"};
    if (std::ranges::find(kKnown, entry["type"].string()) == kKnown.end())
      warn(place + "/type", "is unknown");
  }

  void check_texts(Value entry, const std::string& place, std::string_view member) {
    const Value list = entry[member];
    if (list.missing()) return;
    bool fits = list.is_array();
    if (fits) {
      for (const Value text : list) fits = fits && text.is_string();
    }
    if (!fits) error(place + "/" + std::string(member), "must be a list of texts");
  }

  void check_queries(Value list, const std::string& place) {
    const bool is_missing = list.missing();
    if (is_missing || (list.is_array() && (list.size() < kQueriesMin || list.size() > kQueriesMax)))
      warn(place, "should have 2 to 5 texts: registries search by them");
  }

  void check_updated(Value entry, const std::string& place) {
    const Value at = entry["updatedAt"];
    if (!at.missing() && !base::parse_rfc3339(at.string()))
      error(place + "/updatedAt", "must be a time of RFC 3339");
  }

  void check_metadata(Value metadata, const std::string& place) {
    if (metadata.missing()) return;
    if (!metadata.is_object()) return error(place, "must be an object");
    for (const Value member : metadata) {
      if (member.is_object() || member.is_array())
        error(place + "/" + std::string(member.key()), "must be a single value");
    }
  }

  const std::string publisher_;
  std::set<std::string> ids_;
};

}  // namespace

std::string publisher_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  std::string host(url.substr(scheme + 3));
  host.resize(std::min(host.find_first_of("/?#"), host.size()));
  host.erase(0, host.rfind('@') + 1);  // npos + 1: nothing
  host.resize(std::min(host.find(':'), host.size()));
  for (char& c : host) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto fits = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-'; };
  const std::size_t dot = host.rfind('.');
  if (dot == std::string::npos || dot == 0 || !std::ranges::all_of(host, fits)) return {};
  const std::string last = host.substr(dot + 1);
  const bool is_name = !last.empty() && std::isalpha(static_cast<unsigned char>(last.front())) != 0;
  return is_name && last != "localhost" ? host : std::string();
}

std::string write_catalog(std::string_view publisher, std::span<const CatalogEntry> entries) {
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("specVersion", "1.0");
    out.key("host").object([&] { out.member("displayName", publisher).member("identifier", publisher); });
    out.key("entries").each(entries, [&](const CatalogEntry& entry) { write_entry(out, entry); });
  });
  return text;
}

std::vector<CatalogProblem> check_catalog(Value root, std::string_view publisher) {
  Checker checker(publisher);
  checker.check(root);
  return std::move(checker.found);
}

}  // namespace baton::protocol::discovery

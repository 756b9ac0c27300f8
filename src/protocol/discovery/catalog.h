// The catalog of a server's agents that registries and clients read: ARD (Agentic Resource Discovery) 0.91 at
// /.well-known/ard.json. The same bytes are an AI Catalog, /.well-known/ai-catalog.json, as of ARD 0.9.
//
// Threads: any; pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "json/document.h"

namespace baton::protocol::discovery {

inline constexpr std::string_view kA2aCard = "application/a2a-agent-card+json",
                                  kMcpCard = "application/mcp-server-card+json";

// The host of a URL, in lower case, if others may name what it publishes after it: a domain name with a dot.
// Empty for an address, for "localhost" and the like, and for what is no web URL.
std::string publisher_of(std::string_view url);

struct CatalogEntry {
  std::string identifier;  // urn:air:<publisher>:...
  std::string name;
  std::string type;  // of the document at `url`
  std::string url;
  std::string description = {};
  std::string version = {};
  std::vector<std::string> tags = {};
  std::vector<std::string> queries = {};  // examples of what to ask; fewer than two are left out
  base::Timestamp updated{};              // 0: unknown
};

// Models read the texts, so they are cut, and have no control characters.
std::string write_catalog(std::string_view publisher, std::span<const CatalogEntry> entries);

struct CatalogProblem {
  std::string pointer;  // JSON pointer; empty: the whole document
  std::string reason;
  bool is_error = true;  // false: readers accept it, and find less
};
// The problems of a catalog that the host `publisher` serves.
std::vector<CatalogProblem> check_catalog(json::Value root, std::string_view publisher);

}  // namespace baton::protocol::discovery

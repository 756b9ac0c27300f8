// CatalogPlaces: where a server's catalog of agents is (protocol/discovery/catalog.h), as clients look for
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/endpoint.h"

namespace baton::client {

struct CatalogPlace {
  std::string found_by;  // how a client finds it: "robots.txt", "the page's link", ...
  std::string url;
  bool is_named = true;  // false: a usual place, at which there may be none
};

// The places that the server names, then the usual ones, in the order in which clients look; each URL once.
// `url`: of the server. Reads /robots.txt and the page at `url`; what cannot be read names no place.
std::vector<CatalogPlace> catalog_places(const std::string& url, const Access& access);

// The URLs that these texts name; pure functions. `link`: the values of the header Link, joined by commas.
std::vector<std::string> catalogs_in_robots(std::string_view text);
std::vector<std::string> catalogs_in_page(std::string_view html);
std::vector<std::string> catalogs_in_link(std::string_view link);

}  // namespace baton::client

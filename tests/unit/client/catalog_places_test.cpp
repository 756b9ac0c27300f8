#include "client/catalog_places.h"

#include <doctest/doctest.h>

namespace baton::client::catalog_places_test {

using Urls = std::vector<std::string>;

TEST_CASE("CatalogPlaces: robots.txt, pages and the header Link name catalogs") {
  CHECK(catalogs_in_robots("User-agent: *\r\nAgentMap:  https://a/x.json \r\nDisallow: /") ==
        Urls{"https://a/x.json"});
  CHECK(catalogs_in_robots("no").empty());
  CHECK(
      catalogs_in_page(
          R"(<LINK rel="icon" href="/i"><link href='/a.json' REL='ard nofollow'/><link rel=ard href=/b>)") ==
      Urls{"/a.json", "/b"});
  CHECK(catalogs_in_page("<link rel=\"ar").empty());
  CHECK(catalogs_in_page("<link data-rel=\"ard\" href=\"/x\">").empty());
  CHECK(
      catalogs_in_link(R"(</agents>; rel="service-meta", </ard.json>; rel="ard"; type="application/json")") ==
      Urls{"/ard.json"});
  CHECK(catalogs_in_link("</a>; rel=ai-catalog, <b") == Urls{"/a"});
}

}  // namespace baton::client::catalog_places_test

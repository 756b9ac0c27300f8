// Server cards of the Model Context Protocol (SEP-2127): GET <url of the server>/server-card.
//
// Threads: any; pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/discovery/catalog.h"

namespace baton::protocol::discovery {

struct ServerCard {
  std::string publisher;  // see publisher_of
  std::string name;       // unique at the publisher: letters, digits and . _ -
  std::string title;
  std::string description;
  std::string version;
  std::string url;  // of the server
};
std::string write_server_card(const ServerCard& card);

std::vector<CatalogProblem> check_server_card(json::Value root);

}  // namespace baton::protocol::discovery

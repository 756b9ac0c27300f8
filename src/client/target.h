// Target: which agent to speak to, and how, as far as its card does not decide.
#pragma once

#include <string>

namespace baton::client {

struct Target {
  std::string url = "http://127.0.0.1:8080";
  std::string agent;  // which of the server's; empty: the one at the URL itself
  std::string token;
  std::string a2a;  // the version to speak, "0.1" to "1.0"; empty: the best that the agent's card offers
  std::string transport;    // "jsonrpc", "rest" or "grpc"; empty: the first of these that the card offers
  std::string endpoint;     // where the agent is spoken to, whatever its card says; empty: as the card says
  bool trust_card = false;  // the token goes to any origin that the card names

  // Where to look for the card: at the endpoint if only that is given.
  std::string card_url() const { return endpoint.empty() || url != Target().url ? url : endpoint; }
};

}  // namespace baton::client

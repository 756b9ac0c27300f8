// The views of a card: the forms of one source card for clients of each version (protocol/a2a/README.md, 8).
//
// Pure functions of a ServedCard. An author's signatures are not passed on, because they sign another text.
#pragma once

#include <string>
#include <vector>

#include "task/card.h"

namespace baton::protocol {

// A card together with the facts about Baton that its views show. If a URL is empty, that binding is not
// served.
struct ServedCard {
  // Whether Baton has bearer tokens of its own, and whether callers need one.
  enum class Bearer { none, possible, required };

  const task::AgentCard& card;  // must outlive this
  std::string json_rpc_url;     // ends with a slash, unlike REST's
  std::string rest_url;         // no slash at its end
  std::string grpc_url;
  bool push = true;  // webhooks are switched on
  // These are not shown if the card has security schemes of its own.
  Bearer bearer = Bearer::none;
  std::string key_header = {};                   // that a token may come in; empty: none
  std::vector<std::string> discovery_urls = {};  // of the authorization servers (OpenID Connect)
  bool extended = false;                         // the form for authenticated callers
  bool has_callers = true;                       // callers can authenticate; else no extended card is offered
};

enum class CardView {
  superset,   // valid as 0.1, 0.2 and 0.3, and enough for 1.0. A mutual TLS scheme is unknown to 0.2.
  v0_3_rest,  // the ProtoJSON of a2a.v1
  v1_0,       // only what lf.a2a.v1 has
};

std::string write_card(const ServedCard& served, CardView view);

}  // namespace baton::protocol

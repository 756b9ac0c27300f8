// The views of a card: what clients of each generation are shown of one source card (wire/a2a/README.md, 8).
//
// Pure functions of a ServedCard. Signatures that an author put into a card are not passed on: they were made
// over another text.
#pragma once

#include <string>
#include <vector>

#include "task/card.h"

namespace baton::wire {

// What Baton knows of itself that a card shows. An empty URL: that binding is not there.
struct ServedCard {
  // Whether Baton's own bearer tokens exist, and whether callers without one are let in.
  enum class Bearer { none, possible, required };

  const task::AgentCard& card;  // must outlive this
  std::string json_rpc_url;     // with a slash at its end, which keeps it apart from REST's
  std::string rest_url;         // without
  std::string grpc_url;
  bool push = true;              // webhooks are switched on
  Bearer bearer = Bearer::none;  // a card with security schemes of its own does not show it
  bool extended = false;         // the form for callers that said who they are
  bool has_callers = true;       // callers can say who they are, so that an extended card is for somebody
};

enum class CardView {
  superset,   // valid as 0.1, 0.2 and 0.3, and enough for 1.0. A mutual TLS scheme is unknown to 0.2.
  v0_3_rest,  // the ProtoJSON of a2a.v1
  v1_0,       // nothing that lf.a2a.v1 does not have
};

std::string write_card(const ServedCard& served, CardView view);

}  // namespace baton::wire

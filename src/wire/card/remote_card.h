// Reading the card of any agent, of any A2A generation, as a client.
//
// Reading is lenient: what is missing or of a wrong type counts as not there (remote_check.h says what is
// wrong with a card). Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "task/card.h"
#include "task/task.h"
#include "wire/json/document.h"

namespace baton::wire {

enum class Binding { json_rpc, rest, grpc };
std::string_view name_of(Binding binding);              // "JSONRPC", "HTTP+JSON", "GRPC"
std::string_view name_of(task::Generation generation);  // "0.1", "0.2", "0.3", "1.0"

// A place where the agent is spoken to, and how.
struct RemoteInterface {
  std::string url;  // as the card has it; of gRPC also host:port
  Binding binding = Binding::json_rpc;
  task::Generation generation = task::Generation::v1_0;
  std::string tenant;  // to be repeated in every request; empty: none

  friend bool operator==(const RemoteInterface&, const RemoteInterface&) = default;
};

struct RemoteCard {
  task::AgentCard card;  // a mode "text" is read as "text/plain"
  bool streaming = false;
  bool push = false;
  bool extended = false;  // there is an extended card for callers that say who they are
  // In the card's order, the first hundred. What Baton cannot speak (other bindings, later versions) is left
  // out. A card that may be of 0.1 or early 0.2 has its URL twice: whoever is answered that a method does not
  // exist (-32601) tries the next.
  std::vector<RemoteInterface> interfaces;
};

// Fails with parse_error for what is not JSON, with invalid_argument for what is not an object.
base::Result<RemoteCard> read_remote_card(std::string_view json);
RemoteCard read_remote_card(Value card);

// The generations that a card is written for, by its members, oldest first. Those of the interfaces it lists
// are another matter.
std::vector<task::Generation> generations_of(Value card);

struct InterfaceWish {
  std::optional<task::Generation> generation;                       // empty: the newest there is
  std::vector<Binding> bindings{Binding::json_rpc, Binding::rest};  // those that will do
};
// The interface to use: of the generation wished for or else the newest, the first in the card's order that
// has a binding that will do. A card of 0.3 or 1.0 cannot say that it speaks 0.1 or 0.2 as well; if one of
// these is wished for, it is its JSON-RPC interface of the oldest generation, at the generation wished for.
std::optional<RemoteInterface> pick(const RemoteCard& card, const InterfaceWish& wish = {});

}  // namespace baton::wire

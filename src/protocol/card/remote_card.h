// Reads the card of any agent, of any A2A version, as a client.
//
// Reading is lenient: members that are missing or of the wrong type count as absent (remote_check.h reports
// what is wrong with a card). Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "task/card.h"
#include "task/task.h"

namespace baton::protocol {

enum class Binding { json_rpc, rest, grpc };
std::string_view name_of(Binding binding);                // "JSONRPC", "HTTP+JSON", "GRPC"
std::string_view name_of(task::ProtocolVersion version);  // "0.1", "0.2", "0.3", "1.0"
std::optional<task::ProtocolVersion> version_named(std::string_view name);

// An endpoint of the agent, and how to speak to it.
struct RemoteInterface {
  std::string url;  // as in the card; may be host:port for gRPC
  Binding binding = Binding::json_rpc;
  task::ProtocolVersion version = task::ProtocolVersion::v1_0;
  std::string tenant;  // sent in every request; empty: none

  friend bool operator==(const RemoteInterface&, const RemoteInterface&) = default;
};

struct RemoteCard {
  task::AgentCard card;  // a mode "text" is read as "text/plain"
  bool streaming = false;
  bool push = false;
  bool extended = false;  // there is an extended card for authenticated callers
  // In the card's order, at most a hundred. Interfaces that Baton cannot speak (other bindings, later
  // versions) are left out. The URL of a card that may be of 0.1 or early 0.2 is listed twice, once for each
  // version: after "method not found" (-32601) the caller tries the next.
  std::vector<RemoteInterface> interfaces;
};

// Fails with parse_error if the text is not JSON, with invalid_argument if it is not an object.
base::Result<RemoteCard> read_remote_card(std::string_view json);
RemoteCard read_remote_card(json::Value card);

// The versions that a card is written for, judged by its members, oldest first. The interfaces it lists
// may be of others.
std::vector<task::ProtocolVersion> versions_of(json::Value card);

struct InterfaceWish {
  std::optional<task::ProtocolVersion> version;                     // empty: the newest
  std::vector<Binding> bindings{Binding::json_rpc, Binding::rest};  // acceptable bindings
};
// Picks the interface to use: the first one in the card's order with an acceptable binding, of the requested
// version, or else of the newest one. A card of 0.3 or 1.0 cannot declare that the agent also speaks 0.1 or
// 0.2. If one of these is requested, the result is the card's JSON-RPC interface of the oldest version, with
// the requested version in place of its own.
std::optional<RemoteInterface> pick(const RemoteCard& card, const InterfaceWish& wish = {});

}  // namespace baton::protocol

// Rules: the addresses that agents and models elsewhere may have, and what calls to them share.
//
// Threads: any; pure functions but with_jitter, which is random.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/span.h"
#include "outbound/address.h"
#include "outbound/breakers.h"
#include "outbound/byte_budget.h"
#include "outbound/call_counts.h"
#include "outbound/proxy.h"
#include "outbound/server.h"

namespace baton::outbound {

struct HttpRequest;

// Limits of the answer of an agent or model elsewhere. A ByteBudget bounds the memory of all answers
// together.
struct Limits {
  std::size_t arguments_max = 8u << 20;  // bytes of tool calls' arguments that are collected in a run
  std::size_t items_max = 100'000;       // artifacts, messages and parts, counted together
};

// Decides about the cards of agents elsewhere. Null functions: each card is accepted as it is.
struct CardRules {
  // Returns the card to read for an agent at the origin: the text that its signature covers, or all of it.
  // Fails with the reason why the card is refused. Empty text: the agent has no card.
  std::function<base::Result<std::string>(std::string_view origin, std::string_view card)> accept = {};
  // A number that changes when `accept` may answer differently from before.
  std::function<std::uint64_t()> generation = {};
};

// The addresses that agents elsewhere may have, and the objects that their calls share.
struct Rules {
  std::vector<std::string> origins;  // "https://host:port": these may have any address
  AddressPolicy policy;              // for all others
  Breakers* breakers = nullptr;      // of all agents; outlives them; may be null
  CallCounts* counts = nullptr;      // as `breakers`
  base::SpanQueue* spans = nullptr;  // for calls; as `breakers`
  ByteBudget* budget = nullptr;      // for answers; as `breakers`; null: unbounded
  Limits limits = {};
  Proxy proxy = {};
  CardRules cards = {};

  // These rules for one server, which may have a proxy of its own.
  Rules of(const Server& server) const;

  // The policy for a URL that the operator has named.
  AddressPolicy policy_for(std::string_view url) const;
  // The policy for a URL that an agent elsewhere has named, such as an interface in its card. `named`: the
  // URLs that the operator named for this agent. Only their origins may be in `origins`; others must be
  // public, so that one agent cannot lead Baton to an address that was opened for another or to one of this
  // machine.
  AddressPolicy policy_for(std::string_view url, std::initializer_list<std::string_view> named) const;

  // Returns a request to a URL that the operator has named, with all that these rules say of it.
  HttpRequest request_to(std::string url) const;

  // Why `url` may not be called, for the operator. Empty if it may, or if that depends on the address of its
  // host's name.
  std::string refusal_of(std::string_view url) const;
};

// What keeps a server from being called, for the operator. `refusal`: the result of refusal_of.
std::vector<std::string> missing_outside(bool has_secret, const std::string& secret,
                                         const std::string& refusal);

// A random time between half of `pause` and all of it, so that turns waiting for the same server do not
// retry at the same moment.
std::chrono::milliseconds with_jitter(std::chrono::milliseconds pause);

}  // namespace baton::outbound

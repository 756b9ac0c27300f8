// Common parts of executors that act outside: the addresses that they may reach, their findings, and their
// pauses.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "http/outbound/address.h"
#include "http/outbound/breakers.h"
#include "http/outbound/byte_budget.h"

namespace baton::agents {

// Limits of the answer of an agent or model elsewhere. The memory of all answers together is bounded by a
// http::outbound::ByteBudget.
struct OutboundLimits {
  std::size_t arguments_max = 8u << 20;  // bytes of tool calls' arguments that are collected in a run
  std::size_t items_max = 100'000;       // artifacts, messages and parts, counted together
};

// The addresses that agents elsewhere may have, and the objects that their calls share.
struct OutboundRules {
  std::vector<std::string> origins;              // "https://host:port": these may have any address
  http::outbound::AddressPolicy policy;          // for all others
  http::outbound::Breakers* breakers = nullptr;  // of all agents; outlives them; may be null
  base::SpanQueue* spans = nullptr;              // for calls; as `breakers`
  http::outbound::ByteBudget* budget = nullptr;  // for answers; as `breakers`; null: unbounded
  OutboundLimits limits = {};

  // The policy for a URL that the operator has named.
  http::outbound::AddressPolicy policy_for(std::string_view url) const;
  // The policy for a URL that an agent elsewhere has named, such as an interface in its card. `named`: the
  // URLs that the operator named for this agent. Only their origins may be in `origins`; others must be
  // public, so that one agent cannot lead Baton to an address that was opened for another or to one of this
  // machine.
  http::outbound::AddressPolicy policy_for(std::string_view url,
                                           std::initializer_list<std::string_view> named) const;

  // Why `url` may not be called, for the operator. Empty if it may, or if that depends on the address of its
  // host's name.
  std::string refusal_of(std::string_view url) const;
};

// Executor::missing for an executor that acts outside. `refusal`: the result of refusal_of.
std::vector<std::string> missing_outside(bool has_secret, const std::string& secret,
                                         const std::string& refusal);

// A random time between half of `pause` and all of it, so that turns waiting for the same server do not
// retry at the same moment.
std::chrono::milliseconds with_jitter(std::chrono::milliseconds pause);

}  // namespace baton::agents

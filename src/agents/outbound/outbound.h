// What executors that act outside have in common: which addresses they may reach, what they lack,
// and how they pause.
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

// What the answer of an agent or model elsewhere may have. The memory that all answers take is bounded by a
// http::outbound::ByteBudget.
struct OutboundLimits {
  std::size_t arguments_max = 8u << 20;  // bytes of tool calls' arguments that are collected in a run
  std::size_t items_max = 100'000;       // artifacts, messages and parts, counted together
};

// Which addresses agents elsewhere may have.
struct OutboundRules {
  std::vector<std::string> origins;              // "https://host:port": these may have any
  http::outbound::AddressPolicy policy;          // for all others
  http::outbound::Breakers* breakers = nullptr;  // of all agents; outlives them. Null: none
  base::SpanQueue* spans = nullptr;              // of calls; as `breakers`
  http::outbound::ByteBudget* budget = nullptr;  // for answers; as `breakers`. Null: they are not bounded
  OutboundLimits limits = {};

  // Of a URL that the operator has named.
  http::outbound::AddressPolicy policy_for(std::string_view url) const;
  // Of a URL that an agent elsewhere has named, such as an interface in its card. Only the origins of the
  // URLs that the operator named for this agent may be in `origins`; others must be public, lest one agent
  // lead Baton to an address that was opened for another.
  http::outbound::AddressPolicy policy_for(std::string_view url,
                                           std::initializer_list<std::string_view> named) const;

  // Why `url` may not be called, for the operator. Empty if it may, or if that depends on the address of its
  // host's name.
  std::string refusal_of(std::string_view url) const;
};

// Executor::missing of one that acts outside. `refusal`: as refusal_of has it.
std::vector<std::string> missing_outside(bool has_secret, const std::string& secret,
                                         const std::string& refusal);

// Between half of a pause and all of it, so that those who wait for the same server do not come back at the
// same time.
std::chrono::milliseconds with_jitter(std::chrono::milliseconds pause);

}  // namespace baton::agents

// Decodes JSON from other servers within the memory budget for it (http::outbound::ByteBudget).
#pragma once

#include <string_view>

#include "http/outbound/byte_budget.h"
#include "json/value_count.h"

namespace baton::client {

// Returns the right to decode a JSON text, which reserves memory in the budget. Blocks until there is room;
// fails with too_large or unavailable (Intake::decode). A null `intake` has no limit.
inline base::Result<http::outbound::Intake::Decoding> may_decode(std::string_view text,
                                                                 const http::outbound::Intake* intake) {
  constexpr std::size_t kBytesOfValue = 16;
  if (intake == nullptr || text.size() <= http::outbound::ByteBudget::kFree)
    return http::outbound::Intake::Decoding();
  return intake->decode(text.size(), kBytesOfValue * json::value_count(text));
}

}  // namespace baton::client

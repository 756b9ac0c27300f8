// Decodes JSON from other servers within the memory budget for it (outbound::ByteBudget).
#pragma once

#include <string_view>

#include "json/value_count.h"
#include "outbound/byte_budget.h"

namespace baton::client {

// Returns the right to decode a JSON text, which reserves memory in the budget. Blocks until there is room;
// fails with too_large or unavailable (Intake::decode). A null `intake` has no limit.
inline base::Result<outbound::Intake::Decoding> may_decode(std::string_view text,
                                                           const outbound::Intake* intake) {
  constexpr std::size_t kBytesOfValue = 16;
  if (intake == nullptr || text.size() <= outbound::ByteBudget::kFree) return outbound::Intake::Decoding();
  return intake->decode(text.size(), kBytesOfValue * json::value_count(text));
}

}  // namespace baton::client

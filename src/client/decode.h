// What another server has sent is decoded when the budget for that allows it (http::outbound::ByteBudget).
#pragma once

#include <string_view>

#include "http/outbound/byte_budget.h"
#include "json/value_count.h"

namespace baton::client {

// The right to decode a JSON text. Blocks; fails with too_large or unavailable (Intake::decode). `intake`:
// null: nothing is bounded.
inline base::Result<http::outbound::Intake::Decoding> may_decode(std::string_view text,
                                                                 const http::outbound::Intake* intake) {
  constexpr std::size_t kBytesOfValue = 16;
  if (intake == nullptr || text.size() <= http::outbound::ByteBudget::kFree)
    return http::outbound::Intake::Decoding();
  return intake->decode(text.size(), kBytesOfValue * json::value_count(text));
}

}  // namespace baton::client

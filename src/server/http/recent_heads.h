// RecentHeads: cache of decoded request heads. A client sends the same head with each request, and decoding
// costs more than copying the result.
//
// Bounded: a few short heads; a new one replaces the one in its slot. Threads: any. Nothing is decoded,
// copied or freed with the lock held.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/guarded.h"
#include "server/http/http_server.h"

namespace baton::server::http {

class RecentHeads {
 public:
  using RequestPtr = std::shared_ptr<const Request>;  // shared with readers that copy it

  // Null: not cached. Heads must match byte for byte.
  RequestPtr find(std::string_view head) const;
  void add(std::string head, RequestPtr request);

 private:
  static constexpr std::size_t kPlaces = 64;
  static constexpr std::size_t kLengthMax = 2 << 10;
  struct Place {
    std::string head;
    RequestPtr request;
  };
  static std::size_t place_of(std::string_view head);

  base::Guarded<std::array<Place, kPlaces>> places_;
};

}  // namespace baton::server::http

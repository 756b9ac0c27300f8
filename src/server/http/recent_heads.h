// RecentHeads: what the heads of the last requests were decoded to. A client says the same head with each of
// its requests, and decoding one costs more than copying what it means.
//
// Bounded: a few short heads; each drives out the one in its place. Threads: any. Nothing is decoded, copied
// or let go of with the lock held.
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
  using RequestPtr = std::shared_ptr<const Request>;  // shared with whoever is copying it

  // Null: not among them. Only the very same text is.
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

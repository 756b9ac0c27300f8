#include "server/http/recent_heads.h"

#include <functional>
#include <utility>

namespace baton::server::http {

std::size_t RecentHeads::place_of(std::string_view head) {
  return std::hash<std::string_view>{}(head) % kPlaces;
}

RecentHeads::RequestPtr RecentHeads::find(std::string_view head) const {
  const std::size_t at = place_of(head);
  return places_.with([&](const auto& places) {
    const Place& place = places[at];
    return place.head == head ? place.request : nullptr;
  });
}

void RecentHeads::add(std::string head, RequestPtr request) {
  if (head.size() > kLengthMax) return;
  const std::size_t at = place_of(head);
  Place fresh{std::move(head), std::move(request)};
  places_.with([&](auto& places) { std::swap(places[at], fresh); });
}

}  // namespace baton::server::http

// Lru: a map of bounded size that evicts the least recently used entry. Threads: one.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>

namespace baton::base {

template <class Key, class Value>
class Lru {
 public:
  explicit Lru(std::size_t size_max) : size_max_(size_max) {}

  // Null if absent. The pointer is valid until the next `put` or `clear`.
  Value* find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }

  // The key must be absent.
  Value& put(const Key& key, Value value) {
    if (places_.size() >= size_max_) drop_oldest();
    entries_.emplace_front(key, std::move(value));
    places_[key] = entries_.begin();
    return entries_.front().second;
  }

  void erase(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    entries_.erase(found->second);
    places_.erase(found);
  }

  void drop_oldest() {
    if (entries_.empty()) return;
    places_.erase(entries_.back().first);
    entries_.pop_back();
  }

  void clear() {
    places_.clear();
    entries_.clear();
  }

  std::size_t size() const { return places_.size(); }

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  const std::size_t size_max_;
  Entries entries_;  // most recently used first
  std::unordered_map<Key, typename Entries::iterator> places_;
};

}  // namespace baton::base

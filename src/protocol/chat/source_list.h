// SourceList: values in the order of their addition, each with its source: the reply, artifact, step or the
// like that it shows. Finding and removing the values of a source does not depend on the number of the
// others, so a view's work is linear in its log. Threads: one at a time.
#pragma once

#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace baton::protocol::chat {

template <class T>
class SourceList {
 public:
  // A reference stays valid until the value is removed.
  T& add(std::string source, T value) {
    const auto place = all_.insert(all_.end(), {std::move(source), std::move(value)});
    places_.emplace(place->source, place);
    return place->value;
  }

  // Returns a value of the source; null if there is none.
  T* find(const std::string& source) {
    const auto found = places_.find(source);
    return found == places_.end() ? nullptr : &found->second->value;
  }

  void remove(const std::string& source, const T& value) {
    const auto [first, last] = places_.equal_range(source);
    for (auto place = first; place != last; ++place) {
      if (&place->second->value != &value) continue;
      all_.erase(place->second);
      places_.erase(place);
      return;
    }
  }

  // Removes all values of the source.
  void remove(const std::string& source) {
    const auto [first, last] = places_.equal_range(source);
    for (auto place = first; place != last; ++place) all_.erase(place->second);
    places_.erase(first, last);
  }

  bool empty() const { return all_.empty(); }
  void clear() {
    all_.clear();
    places_.clear();
  }

  struct Entry {
    std::string source;
    T value;
  };
  Entry& front() { return all_.front(); }
  Entry& back() { return all_.back(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  auto rbegin() const { return all_.rbegin(); }
  auto rend() const { return all_.rend(); }

 private:
  std::list<Entry> all_;
  std::unordered_multimap<std::string, typename std::list<Entry>::iterator> places_;
};

}  // namespace baton::protocol::chat

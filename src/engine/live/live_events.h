// LiveEvents: consecutive events of a log. Copies share their events, so that each change of a log can be
// published as a new value without copying what was there.
//
// Threads: any number may read values, also while a copy of theirs is changed. Changes of copies of one value
// are made by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

#include "task/event.h"

namespace baton::engine {

class LiveEvents {
 public:
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return size() == 0; }
  const task::EventPtr& operator[](std::size_t index) const {
    const std::size_t place = begin_ + index;
    return chunks_[place / kChunk]->events[place % kChunk];
  }
  const task::EventPtr& front() const { return (*this)[0]; }
  const task::EventPtr& back() const { return (*this)[size() - 1]; }

  // Whether both have events, and the same first one.
  bool begins_like(const LiveEvents& other) const {
    return !empty() && !other.empty() && front() == other.front();
  }

  void add(const std::vector<task::EventPtr>& events) {
    for (const task::EventPtr& event : events) {
      const std::size_t place = end_ % kChunk;
      if (place == 0) {
        chunks_.push_back(std::make_shared<Chunk>());
      } else if (chunks_.back()->used != place) {
        chunks_.back() = chunks_.back()->first(place);  // a copy has other events there
      }
      Chunk& last = *chunks_.back();
      last.events[place] = event;
      last.used = place + 1;
      ++end_;
    }
  }

  // Removes the first event. It stays in memory with those that follow it until `hidden` is 0 again.
  void drop_front() {
    if (++begin_ < kChunk) return;
    chunks_.erase(chunks_.begin());
    begin_ -= kChunk;
    end_ -= kChunk;
  }
  // The number of removed events that stay in memory.
  std::size_t hidden() const { return begin_; }
  // Copies the events, so that none is hidden.
  void compact() {
    const std::vector<task::EventPtr> events(begin(), end());
    *this = {};
    add(events);
  }

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = task::EventPtr;
    using difference_type = std::ptrdiff_t;
    using pointer = const task::EventPtr*;
    using reference = const task::EventPtr&;

    Iterator() = default;
    Iterator(const LiveEvents& events, std::size_t index) : events_(&events), index_(index) {}
    reference operator*() const { return (*events_)[index_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() { return ++index_, *this; }
    Iterator operator++(int) { return {*events_, index_++}; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const LiveEvents* events_ = nullptr;
    std::size_t index_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  static constexpr std::size_t kChunk = 32;
  struct Chunk {
    std::array<task::EventPtr, kChunk> events;
    std::size_t used = 0;  // only for the thread that changes a value

    std::shared_ptr<Chunk> first(std::size_t count) const {
      auto copy = std::make_shared<Chunk>();
      for (; copy->used < count; ++copy->used) copy->events[copy->used] = events[copy->used];
      return copy;
    }
  };

  std::vector<std::shared_ptr<Chunk>> chunks_;
  std::size_t begin_ = 0, end_ = 0;  // places, counted from the first chunk on
};

}  // namespace baton::engine

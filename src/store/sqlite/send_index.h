// SendIndex: the sends of the last time, by which a repeated one is known; rows of `sends`, `send_slices` and
// `send_slice_pages`.
//
// Digests come in random order, and an index of them on the disk would have a page written for each. So the
// newest are in memory; once there are enough of them they are sorted and written as one slice. Of a slice a
// filter stays in memory (three bytes for each send), which says of nearly all digests that they are not in
// it.
//
// Threads: `find` from any, with a connection of the caller's; the rest on the committing thread. Memory may
// be ahead of the disk: what it knows counts only if its row is there. No lock is held over a query. A reader
// finds what was committed as long as no transaction has more sends than a slice.
// Errors: everything throws SQLite::Exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "store/sqlite/connection.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

// Tells of most digests that they are not among some others.
class DigestFilter {
 public:
  explicit DigestFilter(std::size_t digests) : words_(digests * 3 / 8 + 1) {}
  void add(std::uint64_t digest) { words_[place(digest)] |= bits(digest); }
  bool may_have(std::uint64_t digest) const { return (words_[place(digest)] & bits(digest)) == bits(digest); }

 private:
  std::size_t place(std::uint64_t digest) const { return (digest >> 32) * words_.size() >> 32; }
  // Six of the word's 64.
  static std::uint64_t bits(std::uint64_t digest) {
    std::uint64_t six = 0;
    for (int i = 0; i < 6; ++i, digest >>= 6) six |= std::uint64_t{1} << (digest & 63);
    return six;
  }

  std::vector<std::uint64_t> words_;
};

// One send in a slice: half of its digest, and how far it is from the slice's first.
struct SliceEntry {
  std::uint64_t high;
  std::uint32_t offset;
  friend auto operator<=>(const SliceEntry&, const SliceEntry&) = default;
};

// Sends of after `now` become sends of now, so that they are forgotten in time. Before the index reads them.
void pull_in_sends(Connection& connection, base::Timestamp now);

class SendIndex {
 public:
  // `slice_max`: sends in memory before they are made a slice; at most 262,144.
  SendIndex(base::Duration retention, std::size_t slice_max)
      : retention_(retention), slice_max_(slice_max), state_(std::in_place, slice_max) {}

  // Learns what is on the disk, the first time and after `forget`. Before anything else is asked of it.
  void refresh(Connection& connection);

  // The last send of this digest, if it is remembered still.
  std::optional<EarlierSend> find(Connection& connection, const task::SendDigest& digest,
                                  base::Timestamp now) const;

  // Now and then some of those that need no longer be remembered go.
  void add(Connection& connection, const task::SendDigest& digest, const EarlierSend& send,
           base::Timestamp now);
  // The transaction was rolled back: what is on the disk counts.
  void forget() { is_stale_ = true; }

 private:
  struct Hash {
    std::size_t operator()(const task::SendDigest& digest) const { return digest.high ^ digest.low; }
  };
  using Keys = std::unordered_map<task::SendDigest, std::int64_t, Hash>;  // the last of each digest
  struct Slice {
    std::int64_t last_key, first_key;
    base::Timestamp newest;
    std::shared_ptr<const DigestFilter> filter;
    std::shared_ptr<const std::vector<std::uint64_t>> pages;  // the first half digest of each
  };
  struct State {
    explicit State(std::size_t slice_max) : filter(std::make_shared<DigestFilter>(slice_max)) {}
    std::deque<Slice> slices;              // oldest first
    Keys newest;                           // in no slice
    base::Timestamp newest_at{};           // the highest time of them
    std::shared_ptr<DigestFilter> filter;  // of them
    Keys sliced;                           // of the last slice: a reader may not see it yet
  };

  std::deque<Slice> read_slices(Connection& connection) const;
  bool add_key(State& state, const task::SendDigest& digest, std::int64_t key, base::Timestamp at);
  std::vector<SliceEntry> entries_of(const State& state) const;
  Slice write_slice(Connection& connection, std::vector<SliceEntry> entries, base::Timestamp newest) const;
  Keys end_slice(State& state, Slice slice) const;
  static std::vector<std::int64_t> keys_of(const State& state, const task::SendDigest& digest);
  static std::vector<std::int64_t> find_in(Connection& connection, const Slice& slice, std::uint64_t high);
  void drop_expired(Connection& connection, base::Timestamp now);

  const base::Duration retention_;
  const std::size_t slice_max_;
  std::int64_t first_key_ = 1, next_key_ = 1;  // that is in no slice; that was not given
  std::uint64_t added_ = 0;
  bool is_stale_ = true;
  base::Guarded<State> state_;  // changed by the committing thread only
};

}  // namespace baton::store::sqlite

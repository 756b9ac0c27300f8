// SendIndex: index of recent sends by digest, to recognise repeated ones; rows of `sends`, `send_slices` and
// `send_slice_pages`.
//
// Digests are random, so an ordinary index on disk would write a page for each. Instead the newest digests
// are kept in memory, and are sorted and written as one slice when there are enough. For each slice a Bloom
// filter stays in memory (three bytes per send), which rules out the slice for nearly all other digests.
//
// Threads: `find` from any, with the caller's connection; the rest on the writing thread. Memory may be
// ahead of the disk: an entry counts only if its row exists. No lock is held during a query. A reader finds
// every committed send as long as no transaction has more sends than a slice.
// Errors: everything throws sql::Failure.
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
#include "store/sql/digest_filter.h"
#include "store/sql/writer_dialect.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

using sql::DigestFilter;

// One send in a slice: the high half of its digest, and its key's offset from the slice's first key.
struct SliceEntry {
  std::uint64_t high;
  std::uint32_t offset;
  friend auto operator<=>(const SliceEntry&, const SliceEntry&) = default;
};

// Changes send times after `now` to `now`, so that those sends expire on time. Call before the index reads
// them.
void pull_in_sends(sql::Connection& connection, base::Timestamp now);

class SendIndex final : public sql::RecentSends {
 public:
  // `slice_max`: sends in memory before they are written as a slice; at most 262,144.
  SendIndex(base::Duration retention, std::size_t slice_max)
      : retention_(retention), slice_max_(slice_max), state_(std::in_place, slice_max) {}

  // Loads the state on disk, the first time and after `forget`. Call before anything else.
  void refresh(sql::Connection& connection) override;

  // Returns the last send with this digest within the retention time, if there is one.
  std::optional<EarlierSend> find(sql::Connection& connection, const task::SendDigest& digest,
                                  base::Timestamp now) const override;

  // Adds a send. From time to time also deletes some expired sends.
  void add(sql::Connection& connection, const task::SendDigest& digest, const EarlierSend& send,
           base::Timestamp now) override;
  // Call after a rollback. The next `refresh` reloads the state from disk.
  void forget() override { is_stale_ = true; }

 private:
  struct Hash {
    std::size_t operator()(const task::SendDigest& digest) const { return digest.high ^ digest.low; }
  };
  using Keys = std::unordered_map<task::SendDigest, std::int64_t, Hash>;  // the last key of each digest
  struct Slice {
    std::int64_t last_key, first_key;
    base::Timestamp newest;
    std::shared_ptr<const DigestFilter> filter;
    std::shared_ptr<const std::vector<std::uint64_t>> pages;  // the first high half on each page
  };
  struct State {
    explicit State(std::size_t slice_max) : filter(std::make_shared<DigestFilter>(slice_max)) {}
    std::deque<Slice> slices;              // oldest first
    Keys newest;                           // not in a slice yet
    base::Timestamp newest_at{};           // the latest time in `newest`
    std::shared_ptr<DigestFilter> filter;  // over `newest`
    Keys sliced;                           // the last slice's keys: readers may not see its rows yet
  };

  std::deque<Slice> read_slices(sql::Connection& connection) const;
  bool add_key(State& state, const task::SendDigest& digest, std::int64_t key, base::Timestamp at);
  std::vector<SliceEntry> entries_of(const State& state) const;
  Slice write_slice(sql::Connection& connection, std::vector<SliceEntry> entries,
                    base::Timestamp newest) const;
  Keys end_slice(State& state, Slice slice) const;
  static std::vector<std::int64_t> keys_of(const State& state, const task::SendDigest& digest);
  static std::vector<std::int64_t> find_in(sql::Connection& connection, const Slice& slice,
                                           std::uint64_t high);
  void drop_expired(sql::Connection& connection, base::Timestamp now);

  const base::Duration retention_;
  const std::size_t slice_max_;
  std::int64_t first_key_ = 1, next_key_ = 1;  // first key not in a slice; next key to assign
  std::uint64_t added_ = 0;
  bool is_stale_ = true;
  base::Guarded<State> state_;  // changed by the writing thread only
};

}  // namespace baton::store::sqlite

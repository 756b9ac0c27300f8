#include "store/sqlite/send_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

namespace baton::store::sqlite {
namespace {

static_assert(std::endian::native == std::endian::little, "slices are written as they are in memory");

// More than come between two cleanings, so that a backlog gets shorter.
constexpr int kCleanedMax = 256;
constexpr std::uint64_t kSendsPerCleaning = 64;

std::int64_t bits(std::uint64_t half) {
  return static_cast<std::int64_t>(half);
}

constexpr std::size_t kEntryBytes = sizeof SliceEntry::high + sizeof SliceEntry::offset;

std::string packed(const std::vector<SliceEntry>& entries) {
  std::string bytes(entries.size() * kEntryBytes, '\0');
  char* place = bytes.data();
  for (const SliceEntry& entry : entries) {
    std::memcpy(place, &entry.high, sizeof entry.high);
    std::memcpy(place + sizeof entry.high, &entry.offset, sizeof entry.offset);
    place += kEntryBytes;
  }
  return bytes;
}

// Reads a slice as it is on the disk.
class Packed {
 public:
  explicit Packed(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t size() const { return bytes_.size() / kEntryBytes; }
  SliceEntry operator[](std::size_t index) const {
    SliceEntry entry{};
    const char* place = bytes_.data() + index * kEntryBytes;
    std::memcpy(&entry.high, place, sizeof entry.high);
    std::memcpy(&entry.offset, place + sizeof entry.high, sizeof entry.offset);
    return entry;
  }
  // The first that is not less than this half.
  std::size_t lower_bound(std::uint64_t high) const {
    std::size_t from = 0, to = size();
    while (from < to) {
      const std::size_t middle = from + (to - from) / 2;
      if ((*this)[middle].high < high) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

 private:
  std::string bytes_;
};

struct Row {
  std::int64_t key;
  SendDigest digest;
  base::Timestamp at;
};

std::vector<Row> read_rows(Connection& connection, std::int64_t first_key, std::size_t limit) {
  std::vector<Row> rows;
  Query query = connection.query(
      "SELECT send_key, digest_high, digest_low, at_ms FROM sends WHERE send_key >= ? "
      "ORDER BY send_key LIMIT ?",
      first_key, limit);
  while (query.step()) {
    const SendDigest digest{static_cast<std::uint64_t>(query.integer(1)),
                            static_cast<std::uint64_t>(query.integer(2))};
    rows.push_back({query.integer(0), digest, base::from_ms(query.integer(3))});
  }
  return rows;
}

std::shared_ptr<const DigestFilter> read_filter(Connection& connection, std::int64_t last_key) {
  Query query = connection.query("SELECT digests FROM send_slices WHERE last_key = ?", last_key);
  query.step();
  const Packed slice(query.text(0));
  auto filter = std::make_shared<DigestFilter>(slice.size());
  for (std::size_t i = 0; i < slice.size(); ++i) filter->add(slice[i].high);
  return filter;
}

// Of the sends with this half of their digest; the newest first.
std::vector<std::int64_t> find_in_slice(Connection& connection, std::int64_t last_key, std::uint64_t high) {
  std::vector<std::int64_t> keys;
  Query query = connection.query("SELECT first_key, digests FROM send_slices WHERE last_key = ?", last_key);
  if (!query.step()) return keys;
  const std::int64_t first_key = query.integer(0);
  const Packed slice(query.text(1));
  for (std::size_t i = slice.lower_bound(high); i < slice.size() && slice[i].high == high; ++i) {
    keys.push_back(first_key + slice[i].offset);
  }
  std::ranges::reverse(keys);
  return keys;
}

std::optional<EarlierSend> send_at(Connection& connection, std::int64_t key, const SendDigest& digest,
                                   base::Timestamp after) {
  Query query = connection.query(
      "SELECT task_key, before FROM sends "
      "WHERE send_key = ? AND digest_high = ? AND digest_low = ? AND at_ms > ?",
      key, bits(digest.high), bits(digest.low), base::to_ms(after));
  if (!query.step()) return std::nullopt;
  return EarlierSend{{query.integer(0)}, {query.integer(1)}};
}

}  // namespace

void SendIndex::load(Connection& connection) {
  State fresh(slice_max_);
  {
    Query query = connection.query("SELECT last_key, newest_ms FROM send_slices ORDER BY last_key");
    while (query.step()) fresh.slices.push_back({query.integer(0), base::from_ms(query.integer(1)), nullptr});
  }
  for (Slice& slice : fresh.slices) slice.filter = read_filter(connection, slice.last_key);
  next_key_ = fresh.slices.empty() ? 1 : fresh.slices.back().last_key + 1;
  // An older database has no slices: all is made some.
  for (std::vector<Row> rows; !(rows = read_rows(connection, next_key_, slice_max_)).empty();) {
    for (const Row& row : rows) {
      if (add_key(fresh, row.digest, row.key)) {
        write_slice(connection, entries_of(fresh), row.at);
        end_slice(fresh, row.at);
      }
    }
  }
  state_.with([&](State& state) { std::swap(state, fresh); });
  is_stale_ = false;
}

std::optional<EarlierSend> SendIndex::find(Connection& connection, const SendDigest& digest,
                                           base::Timestamp now) const {
  const base::Timestamp after = now - retention_;
  std::vector<std::int64_t> keys, slices;  // newest first
  state_.with([&](const State& state) {
    keys = keys_of(state, digest);
    for (auto slice = state.slices.rbegin(); slice != state.slices.rend(); ++slice) {
      if (slice->filter->may_have(digest.high)) slices.push_back(slice->last_key);
    }
  });
  for (const std::int64_t key : keys) {
    if (const auto send = send_at(connection, key, digest, after)) return send;
  }
  for (const std::int64_t slice : slices) {
    for (const std::int64_t key : find_in_slice(connection, slice, digest.high)) {
      if (const auto send = send_at(connection, key, digest, after)) return send;
    }
  }
  return std::nullopt;
}

void SendIndex::add(Connection& connection, const SendDigest& digest, const EarlierSend& send,
                    base::Timestamp now) {
  if (is_stale_) load(connection);
  if (added_++ % kSendsPerCleaning == 0) drop_expired(connection, now);
  const std::int64_t key = next_key_;
  connection.run(
      "INSERT INTO sends (send_key, digest_high, digest_low, at_ms, task_key, before) VALUES (?, ?, ?, ?, ?, "
      "?)",
      key, bits(digest.high), bits(digest.low), base::to_ms(now), send.task, send.before);
  const bool is_full = state_.with([&](State& state) { return add_key(state, digest, key); });
  if (!is_full) return;
  const auto entries = state_.with([&](const State& state) { return entries_of(state); });
  write_slice(connection, entries, now);
  const Keys dropped = state_.with([&](State& state) { return end_slice(state, now); });
}

// Whether there are enough for a slice.
bool SendIndex::add_key(State& state, const SendDigest& digest, std::int64_t key) {
  if (state.newest.empty()) first_key_ = key;
  next_key_ = key + 1;
  state.newest.insert_or_assign(digest, key);
  state.filter->add(digest.high);
  return static_cast<std::size_t>(next_key_ - first_key_) >= slice_max_;
}

std::vector<SliceEntry> SendIndex::entries_of(const State& state) const {
  std::vector<SliceEntry> entries;
  entries.reserve(state.newest.size());
  for (const auto& [digest, key] : state.newest) {
    entries.push_back({digest.high, static_cast<std::uint32_t>(key - first_key_)});
  }
  return entries;
}

void SendIndex::write_slice(Connection& connection, std::vector<SliceEntry> entries,
                            base::Timestamp newest) const {
  std::ranges::sort(entries);
  connection.run("INSERT INTO send_slices (last_key, first_key, newest_ms, digests) VALUES (?, ?, ?, ?)",
                 next_key_ - 1, first_key_, base::to_ms(newest), Blob{packed(entries)});
}

// What need no longer be in memory.
SendIndex::Keys SendIndex::end_slice(State& state, base::Timestamp newest) const {
  auto filter = std::exchange(state.filter, std::make_shared<DigestFilter>(slice_max_));
  state.slices.push_back({next_key_ - 1, newest, std::move(filter)});
  return std::exchange(state.sliced, std::exchange(state.newest, {}));
}

// Those in memory, the newest first. Nearly always the filters say that there are none.
std::vector<std::int64_t> SendIndex::keys_of(const State& state, const SendDigest& digest) {
  std::vector<std::int64_t> keys;
  const auto look = [&](const Keys& some, const DigestFilter& filter) {
    if (!filter.may_have(digest.high)) return;
    if (const auto found = some.find(digest); found != some.end()) keys.push_back(found->second);
  };
  look(state.newest, *state.filter);
  if (!state.slices.empty()) look(state.sliced, *state.slices.back().filter);
  return keys;
}

void SendIndex::drop_expired(Connection& connection, base::Timestamp now) {
  const std::int64_t expired = base::to_ms(now - retention_);
  {
    Query oldest = connection.query("SELECT at_ms FROM sends ORDER BY send_key LIMIT 1");
    if (!oldest.step() || oldest.integer(0) > expired) return;
  }
  connection.run(
      "DELETE FROM sends WHERE send_key IN (SELECT send_key FROM sends ORDER BY send_key LIMIT ?) "
      "AND at_ms <= ?",
      kCleanedMax, expired);
  connection.run("DELETE FROM send_slices WHERE newest_ms <= ?", expired);
  state_.with([&](State& state) {
    while (!state.slices.empty() && state.slices.front().newest <= now - retention_) state.slices.pop_front();
  });
}

}  // namespace baton::store::sqlite

#include "store/sqlite/send_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace baton::store::sqlite {
namespace {

static_assert(std::endian::native == std::endian::little, "slices are written as they are in memory");

// Larger than kSendsPerCleaning, so that a backlog shrinks.
constexpr int kCleanedMax = 256;
constexpr std::uint64_t kSendsPerCleaning = 64;

constexpr std::size_t kEntryBytes = sizeof SliceEntry::high + sizeof SliceEntry::offset;
constexpr std::size_t kPageEntries = 256;
constexpr std::int64_t kPagesMax = 1024;  // pages of a slice

std::int64_t bits(std::uint64_t half) {
  return static_cast<std::int64_t>(half);
}

std::string packed(std::span<const SliceEntry> entries) {
  std::string bytes(entries.size() * kEntryBytes, '\0');
  char* place = bytes.data();
  for (const SliceEntry& entry : entries) {
    std::memcpy(place, &entry.high, sizeof entry.high);
    std::memcpy(place + sizeof entry.high, &entry.offset, sizeof entry.offset);
    place += kEntryBytes;
  }
  return bytes;
}

std::vector<SliceEntry> unpacked(const std::string& bytes) {
  std::vector<SliceEntry> entries(bytes.size() / kEntryBytes);
  const char* place = bytes.data();
  for (SliceEntry& entry : entries) {
    std::memcpy(&entry.high, place, sizeof entry.high);
    std::memcpy(&entry.offset, place + sizeof entry.high, sizeof entry.offset);
    place += kEntryBytes;
  }
  return entries;
}

struct Row {
  std::int64_t key;
  task::SendDigest digest;
  base::Timestamp at;
};

std::vector<Row> read_rows(sql::Connection& connection, std::int64_t first_key) {
  std::vector<Row> rows;
  sql::Query query = connection.query(
      "SELECT send_key, digest_high, digest_low, at_ms FROM sends WHERE send_key >= ? "
      "ORDER BY send_key",
      first_key);
  while (query.step()) {
    const task::SendDigest digest{static_cast<std::uint64_t>(query.integer(1)),
                                  static_cast<std::uint64_t>(query.integer(2))};
    rows.push_back({query.integer(0), digest, base::from_ms(query.integer(3))});
  }
  return rows;
}

std::optional<EarlierSend> send_at(sql::Connection& connection, std::int64_t key,
                                   const task::SendDigest& digest, base::Timestamp after) {
  sql::Query query = connection.query(
      "SELECT task_key, before FROM sends "
      "WHERE send_key = ? AND digest_high = ? AND digest_low = ? AND at_ms > ?",
      key, bits(digest.high), bits(digest.low), base::to_ms(after));
  if (!query.step()) return std::nullopt;
  return EarlierSend{{query.integer(0)}, {query.integer(1)}};
}

}  // namespace

void pull_in_sends(sql::Connection& connection, base::Timestamp now) {
  // Only few sends are in no slice yet. Sends in slices are scanned only if a slice has a time after `now`.
  connection.run(
      "UPDATE sends SET at_ms = ?1 WHERE at_ms > ?1 AND send_key > "
      "coalesce((SELECT max(last_key) FROM send_slices), 0)",
      base::to_ms(now));
  connection.run(
      "UPDATE sends SET at_ms = ?1 WHERE at_ms > ?1 AND send_key >= "
      "(SELECT min(first_key) FROM send_slices WHERE newest_ms > ?1)",
      base::to_ms(now));
  connection.run("UPDATE send_slices SET newest_ms = ?1 WHERE newest_ms > ?1", base::to_ms(now));
}

void SendIndex::refresh(sql::Connection& connection) {
  if (!is_stale_) return;
  State fresh(slice_max_);
  fresh.slices = read_slices(connection);
  next_key_ = fresh.slices.empty() ? 1 : fresh.slices.back().last_key + 1;
  // These are fewer than a slice, because the last send of a slice is written together with the slice.
  for (const Row& row : read_rows(connection, next_key_)) add_key(fresh, row.digest, row.key, row.at);
  state_.with([&](State& state) { std::swap(state, fresh); });
  is_stale_ = false;
}

std::deque<SendIndex::Slice> SendIndex::read_slices(sql::Connection& connection) const {
  std::deque<Slice> slices;
  {
    sql::Query query =
        connection.query("SELECT last_key, first_key, newest_ms FROM send_slices ORDER BY last_key");
    while (query.step()) {
      slices.push_back({query.integer(0), query.integer(1), base::from_ms(query.integer(2)), {}, {}});
    }
  }
  // Reuses slices in memory. A slice of a rolled-back transaction is not on disk, and its key was not reused
  // yet.
  auto known = state_.with([](const State& state) { return state.slices; });
  for (Slice& slice : slices) {
    while (!known.empty() && known.front().last_key < slice.last_key) known.pop_front();
    if (!known.empty() && known.front().last_key == slice.last_key) {
      slice = known.front();
      continue;
    }
    auto filter =
        std::make_shared<DigestFilter>(static_cast<std::size_t>(slice.last_key - slice.first_key + 1));
    auto pages = std::make_shared<std::vector<std::uint64_t>>();
    const std::int64_t first_page = slice.last_key * kPagesMax;
    sql::Query query = connection.query(
        "SELECT digests FROM send_slice_pages WHERE page_key BETWEEN ? AND ? ORDER BY page_key", first_page,
        first_page + kPagesMax - 1);
    while (query.step()) {
      const std::vector<SliceEntry> entries = unpacked(query.text(0));
      if (!entries.empty()) pages->push_back(entries.front().high);
      for (const SliceEntry& entry : entries) filter->add(entry.high);
    }
    slice.filter = std::move(filter);
    slice.pages = std::move(pages);
  }
  return slices;
}

std::optional<EarlierSend> SendIndex::find(sql::Connection& connection, const task::SendDigest& digest,
                                           base::Timestamp now) const {
  const base::Timestamp after = now - retention_;
  std::vector<std::int64_t> keys;  // newest first, like `slices`
  std::vector<Slice> slices;
  state_.with([&](const State& state) {
    keys = keys_of(state, digest);
    for (auto slice = state.slices.rbegin(); slice != state.slices.rend(); ++slice) {
      if (slice->filter->may_have(digest.high)) slices.push_back(*slice);
    }
  });
  for (const std::int64_t key : keys) {
    if (const auto send = send_at(connection, key, digest, after)) return send;
  }
  for (const Slice& slice : slices) {
    for (const std::int64_t key : find_in(connection, slice, digest.high)) {
      if (const auto send = send_at(connection, key, digest, after)) return send;
    }
  }
  return std::nullopt;
}

// Keys in memory with this digest, newest first. The filters nearly always rule them out.
std::vector<std::int64_t> SendIndex::keys_of(const State& state, const task::SendDigest& digest) {
  std::vector<std::int64_t> keys;
  const auto look = [&](const Keys& some, const DigestFilter& filter) {
    if (!filter.may_have(digest.high)) return;
    if (const auto found = some.find(digest); found != some.end()) keys.push_back(found->second);
  };
  look(state.newest, *state.filter);
  if (!state.slices.empty()) look(state.sliced, *state.slices.back().filter);
  return keys;
}

// Keys of a slice's sends with this high half of the digest, newest first.
std::vector<std::int64_t> SendIndex::find_in(sql::Connection& connection, const Slice& slice,
                                             std::uint64_t high) {
  std::vector<std::int64_t> keys;
  const auto& pages = *slice.pages;
  // Reads from the last page that begins below `high` to the last one that begins at or below it.
  const auto at_least = std::ranges::lower_bound(pages, high) - pages.begin();
  for (auto page = std::max<std::ptrdiff_t>(at_least - 1, 0);
       page < std::ssize(pages) && pages[static_cast<std::size_t>(page)] <= high; ++page) {
    sql::Query query = connection.query("SELECT digests FROM send_slice_pages WHERE page_key = ?",
                                        slice.last_key * kPagesMax + page);
    if (!query.step()) continue;
    const std::vector<SliceEntry> entries = unpacked(query.text(0));
    for (const SliceEntry& same : std::ranges::equal_range(entries, high, {}, &SliceEntry::high)) {
      keys.push_back(slice.first_key + same.offset);
    }
  }
  std::ranges::reverse(keys);
  return keys;
}

void SendIndex::add(sql::Connection& connection, const task::SendDigest& digest, const EarlierSend& send,
                    base::Timestamp now) {
  if (added_++ % kSendsPerCleaning == 0) drop_expired(connection, now);
  const std::int64_t key = next_key_;
  connection.run(
      "INSERT INTO sends (send_key, digest_high, digest_low, at_ms, task_key, before) VALUES (?, ?, ?, ?, ?, "
      "?)",
      key, bits(digest.high), bits(digest.low), base::to_ms(now), send.task, send.before);
  if (!state_.with([&](State& state) { return add_key(state, digest, key, now); })) return;
  auto [entries, newest] =
      state_.with([&](const State& state) { return std::pair(entries_of(state), state.newest_at); });
  Slice slice = write_slice(connection, std::move(entries), newest);
  const Keys dropped = state_.with([&](State& state) { return end_slice(state, std::move(slice)); });
}

// Adds a key. Returns true if there are now enough for a slice.
bool SendIndex::add_key(State& state, const task::SendDigest& digest, std::int64_t key, base::Timestamp at) {
  if (state.newest.empty()) first_key_ = key;
  next_key_ = key + 1;
  state.newest.insert_or_assign(digest, key);
  state.newest_at = std::max(state.newest_at, at);
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

// Writes a slice; the returned one has no filter yet.
SendIndex::Slice SendIndex::write_slice(sql::Connection& connection, std::vector<SliceEntry> entries,
                                        base::Timestamp newest) const {
  std::ranges::sort(entries);
  const std::int64_t last_key = next_key_ - 1;
  connection.run("INSERT INTO send_slices (last_key, first_key, newest_ms) VALUES (?, ?, ?)", last_key,
                 first_key_, base::to_ms(newest));
  auto pages = std::make_shared<std::vector<std::uint64_t>>();
  for (std::span<const SliceEntry> left = entries; !left.empty();) {
    const auto page = left.first(std::min(left.size(), kPageEntries));
    connection.run("INSERT INTO send_slice_pages (page_key, digests) VALUES (?, ?)",
                   last_key * kPagesMax + std::ssize(*pages), sql::Blob{packed(page)});
    pages->push_back(page.front().high);
    left = left.subspan(page.size());
  }
  return {last_key, first_key_, newest, nullptr, std::move(pages)};
}

// Adds the slice and returns the keys that are no longer needed in memory.
SendIndex::Keys SendIndex::end_slice(State& state, Slice slice) const {
  slice.filter = std::exchange(state.filter, std::make_shared<DigestFilter>(slice_max_));
  state.slices.push_back(std::move(slice));
  state.newest_at = {};
  return std::exchange(state.sliced, std::exchange(state.newest, {}));
}

void SendIndex::drop_expired(sql::Connection& connection, base::Timestamp now) {
  const base::Timestamp expired = now - retention_;
  {
    sql::Query oldest = connection.query("SELECT at_ms FROM sends ORDER BY send_key LIMIT 1");
    if (!oldest.step() || oldest.integer(0) > base::to_ms(expired)) return;
  }
  connection.run(
      "DELETE FROM sends WHERE send_key IN (SELECT send_key FROM sends ORDER BY send_key LIMIT ?) "
      "AND at_ms <= ?",
      kCleanedMax, base::to_ms(expired));
  std::int64_t last_dropped = 0;
  state_.with([&](State& state) {
    for (; !state.slices.empty() && state.slices.front().newest <= expired; state.slices.pop_front()) {
      last_dropped = state.slices.front().last_key;
    }
  });
  if (last_dropped == 0) return;
  connection.run("DELETE FROM send_slices WHERE last_key <= ?", last_dropped);
  connection.run("DELETE FROM send_slice_pages WHERE page_key < ?", (last_dropped + 1) * kPagesMax);
}

}  // namespace baton::store::sqlite

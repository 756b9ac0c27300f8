#include "store/postgres/lane/sends.h"

#include <algorithm>

namespace baton::store::postgres {
namespace {

// Larger than kSendsPerCleaning, so that a backlog shrinks.
constexpr int kCleanedMax = 1024;
constexpr std::uint64_t kSendsPerCleaning = 256;
// The sizes of the first and of the largest stretch. Each stretch is twice as large as the one before.
constexpr std::size_t kStretchMin = 32'768, kStretchMax = 1'048'576;

std::int64_t bits(std::uint64_t half) {
  return static_cast<std::int64_t>(half);
}

}  // namespace

void pull_in_sends(sql::Connection& connection, base::Timestamp now) {
  connection.run("UPDATE sends SET at_ms = ?1 WHERE at_ms > ?1", base::to_ms(now));
}

void Sends::refresh(sql::Connection& connection) {
  if (is_loaded_) return;
  sql::Query query = connection.scan("SELECT digest_high, at_ms FROM sends ORDER BY at_ms");
  while (query.step())
    remember(static_cast<std::uint64_t>(query.integer(0)), base::from_ms(query.integer(1)));
  is_loaded_ = true;
}

void Sends::remember(std::uint64_t high, base::Timestamp at) {
  if (stretches_.empty() || stretches_.back().room == 0) {
    std::size_t most = kStretchMin << std::min<std::size_t>(stretches_.size(), 5);
    stretches_.emplace_back(std::min(most, kStretchMax));
  }
  Stretch& last = stretches_.back();
  last.filter.add(high);
  --last.room;
  last.newest = std::max(last.newest, at);
}

bool Sends::may_have(const task::SendDigest& digest) const {
  return std::ranges::any_of(stretches_,
                             [&](const Stretch& each) { return each.filter.may_have(digest.high); });
}

std::optional<EarlierSend> Sends::find(sql::Connection& connection, const task::SendDigest& digest,
                                       base::Timestamp now) const {
  sql::Query query = connection.query(
      "SELECT task_key, before FROM sends WHERE digest_high = ? AND digest_low = ? AND at_ms > ?",
      bits(digest.high), bits(digest.low), base::to_ms(now - retention_));
  if (!query.step()) return std::nullopt;
  return EarlierSend{{query.integer(0)}, {query.integer(1)}};
}

void Sends::add(sql::Connection& connection, const task::SendDigest& digest, const EarlierSend& send,
                base::Timestamp now) {
  if (added_++ % kSendsPerCleaning == 0) drop_expired(connection, now);
  // A row that is already there has expired, so it is deleted. If another node has added the digest, the
  // group fails, and the digest is in the filter from then on.
  if (may_have(digest)) {
    connection.run("DELETE FROM sends WHERE digest_high = ? AND digest_low = ? AND at_ms <= ?",
                   bits(digest.high), bits(digest.low), base::to_ms(now - retention_));
  }
  connection.run(
      "INSERT INTO sends (digest_high, digest_low, at_ms, task_key, before) VALUES (?, ?, ?, ?, ?)",
      bits(digest.high), bits(digest.low), base::to_ms(now), send.task, send.before);
  remember(digest.high, now);
}

void Sends::drop_expired(sql::Connection& connection, base::Timestamp now) {
  const base::Timestamp expired = now - retention_;
  connection.run(
      "DELETE FROM sends WHERE ctid = ANY (ARRAY (SELECT ctid FROM sends WHERE at_ms <= ?1 ORDER BY at_ms "
      "LIMIT ?2 FOR UPDATE SKIP LOCKED))",
      base::to_ms(expired), kCleanedMax);
  while (!stretches_.empty() && stretches_.front().newest <= expired) stretches_.pop_front();
}

}  // namespace baton::store::postgres

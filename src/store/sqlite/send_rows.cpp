#include "store/sqlite/send_rows.h"

namespace baton::store::sqlite {
namespace {

// More than come between two cleanings, so that a backlog gets shorter.
constexpr int kCleanedMax = 256;

std::int64_t bits(std::uint64_t half) {
  return static_cast<std::int64_t>(half);
}

}  // namespace

std::optional<EarlierSend> find_send(Connection& connection, const SendDigest& digest,
                                     base::Timestamp after) {
  Query query = connection.query(
      "SELECT task_key, before FROM sends WHERE digest_high = ? AND digest_low = ? AND at_ms > ? "
      "ORDER BY send_key DESC LIMIT 1",
      bits(digest.high), bits(digest.low), base::to_ms(after));
  if (!query.step()) return std::nullopt;
  return EarlierSend{{query.integer(0)}, {query.integer(1)}};
}

void remember_send(WriteState& state, const SendDigest& digest, const EarlierSend& send,
                   base::Timestamp now) {
  Connection& connection = state.connection();
  if (state.cleaning_due()) {
    connection.run(
        "DELETE FROM sends WHERE send_key IN (SELECT send_key FROM sends ORDER BY send_key LIMIT ?) "
        "AND at_ms <= ?",
        kCleanedMax, base::to_ms(now - state.send_retention()));
  }
  connection.run(
      "INSERT INTO sends (digest_high, digest_low, at_ms, task_key, before) VALUES (?, ?, ?, ?, ?)",
      bits(digest.high), bits(digest.low), base::to_ms(now), send.task, send.before);
}

}  // namespace baton::store::sqlite

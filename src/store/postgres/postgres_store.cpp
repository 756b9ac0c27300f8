#include "store/postgres/postgres_store.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "store/copy/unfinished.h"
#include "store/postgres/lane/lane_dialect.h"
#include "store/postgres/lane/nodes.h"
#include "store/postgres/lane/queued.h"
#include "store/postgres/lane/writer.h"
#include "store/postgres/nodes/node_peers.h"
#include "store/postgres/opening.h"
#include "store/sql/connection_pool.h"
#include "store/sql/failure.h"
#include "store/sql/push_rows.h"
#include "store/sql/write_state.h"

namespace baton::store {

using base::ErrorCode;
using base::fail;
using base::Result;
using postgres::Address;
using postgres::Link;
using postgres::Reader;

struct PostgresStore::Parts {
  Parts(Address of, const PostgresOptions& options, const base::Clock& clock)
      : address(std::move(of)),
        writer(address, postgres::SchemaLock::shared, options.on_lost),
        dialect(writer, clock, options.send_retention),
        state(writer, clock, dialect, options.short_events_max) {}

  // Loads the stored state. Deliveries and sends with times in the future, written under a clock that was
  // ahead, are moved to now. If there are other nodes, this node's clock may be behind and their times right;
  // so only times that are also in the future of the database's clock are moved.
  void start(base::Timestamp now) {
    constexpr std::chrono::hours kRetryMax(48);  // no pause between two attempts is longer
    writer.begin();
    now = std::max(now, time_beside_others().value_or(now));
    sql::pull_in_deliveries(writer, now, now + kRetryMax);
    postgres::pull_in_sends(writer, now);
    dialect.sends().refresh(writer);
    state.start();
    writer.commit();
  }

  // The database's time; nullopt if there is no other node.
  std::optional<base::Timestamp> time_beside_others() {
    sql::Query query = writer.query(
        "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) FROM nodes WHERE node_id <> ? "
        "AND state <> 'left' LIMIT 1",
        writer.lane().node);
    if (!query.step()) return std::nullopt;
    return base::from_ms(query.integer(0));
  }

  const Address address;
  postgres::Writer writer;
  postgres::LaneDialect dialect;
  sql::WriteState state;
  std::string server_name;
  bool kept_before = false;
  sql::ConnectionPool readers, operators;
  std::optional<postgres::NodePeers> peers;
};

namespace {

std::string name_of_machine() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Makes this program a node. Returns its number.
Result<std::int64_t> enter(Link& link, const PostgresOptions& options, const Address& address,
                           base::Timestamp now) {
  // Checked first so that programs that arrive during a copy get this error too.
  if (postgres::has_table(link, copy::kUnfinishedTable)) return fail(postgres::unfinished_error(link));
  const auto shared = postgres::share_schema(
      link, {options.allows, options.waits != nullptr, options.on_upgrade}, address, now);
  if (!shared) return fail(shared.error());
  if (postgres::has_table(link, copy::kUnfinishedTable)) return fail(postgres::unfinished_error(link));
  const std::string name = options.name.empty() ? name_of_machine() : options.name;
  return postgres::enter(link, {name, options.version, now, options.lease});
}

}  // namespace

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(const PostgresOptions& options,
                                                           const base::Clock& clock) {
  if (!options.waits) return open_now(options, clock);
  const auto address = Address::read(options.url);
  if (!address) return fail(address.error());
  while (true) {
    if (!postgres::wait_until_free(*address, options.waits))
      return fail(sql::about(address->name(), {ErrorCode::already_exists, postgres::kIsOpen, {}}));
    auto opened = open_now(options, clock);
    // Another waiting node was faster, or the database is unavailable.
    const bool may_wait = !opened && (opened.error().code == ErrorCode::already_exists ||
                                      opened.error().code == ErrorCode::unavailable);
    if (!may_wait || !options.waits()) return opened;
  }
}

Result<std::unique_ptr<PostgresStore>> PostgresStore::open_now(const PostgresOptions& options,
                                                               const base::Clock& clock) {
  auto address = Address::read(options.url);
  if (!address) return fail(address.error());
  const Address name = *address;
  try {
    auto parts = std::make_unique<Parts>(std::move(*address), options, clock);
    Link& link = parts->writer.link();
    const auto node = enter(link, options, parts->address, clock.now());
    if (!node) return fail(sql::about(name.name(), node.error()));
    parts->server_name = link.ask_text("SELECT name FROM server");
    parts->kept_before = link.ask_text("SELECT kept_before FROM retention") != "0";
    parts->writer.adopt({*node, 1});
    // Created before the readers, because the lease has been running since `enter`, and connecting may take
    // long.
    parts->peers.emplace(postgres::NodePeers::Place{parts->address,
                                                    parts->writer,
                                                    parts->readers,
                                                    parts->operators,
                                                    {options.lease, options.lease_renewal}});
    const auto check = [&writer = parts->writer](Link& other) { writer.check(other); };
    const auto connect = [&at = parts->address, check] { return std::make_unique<Reader>(at, check); };
    parts->readers.open(options.readers, connect);
    parts->operators.open(sql::kOperatorReaders, connect);
    if (auto joined = parts->peers->join(); !joined) return fail(sql::about(name.name(), joined.error()));
    // Writes of other nodes are visible from here on.
    parts->start(clock.now());
    parts->writer.link().set_patience(postgres::kServerPatience);
    return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(parts)));
  } catch (const sql::Failure& failure) {
    return fail(sql::about(name.name(), postgres::error_at_open(failure)));
  }
}

PostgresStore::PostgresStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  parts_->peers->take_by([this](const auto& agents, int most) { return take_queued(agents, most); });
}

PostgresStore::~PostgresStore() = default;

bool PostgresStore::available() {
  return true;
}

const std::string& PostgresStore::server_name() const {
  return parts_->server_name;
}

Peers& PostgresStore::peers() const {
  return *parts_->peers;
}

Result<std::vector<task::TaskHead>> PostgresStore::take_queued(const std::vector<task::AgentName>& agents,
                                                               int most) {
  std::vector<task::TaskHead> taken;
  auto added = in_group("taking turns over", [&]() -> Result<void> {
    taken = postgres::take_queued(parts_->writer, agents, most);
    return {};
  });
  if (!added) return fail(added.error());
  return taken;
}

void PostgresStore::commit_group(bool) {
  parts_->writer.commit();
}

Result<void> PostgresStore::flush() {
  const std::string lost = parts_->writer.lost();
  if (lost.empty()) return {};
  return fail(ErrorCode::unavailable, "the store is temporarily unavailable; try again", lost);
}

bool PostgresStore::kept_before() const {
  return parts_->kept_before;
}

sql::WriteState& PostgresStore::state() const {
  return parts_->state;
}

const sql::RecentSends& PostgresStore::recent_sends() const {
  return parts_->dialect.sends();
}

sql::ConnectionPool& PostgresStore::readers() const {
  return parts_->readers;
}

sql::ConnectionPool& PostgresStore::operators() const {
  return parts_->operators;
}

}  // namespace baton::store

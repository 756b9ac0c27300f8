#include "store/sql/push_rows.h"
#include "base/text.h"

#include <algorithm>
#include <string>

#include "store/event_codec.h"
#include "store/sql/failure.h"

namespace baton::store::sql {
namespace {

// Reads the columns "public_id, url, token, schemes, credentials, authentication_extra, version" that
// begin at `column`.
base::Result<task::PushConfig> config_at(const Query& query, int column) {
  task::PushConfig config;
  config.id = {query.text(column)};
  config.url = query.text(column + 1);
  config.token = query.text(column + 2);
  auto schemes = codec::decode_strings(query.text(column + 3));
  if (!schemes) return base::fail(schemes.error());
  config.schemes = std::move(*schemes);
  config.credentials = query.text(column + 4);
  config.authentication_extra = {query.text(column + 5)};
  config.version = static_cast<task::ProtocolVersion>(query.small(column + 6));
  return config;
}

TaskRow::Config* find_config(std::vector<TaskRow::Config>& configs, const task::PushConfigId& id) {
  const auto found = std::find_if(configs.begin(), configs.end(), [&](const auto& c) { return c.id == id; });
  return found == configs.end() ? nullptr : &*found;
}

// Whether the config has pending deliveries. These are its last ones, so it is enough to check the last one,
// unless an operator has resent earlier ones.
bool has_waiting(WriteState& state, PushConfigKey config) {
  if (state.may_resend(config)) {
    return state.connection()
        .query("SELECT 1 FROM deliveries WHERE config_key = ? AND due_ms IS NOT NULL", config)
        .step();
  }
  Query query = state.connection().query(
      "SELECT state = 'waiting' FROM deliveries WHERE config_key = ? ORDER BY event_number DESC LIMIT 1",
      config);
  return query.step() && query.truth(0);
}

// Makes the config's next pending delivery, if there is one, due now and this node's.
void advance(WriteState& state, std::int64_t config, std::int64_t event) {
  state.connection().run(
      "UPDATE deliveries SET due_ms = ?3, sender = ?4 WHERE delivery_key = (SELECT delivery_key FROM "
      "deliveries "
      "WHERE config_key = ?1 AND event_number > ?2 AND state = 'waiting' ORDER BY event_number LIMIT 1)",
      config, event, base::to_ms(state.now()), state.node());
}

// The columns of a delivery `d` and its config `c` that read_deliveries() reads. The trace is that of the
// last request before the event.
constexpr char kSelectDeliveries[] =
    "SELECT d.delivery_key, d.task_key, d.config_key, d.event_number, d.attempts, d.created_ms, d.due_ms, "
    "c.public_id, c.url, c.token, c.schemes, c.credentials, c.authentication_extra, c.version, "
    "coalesce((SELECT r.trace FROM turn_requests r WHERE r.task_key = d.task_key "
    " AND r.number <= d.event_number + 1 AND r.trace <> '' ORDER BY r.number DESC LIMIT 1), "
    "(SELECT t.trace FROM tasks t WHERE t.task_key = d.task_key)) ";

base::Result<std::vector<Delivery>> read_deliveries(Query query) {
  std::vector<Delivery> due;
  while (query.step()) {
    auto config = config_at(query, 7);
    if (!config) return base::fail(config.error());
    Delivery delivery;
    delivery.key = {query.integer(0)};
    delivery.task = {query.integer(1)};
    delivery.config_key = {query.integer(2)};
    delivery.event = {query.integer(3)};
    delivery.config = std::move(*config);
    delivery.attempts = query.small(4);
    delivery.created_at = base::from_ms(query.integer(5));
    delivery.due = base::from_ms(query.integer(6));
    delivery.trace = query.text(14);
    due.push_back(std::move(delivery));
  }
  return due;
}

bool more_are_due(Connection& connection, NodeId sender, base::Timestamp now, int limit) {
  Query query = connection.query(
      "SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE due_ms IS NOT NULL AND due_ms <= ? "
      "AND sender = ? LIMIT ?) AS first",
      base::to_ms(now), sender, limit + 1);
  return query.step() && query.integer(0) > limit;
}

}  // namespace

base::Result<void> check_room(WriteState& state, TaskRow& task, const task::PushConfigId& id,
                              int configs_max) {
  std::vector<TaskRow::Config>& configs = state.configs(task);
  const bool full = static_cast<int>(configs.size()) >= configs_max;
  if (full && find_config(configs, id) == nullptr) {
    return base::fail(base::ErrorCode::too_large,
                      "a task can have " + base::counted(configs_max, "push notification config"));
  }
  return {};
}

void put_config(WriteState& state, TaskRow& task, const task::PushConfig& config) {
  Connection& connection = state.connection();
  std::vector<TaskRow::Config>& configs = state.configs(task);
  const std::string schemes = codec::encode_strings(config.schemes);
  const int version = static_cast<int>(config.version);
  if (TaskRow::Config* known = find_config(configs, config.id)) {
    known->version = config.version;
    connection.run(
        "UPDATE push_configs SET url = ?, token = ?, schemes = ?, credentials = ?, authentication_extra = ?, "
        "version = ? WHERE config_key = ?",
        config.url, config.token, schemes, config.credentials, config.authentication_extra.text, version,
        known->key);
    return;
  }
  const PushConfigKey key = state.new_config_key();
  connection.run(
      "INSERT INTO push_configs (config_key, task_key, public_id, url, token, schemes, credentials, "
      "authentication_extra, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      key, task.head.key, config.id, config.url, config.token, schemes, config.credentials,
      config.authentication_extra.text, version);
  configs.push_back({key, config.id, config.version});
}

void drop_config(WriteState& state, TaskRow& task, const task::PushConfigId& id) {
  std::vector<TaskRow::Config>& configs = state.configs(task);
  const TaskRow::Config* known = find_config(configs, id);
  if (known == nullptr) return;
  const PushConfigKey config = known->key;
  state.change_deliveries();
  state.connection().run("DELETE FROM deliveries WHERE config_key = ?", config);
  state.connection().run("DELETE FROM push_configs WHERE config_key = ?", config);
  std::erase_if(configs, [&](const TaskRow::Config& each) { return each.key == config; });
}

base::Result<std::vector<task::PushConfig>> configs_of(Connection& connection, task::TaskKey key) {
  Query query = connection.query(
      "SELECT public_id, url, token, schemes, credentials, authentication_extra, version, "
      "(SELECT d.error FROM deliveries d WHERE d.config_key = c.config_key AND d.attempts > 0 "
      " ORDER BY d.event_number DESC LIMIT 1) "
      "FROM push_configs c WHERE task_key = ? ORDER BY config_key",
      key);
  std::vector<task::PushConfig> configs;
  while (query.step()) {
    auto config = config_at(query, 0);
    if (!config) return base::fail(config.error());
    config->last_error = query.text(7);
    configs.push_back(std::move(*config));
  }
  return configs;
}

int add_deliveries(WriteState& state, TaskRow& task, task::EventNumber event, const task::EventBody& body,
                   base::Timestamp at) {
  if (task.head.hidden) return 0;
  Connection& connection = state.connection();
  int written = 0;
  for (const TaskRow::Config& config : state.configs(task)) {
    if (!task::webhook_hears(config.version, body)) continue;
    // In a shared database the end of the group determines which delivery is due, because a query here would
    // delay all decisions.
    const bool first = !state.node() && !has_waiting(state, config.key);
    connection.run(
        "INSERT INTO deliveries (delivery_key, config_key, task_key, event_number, state, due_ms, "
        "created_ms, attempts, error, sender) VALUES (?1, ?2, ?3, ?4, 'waiting', CASE WHEN ?5 <> 0 THEN ?6 "
        "END, ?6, 0, '', ?7)",
        state.new_delivery_key(), config.key, task.head.key, event, first, base::to_ms(at), state.node());
    if (!first) state.note_waiting(config.key, event);
    ++written;
  }
  return written;
}

base::Result<void> record_result(WriteState& state, const DeliveryResult& result) {
  Connection& connection = state.connection();
  const auto delivery = state.delivery(result.key);
  if (!delivery) return {};  // its config was deleted during the attempt
  if (!delivery->is_due) return base::fail(base::ErrorCode::not_found, "no such delivery is waiting");
  if (result.kind == DeliveryResult::Kind::retry) {
    connection.run(
        "UPDATE deliveries SET attempts = attempts + 1, due_ms = ?2, error = ?3 WHERE delivery_key = ?1",
        result.key, base::to_ms(result.next_due), result.error);
    return {};
  }
  const std::string outcome = result.kind == DeliveryResult::Kind::delivered ? "delivered" : "given-up";
  connection.run(
      "UPDATE deliveries SET attempts = attempts + 1, due_ms = NULL, state = ?2, error = ?3 "
      "WHERE delivery_key = ?1",
      result.key, outcome, result.error);
  advance(state, delivery->config.value, delivery->event.value);
  state.note_waiting(delivery->config, {delivery->event.value + 1});
  return {};
}

base::Result<std::vector<Delivery>> due_deliveries(Connection& connection, NodeId sender, base::Timestamp now,
                                                   int limit) {
  if (!more_are_due(connection, sender, now, limit)) {
    static const std::string kAll =
        std::string(kSelectDeliveries) +
        "FROM deliveries d JOIN push_configs c ON c.config_key = d.config_key "
        "WHERE d.due_ms IS NOT NULL AND d.due_ms <= ? AND d.sender = ? ORDER BY d.due_ms, d.delivery_key";
    return read_deliveries(connection.query(kAll.c_str(), base::to_ms(now), sender));
  }
  // Selects each caller's first delivery, then each caller's second one, and so on. A caller in a tenant is
  // stored as the tenant, U+001F and the caller.
  static const std::string kInTurn =
      std::string(kSelectDeliveries) +
      "FROM (SELECT d.delivery_key, d.due_ms, row_number() OVER ("
      "  PARTITION BY substr(t.caller, instr(t.caller, '\x1f') + 1) ORDER BY d.due_ms, d.delivery_key) AS "
      "place "
      "  FROM deliveries d JOIN tasks t ON t.task_key = d.task_key "
      "  WHERE d.due_ms IS NOT NULL AND d.due_ms <= ?1 AND d.sender = ?3 "
      "  ORDER BY place, d.due_ms, d.delivery_key LIMIT ?2) r "
      "JOIN deliveries d ON d.delivery_key = r.delivery_key "
      "JOIN push_configs c ON c.config_key = d.config_key ORDER BY r.place, r.due_ms, r.delivery_key";
  return read_deliveries(connection.query(kInTurn.c_str(), base::to_ms(now), limit, sender));
}

void pull_in_deliveries(Connection& connection, base::Timestamp now, base::Timestamp latest) {
  connection.run(
      "UPDATE deliveries SET created_ms = ?1, due_ms = CASE WHEN due_ms IS NOT NULL THEN ?1 END "
      "WHERE state = 'waiting' AND state <> 'delivered' AND created_ms > ?1",
      base::to_ms(now));
  connection.run("UPDATE deliveries SET due_ms = ?1 WHERE due_ms IS NOT NULL AND due_ms > ?2",
                 base::to_ms(now), base::to_ms(latest));
}

std::optional<base::Timestamp> next_due(Connection& connection, NodeId sender) {
  Query query =
      connection.query("SELECT min(due_ms) FROM deliveries WHERE due_ms IS NOT NULL AND sender = ?", sender);
  if (!query.step() || query.is_null(0)) return std::nullopt;
  return base::from_ms(query.integer(0));
}

DeliveryStore::Counts delivery_counts(Connection& connection) {
  Query query = connection.query(
      "SELECT (SELECT count(*) FROM deliveries WHERE state = 'waiting' AND state <> 'delivered'), "
      "(SELECT count(*) FROM deliveries WHERE state = 'given-up' AND state <> 'delivered')");
  query.step();
  return {query.integer(0), query.integer(1)};
}

}  // namespace baton::store::sql

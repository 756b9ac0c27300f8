// The nodes that share the store, and draining one of them.
#include <algorithm>

#include "json/writer.h"
#include "server/operate/action_body.h"
#include "server/operate/handlers.h"
#include "server/operate/rows.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;
using base::fail;
using json::Writer;

void write_node(Writer& out, const Nodes& nodes, const store::Node& node) {
  out.object([&] {
    write_key(out, "key", node.id.value);
    out.member("name", node.name).member("version", node.version);
    out.member("startedAt", base::to_rfc3339(node.started)).member("state", name_of(state_of(node)));
    if (nodes.is_shared()) out.member("leaseMs", std::int64_t{node.lease.count()});
    out.member("running", node.report.running).member("queued", node.report.queued);
    out.member("lagMs", std::int64_t{node.report.lag.count()});
    if (nodes.is_shared()) out.key("databaseMs").real(static_cast<double>(node.database.count()) / 1'000);
    if (node.id == nodes.self()) out.member("self", true).member("leads", nodes.leads());
    out.key("agents").each(node.agents, [&](const store::NodeAgent& agent) {
      out.object([&] { out.member("name", agent.name.value).member("digest", agent.digest); });
    });
  });
}

void write_nodes_of(Writer& out, std::string_view name, const std::vector<store::NodeId>& nodes) {
  std::vector<std::string> keys;
  for (const store::NodeId& node : nodes) keys.push_back(std::to_string(node.value));
  out.key(name).strings(keys);
}

void write_difference(Writer& out, const AgentDifference& difference) {
  out.object([&] {
    out.member("agent", difference.agent.value);
    write_nodes_of(out, "missing", difference.missing);
    out.key("cards").each(difference.cards, [&](const AgentDifference::Card& card) {
      out.object([&] {
        out.member("digest", card.digest);
        write_nodes_of(out, "nodes", card.nodes);
      });
    });
  });
}

// Shows the node as it was before if it is gone already.
base::Result<std::string> node_answer(const CallPtr& call, store::Node node) {
  node.is_asked_to_drain = true;
  const auto all = call->facts.nodes.read();
  if (all) {
    const auto found = std::ranges::find(*all, node.id, &store::Node::id);
    if (found != all->end()) node = *found;
  }
  std::string text;
  Writer out(text);
  out.object([&] {
    out.key("node");
    write_node(out, call->facts.nodes, node);
  });
  return text;
}

}  // namespace

void list_nodes(const CallPtr& call) {
  const Nodes& nodes = call->facts.nodes;
  const auto all = nodes.read();
  if (!all) return answer(call, fail(all.error()));
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(base::SystemClock().now())).member("shared", nodes.is_shared());
    out.key("nodes").each(*all, [&](const store::Node& node) { write_node(out, nodes, node); });
    out.key("differences").each(differences(*all), [&](const AgentDifference& difference) {
      write_difference(out, difference);
    });
  });
  answer(call, std::move(text));
}

void drain_node(const CallPtr& call) {
  const auto key = call->key<store::NodeId>();
  if (!key) return answer(call, fail(key.error()));
  const auto body = ActionBody::read(*call, {});
  if (!body) return answer(call, fail(body.error()));
  const auto all = call->facts.nodes.read();
  if (!all) return answer(call, fail(all.error()));
  const auto found = std::ranges::find(*all, *key, &store::Node::id);
  const store::Node before = found == all->end() ? store::Node() : *found;
  call->facts.actions.drain(*key, body->actor(), [call, before](base::Result<void> done) {
    if (!done) return answer(call, fail(std::move(done.error())));
    const bool taken =
        call->facts.services.readers.try_submit([call, before] { answer(call, node_answer(call, before)); });
    if (!taken)
      answer(call, fail(ErrorCode::unavailable,
                        "the action was done, but its result cannot be shown now: read it again later"));
  });
}

}  // namespace baton::server::operate

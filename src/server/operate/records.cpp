// Webhook deliveries and the audit, page by page.
#include "base/text.h"
#include "json/writer.h"
#include "server/operate/handlers.h"
#include "server/operate/rows.h"

namespace baton::server::operate {
namespace {

using base::fail;
using json::Writer;

struct Page {
  std::int64_t before = 0;
  int limit = 50;
};

Page read_page(Query& query) {
  return {query.key("cursor"), static_cast<int>(query.number("limit", 1, 200).value_or(50))};
}

void write_next(Writer& out, std::int64_t next) {
  if (next > 0) out.member("next", std::to_string(next));
}

void write_audit_row(Writer& out, const store::AuditLine& line) {
  const task::AuditEntry& entry = line.entry;
  out.object([&] {
    write_key(out, "key", line.key);
    out.member("at", base::to_rfc3339(line.at)).member("actor", entry.actor).member("action", entry.action);
    if (entry.task) write_key(out, "task", entry.task.value);
    out.optional("taskId", entry.id.value).optional("agent", entry.agent.value);
    out.optional("caller", task::account_of(entry.caller)).optional("reason", entry.reason);
    out.optional("detail", entry.detail).member("outcome", entry.outcome);
  });
}

}  // namespace

void list_deliveries(const CallPtr& call) {
  using Which = store::DeliveryFilter::State;
  Query query(call->request().query);
  store::DeliveryFilter filter;
  const std::string state = query.choice("state", {"", "waiting", "given-up"});
  if (!state.empty()) filter.state = state == "waiting" ? Which::waiting : Which::given_up;
  filter.task = {query.key("task")};
  filter.agent.value = query.text("agent");
  filter.caller = read_caller(query);
  const Page page = read_page(query);
  if (const auto good = query.checked(); !good) return answer(call, fail(good.error()));
  const auto found = call->facts.store.deliveries(filter, page.before, page.limit);
  if (!found) return answer(call, fail(found.error()));
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(base::SystemClock().now())).key("deliveries");
    out.each(found->lines, [&](const store::DeliveryLine& line) { write_delivery(out, line, call->by); });
    write_next(out, found->next);
  });
  answer(call, std::move(text));
}

void list_audit(const CallPtr& call) {
  Query query(call->request().query);
  const store::AuditFilter filter{query.text("actor"), query.text("action"), {query.key("task")}};
  const Page page = read_page(query);
  if (const auto good = query.checked(); !good) return answer(call, fail(good.error()));
  const auto found = call->facts.store.audit(filter, page.before, page.limit);
  if (!found) return answer(call, fail(found.error()));
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(base::SystemClock().now())).key("rows");
    out.each(found->lines, [&](const store::AuditLine& line) { write_audit_row(out, line); });
    write_next(out, found->next);
  });
  answer(call, std::move(text));
}

}  // namespace baton::server::operate

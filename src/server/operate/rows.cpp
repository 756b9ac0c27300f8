#include "server/operate/rows.h"

#include <algorithm>
#include <chrono>

namespace baton::server::operate {
namespace {

constexpr std::size_t kTextCharacters = 300;
constexpr int kCountPage = 1'000;
constexpr std::chrono::seconds kCountTime{2};

std::string_view name_of(task::TurnState state) {
  switch (state) {
    case task::TurnState::queued:
      return "queued";
    case task::TurnState::running:
      return "running";
    case task::TurnState::waiting:
      return "waiting";
    case task::TurnState::none:
      break;
  }
  return "none";
}

std::string_view name_of(task::ProtocolVersion version) {
  switch (version) {
    case task::ProtocolVersion::v0_1:
      return "0.1";
    case task::ProtocolVersion::v0_2:
      return "0.2";
    case task::ProtocolVersion::v0_3:
      return "0.3";
    case task::ProtocolVersion::v1_0:
      return "1.0";
    case task::ProtocolVersion::none:
      break;
  }
  return "chat";
}

std::string_view first_characters(std::string_view text) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (begins && ++characters > kTextCharacters) return text.substr(0, i);
  }
  return text;
}

base::Result<store::TaskCount> counted_one_by_one(const store::OperatorStore& store,
                                                  const store::TaskFilter& filter) {
  const auto end = base::SteadyTime::now() + kCountTime;
  store::TaskQuery query;
  query.filter = filter;
  query.limit = kCountPage;
  store::TaskCount count{0, true};
  do {
    query.time_max = std::chrono::duration_cast<std::chrono::milliseconds>(end - base::SteadyTime::now());
    query.found_time_max = query.time_max;
    if (query.time_max <= std::chrono::milliseconds(0)) return store::TaskCount{count.tasks, false};
    const auto page = store.page(query);
    if (!page) return base::fail(page.error());
    count.tasks += std::ssize(page->lines);
    if (page->is_cut && !page->next) return store::TaskCount{count.tasks, false};
    query.after = page->next;
  } while (query.after);
  return count;
}

}  // namespace

void write_task_row(json::Writer& out, const store::TaskLine& line, const RowWords* words) {
  const task::TaskHead& head = line.head;
  out.object([&] {
    write_key(out, "key", head.key.value);
    out.member("id", head.id.value).member("agent", head.agent.value);
    out.member("caller", task::account_of(head.caller)).optional("tenant", task::tenant_of(head.caller));
    out.member("context", head.context.value);
    if (head.parent) write_key(out, "parent", head.parent.value);
    out.optional("schedule", line.schedule).member("state", task::name_of(head.state));
    out.member("turnState", name_of(head.turn_state)).member("attempt", head.attempt);
    if (head.turn_state == task::TurnState::waiting && head.waits.until)
      out.member("waitsUntil", base::to_rfc3339(*head.waits.until));
    out.member("createdAt", base::to_rfc3339(head.created))
        .member("statusAt", base::to_rfc3339(head.status_at));
    if (head.cancel_requested) out.member("cancelRequested", true);
    if (head.hidden) out.member("hidden", true);
    if (head.tokens > 0) out.member("tokens", head.tokens);
    if (head.children > 0) out.member("children", head.children);
    out.member("bytes", static_cast<std::int64_t>(head.bytes)).member("lastEvent", head.last_event.value);
    out.member("protocol", name_of(head.origin));
    if (line.undelivered > 0) out.member("undelivered", line.undelivered);
    if (line.retried_as) write_key(out, "retriedAs", line.retried_as.value);
    out.optional("text", first_characters(line.text));
    if (words == nullptr) return;
    out.optional("request", first_characters(words->request));
    if (line.text.empty()) out.optional("result", first_characters(words->result));
  });
}

base::Result<store::TaskCount> counted(const store::OperatorStore& store, std::atomic<bool>& is_counting,
                                       const store::TaskFilter& filter) {
  auto count = store.count(filter);
  if (!count || count->exact) return count;
  if (is_counting.exchange(true))
    return base::fail(base::ErrorCode::overloaded, "another count=exact is running; try again later");
  struct Over {
    std::atomic<bool>& is_counting;
    ~Over() { is_counting = false; }
  } over{is_counting};
  return counted_one_by_one(store, filter);
}

void write_count(json::Writer& out, const store::TaskCount& count) {
  out.object([&] { out.member("tasks", count.tasks).member("exact", count.exact); });
}

void write_delivery(json::Writer& out, const store::DeliveryLine& line, const Operator& by) {
  out.object([&] {
    write_key(out, "key", line.key.value);
    write_key(out, "task", line.task.value);
    out.member("agent", line.agent.value).member("caller", task::account_of(line.caller));
    out.member("event", line.event.value).member("url", shown_url(line.url, by));
    out.member("state", line.state).member("attempts", line.attempts);
    out.member("createdAt", base::to_rfc3339(line.created));
    if (line.due) out.member("dueAt", base::to_rfc3339(*line.due));
    out.optional("error", line.error);
  });
}

void write_config(json::Writer& out, const task::PushConfig& config, const Operator& by) {
  out.object([&] {
    out.member("id", config.id.value).member("url", shown_url(config.url, by));
    out.optional("lastError", config.last_error);
    if (!config.token.empty()) out.member("hasToken", true);
    if (!config.credentials.empty()) out.member("hasCredentials", true);
  });
}

std::string shown_url(std::string_view url, const Operator& by) {
  if (by.may_act) return std::string(url);
  std::string_view plain = url.substr(0, url.find_first_of("?#"));
  const std::size_t scheme = plain.find("://");
  const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t end = std::min(plain.find('/', begin), plain.size());
  const std::size_t at = plain.substr(0, end).rfind('@');
  const std::size_t host = at == std::string_view::npos || at < begin ? begin : at + 1;
  return std::string(plain.substr(0, begin)) + std::string(plain.substr(host));
}

}  // namespace baton::server::operate

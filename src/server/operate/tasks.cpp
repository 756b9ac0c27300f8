// Tasks of all callers: pages of them, and one as a whole.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "json/writer.h"
#include "protocol/a2a/v1_objects.h"
#include "server/operate/handlers.h"
#include "server/operate/rows.h"
#include "server/show/event_json.h"
#include "server/show/plan_views.h"
#include "server/show/task_tree.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;
using base::fail;
using json::Writer;

constexpr int kShown = 100;  // children and deliveries of one task
constexpr std::chrono::milliseconds kWordsTime{300};
constexpr int kErrorsWithin = 50;  // events before the end of a task

// "<time>.<key>", read by `place_in` only.
std::string cursor_of(const store::TaskPlace& place) {
  return std::to_string(base::to_ms(place.status_at)) + "." + std::to_string(place.key.value);
}

std::optional<store::TaskPlace> place_in(std::string_view cursor) {
  const std::size_t dot = std::min(cursor.find('.'), cursor.size());
  const auto ms = base::number_in<std::int64_t>(cursor.substr(0, dot));
  const auto key = base::number_in<std::int64_t>(cursor.substr(std::min(dot + 1, cursor.size())));
  if (!ms || !key) return std::nullopt;
  return store::TaskPlace{base::from_ms(*ms), {*key}};
}

// The number of tasks, as one page shows it.
store::TaskCount counted_on(const store::TaskQuery& query, const store::TaskPage& page) {
  return {std::ssize(page.lines), !query.after && !page.next && !page.is_cut};
}

base::Result<store::TaskQuery> read_query(const http::Request& request, base::Timestamp now,
                                          bool& wants_exact, bool& has_words) {
  Query given(request.query);
  store::TaskQuery query;
  query.filter = read_filter(given, now);
  query.oldest_first = given.choice("order", {"newest", "oldest"}) == "oldest";
  query.limit = static_cast<int>(given.number("limit", 1, 200).value_or(50));
  wants_exact = given.choice("count", {"quick", "exact"}) == "exact";
  has_words = given.choice("words", {"status", "all"}) == "all";
  if (const std::string cursor = given.text("cursor"); !cursor.empty()) {
    query.after = place_in(cursor);
    if (!query.after) given.wrong("cursor", "must be the `next` of an earlier page");
  }
  if (const auto good = given.checked(); !good) return fail(good.error());
  return query;
}

// Writes the tasks, with the words of those that can be read within kWordsTime.
void write_lines(Writer& out, const Facts& facts, const std::vector<store::TaskLine>& lines) {
  const auto end = base::SteadyTime::now() + kWordsTime;
  out.each(lines, [&](const store::TaskLine& line) {
    if (base::SteadyTime::now() > end) return write_task_row(out, line);
    const RowWords words = words_of(facts.services.engine.reader(), line.head);
    write_task_row(out, line, &words);
  });
}

// The agent's standard error before the task failed. For operators only, because it may contain secrets.
base::Result<void> write_errors(Writer& out, const CallPtr& call, const task::TaskHead& head) {
  if (!call->by.may_act || head.state != task::State::failed) return {};
  task::EventNumber after{std::max<std::int64_t>(head.status_event.value - kErrorsWithin, 0)};
  std::string errors;
  while (after < head.status_event) {
    const auto events = call->facts.services.engine.reader().events(head.key, after, kErrorsWithin);
    if (!events) return fail(events.error());
    if (events->empty()) break;
    for (const task::Event& event : *events) {
      const auto* kept = std::get_if<task::ExecutorState>(&event.body);
      if (kept != nullptr && !kept->errors.empty()) errors = kept->errors;
    }
    after = events->back().number;
  }
  out.optional("stderr", errors);
  return {};
}

// The JSON Schema of the answer, which asking agents send as a part of its own; the last one counts. Absent
// if there is none.
task::Json schema_in(const task::Message& question) {
  for (auto part = question.parts.rbegin(); part != question.parts.rend(); ++part) {
    if (part->kind != task::Part::Kind::data) continue;
    const json::Document data = json::Document::view_of(part->content);
    if (data.root().size() == 1 && data.root()["schema"].is_object()) return data.root()["schema"].json();
  }
  return {};
}

// Writes the question of a waiting task, which is in its last status.
base::Result<void> write_question(Writer& out, const Facts& facts, const task::TaskHead& head) {
  if (!task::is_waiting(head.state)) return {};
  const auto events = facts.services.engine.reader().events(head.key, {head.status_event.value - 1}, 1);
  if (!events) return fail(events.error());
  const task::StatusChanged* status = events->empty() ? nullptr : task::status_in(events->front());
  if (status == nullptr) return {};
  out.key("question").object([&] {
    out.member("event", events->front().number.value);
    const auto& message = status->status.message;
    const std::string words = message ? task::text_of(*message) : std::string();
    out.member("text", base::beginning_of(words, kEventContentMax));
    out.optional("ask", status->ask);
    if (!message) return;
    out.optional("schema", schema_in(*message));
    if (task::weight_of(*message) > kEventContentMax) return;
    out.key("message");
    protocol::v1::write_message(out, *message);
  });
  return {};
}

base::Result<void> write_relatives(Writer& out, const Facts& facts, const task::TaskHead& head) {
  if (head.parent) {
    // The parent may have been deleted.
    if (const auto parent = facts.store.line(head.parent)) {
      out.key("parent");
      write_task_row(out, *parent);
    }
  }
  store::TaskQuery children;
  children.filter.parent = head.key;
  children.limit = kShown;
  const auto page = facts.store.page(children);
  if (!page) return fail(page.error());
  out.key("children");
  write_lines(out, facts, page->lines);
  return {};
}

base::Result<void> write_webhooks(Writer& out, const CallPtr& call, task::TaskKey key) {
  store::DeliveryFilter filter;
  filter.task = key;
  const auto deliveries = call->facts.store.deliveries(filter, 0, kShown);
  if (!deliveries) return fail(deliveries.error());
  out.key("deliveries").each(deliveries->lines, [&](const store::DeliveryLine& line) {
    write_delivery(out, line, call->by);
  });
  const auto configs = call->facts.deliveries.configs(key);
  if (!configs) return fail(configs.error());
  out.key("configs").each(*configs,
                          [&](const task::PushConfig& config) { write_config(out, config, call->by); });
  return {};
}

base::Result<std::string> whole_task(const CallPtr& call) {
  const auto key = call->key<task::TaskKey>();
  if (!key) return fail(key.error());
  const auto line = call->facts.store.line(*key);
  if (!line) return fail(line.error());
  // Reads only the log's first event: the task as it was created.
  auto made = call->facts.services.engine.reader().read(*key, {0, false}, task::EventNumber{1});
  if (!made) return fail(made.error());
  std::string text;
  Writer out(text);
  base::Result<void> good;
  out.object([&] {
    out.member("at", base::to_rfc3339(base::SystemClock().now())).key("task");
    const RowWords words = words_of(call->facts.services.engine.reader(), line->head);
    write_task_row(out, *line, &words);
    out.optional("metadata", made->metadata);
    if (const auto request = call->facts.actions.request_event(line->head))
      out.member("requestEvent", request->value);
    good = write_errors(out, call, line->head);
    if (good) good = write_question(out, call->facts, line->head);
    if (good) good = write_relatives(out, call->facts, line->head);
    if (good) good = write_webhooks(out, call, *key);
  });
  if (!good) return fail(good.error());
  return text;
}

base::Result<std::string> tree_of(const CallPtr& call) {
  const auto key = call->key<task::TaskKey>();
  if (!key) return fail(key.error());
  const auto head = call->facts.services.engine.reader().head(*key);
  if (!head) return fail(head.error());
  TaskTree tree(call->facts.services, *head);
  for (bool all = false; !all;) {
    const auto read = tree.read_some();
    if (!read) return fail(read.error());
    all = *read;
  }
  return tree.to_json(base::SystemClock().now(), TaskTree::Keys::shown);
}

base::Result<std::string> picture_of_run(const CallPtr& call) {
  const auto key = call->key<task::TaskKey>();
  if (!key) return fail(key.error());
  const auto head = call->facts.services.engine.reader().head(*key);
  if (!head) return fail(head.error());
  const agents::Agent* agent = call->facts.services.catalogue.find(head->agent);
  if (agent == nullptr) return fail(ErrorCode::not_found, "its agent is not served");
  return run_picture_of(call->facts.services, *agent, *head);
}

}  // namespace

void list_tasks(const CallPtr& call) {
  const base::Timestamp now = base::SystemClock().now();
  bool wants_exact = false, has_words = false;
  const auto query = read_query(call->request(), now, wants_exact, has_words);
  if (!query) return answer(call, fail(query.error()));
  const auto page = call->facts.store.page(*query);
  if (!page) return answer(call, fail(page.error()));
  auto count = call->facts.store.count(query->filter);
  if (!count) return answer(call, fail(count.error()));
  if (!count->exact) count = counted_on(*query, *page);
  if (!count->exact && wants_exact)
    count = counted(call->facts.store, *call->facts.is_counting, query->filter);
  if (!count) return answer(call, fail(count.error()));
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(now)).key("tasks");
    if (has_words) {
      write_lines(out, call->facts, page->lines);
    } else {
      out.each(page->lines, [&](const store::TaskLine& line) { write_task_row(out, line); });
    }
    if (page->next) out.member("next", cursor_of(*page->next));
    if (page->is_cut && page->next) out.member("scannedUntil", base::to_rfc3339(page->next->status_at));
    out.key("count");
    write_count(out, *count);
  });
  answer(call, std::move(text));
}

void show_task(const CallPtr& call) {
  answer(call, whole_task(call));
}

void show_tree(const CallPtr& call) {
  answer(call, tree_of(call));
}

void show_run_picture(const CallPtr& call) {
  auto picture = picture_of_run(call);
  call->exchange->reply(picture ? picture_reply(std::move(*picture)) : error_reply(picture.error()));
}

}  // namespace baton::server::operate

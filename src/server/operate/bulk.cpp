// Bulk jobs: an action on all tasks that a filter finds, and its results.
#include <array>
#include <utility>

#include "base/text.h"
#include "json/writer.h"
#include "server/operate/action_body.h"
#include "server/operate/handlers.h"
#include "server/operate/rows.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;
using base::fail;
using engine::BulkAction;
using json::Writer;

constexpr int kJobsShown = 50;

struct Named {
  std::string_view name;
  BulkAction action;
};
constexpr std::array kActions{Named{"cancel", BulkAction::cancel},   Named{"retry", BulkAction::retry},
                              Named{"requeue", BulkAction::requeue}, Named{"resend", BulkAction::resend},
                              Named{"skip", BulkAction::skip},       Named{"delete", BulkAction::erase}};

base::Result<BulkAction> read_action(json::Value given) {
  std::vector<std::string> names;
  for (const Named& named : kActions) {
    if (given.string() == named.name) return named.action;
    names.emplace_back(named.name);
  }
  return fail(ErrorCode::invalid_argument, "action: must be one of " + base::comma_separated(names));
}

// Empty if it is absent.
base::Result<std::optional<std::int64_t>> expected_in(json::Value given) {
  if (given.absent()) return std::optional<std::int64_t>();
  const auto expected = given.integer();
  if (expected && *expected >= 0) return std::optional(*expected);
  return fail(ErrorCode::invalid_argument, "expected: must be the number of tasks that match the filter");
}

base::Result<engine::BulkRequest> read_request(const Call& call) {
  const auto body = ActionBody::read(call, {"action", "filter", "expected"});
  if (!body) return fail(body.error());
  engine::BulkRequest request;
  const auto action = read_action((*body)["action"]);
  if (!action) return fail(action.error());
  request.action = *action;
  const json::Value given = (*body)["filter"];
  const auto pairs = filter_pairs(given);
  if (!pairs) return fail(pairs.error());
  Query query(*pairs);
  request.filter = read_filter(query, base::SystemClock().now());
  if (const auto good = query.checked(); !good) return fail(good.error());
  request.filter_text = std::string(given.raw());
  const auto expected = expected_in((*body)["expected"]);
  if (!expected) return fail(expected.error());
  request.expected = *expected;
  request.actor = body->actor().name;
  request.reason = body->actor().reason;
  return request;
}

std::string_view shown_state(const store::BulkJob& job) {
  switch (job.state) {
    case store::BulkJob::State::preparing:
      return job.counted ? "counted" : "preparing";
    case store::BulkJob::State::running:
      return "running";
    case store::BulkJob::State::abandoned:
      return "abandoned";
    case store::BulkJob::State::done:
      break;
  }
  return "done";
}

// Writes the members of a job's object.
void write_job(Writer& out, const store::BulkJob& job) {
  write_key(out, "job", job.key.value);
  out.member("action", job.action).member("actor", job.actor).member("reason", job.reason);
  const json::Document filter = json::Document::view_of(job.filter);
  if (filter.root().is_object()) out.key("filter").raw(job.filter);
  out.member("state", shown_state(job)).member("createdAt", base::to_rfc3339(job.at));
  out.member("tasks", job.tasks).member("done", job.done).member("refused", job.refused);
}

base::Result<std::string> job_with_items(const CallPtr& call) {
  const auto key = call->key<task::BulkJobKey>();
  if (!key) return fail(key.error());
  Query query(call->request().query);
  const task::TaskKey after{query.key("cursor")};
  const int limit = static_cast<int>(query.number("limit", 1, 200).value_or(50));
  if (const auto good = query.checked(); !good) return fail(good.error());
  const auto job = call->facts.store.bulk_job(*key);
  if (!job) return fail(job.error());
  const auto items = call->facts.store.bulk_items(*key, after, limit, false);
  if (!items) return fail(items.error());
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(base::SystemClock().now()));
    write_job(out, *job);
    out.key("items").each(*items, [&](const store::BulkItem& item) {
      out.object([&] {
        write_key(out, "task", item.task.value);
        out.optional("outcome", item.outcome).optional("detail", item.detail);
      });
    });
    const bool may_have_more = std::ssize(*items) == limit;
    if (may_have_more) write_key(out, "next", items->back().task.value);
  });
  return text;
}

}  // namespace

void begin_bulk(const CallPtr& call) {
  const auto request = read_request(*call);
  if (!request) return answer(call, fail(request.error()));
  const auto job = call->facts.bulk.create(*request);
  if (!job) {
    std::optional<std::int64_t> found;
    if (job.error().code == ErrorCode::conflict) {
      const auto count = counted(call->facts.store, *call->facts.is_counting, request->filter);
      if (count && count->exact) found = count->tasks;
    }
    return call->exchange->reply(error_reply(job.error(), found));
  }
  std::string text;
  Writer out(text);
  out.object([&] { write_key(out, "job", job->value); });
  call->exchange->reply(json_reply(std::move(text), 202));
}

void confirm_bulk(const CallPtr& call) {
  const auto key = call->key<task::BulkJobKey>();
  if (!key) return answer(call, fail(key.error()));
  const auto document = json::Document::parse(call->request().body);
  if (!document) return answer(call, fail(document.error()));
  const auto expected = document->root()["expected"].integer();
  if (!expected)
    return answer(call, fail(ErrorCode::invalid_argument, "expected: must be the number of the job's tasks"));
  const auto confirmed = call->facts.bulk.confirm(*key, *expected, call->by.name);
  answer(call, confirmed ? job_with_items(call) : base::Result<std::string>(fail(confirmed.error())));
}

void abandon_bulk(const CallPtr& call) {
  const auto key = call->key<task::BulkJobKey>();
  if (!key) return answer(call, fail(key.error()));
  const auto abandoned = call->facts.bulk.abandon(*key);
  answer(call, abandoned ? job_with_items(call) : base::Result<std::string>(fail(abandoned.error())));
}

void list_bulk(const CallPtr& call) {
  const auto jobs = call->facts.store.bulk_jobs(kJobsShown);
  if (!jobs) return answer(call, fail(jobs.error()));
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(base::SystemClock().now())).key("jobs");
    out.each(*jobs, [&](const store::BulkJob& job) { out.object([&] { write_job(out, job); }); });
  });
  answer(call, std::move(text));
}

void show_bulk(const CallPtr& call) {
  answer(call, job_with_items(call));
}

}  // namespace baton::server::operate

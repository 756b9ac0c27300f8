// A task's log: windows of it, and live.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "http/http_text.h"
#include "json/writer.h"
#include "server/operate/handlers.h"
#include "server/show/event_json.h"
#include "server/streams/log_stream.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kNumberMax = std::int64_t{1} << 28;
constexpr int kWindowMax = 1'000;

// `last`: the last number of the log.
base::Result<LogWindow> read_window(const http::Request& request, std::int64_t last) {
  Query query(request.query);
  LogWindow window;
  const auto after = query.number("after", 0, kNumberMax);
  const auto before = query.number("before", 0, kNumberMax);
  window.limit = static_cast<int>(query.number("limit", 1, kWindowMax).value_or(window.limit));
  if (after && before) query.wrong("before", "cannot be combined with after");
  if (const auto good = query.checked(); !good) return fail(good.error());
  window.after.value = after.value_or(0);
  if (before) {
    const std::int64_t end = std::min(*before, last + 1);
    window.after.value = std::max<std::int64_t>(0, end - 1 - window.limit);
    window.limit = static_cast<int>(std::max<std::int64_t>(0, end - 1 - window.after.value));
  }
  return window;
}

base::Result<std::string> window_of(const CallPtr& call, const task::TaskHead& head) {
  const auto window = read_window(call->request(), head.last_event.value);
  if (!window) return fail(window.error());
  const auto piece = read_log(call->facts.services, head.key, *window);
  if (!piece) return fail(piece.error());
  std::string text;
  json::Writer out(text);
  out.object([&] {
    out.key("events").raw(piece->events).member("first", piece->first.value);
    out.member("last", head.last_event.value);
  });
  return text;
}

bool wants_stream(const http::Request& request) {
  return http::list_has(request.header("Accept"), "text/event-stream");
}

base::Result<std::int64_t> read_start(const http::Request& request) {
  Query query(request.query);
  const auto after = query.number("after", 0, kNumberMax);
  if (const auto good = query.checked(); !good) return fail(good.error());
  const std::string_view last = request.header("Last-Event-ID");
  if (last.empty()) return after.value_or(0);
  const auto number = base::number_in<std::int64_t>(last);
  if (number && *number >= 0) return *number;
  return fail(ErrorCode::invalid_argument, "Last-Event-ID: must be a whole number of at least 0");
}

// The stream keeps only its place in the log, so a slow reader costs nothing else.
void stream(const CallPtr& call, const task::TaskHead& head) {
  const auto after = read_start(call->request());
  if (!after) return call->exchange->reply(error_reply(after.error()));
  LogStream::Start start;
  start.task = head.key;
  start.after = {*after};
  start.ended_there = task::is_terminal(head.state) && *after >= head.last_event.value;
  start.view = [](const task::Event& event, bool, task::EventNumber, std::string& item) {
    return append_event(item, event);
  };
  call->exchange->open_stream(
      {{"Cache-Control", "no-store"}},
      [call, start = std::move(start)](http::Waker waker) mutable -> std::unique_ptr<http::StreamSource> {
        return std::make_unique<LogStream>(call->facts.services, std::move(start), std::move(waker));
      });
}

}  // namespace

void show_events(const CallPtr& call) {
  const auto key = call->key<task::TaskKey>();
  if (!key) return answer(call, fail(key.error()));
  const auto head = call->facts.services.engine.reader().head(*key);
  if (!head) return answer(call, fail(head.error()));
  if (wants_stream(call->request())) return stream(call, *head);
  answer(call, window_of(call, *head));
}

}  // namespace baton::server::operate

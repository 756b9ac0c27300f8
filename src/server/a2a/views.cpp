// The operations that answer with views of Baton's own: the tree of a task, its log, the picture of a plan's
// run.
#include "base/clock.h"
#include "json/writer.h"
#include "server/a2a/operations.h"
#include "server/a2a/task_reads.h"
#include "server/shared/answers.h"
#include "server/show/event_json.h"
#include "server/show/plan_views.h"
#include "server/show/task_tree.h"

namespace baton::server::a2a {
namespace {

http::Reply own_view(std::string body) {
  http::Reply reply;
  reply.headers = {{"Cache-Control", "private, no-cache"}};
  reply.body = std::move(body);
  return reply;
}

// A large tree is read piece by piece, so that other callers' reads come between.
void read_tree(const CallPtr& call, const std::shared_ptr<TaskTree>& tree) {
  const auto done = tree->read_some();
  if (!done) return call->refuse(done.error());
  if (*done) return call->answer(ViewAnswer{own_view(tree->to_json(base::SystemClock().now()))});
  const auto read_more = [call, tree](bool has_room) {
    if (!has_room) return call->refuse(too_many_large_answers());
    call->read_later([call, tree] { read_tree(call, tree); });
  };
  if (call->share) return read_more(true);
  take_share(call, call->identity.value, TaskTree::kMemoryMax, read_more);
}

}  // namespace

void task_tree(const CallPtr& call, const protocol::a2a::TaskRequest& request) {
  const auto head = call->services.engine.reader().head(call->ref(request.id));
  if (!head) return call->refuse(head.error(), request.id);
  read_tree(call, std::make_shared<TaskTree>(call->services, *head));
}

// A piece of the log is small enough to take no share of the budget of large answers.
void task_log(const CallPtr& call, const protocol::a2a::TaskRequest& request) {
  constexpr std::size_t kPieceMax = 512 << 10;
  const auto head = call->services.engine.reader().head(call->ref(request.id));
  if (!head) return call->refuse(head.error(), request.id);
  LogWindow window;
  window.bytes_max = kPieceMax;
  window.after = request.last_event.value_or(task::EventNumber{0});
  const auto piece = read_log(call->services, head->key, window, LogReaders::callers);
  if (!piece) return call->refuse(piece.error(), request.id);
  std::string text;
  json::Writer out(text);
  out.object([&] {
    out.key("events").raw(piece->events).member("through", piece->through.value);
    out.member("last", head->last_event.value).member("state", task::name_of(head->state));
  });
  call->answer(ViewAnswer{own_view(std::move(text))});
}

void plan_picture(const CallPtr& call, const protocol::a2a::TaskRequest& request) {
  const auto head = call->services.engine.reader().head(call->ref(request.id));
  if (!head) return call->refuse(head.error(), request.id);
  auto picture = run_picture_of(call->services, call->agent, *head);
  if (!picture) return call->refuse(picture.error(), request.id);
  call->answer(ViewAnswer{picture_reply(std::move(*picture))});
}

}  // namespace baton::server::a2a

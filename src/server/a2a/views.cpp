// The operations that answer with views of Baton's own: the tree of a task, the picture of a plan's run.
#include "base/clock.h"
#include "server/a2a/operations.h"
#include "server/a2a/task_reads.h"
#include "server/plan_views.h"
#include "server/task_tree.h"

namespace baton::server::a2a {
namespace {

// A large tree is read piece by piece, so that other callers' reads come between.
void read_tree(const CallPtr& call, const std::shared_ptr<TaskTree>& tree,
               const AnswerBudget::SharePtr& share) {
  const auto done = tree->read_some();
  if (!done) return call->refuse(done.error());
  if (*done) {
    http::Reply reply;
    reply.headers = {{"Cache-Control", "private, no-cache"}};
    reply.body = tree->to_json(base::SystemClock().now());
    return call->answer(ViewAnswer{std::move(reply)}, share);
  }
  const auto go_on = [call, tree](const AnswerBudget::SharePtr& held) {
    if (!held && call->services.answers != nullptr) return call->refuse(too_many_large_answers());
    call->read_later([call, tree, held] { read_tree(call, tree, held); });
  };
  if (share || call->services.answers == nullptr) return go_on(share);
  call->services.answers->enter(call->identity.value, TaskTree::kMemoryMax, go_on);
}

}  // namespace

void task_tree(const CallPtr& call, const protocol::a2a::TaskRequest& request) {
  const auto head = call->services.engine.tasks().find(call->ref(request.id));
  if (!head) return call->refuse(head.error(), request.id);
  read_tree(call, std::make_shared<TaskTree>(call->services, *head), nullptr);
}

void plan_picture(const CallPtr& call, const protocol::a2a::TaskRequest& request) {
  const auto head = call->services.engine.tasks().find(call->ref(request.id));
  if (!head) return call->refuse(head.error(), request.id);
  auto picture = run_picture_of(call->services, call->agent, *head);
  if (!picture) return call->refuse(picture.error(), request.id);
  call->answer(ViewAnswer{picture_reply(std::move(*picture))});
}

}  // namespace baton::server::a2a

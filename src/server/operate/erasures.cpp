// Permanent deletion by operators: of a task, a context, or all data of a caller.
#include "json/writer.h"
#include "server/operate/action_body.h"
#include "server/operate/handlers.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;
using base::fail;

// Replies on the thread that ends the deletion, because nothing is read.
engine::Erasure::Done erased(const CallPtr& call) {
  return [call](base::Result<engine::Erasure::Erased> gone) {
    if (!gone) return call->exchange->reply(error_reply(gone.error()));
    std::string text;
    json::Writer out(text);
    out.object([&] {
      out.member("tasks", gone->tasks).member("left", gone->left);
      if (gone->keys > 0) out.member("keys", gone->keys);
    });
    call->exchange->reply(json_reply(std::move(text)));
  };
}

// Calls `erase` if the request gives a reason and the store can delete.
template <class Erase>
void erase_with(const CallPtr& call, Erase&& erase) {
  const auto body = ActionBody::read(*call, {});
  if (!body) return answer(call, fail(body.error()));
  engine::Erasure* erasure = call->facts.services.engine.erasure();
  if (erasure == nullptr) return answer(call, fail(ErrorCode::unsupported, "this store cannot delete tasks"));
  erase(*erasure, body->actor());
}

}  // namespace

void erase_task(const CallPtr& call) {
  const auto key = call->key<task::TaskKey>();
  if (!key) return answer(call, fail(key.error()));
  erase_with(call, [&](engine::Erasure& erasure, const engine::Actor& actor) {
    erasure.erase_task(*key, actor, erased(call));
  });
}

void erase_context(const CallPtr& call) {
  Query query(call->request().query);
  const task::AgentName agent{query.text("agent")};
  const task::Caller caller = read_caller(query);
  const task::ContextId context{query.text("context")};
  if (agent.empty() || caller.empty() || context.empty())
    query.wrong("context", "requires agent, caller and context together");
  if (const auto good = query.checked(); !good) return answer(call, fail(good.error()));
  erase_with(call, [&](engine::Erasure& erasure, const engine::Actor& actor) {
    erasure.erase_context({caller, agent, context}, actor, erased(call));
  });
}

void erase_caller(const CallPtr& call) {
  erase_with(call, [&](engine::Erasure& erasure, const engine::Actor& actor) {
    erasure.erase_caller(call->parameter, actor, erased(call));
  });
}

}  // namespace baton::server::operate

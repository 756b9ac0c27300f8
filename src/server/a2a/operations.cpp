#include "server/a2a/operations.h"

#include "server/cards.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using wire::a2a::SendRequest;
using wire::a2a::TaskRequest;

// Answers with the task as it is now, or was just after `as_of`. Reads the store.
template <class Write>
void reply_task(const CallPtr& call, task::TaskKey key, std::optional<int> history,
                std::optional<task::EventNumber> as_of, Write write) {
  const auto task = call->services.engine.tasks().read(key, {history, true}, as_of);
  if (!task) return call->refuse(task.error());
  call->reply([&](wire::Writer& out) { (call->dialect.*write)(out, *task); });
}

// The same from a callback, which must not read the store itself.
template <class Write>
void reply_task_later(const CallPtr& call, task::TaskKey key, std::optional<int> history,
                      std::optional<task::EventNumber> as_of, Write write) {
  const bool taken = call->services.readers.try_submit(
      [call, key, history, as_of, write] { reply_task(call, key, history, as_of, write); });
  if (!taken) call->refuse({ErrorCode::overloaded, "too many answers are waiting; get the task later", {}});
}

wire::CardView view_of(Form form) {
  if (form == Form::rpc) return wire::CardView::superset;
  return form == Form::rest_v0_3 ? wire::CardView::v0_3_rest : wire::CardView::v1_0;
}

base::Error no_webhooks() {
  return {ErrorCode::push_not_supported, "the agent has switched push notifications off", {}};
}

base::Result<wire::a2a::PushRef> read_push_ref(const CallPtr& call) {
  if (!call->agent.card.push) return base::fail(no_webhooks());
  if (call->is_rest()) return wire::a2a::PushRef{call->task, call->config};
  return call->dialect.read_push_ref(call->params);
}

// The same where one config must be named.
base::Result<wire::a2a::PushRef> read_named_push_ref(const CallPtr& call) {
  auto ref = read_push_ref(call);
  if (!ref || !ref->config.empty()) return ref;
  return base::fail(ErrorCode::invalid_argument, call->envelope.form == Form::rpc
                                                     ? "pushNotificationConfigId: must not be empty"
                                                     : "id: must not be empty");
}

}  // namespace

base::Result<TaskRequest> read_task_request(const CallPtr& call) {
  auto request = call->dialect.read_task_request(call->params);
  call->forget_params();
  if (request && !call->task.empty()) request->id = call->task;
  return request;
}

base::Result<SendRequest> read_send(const CallPtr& call) {
  if (!call->extensions.missing.empty()) {
    return base::fail(ErrorCode::extension_required,
                      "the agent needs the extension " + call->extensions.missing);
  }
  auto request = call->dialect.read_send(call->params);
  call->forget_params();
  if (!request) return request;
  if (request->submission.push && !call->agent.card.push) return base::fail(no_webhooks());
  request->submission.caller = call->caller;
  request->submission.agent = call->agent.name;
  request->submission.extensions = call->extensions.active;
  return request;
}

base::Error send_refusal(const CallPtr& call, base::Error error) {
  if (error.code == ErrorCode::unsupported) error.code = call->dialect.refusal_when_ended();
  return error;
}

void send(const CallPtr& call) {
  auto request = read_send(call);
  if (!request) return call->refuse(request.error());
  const bool waits =
      request->waits.value_or(call->agent.settings.reply == agents::AgentSettings::Reply::blocking);
  const task::TaskId named = request->submission.task;
  call->services.engine.tasks().submit(
      std::move(request->submission),
      [call, waits, named, history = request->history_length](base::Result<engine::Accepted> accepted) {
        if (!accepted) return call->refuse(send_refusal(call, std::move(accepted.error())), named);
        const auto write = &wire::a2a::Dialect::write_sent;
        if (!waits) return reply_task_later(call, accepted->key, history, std::nullopt, write);
        engine::Engine& engine = call->services.engine;
        engine.tasks().wait(*accepted, engine.options().reply_wait,
                            [call, history, key = accepted->key, write](std::optional<engine::Stop> stop) {
                              const auto as_of = stop ? std::optional(stop->number) : std::nullopt;
                              reply_task_later(call, key, history, as_of, write);
                            });
      });
}

void get(const CallPtr& call) {
  const auto request = read_task_request(call);
  if (!request) return call->refuse(request.error());
  const auto task =
      call->services.engine.tasks().read(call->ref(request->id), {request->history_length, true});
  if (!task) return call->refuse(task.error(), request->id);
  call->reply([&](wire::Writer& out) { call->dialect.write_task(out, *task); });
}

void list(const CallPtr& call) {
  auto request = call->dialect.read_list(call->params);
  if (!request) return call->refuse(request.error());
  request->filter.caller = call->caller;
  request->filter.agent = call->agent.name;
  const auto page = call->services.engine.tasks().list(request->filter, request->depth);
  if (!page) return call->refuse(page.error());
  call->reply([&](wire::Writer& out) {
    call->dialect.write_list(out, *request, page->tasks, page->next, page->total);
  });
}

namespace {

// Whoever cancels a canceled task gets it where the generation says so: also who lost a race to cancel it.
void refuse_cancel(const CallPtr& call, const base::Error& error, const task::TaskId& id,
                   std::optional<int> history) {
  const auto look = [call, error, id, history] {
    const auto head = call->services.engine.tasks().find(call->ref(id));
    if (!head || head->state != task::State::canceled) return call->refuse(error, id);
    reply_task(call, head->key, history, std::nullopt, &wire::a2a::Dialect::write_task);
  };
  const bool looks = call->dialect.cancels_twice() && error.code == ErrorCode::not_cancelable;
  if (!looks || !call->services.readers.try_submit(look)) call->refuse(error, id);
}

}  // namespace

void cancel(const CallPtr& call) {
  const auto request = read_task_request(call);
  if (!request) return call->refuse(request.error());
  const task::TaskRef ref = call->ref(request->id);
  const auto write = &wire::a2a::Dialect::write_task;
  const auto history = request->history_length;
  call->services.engine.tasks().cancel(
      ref, [call, history, write, named = ref.id](base::Result<task::TaskKey> canceled) {
        if (!canceled) return refuse_cancel(call, canceled.error(), named, history);
        reply_task_later(call, *canceled, history, std::nullopt, write);
      });
}

void set_push(const CallPtr& call) {
  if (!call->agent.card.push) return call->refuse(no_webhooks());
  auto request = call->dialect.read_push(call->params);
  call->forget_params();
  if (!request) return call->refuse(request.error());
  if (!call->task.empty()) request->task = call->task;
  if (request->task.empty()) {
    return call->refuse({ErrorCode::invalid_argument, "taskId: must not be empty", {}});
  }
  call->services.engine.tasks().set_push(
      call->ref(request->task), std::move(request->config),
      [call, id = request->task](base::Result<task::PushConfig> stored) {
        if (!stored) return call->refuse(stored.error(), id);
        call->reply([&](wire::Writer& out) { call->dialect.write_push(out, id, *stored); });
      });
}

void get_push(const CallPtr& call) {
  const auto ref = call->envelope.form == Form::rpc ? read_push_ref(call) : read_named_push_ref(call);
  if (!ref) return call->refuse(ref.error());
  const engine::TaskService& tasks = call->services.engine.tasks();
  // Without a config id: the one named like the task, else the first (VERSIONS.md 5.3).
  const task::PushConfigId id = ref->config.empty() ? task::PushConfigId{ref->task.value} : ref->config;
  auto config = tasks.push_config(call->ref(ref->task), id);
  if (!config && config.error().code == ErrorCode::not_found && ref->config.empty()) {
    config = tasks.push_config(call->ref(ref->task), {});
  }
  if (!config) return call->refuse(config.error(), ref->task);
  call->reply([&](wire::Writer& out) { call->dialect.write_push(out, ref->task, *config); });
}

void list_push(const CallPtr& call) {
  const auto ref = read_push_ref(call);
  if (!ref) return call->refuse(ref.error());
  const auto configs = call->services.engine.tasks().push_configs(call->ref(ref->task));
  if (!configs) return call->refuse(configs.error(), ref->task);
  call->reply([&](wire::Writer& out) { call->dialect.write_pushes(out, ref->task, *configs); });
}

void delete_push(const CallPtr& call) {
  const auto ref = read_named_push_ref(call);
  if (!ref) return call->refuse(ref.error());
  call->services.engine.tasks().delete_push(call->ref(ref->task), ref->config,
                                            [call, id = ref->task](base::Result<void> deleted) {
                                              if (!deleted) return call->refuse(deleted.error(), id);
                                              call->reply([&](wire::Writer& out) {
                                                if (call->is_rest()) {
                                                  out.object([] {});
                                                } else {
                                                  call->dialect.write_push_deleted(out);
                                                }
                                              });
                                            });
}

void extended_card(const CallPtr& call) {
  const auto view = view_of(call->envelope.form);
  const CardUrls urls = card_urls(call->services.options, call->exchange->request(), call->endpoint);
  const auto card = server::extended_card(call->services, call->agent, call->identity, urls, view);
  if (!card) return call->refuse(card.error());
  call->reply([&](wire::Writer& out) { out.raw(*card); });
}

}  // namespace baton::server::a2a

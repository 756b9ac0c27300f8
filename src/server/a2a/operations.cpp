#include "server/a2a/operations.h"

#include "server/cards.h"
#include "task/link_parts.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using wire::a2a::SendRequest;
using wire::a2a::TaskRequest;

// The history a request asks for.
struct History {
  std::optional<int> length;
  bool said = true;
};

std::optional<int> shown_of(const Call& call, const History& history, task::Generation origin) {
  if (!history.said && call.dialect.is_of_tasks_era(origin)) return 0;
  return history.length;
}

// Answers with the task as it is now, or just after `as_of`. Reads the store.
template <class Write>
void reply_task(const CallPtr& call, task::TaskKey key, const History& history,
                std::optional<task::EventNumber> as_of, Write write) {
  read_task(call, {key, {}, {history.length, true}, as_of},
            [call, history, write](base::Result<task::Task> task, AnswerBudget::SharePtr share) {
              if (!task) return call->refuse(task.error());
              if (shown_of(*call, history, task->origin) == 0) task->history.clear();
              const auto as = task->hidden ? &wire::a2a::Dialect::write_message : write;
              call->reply([&](wire::Writer& out) { (call->dialect.*as)(out, *task); }, std::move(share));
            });
}

// The same from a callback, which must not read the store: runs on a reader thread.
template <class Write>
void reply_task_later(const CallPtr& call, task::TaskKey key, const History& history,
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

// Answers up to these sizes bypass the budget: a task's log, a list's tasks.
constexpr std::size_t kSmallTaskMax = 256 << 10;
constexpr std::size_t kSmallListMax = 1 << 20;

base::Error too_many_large_answers() {
  return {ErrorCode::overloaded, "too many large answers are on their way; try again later", {}};
}

// The same, but a config id is required.
base::Result<wire::a2a::PushRef> read_named_push_ref(const CallPtr& call) {
  auto ref = read_push_ref(call);
  if (!ref || !ref->config.empty()) return ref;
  return base::fail(ErrorCode::invalid_argument, call->envelope.form == Form::rpc
                                                     ? "pushNotificationConfigId: must not be empty"
                                                     : "id: must not be empty");
}

// From 1.0 on an extension is active only if the request's header asks for it. Earlier clients may not know
// that header, and their versions cannot be distinguished: for them the member alone is enough.
void heed_activation(const Call& call, wire::NumbersWish& numbers) {
  const bool is_v1 = call.envelope.form == Form::rpc_v1_0 || call.envelope.form == Form::rest_v1_0;
  if (is_v1 && !call.extensions.numbers) numbers = {};
}

}  // namespace

void read_task(const CallPtr& call, const TaskToRead& wanted, const TaskRead& done) {
  const engine::TaskService& tasks = call->services.engine.tasks();
  const auto read = [&tasks](const TaskToRead& what) {
    return what.key ? tasks.read(*what.key, what.depth, what.as_of) : tasks.read(what.ref, what.depth);
  };
  TaskToRead small = wanted;
  if (call->services.answers) small.depth.bytes_max = kSmallTaskMax;
  auto task = read(small);
  if (task || task.error().code != ErrorCode::too_large) return done(std::move(task), nullptr);

  const auto head = wanted.key ? call->services.engine.store().head(*wanted.key) : tasks.find(wanted.ref);
  if (!head) return done(base::fail(head.error()), nullptr);
  const std::size_t most = call->services.options.answer_bytes_max;
  call->services.answers->enter(call->identity.value, head->bytes + std::min(head->bytes, most),
                                [call, read, wanted, done, most](AnswerBudget::SharePtr share) {
                                  if (!share) return done(base::fail(too_many_large_answers()), nullptr);
                                  auto large = read(wanted);
                                  if (large && wanted.links && !large->hidden)  // a message names no task
                                    task::link_large_parts({&*large, 1}, most, call->tasks_url());
                                  done(std::move(large), std::move(share));
                                });
}

base::Result<TaskRequest> read_task_request(const CallPtr& call) {
  auto request = call->dialect.read_task_request(call->params);
  call->forget_params();
  if (request && !call->task.empty()) request->id = call->task;
  if (request) heed_activation(*call, request->numbers);
  return request;
}

std::optional<int> history_of(const Call& call, const TaskRequest& request, task::Generation origin) {
  return shown_of(call, {request.history_length, request.says_history}, origin);
}

base::Result<SendRequest> read_send(const CallPtr& call) {
  if (!call->extensions.missing.empty()) {
    return base::fail(ErrorCode::extension_required,
                      "the agent needs the extension " + call->extensions.missing);
  }
  auto request = call->dialect.read_send(call->params);
  call->forget_params();
  if (!request) return request;
  heed_activation(*call, request->numbers);
  if (request->submission.push && !call->agent.card.push) return base::fail(no_webhooks());
  request->submission.caller = call->caller;
  request->submission.agent = call->agent.name;
  request->submission.extensions = call->extensions.active;
  request->submission.may_be_message = call->dialect.has_messages();
  request->submission.answers_context = call->agent.settings.plain_answers;
  return request;
}

base::Error send_refusal(const CallPtr& call, base::Error error) {
  if (error.code == ErrorCode::unsupported) error.code = call->dialect.refusal_when_ended();
  return error;
}

base::Error no_message_yet() {
  return {ErrorCode::unavailable, "the answer is not there yet; send the same message again for it", {}};
}

namespace {

// Whether the caller may wait for one more reply; the call then holds the place until it ends.
bool takes_wait(const CallPtr& call) {
  if (!call->hold) call->hold = call->services.options.replies.take(call->identity);
  return static_cast<bool>(call->hold);
}

base::Error too_many_waits() {
  return {ErrorCode::overloaded, "this caller waits for as many replies as it may; try again later", {}};
}

// A message has no task id to fetch it by later, so the client waits even if it asked not to.
void wait_for_message(const CallPtr& call, const engine::Accepted& accepted, std::optional<int> history) {
  engine::Engine& engine = call->services.engine;
  engine.tasks().wait(accepted, engine.options().reply_wait,
                      [call, history, key = accepted.key](std::optional<engine::Stop> stop) {
                        if (!stop) return call->refuse(no_message_yet());
                        reply_task_later(call, key, {history}, stop->number, &wire::a2a::Dialect::write_sent);
                      });
}

}  // namespace

void send(const CallPtr& call) {
  auto request = read_send(call);
  if (!request) return call->refuse(request.error());
  const bool waits =
      request->waits.value_or(call->agent.settings.reply == agents::AgentSettings::Reply::blocking);
  const task::TaskId named = request->submission.task;
  if (waits && !takes_wait(call)) return call->refuse(too_many_waits(), named);
  call->services.engine.tasks().submit(
      std::move(request->submission),
      [call, waits, named, history = request->history_length](base::Result<engine::Accepted> accepted) {
        if (!accepted) return call->refuse(send_refusal(call, std::move(accepted.error())), named);
        if (accepted->hidden) {
          // A repetition of the send gets the same message.
          if (!takes_wait(call)) return call->refuse(too_many_waits(), named);
          return wait_for_message(call, *accepted, history);
        }
        const auto write = &wire::a2a::Dialect::write_sent;
        if (!waits) return reply_task_later(call, accepted->key, {history}, std::nullopt, write);
        engine::Engine& engine = call->services.engine;
        engine.tasks().wait(*accepted, engine.options().reply_wait,
                            [call, history, key = accepted->key, write](std::optional<engine::Stop> stop) {
                              const auto as_of = stop ? std::optional(stop->number) : std::nullopt;
                              reply_task_later(call, key, {history}, as_of, write);
                            });
      });
}

void get(const CallPtr& call) {
  const auto request = read_task_request(call);
  if (!request) return call->refuse(request.error());
  read_task(call, {std::nullopt, call->ref(request->id), {request->history_length, true}},
            [call, request = *request](base::Result<task::Task> task, AnswerBudget::SharePtr share) {
              if (!task) return call->refuse(task.error(), request.id);
              if (history_of(*call, request, task->origin) == 0) task->history.clear();
              call->reply([&](wire::Writer& out) { call->dialect.write_task(out, *task); }, std::move(share));
            });
}

void list(const CallPtr& call) {
  auto request = call->dialect.read_list(call->params);
  if (!request) return call->refuse(request.error());
  request->filter.caller = call->caller;
  request->filter.agent = call->agent.name;
  const auto answer = [call, request = *request](base::Result<engine::TaskList> page,
                                                 AnswerBudget::SharePtr share) {
    if (!page) return call->refuse(page.error());
    const std::size_t most = call->services.options.answer_bytes_max;
    if (share) task::link_large_parts(page->tasks, most, call->tasks_url());
    call->reply(
        [&](wire::Writer& out) {
          call->dialect.write_list(out, request, page->tasks, page->next, page->total);
        },
        std::move(share));
  };
  const engine::TaskService& tasks = call->services.engine.tasks();
  task::Depth small = request->depth;
  if (call->services.answers) small.bytes_max = kSmallListMax;
  auto page = tasks.list(request->filter, small);
  if (page || page.error().code != ErrorCode::too_large) return answer(std::move(page), nullptr);
  // A page has little content besides one large task.
  const std::size_t bytes =
      call->services.engine.options().task_bytes_max + call->services.options.answer_bytes_max;
  call->services.answers->enter(
      call->identity.value, bytes,
      [call, &tasks, answer, filter = request->filter, depth = request->depth](AnswerBudget::SharePtr share) {
        if (!share) return call->refuse(too_many_large_answers());
        answer(tasks.list(filter, depth), std::move(share));
      });
}

namespace {

// Some versions treat cancelling a canceled task as success, including after losing a race.
void refuse_cancel(const CallPtr& call, const base::Error& error, const task::TaskId& id,
                   const History& history) {
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
  const History history{request->history_length, request->says_history};
  call->services.engine.tasks().cancel(
      ref, [call, history, write, named = ref.id](base::Result<task::TaskKey> canceled) {
        if (!canceled) return refuse_cancel(call, canceled.error(), named, history);
        reply_task_later(call, *canceled, history, std::nullopt, write);
      });
}

// `lastError` is Baton's own member. JSON-RPC before 1.0 allows unknown members. Official 1.0 clients reject
// them, so there only requests for Baton's extension get it.
bool shows_last_error(const CallPtr& call) {
  return call->envelope.form == Form::rpc || call->extensions.numbers;
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
  // Without a config id: the one named like the task, else the first (wire/a2a/README.md, 5).
  const task::PushConfigId id = ref->config.empty() ? task::PushConfigId{ref->task.value} : ref->config;
  auto config = tasks.push_config(call->ref(ref->task), id);
  if (!config && config.error().code == ErrorCode::not_found && ref->config.empty()) {
    config = tasks.push_config(call->ref(ref->task), {});
  }
  if (!config) return call->refuse(config.error(), ref->task);
  if (!shows_last_error(call)) config->last_error.clear();
  call->reply([&](wire::Writer& out) { call->dialect.write_push(out, ref->task, *config); });
}

void list_push(const CallPtr& call) {
  const auto ref = read_push_ref(call);
  if (!ref) return call->refuse(ref.error());
  auto configs = call->services.engine.tasks().push_configs(call->ref(ref->task));
  if (!configs) return call->refuse(configs.error(), ref->task);
  for (task::PushConfig& config : *configs) {
    if (!shows_last_error(call)) config.last_error.clear();
  }
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

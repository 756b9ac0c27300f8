#include "server/a2a/operations.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "server/a2a/cards.h"
#include "server/a2a/task_reads.h"
#include "server/shared/answers.h"
#include "task/link_parts.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using protocol::a2a::ContentRequest;
using protocol::a2a::Dialect;
using protocol::a2a::ListRequest;
using protocol::a2a::Params;
using protocol::a2a::PushRef;
using protocol::a2a::PushRequest;
using protocol::a2a::SendRequest;
using protocol::a2a::TaskRequest;

// How the task of an answer is read and shown.
struct Wanted {
  task::TaskKey key;
  std::optional<int> history;  // as in task::Depth
  bool says_history = true;
  std::optional<task::EventNumber> as_of = {};
};

// Answers with the task as it is now, or just after `as_of`. Reads the store.
template <class AnswerOf>
void answer_task(const CallPtr& call, const Wanted& wanted) {
  read_task(call, {wanted.key, {}, {wanted.history, true}, wanted.as_of},
            [call, wanted](base::Result<task::Task> task) {
              if (!task) return call->refuse(task.error());
              const TaskRequest asked{{}, wanted.history, wanted.says_history, {}, {}};
              if (history_of(*call, asked, task->origin) == 0) task->history.clear();
              call->answer(AnswerOf{std::move(*task)});
            });
}

// Like answer_task, for use in a callback.
template <class AnswerOf>
void answer_task_later(const CallPtr& call, const Wanted& wanted) {
  answer_from_callback(call, wanted.key, wanted.as_of,
                       [call, wanted] { answer_task<AnswerOf>(call, wanted); });
}

// Whether the caller may wait for one more reply; the call then holds the place until it ends.
bool takes_wait(const CallPtr& call) {
  if (!call->hold) call->hold = call->services.options.replies.acquire(call->identity);
  return static_cast<bool>(call->hold);
}

base::Error too_many_waits() {
  return {ErrorCode::overloaded,
          "too many of this caller's requests are waiting for a reply; try again later",
          {}};
}

// A message has no task id to fetch it by later, so the client waits even if it asked not to.
void wait_for_message(const CallPtr& call, const engine::Accepted& accepted, std::optional<int> history) {
  engine::Engine& engine = call->services.engine;
  engine.reader().await_stop(accepted.key, accepted.before, engine.options().reply_wait,
                             [call, history, key = accepted.key](std::optional<engine::Stop> stop) {
                               if (!stop) return call->refuse(no_message_yet());
                               answer_task_later<SentAnswer>(call, {key, history, true, stop->number});
                             });
}

void wait_for_task(const CallPtr& call, const engine::Accepted& accepted, std::optional<int> history) {
  engine::Engine& engine = call->services.engine;
  engine.reader().await_stop(accepted.key, accepted.before, engine.options().reply_wait,
                             [call, history, key = accepted.key](std::optional<engine::Stop> stop) {
                               const auto as_of = stop ? std::optional(stop->number) : std::nullopt;
                               answer_task_later<SentAnswer>(call, {key, history, true, as_of});
                             });
}

}  // namespace

void send(const CallPtr& call, SendRequest request) {
  if (const auto good = complete_send(*call, request); !good) return call->refuse(good.error());
  const bool waits =
      request.waits.value_or(call->agent.settings.reply == agents::AgentSettings::Reply::blocking);
  const task::TaskId named = request.submission.task;
  if (waits && !takes_wait(call)) return call->refuse(too_many_waits(), named);
  if (waits) request.submission.waits_for = task::WaitsFor::outcome;
  call->services.engine.tasks().submit(
      std::move(request.submission),
      [call, waits, named, history = request.history_length](base::Result<engine::Accepted> accepted) {
        if (!accepted) return call->refuse(send_refusal(*call, std::move(accepted.error())), named);
        if (accepted->hidden) {
          // A repetition of the send gets the same message.
          if (!takes_wait(call)) return call->refuse(too_many_waits(), named);
          return wait_for_message(call, *accepted, history);
        }
        if (waits && !accepted->delayed) return wait_for_task(call, *accepted, history);
        answer_task_later<SentAnswer>(call, {accepted->key, history});
      });
}

void get(const CallPtr& call, TaskRequest request) {
  read_task(call, {std::nullopt, call->ref(request.id), {request.history_length, true}},
            [call, request](base::Result<task::Task> task) {
              if (!task) return call->refuse(task.error(), request.id);
              if (history_of(*call, request, task->origin) == 0) task->history.clear();
              call->answer(TaskAnswer{std::move(*task)});
            });
}

void list(const CallPtr& call, ListRequest request) {
  // A page with tasks up to this size bypasses the budget.
  constexpr std::size_t kSmallListMax = 1 << 20;
  request.filter.caller = call->caller;
  request.filter.agent = call->agent.name;
  const auto answer = [call, request](base::Result<engine::TaskList> page) {
    if (!page) return call->refuse(page.error());
    const std::size_t most = call->services.options.answer_bytes_max;
    if (call->share) task::link_large_parts(page->tasks, most, call->tasks_url());
    call->answer(ListAnswer{request, std::move(*page)});
  };
  const engine::TaskReader& reader = call->services.engine.reader();
  task::Depth small = request.depth;
  if (call->services.answers) small.bytes_max = kSmallListMax;
  auto page = engine::list_tasks(reader, request.filter, small);
  if (page || page.error().code != ErrorCode::too_large) return answer(std::move(page));
  // A page has little content besides one large task.
  const std::size_t bytes =
      call->services.engine.options().task_bytes_max + call->services.options.answer_bytes_max;
  take_share(call, call->identity.value, bytes, [call, &reader, answer, request](bool has_room) {
    if (!has_room) return call->refuse(too_many_large_answers());
    answer(engine::list_tasks(reader, request.filter, request.depth));
  });
}

namespace {

// Some versions treat cancelling a canceled task as success, including after losing a race.
void refuse_cancel(const CallPtr& call, const base::Error& error, const TaskRequest& request) {
  const auto look = [call, error, request] {
    const auto head = call->services.engine.reader().head(call->ref(request.id));
    if (!head || head->state != task::State::canceled) return call->refuse(error, request.id);
    answer_task<TaskAnswer>(call, {head->key, request.history_length, request.says_history});
  };
  const bool looks = call->rules.cancels_twice() && error.code == ErrorCode::not_cancelable;
  if (!looks || !call->services.readers.try_submit(look)) call->refuse(error, request.id);
}

base::Error no_webhooks() {
  return {ErrorCode::push_not_supported, "this agent does not support push notifications", {}};
}

// `lastError` is Baton's own member. JSON-RPC before 1.0 allows unknown members. Official 1.0 clients reject
// them, so there only requests for Baton's extension get it.
bool shows_last_error(const Call& call) {
  return (call.binding == Binding::json_rpc && !call.rules.is_v1()) || call.extensions.numbers;
}

protocol::CardView card_view(const Call& call) {
  if (call.rules.is_v1()) return protocol::CardView::v1_0;
  return call.binding == Binding::json_rpc ? protocol::CardView::superset : protocol::CardView::v0_3_rest;
}

}  // namespace

void cancel(const CallPtr& call, TaskRequest request) {
  call->services.engine.cancels().cancel(
      call->ref(request.id), [call, request](base::Result<task::TaskKey> canceled) {
        if (!canceled) return refuse_cancel(call, canceled.error(), request);
        answer_task_later<TaskAnswer>(call, {*canceled, request.history_length, request.says_history});
      });
}

void set_push(const CallPtr& call, PushRequest request) {
  if (!call->agent.card.push) return call->refuse(no_webhooks());
  if (request.task.empty()) {
    return call->refuse({ErrorCode::invalid_argument, "taskId: must not be empty", {}});
  }
  call->services.engine.push().set(call->ref(request.task), std::move(request.config),
                                   [call, id = request.task](base::Result<task::PushConfig> stored) {
                                     if (!stored) return call->refuse(stored.error(), id);
                                     call->answer(PushAnswer{id, std::move(*stored)});
                                   });
}

void get_push(const CallPtr& call, PushRef ref) {
  if (!call->agent.card.push) return call->refuse(no_webhooks());
  if (call->rules.is_v1() && ref.config.empty()) {
    return call->refuse({ErrorCode::invalid_argument, "id: must not be empty", {}});
  }
  // Without a config id: the one named like the task, else the first (protocol/a2a/README.md, 5).
  const task::PushConfigId id = ref.config.empty() ? task::PushConfigId{ref.task.value} : ref.config;
  auto config = call->services.engine.push().get(call->ref(ref.task), id);
  if (!config && config.error().code == ErrorCode::not_found && ref.config.empty()) {
    config = call->services.engine.push().get(call->ref(ref.task), {});
  }
  if (!config) return call->refuse(config.error(), ref.task);
  if (!shows_last_error(*call)) config->last_error.clear();
  call->answer(PushAnswer{ref.task, std::move(*config)});
}

// Cuts the configs down to one page and returns the token of the next page. A token names the first config
// of its page, so that a client may delete the configs that it has seen.
base::Result<std::string> cut_page(const PushRef& ref, std::vector<task::PushConfig>& configs) {
  constexpr std::string_view kBegins = "at ";
  auto first = configs.begin();
  if (!ref.page_token.empty()) {
    const auto named = base::decode_base64(ref.page_token);
    first = std::ranges::find_if(configs, [&](const task::PushConfig& config) {
      return named == std::string(kBegins) + config.id.value;
    });
    if (first == configs.end()) {
      return base::fail(ErrorCode::invalid_argument,
                        "pageToken: is invalid or has expired; start again without it");
    }
  }
  configs.erase(configs.begin(), first);
  if (ref.page_size == 0 || configs.size() <= static_cast<std::size_t>(ref.page_size)) return std::string();
  std::string next =
      base::encode_base64(std::string(kBegins) + configs[static_cast<std::size_t>(ref.page_size)].id.value);
  configs.resize(static_cast<std::size_t>(ref.page_size));
  return next;
}

void list_push(const CallPtr& call, PushRef ref) {
  if (!call->agent.card.push) return call->refuse(no_webhooks());
  auto configs = call->services.engine.push().list(call->ref(ref.task));
  if (!configs) return call->refuse(configs.error(), ref.task);
  auto next = cut_page(ref, *configs);
  if (!next) return call->refuse(next.error(), ref.task);
  for (task::PushConfig& config : *configs) {
    if (!shows_last_error(*call)) config.last_error.clear();
  }
  call->answer(PushesAnswer{ref.task, std::move(*configs), std::move(*next)});
}

void delete_push(const CallPtr& call, PushRef ref) {
  if (!call->agent.card.push) return call->refuse(no_webhooks());
  if (ref.config.empty()) {
    const bool is_old_rpc = call->binding == Binding::json_rpc && !call->rules.is_v1();
    return call->refuse({ErrorCode::invalid_argument,
                         is_old_rpc ? "pushNotificationConfigId: must not be empty" : "id: must not be empty",
                         {}});
  }
  call->services.engine.push().remove(call->ref(ref.task), ref.config,
                                      [call, id = ref.task](base::Result<void> deleted) {
                                        if (!deleted) return call->refuse(deleted.error(), id);
                                        call->answer(PushDeleted{});
                                      });
}

void extended_card(const CallPtr& call) {
  const CardUrls urls = card_urls(call->services.options, call->head(), call->endpoint);
  auto card = server::extended_card(call->services, call->agent, call->identity, urls, card_view(*call));
  if (!card) return call->refuse(card.error());
  call->answer(CardAnswer{std::move(*card)});
}

namespace {

// Whether the task's row must be read from the disk.
bool get_reads_disk(const Call& call, const Request& request) {
  return !call.services.engine.reader().is_quick_to_read(call.ref(std::get<TaskRequest>(request).id));
}

// Whether the send looks for a task or resolves a webhook's host.
bool send_reads_disk(const Call& call, const Request& request) {
  const task::Submission& sent = std::get<SendRequest>(request).submission;
  const bool looks_for_task =
      !sent.task.empty() || (!sent.context.empty() && call.agent.settings.plain_answers);
  return looks_for_task || sent.push;
}

template <class T>
base::Result<Request> request_of(base::Result<T> read) {
  if (!read) return base::fail(std::move(read.error()));
  return Request(std::move(*read));
}

base::Result<Request> read_send(const Dialect& dialect, const Params& params) {
  return request_of(dialect.read_send(params.json()));
}
base::Result<Request> read_task_request(const Dialect& dialect, const Params& params) {
  return request_of(dialect.read_task_request(params));
}
base::Result<Request> read_list(const Dialect& dialect, const Params& params) {
  return request_of(dialect.read_list(params));
}
base::Result<Request> read_push(const Dialect& dialect, const Params& params) {
  return request_of(dialect.read_push(params.json()));
}
base::Result<Request> read_push_ref(const Dialect& dialect, const Params& params) {
  return request_of(dialect.read_push_ref(params.json()));
}
// The path or the method says everything.
base::Result<Request> read_nothing(const Dialect&, const Params&) {
  return Request(CardRequest{});
}

// Calls `operation` with the request as the type that it takes.
template <class T, auto operation>
void call_with(const CallPtr& call, Request request) {
  operation(call, std::get<T>(std::move(request)));
}
template <auto operation>
constexpr auto kSend = &call_with<SendRequest, operation>;
template <auto operation>
constexpr auto kTask = &call_with<TaskRequest, operation>;
template <auto operation>
constexpr auto kPushRef = &call_with<PushRef, operation>;
template <auto operation>
constexpr auto kContent = &call_with<ContentRequest, operation>;

// In the order of Operation.
constexpr std::array kOperations{
    OperationRow{Operation::send, Scope::send, "SendMessage", &read_send, &send_reads_disk, kSend<&send>},
    OperationRow{Operation::send_stream, Scope::send, "SendStreamingMessage", &read_send, &send_reads_disk,
                 kSend<&send_stream>},
    OperationRow{Operation::get, Scope::read, "GetTask", &read_task_request, &get_reads_disk, kTask<&get>},
    OperationRow{Operation::list, Scope::read, "ListTasks", &read_list, nullptr,
                 &call_with<ListRequest, &list>},
    OperationRow{Operation::cancel, Scope::cancel, "CancelTask", &read_task_request, nullptr, kTask<&cancel>},
    OperationRow{Operation::subscribe, Scope::read, "SubscribeToTask", &read_task_request, nullptr,
                 kTask<&subscribe>},
    OperationRow{Operation::set_push, Scope::send, "CreateTaskPushNotificationConfig", &read_push, nullptr,
                 &call_with<PushRequest, &set_push>},
    OperationRow{Operation::get_push, Scope::read, "GetTaskPushNotificationConfig", &read_push_ref, nullptr,
                 kPushRef<&get_push>},
    OperationRow{Operation::list_push, Scope::read, "ListTaskPushNotificationConfigs", &read_push_ref,
                 nullptr, kPushRef<&list_push>},
    OperationRow{Operation::delete_push, Scope::send, "DeleteTaskPushNotificationConfig", &read_push_ref,
                 nullptr, kPushRef<&delete_push>},
    OperationRow{Operation::extended_card, std::nullopt, "GetExtendedAgentCard", &read_nothing, nullptr,
                 [](const CallPtr& call, Request) { extended_card(call); }},
    OperationRow{Operation::artifact_bytes, Scope::read, "artifact bytes", &read_nothing, nullptr,
                 kContent<&artifact_bytes>},
    OperationRow{Operation::message_bytes, Scope::read, "message bytes", &read_nothing, nullptr,
                 kContent<&message_bytes>},
    OperationRow{Operation::task_tree, Scope::read, "task tree", &read_task_request, nullptr,
                 kTask<&task_tree>},
    OperationRow{Operation::task_log, Scope::read, "task log", &read_task_request, nullptr, kTask<&task_log>},
    OperationRow{Operation::plan_picture, Scope::read, "plan picture", &read_task_request, nullptr,
                 kTask<&plan_picture>},
};

constexpr bool in_order() {
  for (std::size_t place = 0; place < kOperations.size(); ++place) {
    if (kOperations[place].operation != static_cast<Operation>(place)) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

const OperationRow& row_of(Operation operation) {
  return kOperations[static_cast<std::size_t>(operation)];
}

void run(const CallPtr& call, Operation operation, Request request) {
  const OperationRow& row = row_of(operation);
  if (call->note) call->note->calls(row.name);
  if (!row.allows(call->scopes)) return call->refuse(lacks(*row.scope));
  if (row.reads_disk != nullptr && !row.reads_disk(*call, request)) return row.run(call, std::move(request));
  const auto held = std::make_shared<Request>(std::move(request));
  call->block([call, &row, held] { row.run(call, std::move(*held)); });
}

}  // namespace baton::server::a2a

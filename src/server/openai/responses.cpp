#include "server/openai/responses.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "json/writer.h"
#include "protocol/chat/tools.h"
#include "protocol/openai/content.h"
#include "protocol/openai/names.h"
#include "protocol/openai/protocols.h"
#include "protocol/openai/requests.h"
#include "server/a2a/cards.h"
#include "server/chat/run.h"
#include "server/shared/answers.h"

namespace baton::server::openai {
namespace {

using base::ErrorCode;
using protocol::openai::Failure;

constexpr int kBeginning = 4;  // events of a run, among which is its message

Failure not_found(std::string_view id) {
  return {404, "invalid_request_error", "not_found",
          "Response with id '" + std::string(base::beginning_of(id, 200)) + "' not found.", "id"};
}

// Calls `act` with the response that the path names and its call, or refuses the request.
template <class F>
void with_response(const RequestPtr& request, bool streams, F&& act) {
  auto response = find_response(*request, request->id);
  if (!response) return request->refuse(not_found(request->id));
  if (const chat::CallPtr call = call_for(request, response->by, streams)) act(call, *response);
}

chat::BegunRun run_of(const Response& response) {
  return {response.head.key, response.head.id, response.head.context, response.before};
}

protocol::chat::RunRequest shown_as(const Request& request, const Response& response, bool streams) {
  protocol::chat::RunRequest wanted;
  wanted.streams = streams;
  wanted.files_url = card_urls(request.services().options, request.head(), response.by.endpoint).rest;
  return wanted;
}

void reply_now(const RequestPtr& request, const chat::CallPtr& call, const Response& response) {
  chat::reply(call, protocol::openai::responses(), shown_as(*request, response, false), run_of(response));
}

void delete_response(const RequestPtr& request) {
  with_response(request, false, [&](const chat::CallPtr& call, const Response& response) {
    engine::Engine& engine = call->services.engine;
    engine::Erasure* const erasure = engine.erasure();
    if (erasure == nullptr)
      return call->refuse({ErrorCode::unsupported, "this store cannot delete responses", {}});
    const auto erase = [call, erasure, id = request->id, key = response.head.key] {
      const engine::Actor caller{std::string(task::account_of(call->caller)),
                                 "the caller deleted the response"};
      erasure->erase_task(key, caller, [call, id](const base::Result<engine::Erasure::Erased>& gone) {
        if (!gone) return call->refuse(gone.error());
        std::string body;
        json::Writer out(body);
        out.object([&] { out.member("id", id).member("object", "response").member("deleted", true); });
        call->reply(200, std::move(body));
      });
    };
    if (task::is_terminal(response.head.state)) return erase();
    engine.cancels().cancel(response.head.key, [call, erase](const base::Result<task::TaskKey>&) {
      if (call->services.readers.try_submit(erase)) return;
      call->refuse(too_many_waiting_answers());
    });
  });
}

// The input of the message that begins the run, as items.
std::vector<std::string> input_items(const Response& response) {
  std::vector<std::string> items;
  task::Message said;
  for (const task::Part& part : response.message.parts) {
    const auto results = protocol::chat::tool_results_in({{}, task::Role::user, {part}, {}, {}, {}});
    if (results.empty()) said.parts.push_back(part);
    for (const task::ToolResult& result : results) {
      json::Writer out(items.emplace_back());
      out.object([&] {
        out.member("type", "function_call_output");
        out.member("id", protocol::openai::name_of("fco", response.head.id, result.id));
        out.member("call_id",
                   protocol::openai::name_of(protocol::openai::kCall, response.head.id, result.id));
        out.member("output", protocol::chat::text_of(result)).member("status", "completed");
      });
    }
  }
  if (said.parts.empty()) return items;
  json::Writer out(items.emplace_back());
  out.object([&] {
    out.member("type", "message").member("role", "user").member("status", "completed");
    out.member("id", protocol::openai::name_of(protocol::openai::kMessage, response.head.id,
                                               "in" + std::to_string(response.before.value)));
    protocol::openai::write_input_content(out.key("content"), said.parts);
  });
  return items;
}

}  // namespace

std::optional<Response> find_response(const Request& request, std::string_view id) {
  const auto name = protocol::openai::read_response_id(id);
  if (!name) return std::nullopt;
  auto by = admitted_for(request.entry, request.head(), request.services().catalogue.all(), name->task);
  if (!by) return std::nullopt;
  const engine::TaskReader& reader = request.services().engine.reader();
  auto head = reader.head({by->caller, by->endpoint.agent->name, name->task});
  if (!head || name->before >= head->last_event) return std::nullopt;
  // Only the place where a run begins names a response.
  if (name->before) {
    const auto before = reader.stop_before(head->key, {name->before.value + 1});
    if (!before || *before != name->before) return std::nullopt;
  }
  auto message = message_of(reader, head->key, name->before);
  if (!message || !protocol::openai::is_kept(message->metadata)) return std::nullopt;
  return Response{std::move(*by), std::move(*head), name->before, std::move(*message)};
}

base::Result<task::Message> message_of(const engine::TaskReader& reader, task::TaskKey key,
                                       task::EventNumber before) {
  const auto events = reader.events(key, before, kBeginning);
  if (!events) return base::fail(events.error());
  for (const task::Event& event : *events) {
    const auto* added = std::get_if<task::MessageAdded>(&event.body);
    if (added != nullptr && added->message.role == task::Role::user) return added->message;
  }
  return task::Message{};
}

void get_response(const RequestPtr& request) {
  if (request->head().method == "DELETE") return delete_response(request);
  bool streams = false;
  std::int64_t skipped = 0;
  for (const auto& [name, value] : request->head().query) {
    if (name == "stream") streams = value == "true";
    if (name != "starting_after") continue;
    const auto number = base::number_in<std::int64_t>(value);
    if (!number || *number < 0)
      return request->refuse(
          {ErrorCode::invalid_argument, "starting_after: must be a whole number of at least 0", {}});
    skipped = std::min(*number, std::int64_t{1} << 40) + 1;
  }
  with_response(request, streams, [&](const chat::CallPtr& call, const Response& response) {
    if (!streams) return reply_now(request, call, response);
    chat::show(call, protocol::openai::responses(), shown_as(*request, response, true), run_of(response),
               skipped);
  });
}

void cancel_response(const RequestPtr& request) {
  with_response(request, false, [&](const chat::CallPtr& call, const Response& response) {
    const auto stop = call->reader().stop_after(response.head.key, response.before);
    if (!stop) return call->refuse(stop.error());
    // A response that has stopped is as it is, even if its task waits or has gone on.
    if (*stop) return reply_now(request, call, response);
    call->services.engine.cancels().cancel(
        response.head.key, [request, call, response](const base::Result<task::TaskKey>& canceled) {
          if (!canceled && canceled.error().code != ErrorCode::not_cancelable)
            return call->refuse(canceled.error());
          reply_now(request, call, response);
        });
  });
}

void list_input_items(const RequestPtr& request) {
  with_response(request, false, [&](const chat::CallPtr& call, const Response& response) {
    const std::vector<std::string> items = input_items(response);
    const auto id_of = [](const std::string& item) {
      return json::Document::view_of(item).root()["id"].str();
    };
    std::string body;
    json::Writer out(body);
    out.object([&] {
      out.member("object", "list").key("data").each(items, [&](const std::string& item) { out.raw(item); });
      out.key("first_id");
      items.empty() ? out.null() : out.string(id_of(items.front()));
      out.key("last_id");
      items.empty() ? out.null() : out.string(id_of(items.back()));
      out.member("has_more", false);
    });
    call->reply(200, std::move(body));
  });
}

}  // namespace baton::server::openai

#include "server/mcp/mcp.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/id.h"
#include "http/accept.h"
#include "http/http_text.h"
#include "protocol/mcp/echoes.h"
#include "protocol/mcp/elicitation.h"
#include "server/a2a/negotiation.h"
#include "server/admission/access.h"
#include "server/mcp/admit.h"
#include "server/mcp/call.h"
#include "server/mcp/handles.h"
#include "server/mcp/listen.h"
#include "server/mcp/listing.h"
#include "server/mcp/resources.h"
#include "server/mcp/tool_calls.h"
#include "server/shared/answers.h"

namespace baton::server::mcp {
namespace {

using base::ErrorCode;
using json::Value;
using json::Writer;
using protocol::mcp::Failure;
using protocol::mcp::Request;

constexpr std::string_view kSessionHeader = "Mcp-Session-Id";

// The id of the request's session; empty: it has none.
std::string session_of(const http::Request& head) {
  return std::string(http::trimmed(head.header(kSessionHeader)));
}

// The call of a request. A legacy one can be canceled by its session. `method`: a literal.
McpCallPtr call_of(const std::shared_ptr<http::Exchange>& exchange, const Entry& entry, Admitted by,
                   const Request& request, std::string_view method) {
  if (entry.reached) entry.reached(*by.endpoint.agent);
  if (by.note) by.note->calls(method);
  auto made = std::make_shared<McpCall>(exchange, std::move(by), request);
  std::string session = session_of(exchange->request());
  if (request.is_modern || session.empty()) return made;
  made->may_be_canceled = [running = entry.running, session = std::move(session),
                           id = request.id](std::function<void()> cancel) {
    return running.add(session, id, std::move(cancel));
  };
  return made;
}

// A request on its way to the code of its method.
struct Incoming {
  const std::shared_ptr<http::Exchange> exchange;
  const Entry entry;
  const std::shared_ptr<const json::Document> document;  // keeps the request's params
  const Request request;

  const http::Request& head() const { return exchange->request(); }
  void reply(std::string body) const { exchange->reply(json_reply(200, std::move(body))); }
  void fail(const Failure& failure) const { exchange->reply(failure_reply(request.id, failure)); }
  // `method`: a literal.
  McpCallPtr call(Admitted by, std::string_view method) const {
    return call_of(exchange, entry, std::move(by), request, method);
  }
  // The agent that is served here is another node's; it has tasks here, but no tool.
  bool is_elsewhere() const {
    return entry.at && entry.services.catalogue.find(entry.at->endpoint.agent->name) == nullptr;
  }
};
using IncomingPtr = std::shared_ptr<const Incoming>;

const Failure kElsewhere{-32603, std::string(kServedElsewhere), 503};

// The session keeps whether the client can be asked, and tells its calls from those of others.
void on_initialize(const IncomingPtr& in) {
  http::Reply reply = json_reply(200, initialized(in->entry.services, in->request));
  const Value params = in->request.params;
  protocol::mcp::Session session{
      std::string(protocol::mcp::agreed_version(params["protocolVersion"].string())),
      protocol::mcp::abilities_in(params["capabilities"])};
  const auto by = admitted_for_any(in->entry, in->head());
  if (by) {
    constexpr int kNonceBytes = 16;
    reply.headers.emplace_back(kSessionHeader, protocol::mcp::make_session_id(session, by->caller.value,
                                                                              base::random_hex(kNonceBytes)));
    // Browsers join this with the headers that every answer exposes.
    if (!in->head().header("Origin").empty())
      reply.headers.emplace_back("Access-Control-Expose-Headers", kSessionHeader);
  }
  in->exchange->reply(std::move(reply));
}

void on_list(const IncomingPtr& in) {
  if (in->is_elsewhere()) return in->fail(kElsewhere);
  in->reply(tools_listed(in->entry.services, in->request, tools_for(in->entry, in->head())));
}

void on_call(const IncomingPtr& in) {
  if (in->is_elsewhere()) return in->fail(kElsewhere);
  const Value params = in->request.params;
  auto named = admitted_for_tool(in->entry, in->head(), params["name"].string());
  if (!named) return in->fail({protocol::mcp::kInvalidParams, "name: there is no such tool"});
  call_tool(in->call(std::move(named->by), "tools/call"), *named->tool, params);
}

// Refuses a request of a client without the tasks extension.
bool takes_handles(const IncomingPtr& in) {
  if (in->request.client.tasks) return true;
  Failure failure{protocol::mcp::kMissingCapability, "the client does not declare the tasks extension", 400};
  Writer out(failure.data.text);
  out.object([&] {
    out.key("requiredCapabilities").object([&] {
      out.key("extensions").object([&] { out.key(protocol::mcp::kTasksExtension).object([] {}); });
    });
  });
  in->fail(failure);
  return false;
}

// Calls `act` with the call and the id of the task that the request names.
template <class F>
void on_task(const IncomingPtr& in, std::string_view method, F&& act) {
  if (!takes_handles(in)) return;
  const task::TaskId id{in->request.params["taskId"].str()};
  auto by = admitted_for_task(in->entry, in->head(), id);
  if (!by) return in->fail({protocol::mcp::kInvalidParams, "there is no such task"});
  act(in->call(std::move(*by), method), id);
}

void on_get(const IncomingPtr& in) {
  on_task(in, "tasks/get", &get_task);
}

void on_update(const IncomingPtr& in) {
  on_task(in, "tasks/update", [&](const McpCallPtr& call, const task::TaskId& id) {
    update_task(call, id, in->request.params["inputResponses"]);
  });
}

void on_cancel(const IncomingPtr& in) {
  on_task(in, "tasks/cancel", &cancel_task);
}

void on_read(const IncomingPtr& in) {
  const std::string uri = in->request.params["uri"].str();
  const auto name = protocol::mcp::read_resource_uri(uri);
  auto by = name ? admitted_for_task(in->entry, in->head(), name->task) : std::nullopt;
  if (!by) return in->fail(no_such_resource(in->request, uri));
  read_resource(in->call(std::move(*by), "resources/read"), *name, uri);
}

// The tools that the caller sees, for a stream.
HeardList tools_of(const Entry& entry, const McpCallPtr& call) {
  Entry kept = entry;
  kept.reached = {};  // it holds the exchange
  return {entry.list_changes, [kept = std::move(kept), call] {
            return tools_listed(kept.services, call->request, tools_for(kept, call->head()));
          }};
}

// The caller's tasks, of those that the request names; none if the client does not take handles.
std::vector<Heard> tasks_to_hear(const IncomingPtr& in) {
  std::vector<task::TaskId> ids;
  const Value named = in->request.params["notifications"]["taskIds"];
  // Each costs a search, also if there is no such task.
  const std::size_t most = named.is_array() && in->request.client.tasks ? kListenTasksMax : 0;
  for (const Value one : named) {
    if (ids.size() == most) break;
    ids.push_back({one.str()});
  }
  auto found = admitted_for_tasks(in->entry, in->head(), ids);
  std::vector<Heard> tasks;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (found[i])
      tasks.push_back({in->call(std::move(*found[i]), "subscriptions/listen"), std::move(ids[i])});
  }
  return tasks;
}

void on_listen(const IncomingPtr& in) {
  auto first = admitted_for_any(in->entry, in->head());
  if (!first) return in->fail({protocol::mcp::kInvalidParams, "there is no tool for this caller"});
  const McpCallPtr call = in->call(std::move(*first), "subscriptions/listen");
  const bool hears_tools = in->request.params["notifications"]["toolsListChanged"].boolean();
  listen(
      call, [&] { return tasks_to_hear(in); },
      hears_tools ? std::optional(tools_of(in->entry, call)) : std::nullopt);
}

struct Method {
  std::string_view name;
  bool modern, legacy;
  bool blocks;                 // may read the store
  std::optional<Scope> scope;  // that it needs; nullopt: any token may
  void (*run)(const IncomingPtr& in);
};
constexpr std::array kMethods{
    Method{"tools/call", true, true, true, Scope::send, &on_call},
    Method{"tools/list", true, true, true, std::nullopt, &on_list},
    Method{"initialize", false, true, false, std::nullopt, &on_initialize},
    Method{"ping", false, true, false, std::nullopt,
           [](const IncomingPtr& in) { in->reply(result(in->request, {}, [](Writer&) {})); }},
    Method{"server/discover", true, false, false, std::nullopt,
           [](const IncomingPtr& in) { in->reply(discovered(in->entry.services, in->request)); }},
    Method{"tasks/get", true, false, true, Scope::read, &on_get},
    Method{"tasks/update", true, false, true, Scope::send, &on_update},
    Method{"tasks/cancel", true, false, true, Scope::cancel, &on_cancel},
    Method{"resources/list", true, true, false, std::nullopt,
           [](const IncomingPtr& in) {
             in->reply(nothing_listed(in->entry.services, in->request, "resources"));
           }},
    Method{"resources/templates/list", true, true, false, std::nullopt,
           [](const IncomingPtr& in) {
             in->reply(nothing_listed(in->entry.services, in->request, "resourceTemplates"));
           }},
    Method{"resources/read", true, true, true, Scope::read, &on_read},
    Method{"subscriptions/listen", true, false, true, Scope::read, &on_listen},
};

// Refuses the request if its token lacks the scope.
bool lacks_scope(const std::shared_ptr<http::Exchange>& exchange, const Entry& entry,
                 std::optional<Scope> scope) {
  if (!scope) return false;
  const Scopes scopes = entry.at ? entry.at->scopes : scopes_of(entry.services.options, exchange->request());
  if (scopes.has(*scope)) return false;
  exchange->reply(refusal(lacks(*scope)));
  return true;
}

void run(const IncomingPtr& in) {
  const Request& request = in->request;
  const auto method = std::ranges::find(kMethods, request.method, &Method::name);
  const bool is_here = method != kMethods.end() && (request.is_modern ? method->modern : method->legacy);
  // A modern client takes any other 404 for another kind of server.
  if (!is_here)
    return in->fail(
        {protocol::mcp::kMethodNotFound, "there is no such method", request.is_modern ? 404 : 200});
  if (lacks_scope(in->exchange, in->entry, method->scope)) return;
  if (!method->blocks) return method->run(in);
  in->exchange->block([in, method] { method->run(in); });
}

http::Reply accepted() {
  http::Reply reply = json_reply(202, {});
  reply.content_type.clear();
  return reply;
}

// In early revisions only this notification cancels a call; modern clients close its stream. Reads the store.
void on_notification(const Entry& entry, const http::Request& head, const Request& request) {
  const std::string session = session_of(head);
  const Value id = request.params["requestId"];
  const bool cancels = !request.is_modern && request.method == "notifications/cancelled";
  if (cancels && !session.empty() && protocol::mcp::is_request_id(id))
    entry.running.cancel(session, std::string(id.raw()));
}

// The answer of a legacy client to a question in the stream of a call. The answer to anything else is
// ignored: nothing waits for it.
void on_response(const IncomingPtr& in) {
  const auto id = json::Document::view_of(in->request.id);
  const auto asked = protocol::mcp::read_asking_id(id.root().string());
  auto by = asked ? admitted_for_task(in->entry, in->head(), asked->task) : std::nullopt;
  if (!by) return in->exchange->reply(accepted());
  const McpCallPtr call = in->call(std::move(*by), "elicitation/create");
  const auto refused = [in](const base::Error& error) {
    Failure failure = failure_of(error);
    if (failure.status == 200) failure.status = 400;
    in->exchange->reply(failure_reply({}, failure));
  };
  auto send = answer_to(call, asked->task, asked->ask, [&](const protocol::mcp::Question& question) {
    using Read = base::Result<std::optional<task::Message>>;
    const Value root = in->document->root();
    // A client that could not ask has no answer.
    const auto none = json::Document::view_of(R"({"action":"cancel"})");
    auto message = protocol::mcp::read_elicitation_result(
        root["result"].missing() ? none.root() : root["result"], question);
    return message ? Read(std::move(*message)) : Read(base::fail(message.error()));
  });
  if (!send && send.error().code == ErrorCode::conflict) return in->exchange->reply(accepted());
  if (!send) return refused(send.error());
  submit(call, std::move(*send), [in, refused](const base::Result<engine::Accepted>& stored) {
    if (!stored && stored.error().code != ErrorCode::conflict) return refused(stored.error());
    in->exchange->reply(accepted());
  });
}

// Adds what the client of the session said. Returns false if there is no such session.
bool enter_session(const Entry& entry, const http::Request& head, Request& request) {
  const std::string id = session_of(head);
  if (id.empty() || request.is_modern || request.method == "initialize") return true;
  const auto by = admitted_for_any(entry, head);
  const auto session = by ? protocol::mcp::read_session_id(id, by->caller.value) : std::nullopt;
  if (session) request.client = session->client;
  return session.has_value();
}

const Failure kNoSession{protocol::mcp::kInvalidRequest, "Mcp-Session-Id: there is no such session", 404};

// The stream of a session, for what belongs to no call.
void listen_in_session(const std::shared_ptr<http::Exchange>& exchange, const Entry& entry) {
  Request request;
  auto by = admitted_for_any(entry, exchange->request());
  if (!by || !enter_session(entry, exchange->request(), request))
    return exchange->reply(failure_reply({}, kNoSession));
  const McpCallPtr call = call_of(exchange, entry, std::move(*by), request, "GET");
  listen(
      call, [] { return std::vector<Heard>(); }, tools_of(entry, call));
}

// Takes up the stream of a call again, or opens that of a session.
void resume(const std::shared_ptr<http::Exchange>& exchange, const Entry& entry) {
  const http::Request& head = exchange->request();
  const std::string_view last = http::trimmed(head.header("Last-Event-ID"));
  const bool opens = last.empty() && !session_of(head).empty() && http::names_type(head, "text/event-stream");
  if (opens) return exchange->block([exchange, entry] { listen_in_session(exchange, entry); });
  const auto place = protocol::mcp::read_event_id(last);
  if (!place) {
    http::Reply reply =
        plain_error(405, "this path is for POST, and for GET with Last-Event-ID or the session's id");
    reply.headers.emplace_back("Allow", "POST");
    return exchange->reply(std::move(reply));
  }
  exchange->block([exchange, entry, place = *place] {
    Request request;
    request.id = place.request;
    request.progress_token = place.progress_token;
    if (!enter_session(entry, exchange->request(), request))
      return exchange->reply(failure_reply({}, kNoSession));
    auto by = admitted_for_task(entry, exchange->request(), place.task);
    if (!by) return exchange->reply(plain_error(404, "there is no such stream"));
    resume_call(call_of(exchange, entry, std::move(*by), request, "tools/call"), place);
  });
}

}  // namespace

void handle(std::shared_ptr<http::Exchange> exchange, Entry entry) {
  const http::Request& head = exchange->request();
  if (head.method == "GET") {
    if (!lacks_scope(exchange, entry, Scope::read)) resume(exchange, entry);
    return;
  }
  const auto fail = [&](std::string_view id, const Failure& failure) {
    exchange->reply(failure_reply(id, failure));
  };
  if (!a2a::is_json(head))
    return fail({}, {protocol::mcp::kInvalidRequest, "Content-Type: must be application/json", 415});
  auto parsed = json::Document::parse(exchange->take_body());
  if (!parsed) return fail({}, {-32700, parsed.error().for_caller, 400});
  const auto document = std::make_shared<const json::Document>(std::move(*parsed));
  const protocol::mcp::Head named{http::trimmed(head.header("MCP-Protocol-Version")),
                                  http::trimmed(head.header("Mcp-Method")),
                                  http::trimmed(head.header("Mcp-Name"))};
  auto request = protocol::mcp::read_request(document->root(), named);
  if (!request) return fail(request.error().id, request.error().failure);
  if (!enter_session(entry, head, *request)) return fail(request->id, kNoSession);
  if (request->id.empty()) {
    if (lacks_scope(
            exchange, entry,
            request->method == "notifications/cancelled" ? std::optional(Scope::cancel) : std::nullopt))
      return;
    return exchange->block([exchange, entry, document, request = *request] {
      on_notification(entry, exchange->request(), request);
      exchange->reply(accepted());
    });
  }
  const auto in = std::make_shared<const Incoming>(
      Incoming{std::move(exchange), std::move(entry), document, std::move(*request)});
  if (!in->request.is_response) return run(in);
  if (lacks_scope(in->exchange, in->entry, Scope::send)) return;
  in->exchange->block([in] { on_response(in); });
}

}  // namespace baton::server::mcp

// ChatCall: one chat request in progress, and its answers other than a run's stream. PlainCall: the part of
// it that requests for conversations share.
//
// Threads: used by one thread at a time, the one that answers next; an answer may come from any thread.
#pragma once

#include <memory>
#include <string>

#include "http/http_server.h"
#include "json/document.h"
#include "protocol/chat/protocol.h"
#include "server/chat/run_claims.h"
#include "server/shared/call.h"
#include "server/shared/endpoint.h"

namespace baton::server::chat {

// HTTP status and {"error": "..."}. Logs errors that are not the client's fault.
http::Reply error_reply(const base::Error& error, const task::AgentName& agent);

struct PlainCall : Call {
  PlainCall(std::shared_ptr<http::Exchange> way_back, const Admitted& by)
      : Call{by.services, by.note},
        exchange(std::move(way_back)),
        agent(*by.endpoint.agent),
        caller(by.caller) {}

  const std::shared_ptr<http::Exchange> exchange;
  const agents::Agent& agent;
  const task::Caller caller;
  http::Reply (*write_error)(const base::Error&, const task::AgentName&) = &error_reply;

  void refuse(const base::Error& error) const { exchange->reply(write_error(error, agent.name)); }
  // The answer takes the call's share.
  void reply(int status, std::string body);
};

struct ChatCall : PlainCall {
  ChatCall(std::shared_ptr<http::Exchange> way_back, const Admitted& by, RunClaims& begins,
           json::Document parsed)
      : PlainCall(std::move(way_back), by),
        claims(begins),
        child_agents(by.child_agents),
        subject(by.subject),
        document(std::move(parsed)) {}

  RunClaims& claims;
  const ChildAgents child_agents;       // see task::Submission
  const task::SubjectTokenPtr subject;  // see task::Submission
  json::Document document;              // the body: an object, until its run has been read
  // Writes the errors after a run has begun, which are no refusals; null: `write_error` does.
  http::Reply (*write_late_error)(const base::Error&, const task::AgentName&) = nullptr;

  engine::TaskService& tasks() const { return services.engine.tasks(); }
  const engine::TaskReader& reader() const { return services.engine.reader(); }

  void open_stream(http::StreamOpener opener);
  // Answers with a stream of exactly these frames, without ids.
  void reply_stream(protocol::chat::Frames frames);
};

using CallPtr = std::shared_ptr<ChatCall>;  // held by pending callbacks

}  // namespace baton::server::chat

// ChatCall: one chat request in progress, and its answers other than a run's stream.
//
// Threads: used by one thread at a time, the one that answers next; an answer may come from any thread.
#pragma once

#include <memory>
#include <string>

#include "http/http_server.h"
#include "json/document.h"
#include "protocol/chat/protocol.h"
#include "server/chat/run_claims.h"
#include "server/shared/answer_budget.h"
#include "server/shared/endpoint.h"
#include "server/shared/services.h"

namespace baton::server::chat {

// HTTP status and {"error": "..."}. Logs errors that are not the client's fault.
http::Reply error_reply(const base::Error& error, const task::AgentName& agent);

struct ChatCall {
  ChatCall(std::shared_ptr<http::Exchange> way_back, const Services& program, RunClaims& begins,
           const agents::Agent& to, task::Caller who, ChildAgents for_children, json::Document parsed)
      : exchange(std::move(way_back)),
        services(program),
        claims(begins),
        agent(to),
        caller(std::move(who)),
        child_agents(std::move(for_children)),
        document(std::move(parsed)) {}

  const std::shared_ptr<http::Exchange> exchange;
  const Services& services;
  RunClaims& claims;
  const agents::Agent& agent;
  const task::Caller caller;
  const ChildAgents child_agents;  // see task::Submission
  const json::Document document;   // the body: an object
  CallerShares::Hold hold;         // for the run's stream
  RequestNotePtr note;             // null: requests are not recorded

  engine::TaskService& tasks() const { return services.engine.tasks(); }
  const engine::TaskReader& reader() const { return services.engine.reader(); }

  void refuse(const base::Error& error) const { exchange->reply(error_reply(error, agent.name)); }
  // `share`: the answer's share of the budget of large answers.
  void reply(int status, std::string body, AnswerBudget::SharePtr share = nullptr) const;
  void open_stream(http::StreamOpener opener);
  // Answers with a stream of exactly these frames, without ids.
  void reply_stream(protocol::chat::Frames frames, AnswerBudget::SharePtr share = nullptr) const;
};

using CallPtr = std::shared_ptr<ChatCall>;  // held by pending callbacks

// Handles a request from decoding to answer, the same for every protocol. One with Last-Event-ID or the name
// of an earlier run is answered with that run and submits nothing. Any other becomes a message to a new or
// waiting task, and the answer is the run that follows. Threads: on the server's workers, several at a time.
void run(const CallPtr& call, const protocol::chat::Protocol& protocol);

}  // namespace baton::server::chat

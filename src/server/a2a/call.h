// Call: one A2A request in progress, and how its binding wraps the answer.
//
// Threads: used by one thread at a time, the one that answers next; an answer may come from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/endpoint.h"
#include "server/http/http_server.h"
#include "server/services.h"
#include "wire/a2a/dialect.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::server::a2a {

// A binding of a generation: the envelope around a value, and the form of an error.
enum class Form { rpc, rpc_v1_0, rest_v0_3, rest_v1_0 };

// The extensions a request activates.
struct Extensions {
  std::string_view header;          // names them in the answer: the header the client used
  std::vector<std::string> active;  // the agent's
  std::string missing;              // one the agent requires and the request does not activate
  bool numbers = false;             // Baton's own
};

// The binding's envelope around each value of an answer.
struct Envelope {
  Form form;
  std::string rpc_id = "null";  // the bytes of the JSON-RPC id

  template <class F>
  void wrap(std::string& out, F&& value) const {
    begin(out);
    wire::Writer writer(out);
    value(writer);
    end(out);
  }

 private:
  void begin(std::string& out) const;
  void end(std::string& out) const;
};

struct Call {
  Call(std::shared_ptr<http::Exchange> way_back, const Services& program, const Endpoint& at,
       task::Caller who, const wire::a2a::Dialect& speaks, Form wrapped)
      : exchange(std::move(way_back)),
        services(program),
        endpoint(at),
        agent(*at.agent),
        identity(who),
        caller(std::move(who)),
        dialect(speaks),
        envelope{wrapped} {}

  const std::shared_ptr<http::Exchange> exchange;
  const Services& services;
  const Endpoint endpoint;
  const agents::Agent& agent;   // the endpoint's
  const task::Caller identity;  // who calls
  task::Caller caller;          // the identity within the tenant: the owner of the tasks
  const wire::a2a::Dialect& dialect;
  Envelope envelope;
  std::optional<wire::Document> document;
  wire::Value params;               // in the document
  task::TaskId task;                // from a REST path; takes precedence over the params
  task::PushConfigId config;        // likewise
  std::string tenant;               // 1.0 only; empty: none
  std::string content;              // from a REST path: the artifact or message whose bytes are requested
  std::optional<std::size_t> part;  // which of its parts; empty: all
  Extensions extensions;
  CallerShares::Hold hold;  // for this call's stream or waiting reply

  bool is_rest() const;
  task::TaskRef ref(const task::TaskId& id) const { return {caller, agent.name, id}; }

  // Frees the request's text except what answers depend on: the call may wait for a long time.
  void forget_params();

  // The REST URL of the agent's tasks, within the caller's tenant.
  std::string tasks_url() const;

  // `share`: the answer's share of the budget of large answers.
  template <class F>
  void reply(F&& value, AnswerBudget::SharePtr share = nullptr) const {
    std::string body;
    envelope.wrap(body, std::forward<F>(value));
    reply_body(std::move(body), std::move(share));
  }
  void reply(http::Reply reply) const;
  // `named`: the request's task, if known. `status`: the HTTP status in REST, if not the error's usual one.
  void refuse(const base::Error& error, const task::TaskId& named = {}, std::optional<int> status = {}) const;
  // Refuses a client that reads only event streams: the error is the stream's only event.
  void refuse_in_stream(const base::Error& error, const task::TaskId& named) const;
  void open_stream(http::StreamOpener opener);
  void reply_stream(std::string events) const;
  // The event that `refuse_in_stream` sends.
  std::string error_event(const base::Error& error, const task::TaskId& named) const;

 private:
  void reply_body(std::string body, AnswerBudget::SharePtr share) const;
  std::string error_body(const base::Error& error, const task::TaskId& named, int status) const;
  std::vector<std::pair<std::string, std::string>> headers() const;
};

using CallPtr = std::shared_ptr<Call>;  // held by pending callbacks

}  // namespace baton::server::a2a

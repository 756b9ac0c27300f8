// Call: one A2A request on its way, and how its binding wraps what it is answered.
//
// Threads: belongs to whoever is to answer it, one at a time; an answer may come from any thread.
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

// A binding of a generation: what is put around a value, and what an error looks like.
enum class Form { rpc, rpc_v1_0, rest_v0_3, rest_v1_0 };

// What a request switched on, and the header that says so in the answer: the one the client used.
struct Extensions {
  std::string_view header;
  std::vector<std::string> active;  // of the agent's
  std::string missing;              // one that the agent insists on and that was not asked for
  bool numbers = false;             // Baton's own
};

// What the binding of one request puts around each value of its answer.
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
  task::Caller caller;          // the same within a tenant: whose tasks these are
  const wire::a2a::Dialect& dialect;
  Envelope envelope;
  std::optional<wire::Document> document;
  wire::Value params;               // of the document
  task::TaskId task;                // that the path of a REST request names; then it wins over the params
  task::PushConfigId config;        // likewise
  std::string tenant;               // of 1.0; empty: none
  std::string content;              // the id of the artifact or message whose bytes a path of REST names
  std::optional<std::size_t> part;  // and which of its parts
  Extensions extensions;
  CallerShares::Hold hold;  // of the stream or the waiting reply that this call is

  bool is_rest() const;
  task::TaskRef ref(const task::TaskId& id) const { return {caller, agent.name, id}; }

  // Lets go of the request's text but for what answers depend on: the call may wait for long.
  void forget_params();

  // Where the agent's tasks are served over REST, within the caller's tenant.
  std::string tasks_url() const;

  // `share`: what the answer holds of the budget of large ones.
  template <class F>
  void reply(F&& value, AnswerBudget::SharePtr share = nullptr) const {
    std::string body;
    envelope.wrap(body, std::forward<F>(value));
    reply_body(std::move(body), std::move(share));
  }
  void reply(http::Reply reply) const;
  // `named`: the task the request was about, where it got so far. `status`: HTTP's in REST, where it is not
  // the one that goes with the error.
  void refuse(const base::Error& error, const task::TaskId& named = {}, std::optional<int> status = {}) const;
  // The same to a client that can read nothing but an event stream: as its only event.
  void refuse_in_stream(const base::Error& error, const task::TaskId& named) const;
  void open_stream(http::StreamOpener opener);
  void reply_stream(std::string events) const;
  // That event.
  std::string error_event(const base::Error& error, const task::TaskId& named) const;

 private:
  void reply_body(std::string body, AnswerBudget::SharePtr share) const;
  std::string error_body(const base::Error& error, const task::TaskId& named, int status) const;
  std::vector<std::pair<std::string, std::string>> headers() const;
};

using CallPtr = std::shared_ptr<Call>;  // held by the callbacks of what it waits for

}  // namespace baton::server::a2a

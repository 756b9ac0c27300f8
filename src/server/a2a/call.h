// Call: one A2A request in progress, with its caller, agent and version, and the way to answer it. Each
// binding derives its own class, which writes answers, errors and the items of streams.
//
// Threads: used by one thread at a time, the one that answers next; an answer may come from any thread. Only
// the first answer counts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/http_server.h"
#include "protocol/a2a/dialect.h"
#include "protocol/card/remote_card.h"
#include "server/a2a/answer.h"
#include "server/a2a/negotiation.h"
#include "server/shared/call.h"
#include "server/shared/endpoint.h"
#include "server/shared/services.h"

namespace baton::server::a2a {

using protocol::Binding;

// ItemWriter: writes the items of a stream in a binding's form. Open streams hold it in place of their call,
// as they may stay open for hours. Threads: any; immutable.
class ItemWriter {
 public:
  virtual ~ItemWriter() = default;
  // `last`: nothing follows.
  virtual void task(std::string& out, const task::Task& task, bool last) const = 0;
  // Writes a send's answer that is only a message.
  virtual void message(std::string& out, const task::Task& task) const = 0;
  // Returns false if the version does not show the event.
  virtual bool event(std::string& out, const protocol::a2a::TaskNames& names, const task::Event& event,
                     const protocol::a2a::InStream& place) const = 0;
  // Appends an item with what separates it from the next. `id` 0: none. `item` may be changed.
  virtual void frame(std::string& out, std::int64_t id, std::string& item) const = 0;
  // Appends the frame of an error that ends the stream.
  virtual void error_frame(std::string& out, const base::Error& error, const task::TaskId& named) const = 0;
};
using ItemWriterPtr = std::shared_ptr<const ItemWriter>;  // shared by a call and its stream

class Call : public server::Call {
 public:
  Call(Admitted by, const protocol::a2a::Rules& of_version, Binding over)
      : server::Call{by.services, std::move(by.note)},
        endpoint(by.endpoint),
        agent(*endpoint.agent),
        identity{std::string(task::account_of(by.caller))},
        caller(std::move(by.caller)),
        rules(of_version),
        binding(over),
        child_agents(std::move(by.child_agents)),
        subject(std::move(by.subject)),
        scopes(by.scopes) {}
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const Endpoint endpoint;
  const agents::Agent& agent;   // the endpoint's
  const task::Caller identity;  // the caller, without a tenant
  task::Caller caller;          // the identity within the tenant: the owner of the tasks
  std::string tenant;           // that the request names; 1.0 only; empty: none
  const protocol::a2a::Rules rules;
  const Binding binding;
  const ChildAgents child_agents;       // see task::Submission
  const task::SubjectTokenPtr subject;  // see task::Submission
  const Scopes scopes;                  // of the caller's token
  Extensions extensions;
  bool streams = false;  // the operation answers with a stream

  task::TaskRef ref(const task::TaskId& id) const { return {caller, agent.name, id}; }
  // Moves the call into the tenant; an empty one changes nothing. Fails with invalid_argument, or
  // permission_denied (the caller's token is a page's and belongs to another tenant).
  base::Result<void> enter_tenant(std::string_view name);
  // Whether A2A-Version, if given, agrees with the version that a path or a package has named.
  base::Result<void> check_version() const;
  // The extensions that are active, in the header the client used; an empty value: none.
  std::pair<std::string, std::string> extensions_header() const;
  // The REST URL of the agent's tasks, within the caller's tenant.
  std::string tasks_url() const;

  // The answer takes the call's share.
  virtual void answer(Answer answer) = 0;
  // `named`: the request's task, if known.
  void refuse(const base::Error& error, const task::TaskId& named = {});
  // The stream takes the call's hold.
  void open_stream(http::StreamOpener opener);
  // Answers with a stream that is over: its frames. The answer takes the call's share.
  virtual void answer_stream(std::string frames) = 0;
  virtual ItemWriterPtr items() const = 0;
  // Runs `work` on a thread that may block, at once or later. If too many wait, refuses the call instead.
  virtual void block(std::function<void()> work) { work(); }
  // Runs `work` on a reader's thread, where it may block; refuses the call instead if too many wait.
  void read_later(std::function<void()> work);
  // Runs `work`, which must not block, on a thread that has time for it.
  virtual void later(std::function<void()> work) { read_later(std::move(work)); }
  // The request without its body.
  virtual const http::Request& head() const = 0;

 protected:
  // Puts the answer's task into the request's note.
  void note_task(const Answer& answer) const;

 private:
  virtual void do_refuse(const base::Error& error, const task::TaskId& named) = 0;
  virtual void do_open(http::StreamOpener opener) = 0;
};

using CallPtr = std::shared_ptr<Call>;  // held by pending callbacks

}  // namespace baton::server::a2a

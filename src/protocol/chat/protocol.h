// Protocol: the interface of a chat protocol to the routes. It reads requests, writes frames, and gives its
// rules as values.
//
// Reading is lenient: unknown members are ignored. Errors are invalid_argument with a text that names the
// member. Threads: any; stateless.
#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "json/document.h"
#include "protocol/chat/run_request.h"
#include "protocol/chat/run_view.h"

namespace baton::protocol::chat {

class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual base::Result<RunRequest> read(json::Value body) const = 0;
  virtual std::unique_ptr<RunView> view(const RunFacts& facts) const = 0;

  // Writes frames that refuse a request inside a stream. Returns false if the protocol refuses requests by
  // HTTP status and JSON. Called only for a `conflict` with the conversation, never for a malformed request.
  virtual bool show_refusal(const RunFacts&, const base::Error&, Frames&) const { return false; }
  // Writes the stream for a client that sends nothing new and only reads the conversation; the stream may be
  // empty. `messages`: all messages, oldest first, or null if the client keeps its own. `open`: unanswered
  // questions to the client, oldest first.
  virtual void show_conversation(const RunFacts&, const std::vector<task::Message>* /*messages*/,
                                 const std::vector<Question>& /*open*/, Frames&) const {}

  // Whether a plain message answers an open question. Otherwise only an Answer does.
  virtual bool answers_in_words() const { return true; }
  // Whether an answer that does not fit its question is a conflict with the conversation. Otherwise the
  // request is malformed.
  virtual bool misfit_is_conflict() const { return true; }
  // Whether a run is refused while another is active in the conversation.
  virtual bool one_run_at_a_time() const { return true; }
  // Whether every run has a name. If so, Baton generates one if the client gave none.
  virtual bool names_runs() const { return false; }
  // Whether a client that disconnects cancels the run that it began, if no other client follows it.
  virtual bool leaving_cancels() const { return true; }
  // Whether the frames of a stream have SSE ids, by which clients resume it.
  virtual bool has_frame_ids() const { return true; }
  // The data of one more frame, after a run's last; empty: there is none.
  virtual std::string_view last_words() const { return {}; }
};

// The chat protocols; each is in its own folder.
const Protocol& agui_protocol();       // AG-UI: RunAgentInput and its events, for clients of 0.0.x and of 1.0
const Protocol& agkit_protocol();      // AG-Kit's send-message
const Protocol& agent_api_protocol();  // AgentScope's Agent API
// The Agent Server stream API. `response_event`: the SSE event name of response objects, "response" or
// "message" (a setting).
std::unique_ptr<Protocol> make_agent_server_protocol(std::string response_event);

}  // namespace baton::protocol::chat

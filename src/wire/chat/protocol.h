// Protocol: one chat protocol, as the routes need it: requests in, frames out, and its rules as values.
//
// Reading is lenient: unknown members are ignored; what is wrong fails with invalid_argument and a text that
// names the member. Threads: any; stateless.
#pragma once

#include <memory>

#include "base/error.h"
#include "wire/chat/run_request.h"
#include "wire/chat/run_view.h"
#include "wire/json/document.h"

namespace baton::wire::chat {

class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual base::Result<RunRequest> read(Value body) const = 0;
  virtual std::unique_ptr<RunView> view(const RunFacts& facts) const = 0;

  // Frames that refuse a request inside of a stream; false: it is refused by HTTP status and JSON. Only asked
  // for what is wrong with the conversation (`conflict`), never for a malformed request.
  virtual bool show_refusal(const RunFacts&, const base::Error&, Frames&) const { return false; }
  // Frames for a client that said nothing new and only wants to see the conversation, a stream of its own.
  // `messages`: all that was said, oldest first, or null if the client has its own. `open`: what it is asked
  // and has not answered, oldest first. None: an empty stream.
  virtual void show_conversation(const RunFacts&, const std::vector<task::Message>* /*messages*/,
                                 const std::vector<Question>& /*open*/, Frames&) const {}

  // Whether a plain message answers what is asked, or else only an Answer does.
  virtual bool answers_in_words() const { return true; }
  // Whether a second run while one is under way in the conversation is refused.
  virtual bool one_run_at_a_time() const { return true; }
  // Whether every run has a name: then Baton makes one for a client that gave none.
  virtual bool names_runs() const { return false; }
  // Whether a client that hangs up cancels the run it began, if nobody else follows it.
  virtual bool leaving_cancels() const { return true; }
};

}  // namespace baton::wire::chat

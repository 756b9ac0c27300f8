// ConversationStream: the runs of a conversation as one stream that does not end.
//
// Runs are shown one after the other, because AG-UI's clients accept one at a time. A run that is under way
// is followed to its end; then the next one is looked for in the store. While there is none, the stream waits
// until the engine notifies of a change in the conversation. Ids: see ConversationPlace.
// Threads: as a StreamSource, on the server's loop.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/chat/conversation_runs.h"
#include "server/chat/run_stream.h"

namespace baton::server::chat {

class ConversationStream final : public http::StreamSource {
 public:
  using MakeView = std::function<std::unique_ptr<protocol::chat::RunView>(const RunName& run,
                                                                          std::vector<task::Message> asked)>;
  // A run to show, and the messages that began it.
  struct Next {
    FoundRun run;
    std::vector<task::Message> asked;
    std::size_t bytes = 0;  // of these messages, if a look has found the run
  };
  struct Start {
    task::ContextRef context;
    ConversationPlace place;
    std::string first_block;           // sent before anything else
    AnswerBudget::SharePtr share;      // the first block's, of the budget of large answers
    std::optional<Next> run;           // the run in which the client was
    std::optional<RunPosition> shown;  // what the client has of it
    MakeView view;
  };

  ConversationStream(const Services& services, Start start, http::Waker waker);
  ~ConversationStream() override;

  http::StreamSource::Next pull(std::string& out, std::size_t room) override;
  bool has_ids() const override { return has_ids_; }
  std::size_t held() const override;
  std::size_t kept() const override { return run_ ? run_->kept() : 0; }
  bool has_share() const override { return start_.share != nullptr; }

 private:
  struct Shared;  // shared with the engine's notification and a look that is under way

  void begin(Next next, std::optional<RunPosition> shown);
  void finish();
  bool take_found();
  bool look();

  const Services& services_;
  Start start_;
  std::shared_ptr<Shared> shared_;
  engine::LiveTasks::Subscription subscription_;
  FoundRun shown_;                  // by run_
  std::unique_ptr<RunStream> run_;  // null: none is shown
  std::deque<Next> next_;
  std::vector<FoundRun> ahead_;  // after those, the last one first
  bool has_ids_ = false;
  bool failed_ = false;  // the last look has failed
};

}  // namespace baton::server::chat

// TurnOutput: what a turn of an agent elsewhere reports to its sink, with secrets masked.
//
// Threads: one at a time. Nothing blocks; SinkGate closes it from outside.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "agents/executor.h"
#include "agents/sink_gate.h"
#include "base/secret_mask.h"

namespace baton::agents {

class TurnOutput {
 public:
  // `gate` must outlive this. `reply_ids`: Turn::reply_ids.
  TurnOutput(SinkGate& gate, std::string reply_ids) : gate_(gate), reply_ids_(std::move(reply_ids)) {}

  // Masks secrets in streamed text, reasoning and errors from now on, even if a secret is split between
  // pieces. `mask` is called when a text begins and for errors at the turn's end. It may return null.
  using Mask = std::function<std::shared_ptr<const base::SecretMask>()>;
  void hide(Mask mask) { mask_ = std::move(mask); }

  void text(std::string delta);
  // Text of one of several replies that are streamed in turns, under a name that only the caller knows.
  // `anew`: it replaces what the reply had; without text the reply is withdrawn. `last`: the reply ends.
  void reply(const std::string& name, std::string text, bool anew = false, bool last = false);
  void reasoning(std::string delta);
  void emit(task::EventBody body);
  void delegate(DelegateRequest request);

  // Whether the turn was ended from outside: nothing is reported any more.
  bool is_closed() const { return gate_.closed(); }

  // Ends the turn; only the first call counts.
  void finish(Outcome outcome);

 private:
  // A text that is streamed in pieces. Its end may be held back for the mask.
  enum class Streamed { text, reasoning };
  void stream(Streamed kind, std::string delta);
  void end_stream();
  void end_replies();
  void forward(Streamed kind, std::string delta);
  void forward(ReplyPiece piece);

  SinkGate& gate_;
  const std::string reply_ids_;
  Mask mask_;
  std::optional<base::SecretMask::Pieces> pieces_;  // of the open text
  Streamed streamed_ = Streamed::text;
  struct Reply {
    task::ArtifactId id;
    bool begins = true;  // nothing of it, or of what replaces it, was reported
    bool is_shown = false;
    std::optional<base::SecretMask::Pieces> pieces;
  };
  std::unordered_map<std::string, Reply> replies_;  // by the caller's name
  bool is_over_ = false;
};

}  // namespace baton::agents

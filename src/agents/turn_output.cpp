#include "agents/turn_output.h"

#include <utility>
#include <variant>

#include "protocol/chat/run_request.h"

namespace baton::agents {

void TurnOutput::text(std::string delta) {
  stream(Streamed::text, std::move(delta));
}

void TurnOutput::reasoning(std::string delta) {
  stream(Streamed::reasoning, std::move(delta));
}

void TurnOutput::stream(Streamed kind, std::string delta) {
  if (kind != streamed_) end_stream();
  streamed_ = kind;
  if (!mask_) return forward(kind, std::move(delta));
  if (!pieces_) pieces_.emplace(mask_());
  std::string shown = pieces_->next(delta);
  if (!shown.empty()) forward(kind, std::move(shown));
}

void TurnOutput::end_stream() {
  if (!pieces_) return;
  std::string rest = pieces_->end();
  pieces_.reset();
  if (!rest.empty()) forward(streamed_, std::move(rest));
}

void TurnOutput::reply(const std::string& name, std::string text, bool anew, bool last) {
  end_stream();
  const auto [place, is_new] = replies_.try_emplace(name);
  Reply& reply = place->second;
  if (is_new) reply.id.value = reply_ids_ + std::to_string(replies_.size());
  reply.begins = reply.begins || anew;
  const bool withdraws = anew && text.empty();
  if (anew) reply.pieces.reset();
  if (mask_ && !withdraws) {
    if (!reply.pieces) reply.pieces.emplace(mask_());
    text = reply.pieces->next(text);
    if (last) text += std::exchange(reply.pieces, std::nullopt)->end();
  }
  const bool tells = withdraws ? reply.is_shown : !text.empty() || (last && !reply.begins);
  if (!tells) return;
  reply.is_shown = !withdraws;
  forward(ReplyPiece{reply.id, std::move(text), std::exchange(reply.begins, withdraws), last});
}

// Reports what the mask has held back of replies.
void TurnOutput::end_replies() {
  for (auto& [name, reply] : replies_) {
    if (!reply.pieces) continue;
    std::string rest = std::exchange(reply.pieces, std::nullopt)->end();
    if (!rest.empty())
      forward(ReplyPiece{reply.id, std::move(rest), std::exchange(reply.begins, false), true});
  }
}

void TurnOutput::forward(ReplyPiece piece) {
  gate_.use([&](TurnSink& sink) { sink.reply(std::move(piece)); });
}

void TurnOutput::forward(Streamed kind, std::string delta) {
  gate_.use([&](TurnSink& sink) {
    if (kind == Streamed::text) sink.text(std::move(delta));
    if (kind == Streamed::reasoning) sink.reasoning(std::move(delta));
  });
}

void TurnOutput::emit(task::EventBody body) {
  end_stream();
  gate_.use([&](TurnSink& sink) { sink.emit(std::move(body)); });
}

void TurnOutput::delegate(DelegateRequest request) {
  end_stream();
  gate_.use([&](TurnSink& sink) { sink.delegate(std::move(request)); });
}

void TurnOutput::finish(Outcome outcome) {
  if (std::exchange(is_over_, true)) return;
  end_stream();
  end_replies();
  const auto* asked = std::get_if<Asked>(&outcome);
  if (asked != nullptr && asked->id.size() > protocol::chat::kAskMax)
    outcome = Failed{"the id of the agent's question is too long to be answered"};
  // An error may be assembled from parts that were masked separately, and only as a whole contain a
  // secret.
  if (const auto mask = mask_ ? mask_() : nullptr) {
    if (auto* failed = std::get_if<Failed>(&outcome)) failed->error = mask->masked(failed->error);
    if (auto* rejected = std::get_if<Rejected>(&outcome)) rejected->reason = mask->masked(rejected->reason);
  }
  gate_.use([&](TurnSink& sink) { sink.finish(std::move(outcome)); });
}

}  // namespace baton::agents

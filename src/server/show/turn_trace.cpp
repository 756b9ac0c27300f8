#include "server/show/turn_trace.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"
#include "task/message.h"

namespace baton::server {
namespace {

using Kind = TurnTrace::Step::Kind;

constexpr const char* kKinds[] = {"model", "reply", "tool", "agent", "remote", "step", "artifact", "note"};

std::string name_of_part(const task::Part& part) {
  return part.filename.empty() ? "a file" : part.filename;
}

bool is_file(const task::Part& part) {
  return part.kind == task::Part::Kind::raw || part.kind == task::Part::Kind::url;
}

}  // namespace

void TurnTrace::add(const task::Event& event) {
  at_ = event.at;
  number_ = event.number;
  std::visit([this](const auto& body) { step(body); }, event.body);
  if (!turns_.empty() && is_open_) turns_.back().last = number_;
}

void TurnTrace::finish() {
  if (is_open_) flush_reply();
}

void TurnTrace::add_words(Words& to, std::string_view text) {
  to.bytes += text.size();
  const std::size_t room = std::min(kWordsMax - std::min(kWordsMax, to.text.size()), kBytesMax - bytes_);
  if (to.text.size() + text.size() < to.bytes) return;  // an earlier piece was cut
  const std::string_view fits = base::beginning_of(text, room);
  bytes_ += fits.size();
  to.text += fits;
}

void TurnTrace::begin_turn(const task::Message& message) {
  Turn turn;
  turn.message = turn.last = number_;
  turn.sent = at_;
  for (const task::Part& part : message.parts) {
    if (turn.request.bytes > 0) add_words(turn.request, "\n");
    add_words(turn.request, is_file(part) ? "[" + name_of_part(part) + "]" : part.content);
  }
  turns_.push_back(std::move(turn));
  if (turns_.size() > kTurnsMax) turns_.pop_front();
  is_open_ = true;
  mark_ = at_;
  first_.reset();
  said_ = thought_ = {};
  depth_ = 0;
  rounds_ = 0;
}

void TurnTrace::end_turn(task::State state) {
  if (!is_open_) return;
  flush_reply();
  Turn& turn = turns_.back();
  turn.ended = at_;
  turn.state = state;
  turn.last = number_;
  for (Step& step : turn.steps) {
    if (!step.ended && step.kind != Kind::agent) step.ended = at_;
  }
  is_open_ = false;
}

void TurnTrace::step(const task::MessageAdded& event) {
  if (event.message.role != task::Role::user) return;
  if (event.for_child) return add_note("The caller answered another agent's question.");
  if (!is_open_) return begin_turn(event.message);
  waiting_ = event.message;
  waiting_at_ = number_;
  waiting_since_ = at_;
}

void TurnTrace::step(const task::StatusChanged& event) {
  const task::Status& status = event.status;
  if (status.state == task::State::submitted && waiting_ && is_open_) {
    end_turn(task::State::completed);
    begin_turn(*std::exchange(waiting_, std::nullopt));
    turns_.back().message = waiting_at_;
    turns_.back().sent = waiting_since_;
    return;
  }
  if (!is_open_) return;
  Turn& turn = turns_.back();
  turn.state = status.state;
  const auto own = task::own_message(status);
  std::string text = own ? task::text_of(*own) : std::string();
  if (status.state == task::State::working) {
    if (!turn.begun) turn.begun = mark_ = at_;
    if (!text.empty()) add_note(std::move(text));
    return;
  }
  if (status.state == task::State::submitted) return;
  if (!status.asked_by.empty()) return add_note("Another agent asks: " + text);
  turn.reason = std::string(base::beginning_of(text, kWordsMax));
  end_turn(status.state);
}

void TurnTrace::step(const task::TextDelta& event) {
  if (!is_open_) return;
  if (event.first && said_.bytes > 0 && reply_ != event.reply) flush_reply();
  if (event.first && reply_ == event.reply) said_ = {};
  reply_ = event.reply;
  if (event.text.empty()) return;
  if (!first_) first_ = at_;
  add_words(said_, event.text);
}

void TurnTrace::step(const task::ReasoningDelta& event) {
  if (!is_open_ || event.text.empty()) return;
  if (!first_) first_ = at_;
  add_words(thought_, event.text);
}

void TurnTrace::flush_reply() {
  if (said_.bytes == 0 && thought_.bytes == 0) return;
  if (Step* made = open(is_model_ ? Kind::model : Kind::reply, {})) {
    made->begun = mark_;
    made->first = first_;
    made->ended = at_;
    made->thought = std::move(thought_);
    made->answer = std::move(said_);
  }
  said_ = thought_ = {};
  first_.reset();
  mark_ = at_;
}

TurnTrace::Step* TurnTrace::open(Step::Kind kind, std::string name, std::string id) {
  if (!is_open_) return nullptr;
  Turn& turn = turns_.back();
  if (turn.steps.size() >= kStepsMax) {
    ++turn.left_out;
    return nullptr;
  }
  Step step;
  step.kind = kind;
  step.name = std::move(name);
  step.id = std::move(id);
  step.begun = at_;
  step.depth = depth_;
  return &turn.steps.emplace_back(std::move(step));
}

TurnTrace::Step* TurnTrace::find(Step::Kind kind, std::string_view id) {
  if (turns_.empty()) return nullptr;
  auto& steps = turns_.back().steps;
  const auto found = std::find_if(steps.rbegin(), steps.rend(), [&](const Step& step) {
    return step.kind == kind && step.id == id && !step.ended;
  });
  return found == steps.rend() ? nullptr : &*found;
}

void TurnTrace::add_note(std::string text) {
  Step* made = open(Kind::note, {});
  if (made == nullptr) return;
  made->ended = at_;
  add_words(made->answer, text);
}

void TurnTrace::step(const task::Usage& event) {
  if (!is_open_) return;
  Turn& turn = turns_.back();
  turn.tokens += event.tokens;
  const auto used = json::Document::view_of(event.used.text);
  if (Step* made = open(Kind::model, used.root()["model"].str())) {
    made->begun = mark_;
    made->first = std::exchange(first_, std::nullopt);
    made->ended = at_;
    made->thought = std::exchange(thought_, {});
    made->answer = std::exchange(said_, {});
    made->usage = event.used;
    made->tokens = event.tokens;
  }
  mark_ = at_;
}

void TurnTrace::step(const task::ToolCall& event) {
  flush_reply();
  Step* made = open(Kind::tool, event.name, event.id);
  if (made == nullptr) return;
  made->by_client = event.by_client;
  add_words(made->given, event.arguments.text);
}

void TurnTrace::step(const task::ToolResult& event) {
  mark_ = at_;
  Step* made = find(Kind::tool, event.id);
  if (made == nullptr) return;
  made->ended = at_;
  made->error = std::string(base::beginning_of(event.error, kWordsMax));
  const auto content = json::Document::view_of(event.content.text);
  add_words(made->answer, content.root().is_string() ? content.root().string() : event.content.text);
}

void TurnTrace::step(const task::Step& event) {
  flush_reply();
  if (event.phase == task::Step::Phase::start) {
    open(Kind::step, event.name, event.name);
    ++depth_;
    return;
  }
  depth_ = std::max(depth_ - 1, 0);
  if (Step* made = find(Kind::step, event.name)) made->ended = at_;
}

void TurnTrace::step(const task::ArtifactChunk& event) {
  if (!is_open_) return;
  flush_reply();
  auto& steps = turns_.back().steps;
  const bool goes_on = event.append && !steps.empty() && steps.back().kind == Kind::artifact &&
                       steps.back().id == event.artifact.id.value;
  Step* made = goes_on ? &steps.back() : open(Kind::artifact, event.artifact.name, event.artifact.id.value);
  if (made == nullptr) return;
  made->ended = at_;
  for (const task::Part& part : event.artifact.parts) {
    if (!is_file(part)) {
      add_words(made->answer, part.content);
      continue;
    }
    if (made->name.empty()) made->name = name_of_part(part);
    made->answer.bytes += task::content_size(part);
  }
}

void TurnTrace::step(const task::Withdrawn&) {
  said_ = thought_ = {};
  first_.reset();
  add_note("This attempt was interrupted. Its output was withdrawn, and the turn runs again.");
}

void TurnTrace::step(const task::Custom& event) {
  Step* made = open(Kind::note, event.name);
  if (made == nullptr) return;
  made->ended = at_;
  add_words(made->answer, event.value.text);
}

void TurnTrace::step(const task::Subagent& event) {
  using Phase = task::Subagent::Phase;
  switch (event.phase) {
    case Phase::started: {
      flush_reply();
      if (Step* made = open(Kind::agent, event.name, event.id)) made->child = event.task;
      return;
    }
    case Phase::finished:
    case Phase::failed: {
      mark_ = at_;
      if (!turns_.empty()) turns_.back().tokens += event.is_detached ? 0 : event.tokens;
      Step* made = find(Kind::agent, event.id);
      if (made == nullptr) return;
      made->ended = at_;
      made->tokens = event.tokens;
      made->children = event.children;
      made->error = std::string(base::beginning_of(event.error, kWordsMax));
      return;
    }
    case Phase::asks:
      return add_note(event.name + " asks a question.");
    case Phase::answered:
      return add_note(event.name + " was answered.");
    case Phase::passed:
      return add_note("The caller's answer was delivered to " + event.name + ".");
  }
}

// The rounds of a model name the tools that it called; the task of an agent elsewhere names the server.
void TurnTrace::step(const task::ExecutorState& event) {
  if (!is_open_ || event.state.empty()) return;
  turns_.back().tokens += event.used.tokens;
  const auto state = json::Document::view_of(event.state.text);
  if (const std::string url = state.root()["url"].str(); !url.empty()) {
    Step* made = find(Kind::remote, "");
    if (made == nullptr) made = open(Kind::remote, url);
    if (made == nullptr) return;
    made->begun = std::min(made->begun, mark_);
    made->tokens += event.used.tokens;
    made->children += event.used.children;
    return;
  }
  const json::Value rounds = state.root()["rounds"];
  if (!is_model_ || rounds.size() <= rounds_) return;
  rounds_ = rounds.size();
  flush_reply();
  auto& steps = turns_.back().steps;
  // A server that counts no tokens has left no trace of an answer without text.
  const bool is_known = !steps.empty() && steps.back().kind == Kind::model;
  Step* made = is_known ? &steps.back() : open(Kind::model, {});
  if (made == nullptr) return;
  if (!is_known) {
    made->begun = std::exchange(mark_, at_);
    made->ended = at_;
  }
  json::Value last;
  for (const json::Value round : rounds) last = round;
  for (const json::Value call : last["calls"])
    made->calls.push_back(call["name"].str() + " " +
                          std::string(base::beginning_of(call["arguments"].string(), 1024)));
}

void TurnTrace::step(const task::Intervention& event) {
  add_note(event.actor + ": " + event.action + (event.reason.empty() ? "" : ", " + event.reason));
}

void write_words(json::Writer& out, std::string_view name, const TurnTrace::Words& words) {
  if (words.bytes == 0) return;
  out.key(name).object(
      [&] { out.member("text", words.text).member("bytes", static_cast<std::int64_t>(words.bytes)); });
}

void write_step(json::Writer& out, const TurnTrace::Step& step) {
  out.object([&] {
    out.member("kind", kKinds[static_cast<std::size_t>(step.kind)]).optional("name", step.name);
    out.member("begunAt", base::to_rfc3339(step.begun));
    if (step.first) out.member("firstAt", base::to_rfc3339(*step.first));
    if (step.ended) out.member("endedAt", base::to_rfc3339(*step.ended));
    if (step.depth > 0) out.member("depth", step.depth);
    if (step.by_client) out.member("byClient", true);
    write_words(out, "given", step.given);
    write_words(out, "thought", step.thought);
    write_words(out, "answer", step.answer);
    out.optional("calls", step.calls).optional("error", step.error).optional("usage", step.usage);
    if (step.tokens > 0) out.member("tokens", step.tokens);
    if (step.children > 0) out.member("children", step.children);
    if (step.child) out.member("task", std::to_string(step.child.value));
  });
}

}  // namespace baton::server

// For tests of views: builds a run's events, and random runs as the engine might log them.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "json/writer.h"
#include "protocol/chat/protocol.h"

namespace baton::test {

inline constexpr std::int64_t kRunAt = 1'762'941'912'345;

// Numbers events from `first` on, one per second.
class RunLog {
 public:
  explicit RunLog(std::int64_t first = 1) : next_(first) {}

  RunLog& add(task::EventBody body) {
    events_.push_back({{next_}, base::from_ms(kRunAt + 1000 * count()), std::move(body)});
    ++next_;
    return *this;
  }
  RunLog& begin(std::string text = "hi") {
    task::Message message;
    message.parts = {task::Part::of_text(std::move(text))};
    add(task::StatusChanged{{task::State::submitted, std::nullopt, {}}, {}});
    add(task::MessageAdded{std::move(message)});
    return state(task::State::working);
  }
  RunLog& state(task::State state) { return add(task::StatusChanged{{state, std::nullopt, {}}, {}}); }
  RunLog& state(task::State state, std::vector<task::Part> parts, std::string ask = {}) {
    task::Message message;
    message.role = task::Role::agent;
    message.parts = std::move(parts);
    return add(task::StatusChanged{{state, std::move(message), {}}, {}, std::move(ask)});
  }
  RunLog& says(task::State state_now, const std::string& text, std::string ask = {}) {
    return state(state_now, {task::Part::of_text(text)}, std::move(ask));
  }
  // Adds a complete reply in pieces.
  RunLog& reply(const std::string& id, const std::vector<std::string>& pieces) {
    bool first = true;
    for (const std::string& piece : pieces) {
      add(task::TextDelta{{id}, 0, piece, first, false});
      first = false;
    }
    return add(task::TextDelta{{id}, 0, {}, first, true});
  }
  RunLog& chunk(const std::string& id, std::vector<task::Part> parts, bool append, bool last) {
    task::ArtifactChunk chunk;
    chunk.artifact.id.value = id;
    chunk.artifact.parts = std::move(parts);
    chunk.append = append;
    chunk.last_chunk = last;
    return add(std::move(chunk));
  }
  RunLog& call(std::string id, std::string name, std::string arguments, bool by_client = false) {
    return add(task::ToolCall{std::move(id), std::move(name), {std::move(arguments)}, by_client});
  }
  RunLog& result(std::string id, std::string content, std::string error = {}) {
    return add(task::ToolResult{std::move(id), {std::move(content)}, std::move(error)});
  }

  const std::vector<task::Event>& events() const { return events_; }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(events_.size()); }
  std::int64_t next_;
  std::vector<task::Event> events_;
};

inline protocol::chat::RunFacts run_facts() {
  protocol::chat::RunFacts facts;
  facts.task.value = "t";
  facts.conversation.value = "c";
  return facts;
}

using FrameList = std::vector<protocol::chat::Frames::Frame>;

inline FrameList frames_of(const protocol::chat::Protocol& protocol, const RunLog& log,
                           const protocol::chat::RunFacts& facts = run_facts()) {
  const auto view = protocol.view(facts);
  protocol::chat::Frames frames;
  for (const task::Event& event : log.events()) view->show(event, frames);
  return frames.all();
}

// A random run with everything that an agent may do, and its end. A withdrawn turn repeats its ids, as the
// engine's turns do.
class RandomRun {
 public:
  explicit RandomRun(unsigned seed) : random_(seed), log_(1 + 10 * static_cast<int>(seed % 3)) {
    log_.begin();
    for (int left = below(14); left > 0; --left) act();
    close_reply();
    end();
  }

  const RunLog& log() const { return log_; }
  // All text of the agent in order, without its question or its failure.
  const std::string& said() const { return said_; }
  // The id of the client's tool call that ends the run, or empty.
  const std::string& client_call() const { return client_call_; }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  std::string word() {
    std::string text;
    for (int left = below(4); left > 0; --left) text += static_cast<char>('a' + below(26));
    return said_ += text, text;
  }
  std::string name(char kind, int number) { return std::string("t-") + kind + "1." + std::to_string(number); }

  void close_reply() {
    if (!open_.empty()) log_.add(task::TextDelta{{open_}, 0, word(), false, true});
    open_.clear();
  }
  void act() {
    const int what = below(10);
    if (what < 4) {
      const bool first = open_.empty();
      if (first) open_ = name('r', ++replies_);
      log_.add(task::TextDelta{{open_}, 0, word(), first, false});
      return;
    }
    if (what == 4) {
      log_.says(task::State::working, "a note");
      return;
    }
    close_reply();
    if (what < 7) return chunk();
    if (what == 7) return tool();
    if (what == 8 && !calls_.empty()) {
      log_.result(calls_.back(), R"({"a": 1})");
      calls_.pop_back();
    } else if (what == 9 && below(3) == 0) {
      withdraw();
    }
  }
  void chunk() {
    const std::string id = name('a', below(2));
    const bool append = below(2) == 0;
    std::vector<task::Part> parts;
    for (int left = below(3); left >= 0; --left) parts.push_back(task::Part::of_text(word()));
    log_.chunk(id, std::move(parts), append, below(2) == 0);
    begun_.push_back({id});
  }
  void tool() {
    const std::string id = "call-" + std::to_string(++tools_);
    log_.call(id, "tool", below(2) == 0 ? "" : R"({"a":1})");
    calls_.push_back(id);
  }
  void withdraw() {
    for (int reply = 1; reply <= replies_; ++reply) begun_.push_back({name('r', reply)});
    log_.add(task::Withdrawn{begun_});
    begun_.clear();
    calls_.clear();
    replies_ = tools_ = 0;
  }
  void end() {
    using task::State;
    constexpr State kStates[] = {State::completed, State::input_required, State::auth_required,
                                 State::canceled,  State::failed,         State::rejected};
    if (below(5) == 0) {
      client_call_ = "mine";
      log_.call(client_call_, "paint", R"({"color":"blue"})", true);
      log_.state(State::input_required, {task::Part::of_data({R"({"toolCall":{"id":"mine"}})"})}, "mine");
      return;
    }
    const State state = kStates[below(6)];
    if (state == State::completed) {
      log_.says(state, word());
    } else {
      log_.says(state, "END", "ask-1");
    }
  }

  std::mt19937 random_;
  RunLog log_;
  std::string said_, open_, client_call_;
  int replies_ = 0, tools_ = 0;
  std::vector<task::ArtifactId> begun_;
  std::vector<std::string> calls_;
};

}  // namespace baton::test

// TurnTrace: what the turns of a task did, from the events of its log: answers of models, calls of tools,
// other agents and servers, and artifacts, each with its time, tokens, bytes and error.
//
// A turn here goes from a message of the caller to the next stop of the task. Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/writer.h"
#include "task/event.h"

namespace baton::server {

class TurnTrace {
 public:
  // Limits; what exceeds them is counted.
  static constexpr std::size_t kTurnsMax = 20;                    // the last ones
  static constexpr std::size_t kStepsMax = 500;                   // of a turn
  static constexpr std::size_t kWordsMax = 4096;                  // bytes of one text
  static constexpr std::size_t kBytesMax = std::size_t{1} << 20;  // of all texts

  // The beginning of a text, and how long it is.
  struct Words {
    std::string text;
    std::size_t bytes = 0;
  };
  struct Step {
    enum class Kind { model, reply, tool, agent, remote, step, artifact, note };
    Kind kind = Kind::note;
    std::string id;    // of a call, a child or a reply; not shown
    std::string name;  // of the tool, agent, step or artifact; of a model, its name
    base::Timestamp begun{};
    std::optional<base::Timestamp> ended = {};  // absent: not yet
    std::optional<base::Timestamp> first = {};  // of a model: when its answer began to arrive
    int depth = 0;                              // in how many open steps it lies
    bool by_client = false;
    Words given = {}, thought = {}, answer = {};
    std::vector<std::string> calls = {};  // of a model: the tools that it called
    std::string error = {};
    task::Json usage = {};  // of a model
    std::int64_t tokens = 0, children = 0;
    task::TaskKey child = {};
  };
  struct Turn {
    task::EventNumber message;
    task::EventNumber last;
    base::Timestamp sent{};
    std::optional<base::Timestamp> begun = {}, ended = {};
    task::State state = task::State::submitted;
    Words request = {};
    std::string reason = {};  // the text of its last status
    std::int64_t tokens = 0;
    std::vector<Step> steps = {};
    std::size_t left_out = 0;  // steps
  };

  // `is_model`: the agent is a language model, so each of its texts is a model's.
  explicit TurnTrace(bool is_model) : is_model_(is_model) {}

  void add(const task::Event& event);
  // Call after the last event.
  void finish();

  const std::deque<Turn>& turns() const { return turns_; }

 private:
  void step(const task::StatusChanged& event);
  void step(const task::MessageAdded& event);
  void step(const task::TextDelta& event);
  void step(const task::ReasoningDelta& event);
  void step(const task::ArtifactChunk& event);
  void step(const task::ToolCall& event);
  void step(const task::ToolResult& event);
  void step(const task::Step& event);
  void step(const task::Withdrawn& event);
  void step(const task::Custom& event);
  void step(const task::Subagent& event);
  void step(const task::Usage& event);
  void step(const task::ExecutorState& event);
  void step(const task::Intervention& event);
  template <class Other>
  void step(const Other&) {}

  void begin_turn(const task::Message& message);
  void end_turn(task::State state);
  // Returns the new step, or null if the turn has too many, or there is no turn.
  Step* open(Step::Kind kind, std::string name, std::string id = {});
  Step* find(Step::Kind kind, std::string_view id);
  void add_note(std::string text);
  // Text of the model or agent since the last step becomes a step of its own.
  void flush_reply();
  void add_words(Words& to, std::string_view text);

  const bool is_model_;
  std::deque<Turn> turns_;
  std::optional<task::Message> waiting_;  // a message that came while the turn ran
  task::EventNumber waiting_at_;
  base::Timestamp waiting_since_{};
  bool is_open_ = false;  // the last turn has not ended
  base::Timestamp at_{};  // of the event that is added
  task::EventNumber number_;
  base::Timestamp mark_{};                // when the thing before ended
  std::optional<base::Timestamp> first_;  // piece of the reply or reasoning since then
  Words said_, thought_;
  task::ArtifactId reply_;
  int depth_ = 0;
  std::size_t rounds_ = 0;  // of the model that the log has kept
  std::size_t bytes_ = 0;
};

// Writes the text as {"text", "bytes"}; nothing if it is empty.
void write_words(json::Writer& out, std::string_view name, const TurnTrace::Words& words);
void write_step(json::Writer& out, const TurnTrace::Step& step);

}  // namespace baton::server

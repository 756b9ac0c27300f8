#include "embedded/deeds.h"

#include <chrono>
#include <thread>

namespace baton::bench {
namespace {

constexpr std::string_view kChunks = "chunks ", kTicks = "ticks ";
// The pause before the first tick, in which others subscribe.
constexpr std::chrono::milliseconds kBeforeTicks(500);

// The execution of a turn that ended within `start`, so there is no work to stop.
struct Over final : agents::Execution {
  void cancel() override {}
  void deliver(agents::DelegateResult) override {}
};

task::ArtifactChunk chunk_of(std::string text, bool append, bool last) {
  task::ArtifactChunk chunk;
  chunk.artifact.id = {"reply"};
  chunk.artifact.name = "reply";
  chunk.artifact.parts.push_back(task::Part::of_text(std::move(text)));
  chunk.append = append;
  chunk.last_chunk = last;
  return chunk;
}

void say_chunks(agents::FunctionTurn& turn) {
  const int count = std::atoi(task::text_of(turn.input().message).substr(kChunks.size()).c_str());
  for (int number = 1; number <= count; ++number) {
    turn.emit(chunk_of("chunk " + std::to_string(number) + " ", number > 1, number == count));
  }
}

// Handles "ticks 50 20": sends 50 ticks at intervals of 20 milliseconds.
void say_ticks(agents::FunctionTurn& turn) {
  const std::string text = task::text_of(turn.input().message).substr(kTicks.size());
  const int count = std::atoi(text.c_str());
  const std::chrono::milliseconds pause(std::atoi(text.substr(text.find(' ') + 1).c_str()));
  auto due = std::chrono::steady_clock::now() + kBeforeTicks;
  for (int number = 1; number <= count && !turn.cancelled(); ++number, due += pause) {
    std::this_thread::sleep_until(due);
    turn.emit(chunk_of("tick " + std::to_string(number) + " ", number > 1, number == count));
  }
}

agents::Asked question() {
  agents::Asked asked;
  asked.message.role = task::Role::agent;
  asked.message.parts.push_back(task::Part::of_text("And now?"));
  return asked;
}

}  // namespace

Deeds::Deeds(base::WorkerPool& pool) : chunks_(pool, say_chunks), ticks_(pool, say_ticks) {}

std::unique_ptr<agents::Execution> Deeds::start(agents::Turn turn, std::shared_ptr<agents::TurnSink> sink) {
  std::string text = task::text_of(turn.message);
  if (text.starts_with(kChunks)) return chunks_.start(std::move(turn), std::move(sink));
  if (text.starts_with(kTicks)) return ticks_.start(std::move(turn), std::move(sink));
  if (text == "ask") {
    sink->finish(question());
  } else {
    sink->emit(chunk_of(std::move(text), false, true));
    sink->finish(agents::Done{});
  }
  return std::make_unique<Over>();
}

}  // namespace baton::bench

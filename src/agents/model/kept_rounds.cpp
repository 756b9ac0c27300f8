#include "agents/model/kept_rounds.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "json/document.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

using protocol::models::CalledTool;

// Each round's state holds those before it.
constexpr std::size_t kKeptMax = std::size_t{256} << 10;

// Returns how many of the first rounds have room together.
std::size_t rounds_with_room(const std::vector<ModelRound>& rounds) {
  std::size_t count = 0, bytes = 0;
  while (count < rounds.size() &&
         (bytes += rounds[count].text.size() + bytes_beside_text(rounds[count])) <= kKeptMax)
    ++count;
  return count;
}

void write_round(json::Writer& out, const ModelRound& round) {
  out.object([&] {
    out.member("text", round.text).key("calls").each(round.calls, [&](const CalledTool& call) {
      out.object([&] {
        out.member("id", call.id).member("name", call.name).member("arguments", call.arguments);
        out.optional("others", call.others).optional("function", call.function_others);
      });
    });
    out.optional("others", round.others);
  });
}

task::Json object_in(json::Value value) {
  return value.is_object() ? value.json() : task::Json{};
}

}  // namespace

std::size_t bytes_beside_text(const ModelRound& round) {
  std::size_t bytes = round.others.text.size();
  for (const CalledTool& call : round.calls) {
    bytes += call.id.size() + call.name.size() + call.arguments.size() + call.others.text.size() +
             call.function_others.text.size();
  }
  return bytes;
}

task::ExecutorState state_of(const KeptRounds& kept) {
  task::ExecutorState state;
  json::Writer out(state.state.text);
  out.object([&] {
    out.member("breaks", kept.breaks);
    const std::size_t count = rounds_with_room(kept.rounds);
    if (count == 0) return;
    out.key("rounds").each(std::span(kept.rounds).first(count),
                           [&](const ModelRound& round) { write_round(out, round); });
  });
  return state;
}

KeptRounds read_kept_rounds(const task::Json& state) {
  constexpr std::int64_t kMost = 1'000;
  KeptRounds kept;
  const auto document = json::Document::view_of(state.text);
  kept.breaks =
      static_cast<int>(std::clamp<std::int64_t>(document.root()["breaks"].integer().value_or(0), 0, kMost));
  for (const json::Value from : document.root()["rounds"]) {
    ModelRound& round = kept.rounds.emplace_back();
    round.text = from["text"].str();
    round.others = object_in(from["others"]);
    for (const json::Value call : from["calls"]) {
      round.calls.push_back({call["id"].str(), call["name"].str(), call["arguments"].str(),
                             object_in(call["others"]), object_in(call["function"])});
    }
  }
  return kept;
}

}  // namespace baton::agents

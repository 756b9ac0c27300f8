#include "agents/agui/run_relay.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agents/agui/run_input.h"
#include "agents/client_call.h"
#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"
#include "outbound/refusal.h"
#include "protocol/chat/tools.h"

namespace baton::agents {
namespace {

using protocol::agui::Interrupt;
using protocol::agui::RunEnd;
using protocol::agui::RunReasoning;
using protocol::agui::RunSnapshot;
using protocol::agui::RunText;

constexpr std::size_t kRunArtifactsMax = 10'000;
constexpr std::size_t kRunMessagesMax = 20'000;
// Messages that the snapshots of a run are compared with, in all: an honest server's have most of them.
constexpr std::size_t kComparedMax = 4'000'000;
constexpr std::size_t kIdMax = 256;          // bytes of an id of a call or an artifact
constexpr std::size_t kStepNameMax = 1'024;  // bytes
constexpr std::size_t kAboutMax = 16'384;    // bytes of a question's subject, as lines
constexpr std::size_t kAboutValuesMax = 4'096,
                      kPlaceMax = 1'024;  // values in it, and bytes of the place of one
constexpr std::size_t kOpenMax = 10'000;  // steps and calls that are open at a time

std::set<std::string> names_in(const task::Json& tools) {
  std::set<std::string> names;
  const auto document = json::Document::view_of(tools.text);
  if (!document.root().is_array()) return names;
  for (const json::Value tool : document.root()) names.insert(tool["name"].str());
  return names;
}

task::Part data_of(const char* member, const task::Json& value) {
  task::Json data;
  json::Writer out(data.text);
  out.object([&] { out.member(member, value); });
  return task::Part::of_data(std::move(data));
}

// Lines for people about a value.
struct Lines {
  std::string text;
  std::size_t values = 0;  // that were looked at

  bool are_enough() const { return text.size() > kAboutMax || values > kAboutValuesMax; }
};

// Appends a line for each text and number of a value, after its place in the value.
void add_lines(json::Value value, const std::string& place, Lines& lines) {
  ++lines.values;
  if (lines.are_enough()) return;
  if (value.is_object() || value.is_array()) {
    std::size_t number = 0;
    for (const json::Value child : value) {
      if (lines.are_enough()) return;
      const std::string name = value.is_object() ? std::string(base::beginning_of(child.key(), kPlaceMax))
                                                 : std::to_string(++number);
      const std::string within = place.empty() ? name : place + " / " + name;
      add_lines(child, std::string(base::beginning_of(within, kPlaceMax)), lines);
    }
    return;
  }
  const std::string_view text = value.is_string() ? value.string() : value.raw();
  if (text.empty() || value.is_null()) return;
  lines.text.append(lines.text.empty() ? "" : "\n").append(place).append(place.empty() ? "" : ": ");
  lines.text.append(base::beginning_of(text, kAboutMax));
}

// Returns the subject of a question as lines for people, without the question itself.
std::string words_about(const Interrupt& interrupt) {
  Lines lines;
  const auto about = json::Document::view_of(interrupt.about.text);
  const json::Value root = about.root();
  if (!root.is_object()) {
    add_lines(root, "", lines);
    return lines.text == interrupt.message ? std::string() : lines.text;
  }
  for (const json::Value member : root) {
    if (lines.are_enough()) break;
    if (member.string() != interrupt.message || interrupt.message.empty())
      add_lines(member, std::string(base::beginning_of(member.key(), kPlaceMax)), lines);
  }
  return lines.text;
}

bool has_references(const Interrupt& one) {
  return one.schema.text.find("\"$ref\"") != std::string::npos;
}

// Where the schema of an interrupt is within the one of all, for the references in it.
std::string place_of_schema(std::size_t number) {
  return "#/$defs/" + std::to_string(number);
}

// Writes a value of a schema that is moved to `place` within another schema, and lets its references lead
// there. Recursion: as deep as the value.
void write_moved(json::Writer& out, json::Value value, const std::string& place) {
  if (value.is_array()) {
    out.each(value, [&](json::Value item) { write_moved(out, item, place); });
  } else if (value.is_object()) {
    out.object([&] {
      for (const json::Value member : value) write_moved(out.key(member.key()), member, place);
    });
  } else if (value.key() == "$ref" && value.string().starts_with('#')) {
    out.string(place + std::string(value.string().substr(1)));
  } else {
    out.raw(value.raw());
  }
}

// Returns one schema for the answers to several interrupts: an object with a member for each, by its id. A
// schema with references is in $defs, too, where they lead. Empty if one of the interrupts has no schema, or
// their ids are not unique.
task::Json schema_of_all(const std::vector<Interrupt>& interrupts) {
  std::set<std::string> ids;
  for (const Interrupt& one : interrupts) {
    if (one.schema.empty() || !ids.insert(one.id).second) return {};
  }
  task::Json schema;
  json::Writer out(schema.text);
  out.object([&] {
    out.member("type", "object");
    out.key("properties").object([&] {
      for (std::size_t i = 0; i < interrupts.size(); ++i) {
        const Interrupt& one = interrupts[i];
        const auto own = json::Document::view_of(one.schema.text);
        out.key(one.id).object([&] {
          if (own.root()["title"].missing()) out.optional("title", one.message);
          for (const json::Value member : own.root()) {
            const bool is_referred_to = member.key() == "$defs" || member.key() == "definitions";
            if (!is_referred_to) write_moved(out.key(member.key()), member, place_of_schema(i));
          }
        });
      }
    });
    out.key("required").each(interrupts, [&](const Interrupt& one) { out.string(one.id); });
    if (std::ranges::none_of(interrupts, has_references)) return;
    out.key("$defs").object([&] {
      for (std::size_t i = 0; i < interrupts.size(); ++i) {
        if (!has_references(interrupts[i])) continue;
        const auto own = json::Document::view_of(interrupts[i].schema.text);
        write_moved(out.key(std::to_string(i)), own.root(), place_of_schema(i));
      }
    });
  });
  return schema;
}

std::size_t bytes_of_call(const task::ToolCall& call) {
  return 2 * call.id.size() + call.name.size() + call.arguments.text.size();
}

}  // namespace

RunRelay::RunRelay(const Turn& input, TurnOutput& turn, std::size_t arguments_max)
    : input_(input),
      turn_(turn),
      client_tools_(names_in(input.tools)),
      call_ids_(input.used_ids),
      arguments_max_(arguments_max) {
  for (const task::Message& message : input.history) earlier_ids_.insert(message.id.value);
  for (const task::Artifact& artifact : input.artifacts) earlier_texts_.insert(task::text_of(artifact.parts));
}

void RunRelay::tell(protocol::agui::RunPiece piece) {
  std::visit([&](auto& one) { tell_one(std::move(one)); }, piece);
}

void RunRelay::tell_one(RunText text) {
  Said* const said = find_or_begin(text.message);
  if (said == nullptr) return;
  has_told_ = true;
  said->text.add(text.delta);
  said->has_ended = text.last;
  turn_.reply(text.message, std::move(text.delta), false, text.last);
}

// Null if there are too many messages.
RunRelay::Said* RunRelay::find_or_begin(const std::string& id) {
  const auto known = messages_.find(id);
  if (known != messages_.end()) return &known->second;
  if (messages_.size() < kRunMessagesMax) return &messages_[id];
  refusal_ = "it says more than " + std::to_string(kRunMessagesMax) + " messages";
  return nullptr;
}

// A snapshot replaces the list of messages, as in AG-UI's own clients. A message with other words replaces
// what was passed on, and an unknown message is passed on. A finished message that the snapshot lacks is
// withdrawn, unless the snapshot has neither a message of this run nor one of the user. Servers may store a
// message under another id than the one that they streamed it with.
void RunRelay::tell_one(const RunSnapshot& snapshot) {
  compared_ += messages_.size();
  if (compared_ > kComparedMax) {
    refusal_ = "it sends too many snapshots of its messages";
    return;
  }
  keep_shown_call(snapshot);
  if (!refusal_.empty()) return;
  std::set<std::string> ids, kept;
  for (const RunText& message : snapshot.said) ids.insert(message.message);
  std::optional<std::map<TextMark, std::string>> renamed;
  const auto id_before = [&](const RunText& message) {
    if (!renamed) {
      renamed.emplace();
      for (const auto& [id, said] : messages_) {
        if (!ids.contains(id)) renamed->emplace(said.text, id);
      }
    }
    const auto same = renamed->find(TextMark(message.delta));
    return same == renamed->end() ? message.message : same->second;
  };
  for (const RunText& message : snapshot.said) {
    if (earlier_ids_.contains(message.message)) continue;
    std::string id = message.message;
    if (!messages_.contains(id)) {
      if (earlier_texts_.contains(message.delta)) continue;
      id = id_before(message);
    }
    kept.insert(id);
    say_whole(id, message.delta);
    if (!refusal_.empty()) return;
  }
  if (kept.empty() && !snapshot.has_user) return;
  for (auto& [id, said] : messages_) {
    if (kept.contains(id) || !said.has_ended || said.text.size() == 0) continue;
    said.text = {};
    turn_.reply(id, {}, true);
  }
}

void RunRelay::say_whole(const std::string& id, const std::string& text) {
  Said* const said = find_or_begin(id);
  if (said == nullptr) return;
  const bool goes_on = said->text.begins(text);
  std::string piece = goes_on ? text.substr(said->text.size()) : text;
  if (piece.empty()) return;
  has_told_ = true;
  said->text = TextMark(text);
  turn_.reply(id, std::move(piece), !goes_on);
}

void RunRelay::tell_one(RunReasoning reasoning) {
  has_told_ = true;
  turn_.reasoning(std::move(reasoning.delta));
}

void RunRelay::tell_one(task::EventBody body) {
  if (auto* call = std::get_if<task::ToolCall>(&body)) {
    if (call->id.size() > kIdMax) return;
    call->by_client = client_tools_.contains(call->name);
    // Calls of client tools are held until it is known that the endpoint does not run them itself.
    if (call->by_client) return keep_call(std::move(*call));
  }
  const auto* const step = std::get_if<task::Step>(&body);
  if (step && step->name.size() > kStepNameMax) return;
  if (auto* result = std::get_if<task::ToolResult>(&body)) return tell_result(std::move(*result));
  if (auto* artifact = std::get_if<task::ArtifactChunk>(&body)) {
    const std::string& id = artifact->artifact.id.value;
    const bool is_new = !artifacts_.contains(id);
    if (id.size() > kIdMax || (is_new && artifacts_.size() >= kRunArtifactsMax)) return;
    artifacts_.insert(id);
    artifact->append = artifact->append && !is_new;
  }
  if (open_.record(body).empty()) emit(std::move(body));
  if (open_.count() > kOpenMax)
    refusal_ = "more than " + std::to_string(kOpenMax) + " of its steps and tool calls are open";
}

void RunRelay::keep_call(task::ToolCall call) {
  if (!client_call_places_.try_emplace(call.id, next_call_).second) return;  // a duplicate
  count_call(call);
  client_calls_.emplace(next_call_++, std::move(call));
}

// Returns the calls that the caller has answered since its last words. Only a snapshot with a call of a
// client tool needs them, so they are not read before: the messages of a conversation may be long.
std::set<std::string> RunRelay::answered_by_caller() const {
  std::set<std::string> ids;
  const auto add = [&](const task::Message& message) {
    const auto results = protocol::chat::tool_results_in(message);
    for (const task::ToolResult& result : results) ids.insert(call_ids_.own(result.id));
    return !results.empty();
  };
  bool goes_on = add(input_.message);
  for (auto message = input_.history.rbegin(); goes_on && message != input_.history.rend(); ++message) {
    if (message->role == task::Role::user) goes_on = add(*message);
  }
  return ids;
}

// The last snapshot decides, as in AG-UI's own clients.
void RunRelay::keep_shown_call(const RunSnapshot& snapshot) {
  if (shown_call_) client_bytes_ -= bytes_of_call(*shown_call_);
  shown_call_.reset();
  const auto is_open = [&](const task::ToolCall& call) {
    if (!client_tools_.contains(call.name) || call.id.size() > kIdMax) return false;
    if (!by_caller_) by_caller_ = answered_by_caller();
    return !answered_.contains(call.id) && !by_caller_->contains(call.id);
  };
  const auto open = std::ranges::find_if(snapshot.calls, is_open);
  if (open == snapshot.calls.end()) return;
  shown_call_ = *open;
  shown_call_->by_client = true;
  count_call(*open);
}

void RunRelay::count_call(const task::ToolCall& call) {
  client_bytes_ += bytes_of_call(call);
  if (client_bytes_ <= arguments_max_) return;
  refusal_ = "the arguments of its client tool calls are larger than " + std::to_string(arguments_max_) +
             " bytes (outbound.tool_arguments_max)";
}

void RunRelay::tell_result(task::ToolResult result) {
  if (result.id.size() <= kIdMax && answered_.size() < kOpenMax) answered_.insert(result.id);
  if (shown_call_ && shown_call_->id == result.id) {
    client_bytes_ -= bytes_of_call(*shown_call_);
    keep_call(*std::exchange(shown_call_, std::nullopt));
  }
  if (auto place = client_call_places_.extract(result.id)) {
    task::ToolCall call = std::move(client_calls_.extract(place.mapped()).mapped());
    client_bytes_ -= bytes_of_call(call);
    call.by_client = false;
    if (open_.record(call).empty()) emit(std::move(call));
  }
  if (open_.record(result).empty()) emit(std::move(result));
}

void RunRelay::emit(task::EventBody body) {
  has_told_ = true;
  if (auto* call = std::get_if<task::ToolCall>(&body)) call->id = call_ids_.begin(call->id);
  if (auto* result = std::get_if<task::ToolResult>(&body)) result->id = call_ids_.given(result->id);
  turn_.emit(std::move(body));
}

void RunRelay::close() {
  for (task::EventBody& body : open_.close()) {
    if (auto* result = std::get_if<task::ToolResult>(&body)) result->id = call_ids_.given(result->id);
    turn_.emit(std::move(body));
  }
}

void RunRelay::finish(const RunEnd& end) {
  close();
  turn_.finish(outcome_of(end));
}

Outcome RunRelay::outcome_of(const RunEnd& end) {
  switch (end.kind) {
    case RunEnd::Kind::failed:
      return Failed{end.error.empty() ? "the remote agent failed" : outbound::shown_error(end.error, {})};
    case RunEnd::Kind::cancelled:
      return Failed{"the remote agent canceled the run"};
    case RunEnd::Kind::interrupted:
      return ask(end.interrupts);
    case RunEnd::Kind::finished:
      break;
  }
  if (!client_calls_.empty() || shown_call_) {
    // Only the first call is passed on: the endpoint makes the others again if it still wants them.
    task::ToolCall call = client_calls_.empty() ? *shown_call_ : client_calls_.begin()->second;
    call.id = call_ids_.begin(call.id);
    task::Message message = message_of(call);
    const std::string id = call.id;
    turn_.emit(std::move(call));
    return Asked{id, false, std::move(message)};
  }
  if (end.result.empty()) return Done{};
  task::Message message;
  message.role = task::Role::agent;
  message.parts.push_back(task::Part::of_data(end.result));
  return Done{std::move(message)};
}

Outcome RunRelay::ask(const std::vector<Interrupt>& interrupts) const {
  Asked asked;
  asked.id = ask_for(input_.id, interrupts);
  if (asked.id.empty()) return Failed{"the remote agent asks too many questions at once"};
  const bool is_one = interrupts.size() == 1;
  std::string words;
  for (const Interrupt& interrupt : interrupts) {
    const std::string url = is_one ? "" : json::Document::view_of(interrupt.url.text).root().str();
    for (const std::string& more : {interrupt.message, words_about(interrupt), url}) {
      if (!more.empty()) words += (words.empty() ? "" : "\n") + more;
    }
    asked.for_auth = asked.for_auth || interrupt.for_auth;
  }
  if (words.empty()) words = "the remote agent is waiting for an answer";
  asked.message.role = task::Role::agent;
  asked.message.parts.push_back(task::Part::of_text(std::move(words)));
  for (const Interrupt& interrupt : interrupts) {
    if (!interrupt.about.empty()) asked.message.parts.push_back(data_of("about", interrupt.about));
  }
  const Interrupt& first = interrupts.front();
  const task::Json schema = is_one ? first.schema : schema_of_all(interrupts);
  if (!schema.empty()) asked.message.parts.push_back(data_of("schema", schema));
  if (is_one && !first.url.empty()) asked.message.parts.push_back(data_of("url", first.url));
  return asked;
}

}  // namespace baton::agents

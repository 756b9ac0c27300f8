#include "agents/agui/run_input.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "agents/call_ids.h"
#include "agents/client_call.h"
#include "base/sha256.h"
#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/a2a/baton_extension.h"
#include "protocol/agui/run_reader.h"
#include "protocol/chat/run_request.h"
#include "protocol/chat/tools.h"

namespace baton::agents {
namespace {

using protocol::agui::ClientRun;
using protocol::chat::Answer;

constexpr char kInterrupts = '/';  // "<turn>/<interrupt>,<interrupt>", each percent-encoded
constexpr char kResending = '?';   // "<turn>?<id of the message>"

// Splits the id of the question that the turn answers into the turn that asked and the rest; both are
// empty if the id has another kind. Answers to client tool calls are excluded: their ids are the
// endpoint's own and may be anything.
std::pair<std::string, std::string> parts_of(const Turn& turn, char mark) {
  if (!protocol::chat::tool_results_in(turn.message).empty()) return {};
  const std::string& ask = turn.resume_ask;
  const std::size_t at = ask.find_first_of("/?");
  if (at == std::string::npos || ask[at] != mark) return {};
  return {ask.substr(0, at), ask.substr(at + 1)};
}

// Splits one payload among several answers, if it is an object with a member for each of them.
void split(const Answer& said, std::vector<Answer>& answers) {
  const auto document = json::Document::view_of(said.payload.text);
  const json::Value root = document.root();
  const bool has_each =
      answers.size() > 1 && root.is_object() && root.size() == answers.size() &&
      std::ranges::none_of(answers, [&](const Answer& one) { return root[one.ask].missing(); });
  if (!has_each) return;
  for (Answer& one : answers) one.payload = root[one.ask].json();
}

std::vector<Answer> answers_in(const Turn& turn) {
  std::vector<Answer> answers;
  const auto [asker, ids] = parts_of(turn, kInterrupts);
  if (asker.empty()) return answers;
  const Answer said = protocol::agui::answer_in(turn.message);
  for (std::size_t begin = 0; begin <= ids.size();) {
    const std::size_t end = std::min(ids.find(',', begin), ids.size());
    Answer answer = said;
    answer.ask = base::percent_decoded(std::string_view(ids).substr(begin, end - begin)).value_or("");
    answers.push_back(std::move(answer));
    begin = end + 1;
  }
  split(said, answers);
  return answers;
}

// Gives a call or its result the id that the endpoint knows.
void rename(task::Part& part, const CallIds& ids) {
  if (part.kind != task::Part::Kind::data) return;
  const auto document = json::Document::view_of(part.content);
  for (const char* kind : {"toolCall", "toolResult"}) {
    const json::Value object = document.root()[kind];
    if (!object.is_object() || ids.own(object["id"].str()) == object["id"].string()) continue;
    std::string renamed;
    json::Writer out(renamed);
    out.object([&] {
      out.key(kind).object([&] {
        for (const json::Value member : object) {
          const bool is_id = member.key() == "id";
          is_id ? out.member("id", ids.own(member.str())) : out.key(member.key()).raw(member.raw());
        }
      });
    });
    part.content = std::move(renamed);
    return;
  }
}

bool is_tool_part(const task::Part& part) {
  const auto document = json::Document::view_of(part.content);
  return document.root()["toolCall"].is_object() || document.root()["toolResult"].is_object();
}

// Appends a message as AG-UI endpoints take it: data parts become text, and the sentence for clients that
// cannot run a tool is dropped. Reasoning is not sent.
void add(const task::Message& message, const CallIds& ids, std::vector<task::Message>& out) {
  const auto metadata = json::Document::view_of(message.metadata.text);
  if (metadata.root()["role"].string() == "reasoning") return;
  task::Message told = message;
  told.parts.clear();
  for (const task::Part& part : message.parts) {
    const bool is_data = part.kind == task::Part::Kind::data;
    const auto document = json::Document::view_of(is_data ? std::string_view(part.content) : "null");
    const std::string tool = document.root()["toolCall"]["name"].str();
    const bool has_words = !tool.empty() && !told.parts.empty() &&
                           told.parts.back() == task::Part::of_text(words_for_call(tool));
    if (has_words) told.parts.pop_back();
    const bool is_text = is_data && !is_tool_part(part) && !document.root()["file"].is_object();
    told.parts.push_back(is_text ? task::Part::of_text(part.content) : part);
    rename(told.parts.back(), ids);
  }
  if (!told.parts.empty()) out.push_back(std::move(told));
}

// Adds the answer to a question of LangGraph's adapter: {"command": {"resume": ...}}.
task::Json with_resume(const task::Json& props, const task::Json& payload) {
  const auto document = json::Document::view_of(props.text);
  task::Json added;
  json::Writer out(added.text);
  out.object([&] {
    for (const json::Value member : document.root()) {
      if (member.key() != "command") out.key(member.key()).raw(member.raw());
    }
    out.key("command").object([&] { out.key("resume").raw(payload.empty() ? "null" : payload.text); });
  });
  return added;
}

// Forwards the context and forwardedProps of a Baton client that speaks AG-UI. For other clients the
// metadata of their request is forwarded as forwardedProps.
void add_metadata(const Turn& turn, ClientRun& run) {
  const auto document = json::Document::view_of(turn.metadata.text);
  const json::Value metadata = document.root();
  const json::Value from_client = metadata["agui"];
  if (from_client["context"].is_array()) run.context = from_client["context"].json();
  const json::Value props = from_client.is_object() ? from_client["forwardedProps"] : metadata;
  const task::Json kept = props.is_object() ? props.json() : task::Json{};
  run.forwarded_props = protocol::with_hops(kept, turn.hops);
}

}  // namespace

std::string ask_for(const std::string& turn, const std::vector<protocol::agui::Interrupt>& interrupts) {
  std::string ask = turn;
  for (const protocol::agui::Interrupt& interrupt : interrupts) {
    ask += ask.size() == turn.size() ? kInterrupts : ',';
    ask += base::percent_encoded(interrupt.id);
  }
  return ask.size() <= protocol::chat::kAskMax ? ask : std::string();
}

std::string ask_for_resending(const Turn& turn) {
  const auto [asker, message] = parts_of(turn, kResending);
  return turn.id + kResending + (asker.empty() ? turn.message.id.value : message);
}

bool is_about_resending(const Turn& turn) {
  return !parts_of(turn, kResending).first.empty();
}

bool says_resend(const Turn& turn) {
  std::string text = task::text_of(turn.message);
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) || std::ispunct(c); });
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text == "resend" || text == "yes";
}

std::optional<ClientRun> run_input(const Turn& turn) {
  const CallIds ids(turn.used_ids);
  ClientRun run;
  run.thread = turn.conversation;
  run.answers = answers_in(turn);
  run.tools = turn.tools;
  run.state = turn.client_state;
  const auto [asker, again] = parts_of(turn, kResending);
  run.run = base::uuid_of({turn.conversation, asker.empty() ? turn.id : asker, "run"});
  for (const task::Message& message : turn.history) {
    add(message, ids, run.messages);
    const bool is_it = message.role == task::Role::user && message.id.value == again;
    if (!again.empty() && is_it) break;
  }
  const bool has_it = !run.messages.empty() && run.messages.back().id.value == again;
  if (!again.empty() && !has_it) return std::nullopt;
  if (again.empty() && run.answers.empty()) add(turn.message, ids, run.messages);
  add_metadata(turn, run);
  const auto resumes = [](const Answer& answer) { return answer.ask == protocol::agui::kOnInterrupt; };
  if (const auto answer = std::ranges::find_if(run.answers, resumes); answer != run.answers.end()) {
    run.forwarded_props = with_resume(run.forwarded_props, answer->payload);
    std::erase_if(run.answers, resumes);
  }
  return run;
}

}  // namespace baton::agents

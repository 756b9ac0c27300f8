#include "protocol/openai/requests.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "json/fields.h"
#include "json/writer.h"
#include "protocol/chat/tools.h"
#include "protocol/openai/content.h"

namespace baton::protocol::openai {
namespace {

using base::fail;
using base::Result;
using json::item_name;
using json::wrong;
using task::Part;

enum class Speaker { system, user, assistant, tool };

// A message or an item of the conversation.
struct Line {
  Speaker speaker = Speaker::user;
  task::Message message;  // without parts: only its place counts
  std::optional<chat::ClientResult> result;
  task::TaskId task;  // that an id of the item names; empty: none
};

std::optional<Speaker> speaker_in(std::string_view role) {
  if (role == "user") return Speaker::user;
  if (role == "assistant") return Speaker::assistant;
  if (role == "system" || role == "developer") return Speaker::system;
  if (role == "tool") return Speaker::tool;
  return std::nullopt;
}

// The ask in an id of a call that this server has given; any other id as it is.
Result<std::string> read_ask(json::Value id, task::TaskId& task, const std::string& name) {
  // Percent-encoding makes three bytes of one.
  constexpr std::size_t kOwnMax = kCall.size() + 2 + 3 * (chat::kIdMax + chat::kAskMax);
  auto own = read_name(id.string());
  const bool is_own = own && own->kind == kCall && !own->rest.empty();
  if (!id.is_string() || id.string().empty() || id.string().size() > (is_own ? kOwnMax : 2 * chat::kIdMax))
    return wrong(name + ": the id of the call must be a string of at most 512 bytes");
  if (!is_own) return id.str();
  task = std::move(own->task);
  return std::move(own->rest);
}

// JSON in a string. Text that is not JSON stays a string.
task::Json arguments_in(json::Value arguments) {
  if (arguments.is_string() && json::Document::parse_view(arguments.string(), json::kInString))
    return {arguments.str()};
  return arguments.absent() ? task::Json{} : arguments.json();
}

Result<Part> read_call(json::Value id, json::Value called, task::TaskId& task, const std::string& name) {
  auto ask = read_ask(id, task, name);
  if (!ask) return fail(std::move(ask.error()));
  if (!called["name"].is_string()) return wrong(name + ".name: must be a string");
  return chat::part_of(
      task::ToolCall{std::move(*ask), called["name"].str(), arguments_in(called["arguments"])});
}

Result<void> add_result(json::Value id, json::Value content, const std::string& name, Line& line) {
  auto ask = read_ask(id, line.task, name);
  if (!ask) return fail(std::move(ask.error()));
  chat::ClientResult result{std::move(*ask), {}, {}};
  // A tool may return anything, such as MCP's images and links. Content that is not all text is passed on
  // unchanged.
  const auto parts = read_content(content, name);
  const bool is_text =
      parts && std::ranges::all_of(*parts, [](const Part& part) { return part.kind == Part::Kind::text; });
  result.content.text = is_text ? json::string_of(task::text_of(*parts)) : content.json().text;
  line.message.parts.push_back(chat::part_of(result));
  line.result = std::move(result);
  return {};
}

void note_role(task::Message& message, Speaker speaker, std::string_view role) {
  message.role = speaker == Speaker::assistant ? task::Role::agent : task::Role::user;
  if (speaker != Speaker::system && speaker != Speaker::tool) return;
  json::Writer out(message.metadata.text);
  out.object([&] { out.member("role", role); });
}

// A message of chat completions, or a message item of Responses.
Result<Line> read_message(json::Value value, const std::string& name) {
  if (!value.is_object()) return wrong(name + ": must be an object");
  const auto speaker = speaker_in(value["role"].string());
  if (!speaker) return wrong(name + ".role: must be user, assistant, system, developer or tool");
  Line line;
  line.speaker = *speaker;
  note_role(line.message, *speaker, value["role"].string());
  if (*speaker == Speaker::tool) {
    auto added = add_result(value["tool_call_id"], value["content"], name + ".content", line);
    if (!added) return fail(std::move(added.error()));
    return line;
  }
  auto parts = read_content(value["content"], name + ".content");
  if (!parts) return fail(std::move(parts.error()));
  line.message.parts = std::move(*parts);
  if (*speaker != Speaker::assistant) return line;
  // Many clients send an empty content for an assistant that only calls tools.
  std::erase_if(line.message.parts, [](const Part& part) { return part == Part::of_text({}); });
  std::size_t index = 0;
  for (const json::Value call : value["tool_calls"]) {
    auto part = read_call(call["id"], call["function"], line.task, item_name(name + ".tool_calls", index++));
    if (!part) return fail(std::move(part.error()));
    line.message.parts.push_back(std::move(*part));
  }
  return line;
}

Result<Line> read_item(json::Value value, const std::string& name, bool& is_partial) {
  if (!value.is_object()) return wrong(name + ": must be an object");
  const std::string_view type = value["type"].string();
  const auto own = read_name(value["id"].string());
  const auto named = [&](Line line) {
    if (line.task.empty() && own) line.task = own->task;
    return line;
  };
  if (type == "message" || (type.empty() && value["role"].is_string())) {
    auto line = read_message(value, name);
    if (!line || line->speaker != Speaker::assistant) return line;
    return named(std::move(*line));
  }
  Line line;
  if (type == "function_call_output") {
    line.speaker = Speaker::tool;
    note_role(line.message, line.speaker, "tool");
    auto added = add_result(value["call_id"], value["output"], name + ".output", line);
    if (!added) return fail(std::move(added.error()));
    return line;
  }
  line.speaker = Speaker::assistant;
  note_role(line.message, line.speaker, {});
  if (type == "function_call") {
    auto part = read_call(value["call_id"], value, line.task, name);
    if (!part) return fail(std::move(part.error()));
    line.message.parts.push_back(std::move(*part));
    return named(std::move(line));
  }
  // Some clients leave the type of a reference out.
  const bool is_reference = type == "item_reference" || (type.empty() && value["id"].is_string());
  if (is_reference) is_partial = true;
  if (type.empty() && !is_reference) return wrong(name + ".type: must be a string");
  // Reasoning, and what other servers' tools did: it is not for the agent.
  return named(std::move(line));
}

// ---- What both requests share.

// The end of the lines before those that are new.
std::size_t news_in(const std::vector<Line>& lines) {
  std::size_t news = lines.size();
  while (news > 0 && lines[news - 1].speaker != Speaker::assistant) --news;
  return news;
}

// If there is nothing new but instructions, the last of them is what the agent is asked. Some clients ask so
// on the side, NextChat for a summary of the conversation: it is no answer to a question. So it belongs to no
// task, and is refused if the server has the conversation.
void take_instruction(std::vector<Line>& lines, std::size_t news, Asked& asked) {
  const bool is_known = !asked.previous.empty() || !asked.run.conversation.empty() || asked.is_partial;
  const bool only_instructs =
      news < lines.size() && std::all_of(lines.begin() + static_cast<std::ptrdiff_t>(news), lines.end(),
                                         [](const Line& line) { return line.speaker == Speaker::system; });
  if (is_known || !only_instructs) return;
  lines.back().speaker = Speaker::user;
  for (Line& line : lines) line.task = {};
  asked.turns_before.clear();
  asked.run.answers_only.emplace();
}

// Sorts the lines into what is new and the history. `system`: the texts of the new instructions.
Result<void> sort_out(std::vector<Line> lines, std::string_view member, Asked& asked,
                      std::vector<std::string>& system) {
  const std::size_t news = news_in(lines);
  take_instruction(lines, news, asked);
  bool speaks = false;
  for (std::size_t i = news; i < lines.size(); ++i) speaks = speaks || lines[i].speaker == Speaker::user;
  auto& history = asked.run.history.emplace();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Line& line = lines[i];
    if (!line.task.empty()) asked.named = line.task;
    if (i >= news && line.speaker == Speaker::user) {
      std::ranges::move(line.message.parts, std::back_inserter(asked.run.message.parts));
      continue;
    }
    if (i >= news && line.speaker == Speaker::system) system.push_back(task::text_of(line.message));
    const bool is_new_result = i >= news && line.result;
    if (is_new_result) asked.run.results.push_back(std::move(*line.result));
    // A result that only answers a call is the message itself.
    if ((is_new_result && !speaks) || line.message.parts.empty()) continue;
    history.push_back(std::move(line.message));
  }
  if (history.empty()) asked.run.history.reset();
  if (asked.run.message.parts.empty() && asked.run.results.empty())
    return wrong(std::string(member) + ": must end with a message of the user or the result of a tool");
  return {};
}

// The client's functions, as {name, description?, parameters?}. Other tools are the server's own at OpenAI,
// and mean nothing here.
Result<task::Json> read_tools(json::Value tools) {
  task::Json read;
  if (tools.absent()) return read;
  if (!tools.is_array()) return wrong("tools: must be a list");
  json::Writer out(read.text);
  std::size_t index = 0, functions = 0;
  std::optional<base::Error> error;
  out.array([&] {
    for (const json::Value tool : tools) {
      const std::string name = item_name("tools", index++);
      if (tool["type"].string() != "function") continue;
      const json::Value function = tool["function"].is_object() ? tool["function"] : tool;
      const json::Value parameters = function["parameters"];
      if (function["name"].string().empty() || (!parameters.absent() && !parameters.is_object())) {
        error = base::Error{base::ErrorCode::invalid_argument,
                            name + ": must have a name, and an object as its parameters",
                            {}};
        return;
      }
      ++functions;
      out.object([&] {
        out.member("name", function["name"].string())
            .optional("description", function["description"].string());
        if (!parameters.absent()) out.key("parameters").raw(parameters.raw());
      });
    }
  });
  if (error) return fail(std::move(*error));
  return functions > 0 ? read : task::Json{};
}

Result<void> check_metadata(json::Value metadata) {
  constexpr std::size_t kPairsMax = 16, kKeyMax = 64, kValueMax = 512;
  if (metadata.absent()) return {};
  if (!metadata.is_object() || metadata.size() > kPairsMax)
    return wrong("metadata: must be an object of at most 16 members");
  for (const json::Value value : metadata) {
    if (value.key().size() > 4 * kKeyMax || !value.is_string() || value.string().size() > 4 * kValueMax)
      return wrong("metadata: must have names of at most 64 characters and texts of at most 512");
  }
  return {};
}

// The members of the body that are no part of a conversation.
void write_about(json::Value body, const std::vector<std::string>& system, std::string_view turns,
                 task::Json& about) {
  constexpr std::array<std::string_view, 6> kOwn{"model",          "input",  "messages",
                                                 "stream_options", "stream", "turns"};
  json::Writer out(about.text);
  out.object([&] {
    out.key("openai").object([&] {
      for (const json::Value member : body) {
        const bool is_own = std::ranges::count(kOwn, member.key()) > 0 || member.is_null();
        if (!is_own) out.key(member.key()).raw(member.raw());
      }
      out.optional("turns", turns).optional("system", system);
    });
  });
}

Result<void> read_common(json::Value body, Asked& asked) {
  if (!body.is_object()) return wrong("the body must be an object");
  if (!body["model"].is_string()) return wrong("model: must be a string");
  asked.model = body["model"].str();
  if (!body["stream"].absent() && !body["stream"].is_bool()) return wrong("stream: must be a boolean");
  asked.run.streams = body["stream"].boolean();
  auto tools = read_tools(tools_in(body));
  if (!tools) return fail(std::move(tools.error()));
  asked.run.tools = std::move(*tools);
  return check_metadata(body["metadata"]);
}

// ---- Questions in words.

std::size_t last_user_before(const std::vector<Line>& lines, std::size_t end) {
  while (end > 0 && lines[end - 1].speaker != Speaker::user) --end;
  return end;
}

// Only the last of the user's texts is compared: some clients put others before it, such as the date, and
// leave them out when they send the message again.
std::string words_of(const Line& line) {
  if (line.speaker != Speaker::user) return task::text_of(line.message);
  const auto& parts = line.message.parts;
  const auto last = std::find_if(parts.rbegin(), parts.rend(),
                                 [](const Part& part) { return part.kind == Part::Kind::text; });
  return last == parts.rend() ? std::string() : last->content;
}

// A digest of what the user and the assistant have said in these lines, and of what else tells one
// conversation from another: the user, and the tools' names, since a client that asks on the side, for a
// summary or a title of a conversation, offers other tools there.
std::string turns_of(json::Value body, const std::vector<Line>& lines, std::size_t count) {
  base::Sha256 sha;
  sha.add(body["user"].string());
  std::vector<std::string_view> tools;
  for (const json::Value tool : tools_in(body))
    tools.push_back((tool["function"].is_object() ? tool["function"] : tool)["name"].string());
  std::ranges::sort(tools);
  sha.add(std::uint64_t{tools.size()});
  for (const std::string_view tool : tools) sha.add(tool);
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_user = lines[i].speaker == Speaker::user;
    const std::string text = words_of(lines[i]);
    if (text.empty() || (!is_user && lines[i].speaker != Speaker::assistant)) continue;
    sha.add(is_user ? "user" : "assistant");
    sha.add(text);
    any = true;
  }
  if (!any) return {};
  const auto [high, low] = sha.first_128_bits();
  return std::to_string(high) + "-" + std::to_string(low);
}

// Finds the question that the end of a whole conversation may answer. Returns the digest of all of it.
std::string read_turns(json::Value body, const std::vector<Line>& lines, Asked& asked) {
  const std::size_t news = news_in(lines), before = last_user_before(lines, news);
  if (news > 0) asked.last_words = task::text_of(lines[news - 1].message);
  if (before > 0) asked.turns_before = turns_of(body, lines, before);
  return turns_of(body, lines, lines.size());
}

}  // namespace

Result<Asked> read_completion(json::Value body) {
  Asked asked;
  if (auto read = read_common(body, asked); !read) return fail(std::move(read.error()));
  if (const auto choices = body["n"].integer(); !body["n"].absent() && choices != 1)
    return wrong("n: must be 1");
  asked.tells_usage = body["stream_options"]["include_usage"].boolean();
  if (!body["messages"].is_array()) return wrong("messages: must be a list");
  std::vector<Line> lines;
  for (const json::Value value : body["messages"]) {
    auto line = read_message(value, item_name("messages", lines.size()));
    if (!line) return fail(std::move(line.error()));
    lines.push_back(std::move(*line));
  }
  const std::string turns = read_turns(body, lines, asked);
  std::vector<std::string> system;
  if (auto sorted = sort_out(std::move(lines), "messages", asked, system); !sorted)
    return fail(std::move(sorted.error()));
  write_about(body, system, turns, asked.run.about);
  return asked;
}

Result<Asked> read_response(json::Value body) {
  Asked asked;
  if (auto read = read_common(body, asked); !read) return fail(std::move(read.error()));
  json::Fields in(body);
  std::optional<bool> background, store;
  in.truth({"background"}, background);
  in.truth({"store"}, store);
  in.string({"previous_response_id"}, asked.previous);
  const json::Value conversation = body["conversation"];
  json::Fields of_conversation(conversation.is_object() ? conversation : body,
                               conversation.is_object() ? "conversation." : "");
  of_conversation.id({conversation.is_object() ? "id" : "conversation"}, asked.run.conversation.value);
  if (!in.good()) return in.result(std::move(asked));
  if (auto read = of_conversation.result(); !read) return fail(std::move(read.error()));
  asked.run.background = background.value_or(false);
  if (asked.run.background && !store.value_or(true)) return wrong("background: needs store");
  if (!asked.previous.empty() && !asked.run.conversation.empty())
    return wrong("conversation: must not be given with previous_response_id");
  const json::Value input = body["input"];
  std::vector<Line> lines;
  if (input.is_string()) {
    lines.emplace_back().message.parts.push_back(Part::of_text(input.str()));
  } else if (input.is_array()) {
    std::size_t index = 0;
    for (const json::Value value : input) {
      const std::string name = item_name("input", index++);
      // Codex adds tools like this. They are no message, so the messages before them stay new.
      if (value["type"].string() == "additional_tools") continue;
      auto line = read_item(value, name, asked.is_partial);
      if (!line) return fail(std::move(line.error()));
      lines.push_back(std::move(*line));
    }
  } else {
    return wrong("input: must be a string or a list");
  }
  const bool is_whole = asked.previous.empty() && asked.run.conversation.empty() && !asked.is_partial;
  const std::string turns = is_whole ? read_turns(body, lines, asked) : std::string();
  std::vector<std::string> system;
  if (auto sorted = sort_out(std::move(lines), "input", asked, system); !sorted)
    return fail(std::move(sorted.error()));
  // The agent's record of the conversation is the server's.
  if (const json::Value text = body["instructions"]; text.is_string() && !text.string().empty()) {
    task::Message instructions;
    instructions.parts.push_back(Part::of_text(text.str()));
    note_role(instructions, Speaker::system, "system");
    if (!asked.run.history) asked.run.history.emplace();
    asked.run.history->insert(asked.run.history->begin(), std::move(instructions));
  }
  write_about(body, system, turns, asked.run.about);
  return asked;
}

json::Value given_in(const json::Document& metadata) {
  const json::Value given = metadata.root()["openai"];
  return given.is_object() ? given : json::Value();
}

json::Value tools_in(json::Value given) {
  return given["tool_choice"].string() == "none" ? json::Value() : given["tools"];
}

std::string turns_in(const task::Json& metadata) {
  const auto document = json::Document::view_of(metadata.text);
  return given_in(document)["turns"].str();
}

bool is_kept(const task::Json& metadata) {
  const auto document = json::Document::view_of(metadata.text);
  const json::Value store = given_in(document)["store"];
  return !store.is_bool() || store.boolean();
}

}  // namespace baton::protocol::openai

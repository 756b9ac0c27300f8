#include "agents/model/conversation.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

#include "agents/client_call.h"
#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"
#include "outbound/address.h"
#include "outbound/http_client.h"
#include "protocol/chat/tools.h"
#include "protocol/models/shared/parts.h"

namespace baton::agents {
namespace {

using protocol::models::CalledTool;
using protocol::models::ChatMessage;
using Role = ChatMessage::Role;
using Messages = std::vector<ChatMessage>;

constexpr std::size_t kSystemMax = std::size_t{1} << 20;
constexpr std::size_t kBytesOfToken = 4;
constexpr std::size_t kTokensOfFile = 1'000;                // an image or a PDF file, whatever its size
constexpr const char* kKept = "model";                      // a member beside "toolCall" (keep_with_call)
constexpr std::size_t kResultMax = std::size_t{256} << 10;  // of a child's result, in bytes
constexpr std::size_t kContextEntryMax = std::size_t{32} << 10;
// Bytes of members to give back: a message's, and a call's or its function's.
constexpr std::size_t kOthersMax = std::size_t{256} << 10, kCallOthersMax = std::size_t{64} << 10;

std::string words_of(const task::Part& part) {
  using Kind = task::Part::Kind;
  if (part.kind == Kind::text || part.kind == Kind::data) return part.content;
  const std::string name = part.filename.empty() ? "a file" : "the file " + part.filename;
  if (part.kind == Kind::url) return "[" + name + ": " + part.content + "]";
  return "[" + name + ", " + std::to_string(task::content_size(part)) + " bytes]";
}

// Whether the model's server may be asked to fetch this URL. That server may reach addresses that a caller
// cannot.
bool is_public(const std::string& url) {
  const auto parsed = outbound::parse_url(url);
  return parsed && outbound::check_target(*parsed, {}).has_value();
}

bool is_data_with(const task::Part& part, const char* member) {
  if (part.kind != task::Part::Kind::data) return false;
  return json::Document::view_of(part.content).root()[member].is_object();
}

void add_user(const task::Message& message, Messages& out) {
  for (const task::ToolResult& result : protocol::chat::tool_results_in(message)) {
    out.push_back(ChatMessage::of_text(Role::tool, protocol::chat::text_of(result)));
    out.back().call_id = result.id;
  }
  ChatMessage said;
  for (const task::Part& part : message.parts) {
    if (is_data_with(part, "toolResult")) continue;
    const bool is_refused = part.kind == task::Part::Kind::url && !is_public(part.content);
    said.parts.push_back(is_refused ? task::Part::of_text(words_of(part)) : part);
  }
  if (!said.parts.empty()) out.push_back(std::move(said));
}

// A call of a client's tool, as a message has it.
struct SaidCall {
  CalledTool called;      // its id: as the client knows it
  std::string server_id;  // as the model's server knows it; empty: the same
  task::Json others;      // what the server wants back with the message (keep_with_call)
};

task::Json members_in(json::Value value) {
  return value.is_object() ? value.json() : task::Json{};
}

SaidCall call_in(const task::Part& part) {
  const auto document = json::Document::view_of(part.content);
  const json::Value call = document.root()["toolCall"], kept = document.root()[kKept];
  const json::Value arguments = call["arguments"];
  SaidCall said{{call["id"].str(), call["name"].str(),
                 arguments.is_string() ? arguments.str() : std::string(arguments.raw()),
                 members_in(kept["others"]), members_in(kept["function"])},
                kept["id"].str(),
                members_in(kept["message"])};
  if (said.called.arguments.empty()) said.called.arguments = "{}";
  return said;
}

// Reads messages as a model gets them. A history that a caller has sent has only its words for calls, so what
// the model's server has said with a call is taken from the stored messages.
class HistoryReader {
 public:
  HistoryReader(const Turn& turn, const ModelSettings& settings)
      : settings_(settings), is_sent_(turn.stored_history.has_value()) {
    if (!is_sent_) return;
    for (const task::Message& message : *turn.stored_history) {
      for (const task::Part& part : message.parts) {
        if (message.role != task::Role::agent || !is_data_with(part, "toolCall")) continue;
        SaidCall said = call_in(part);
        ids_[said.called.id] = said.server_id;
        std::string id = said.called.id;
        stored_.insert_or_assign(std::move(id), std::move(said));
      }
    }
  }

  // Leaves out reasoning that a client keeps: it is not for the model.
  void add(const task::Message& message, Messages& out) {
    const auto metadata = json::Document::view_of(message.metadata.text);
    const std::string_view role = metadata.root()["role"].string();
    if (role == "reasoning") return;
    if (message.role == task::Role::agent) return add_agent(message, out);
    const std::size_t before = out.size();
    add_user(message, out);
    const bool is_page_s = role == "system" || role == "developer";
    if (!is_page_s || !settings_.takes_system_messages) return;
    for (std::size_t at = before; at < out.size(); ++at) {
      if (out[at].role == Role::user) out[at].role = Role::system;
    }
  }

  // Gives calls and their results the ids that the model's server knows.
  void restore_ids(Messages& conversation) const {
    const auto restore = [&](std::string& id) {
      const auto found = ids_.find(id);
      if (found != ids_.end() && !found->second.empty()) id = found->second;
    };
    for (ChatMessage& message : conversation) {
      for (CalledTool& call : message.calls) restore(call.id);
      restore(message.call_id);
    }
  }

 private:
  // Returns the call as it is stored, or without what its sender may have made up.
  SaidCall stored(SaidCall said) {
    if (!is_sent_) {
      ids_[said.called.id] = said.server_id;
      return said;
    }
    const auto found = stored_.find(said.called.id);
    if (found != stored_.end()) return found->second;
    return {
        {std::move(said.called.id), std::move(said.called.name), std::move(said.called.arguments)}, {}, {}};
  }

  void add_agent(const task::Message& message, Messages& out) {
    ChatMessage said;
    said.role = Role::assistant;
    for (const task::Part& part : message.parts) {
      if (!is_data_with(part, "toolCall")) {
        said.parts.push_back(part);
        continue;
      }
      SaidCall call = stored(call_in(part));
      const bool has_words =
          !said.parts.empty() && said.parts.back() == task::Part::of_text(words_for_call(call.called.name));
      if (has_words) said.parts.pop_back();
      if (!call.others.empty()) said.others = std::move(call.others);
      said.calls.push_back(std::move(call.called));
    }
    if (!said.parts.empty() || !said.calls.empty()) out.push_back(std::move(said));
  }

  const ModelSettings& settings_;
  const bool is_sent_;
  // By the client's id: the calls of a history beside the one that was sent, and the server's ids.
  std::map<std::string, SaidCall, std::less<>> stored_;
  std::map<std::string, std::string, std::less<>> ids_;
};

std::string cut(std::string text, std::size_t most = kResultMax) {
  if (text.size() <= most) return text;
  text.resize(base::beginning_of(text, most).size());
  return text + "\n[cut off]";
}

// Returns the context and the shared state that an AG-UI page sends beside the message. Each entry, and the
// state, has room of its own, which a long one cannot take from the others.
std::string page_words(const Turn& turn) {
  std::string text;
  const auto metadata = json::Document::view_of(turn.metadata.text);
  for (const json::Value entry : metadata.root()["agui"]["context"]) {
    const json::Value value = entry["value"];
    const std::string_view words = value.is_string() ? value.string() : value.raw();
    if (entry.is_object() && !words.empty())
      text += "\n- " + cut(entry["description"].str() + ": " + std::string(words), kContextEntryMax);
  }
  if (!text.empty()) text = "Context from the page:" + cut(std::move(text));
  const auto state = json::Document::view_of(turn.client_state.text);
  const bool has_state = !state.root().absent() && !(state.root().is_object() && state.root().size() == 0);
  if (has_state)
    text.append(text.empty() ? "" : "\n\n")
        .append("State of the page, as JSON: ")
        .append(cut(std::string(state.root().raw())));
  return text;
}

bool is_shown_file(const task::Part& part) {
  return protocol::models::is_image(part) || protocol::models::is_pdf(part);
}

std::size_t tokens_of(const ChatMessage& message) {
  std::size_t bytes = 0;
  for (const task::Part& part : message.parts) {
    bytes += is_shown_file(part) ? kTokensOfFile * kBytesOfToken : part.content.size();
  }
  bytes += message.others.text.size();
  for (const CalledTool& call : message.calls) {
    bytes +=
        call.name.size() + call.arguments.size() + call.others.text.size() + call.function_others.text.size();
  }
  return (bytes + kBytesOfToken - 1) / kBytesOfToken;
}

// The index of the first message of the history that fits the bounds.
std::size_t first_that_fits(const Messages& history, const ModelSettings& settings) {
  std::size_t first = history.size();
  std::size_t tokens = 0;
  while (first > 0 && history.size() - first < settings.history_messages) {
    tokens += tokens_of(history[first - 1]);
    if (tokens > settings.history_tokens) break;
    --first;
  }
  return first;
}

// The index of the message with the calls that `answers` are results of. It is sent whatever the bounds
// are.
std::size_t call_of(const Messages& history, const Messages& answers) {
  std::unordered_set<std::string_view> answered;
  for (const ChatMessage& answer : answers) answered.insert(answer.call_id);
  const auto is_answered = [&](const CalledTool& call) { return answered.contains(call.id); };
  std::size_t at = history.size();
  for (std::size_t place = 0; place < history.size(); ++place) {
    if (std::ranges::any_of(history[place].calls, is_answered)) at = place;
  }
  return at;
}

// Moves parts and calls to the message before.
void join(ChatMessage& message, ChatMessage&& next) {
  for (task::Part& part : next.parts) message.parts.push_back(std::move(part));
  for (CalledTool& call : next.calls) message.calls.push_back(std::move(call));
  if (!next.others.empty()) message.others = std::move(next.others);
}

// Puts every result after its call, and tells consecutive messages of one role as one: many models' templates
// take only turns of user and assistant. After the system prompt a user's message comes first.
class Pairing {
 public:
  void add(ChatMessage message) {
    if (message.role == Role::tool) {
      if (open_.erase(message.call_id) > 0) paired_.push_back(std::move(message));
      return;
    }
    close();
    if (message.role == Role::system) return add_system(std::move(message));
    const bool is_first = paired_.empty() || paired_.back().role == Role::system;
    if (is_first && message.role == Role::assistant && message.calls.empty()) return;
    // Gemini's models refuse a call without a message before it.
    if (is_first && message.role == Role::assistant)
      paired_.push_back(ChatMessage::of_text(Role::user, "[Earlier messages are left out.]"));
    for (const CalledTool& call : message.calls) open_.insert(call.id);
    if (!is_first && paired_.back().role == message.role) return join(paired_.back(), std::move(message));
    paired_.push_back(std::move(message));
  }

  Messages take() {
    close();
    return std::move(paired_);
  }

 private:
  void close() {
    for (const std::string& id : open_) {
      paired_.push_back(ChatMessage::of_text(Role::tool, "No result is available."));
      paired_.back().call_id = id;
    }
    open_.clear();
  }

  // Templates take one system message, at the beginning.
  void add_system(ChatMessage message) {
    const bool has_system = !paired_.empty() && paired_.front().role == Role::system;
    if (has_system) return join(paired_.front(), std::move(message));
    paired_.insert(paired_.begin(), std::move(message));
  }

  std::set<std::string> open_;
  Messages paired_;
};

// Skips a repeated text: many agents give their result both as a message and as an artifact.
void append(std::string& text, const std::string& more) {
  if (!more.empty() && more != text) text += (text.empty() ? "" : "\n") + more;
}

}  // namespace

std::optional<std::string> system_of(const ModelSettings& settings) {
  if (settings.system_file.empty()) return settings.system;
  std::ifstream file(settings.system_file, std::ios::binary);
  std::string text(kSystemMax + 1, '\0');
  if (!file.read(text.data(), std::ssize(text)) && !file.eof()) return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kSystemMax || !base::is_utf8(text)) return std::nullopt;
  return std::string(base::without_mark(text));
}

Messages conversation_of(const Turn& turn, const ModelSettings& settings, const std::string& system) {
  Messages history, now;
  HistoryReader reader(turn, settings);
  for (const task::Message& message : turn.history) reader.add(message, history);
  reader.add(turn.message, now);
  Pairing pairing;
  if (!system.empty()) pairing.add(ChatMessage::of_text(Role::system, system));
  const std::size_t call = call_of(history, now);
  std::size_t first = std::min(first_that_fits(history, settings), call);
  // Begins with a user's message: never with an answer, or with half of a tool call.
  const auto may_begin = [&](std::size_t place) {
    return history[place].role == Role::user || history[place].role == Role::system;
  };
  std::size_t begin = first;
  while (begin < call && !may_begin(begin)) ++begin;
  const bool is_lost = begin == call && call < history.size();
  while (is_lost && begin > 0 && !may_begin(begin)) --begin;
  if (begin == history.size() || may_begin(begin)) first = begin;
  if (std::string words = settings.tells_page ? page_words(turn) : std::string(); !words.empty()) {
    // Mistral's models take no user's message after a result. So the page's words stand before the call.
    const auto told = std::ranges::find(now, Role::user, &ChatMessage::role);
    const auto end = std::prev(history.rend(), static_cast<std::ptrdiff_t>(first));
    const auto before = std::ranges::find(history.rbegin(), end, Role::user, &ChatMessage::role);
    task::Part part = task::Part::of_text(std::move(words));
    if (told != now.end()) {
      told->parts.insert(told->parts.begin(), std::move(part));
    } else if (call == history.size()) {
      now.push_back({Role::user, {std::move(part)}, {}, {}, {}});
    } else if (before != end) {
      before->parts.insert(before->parts.begin(), std::move(part));
    } else {
      pairing.add({Role::user, {std::move(part)}, {}, {}, {}});
    }
  }
  for (std::size_t place = first; place < history.size(); ++place) pairing.add(std::move(history[place]));
  for (ChatMessage& message : now) pairing.add(std::move(message));
  Messages conversation = pairing.take();
  reader.restore_ids(conversation);
  return conversation;
}

void keep_with_call(task::Message& message, const CalledTool& call, const task::Json& others) {
  const auto with_room = [](const task::Json& members, std::size_t most) {
    return members.text.size() <= most ? members : task::Json{};
  };
  const task::Json of_call = with_room(call.others, kCallOthersMax),
                   of_function = with_room(call.function_others, kCallOthersMax),
                   of_message = with_room(others, kOthersMax);
  const bool keeps = !of_call.empty() || !of_function.empty() || !of_message.empty();
  for (task::Part& part : message.parts) {
    if (!is_data_with(part, "toolCall")) continue;
    if (!keeps && call_in(part).called.id == call.id) return;
    std::string text = std::move(part.content);
    text.pop_back();
    text.append(",").append(json::string_of(kKept)).append(":");
    json::Writer out(text);
    out.object([&] {
      out.member("id", call.id).optional("others", of_call);
      out.optional("function", of_function).optional("message", of_message);
    });
    part.content = std::move(text) + "}";
    return;
  }
}

std::string words_of(const DelegateResult& result, bool is_tool, std::size_t bytes_max) {
  const std::size_t most = std::min(bytes_max, kResultMax);
  if (!result.task) return "error: " + (result.error.empty() ? "no result is available" : result.error);
  std::string text;
  if (const auto own = task::own_message(result.task->status)) {
    for (const task::Part& part : own->parts) {
      const bool is_named = is_tool && part.kind == task::Part::Kind::raw;
      if (!is_named) append(text, words_of(part));
    }
  }
  const task::State state = result.task->status.state;
  if (state != task::State::completed) {
    const std::string who = is_tool ? "tool" : "agent";
    const std::string end = state == task::State::canceled ? "was canceled" : "failed";
    return cut("error: the " + who + " " + end + (text.empty() ? "" : ": " + text), most);
  }
  for (const task::Artifact& artifact : result.task->artifacts) {
    for (const task::Part& part : artifact.parts) append(text, words_of(part));
  }
  return cut(text.empty() ? "The agent finished without an answer." : std::move(text), most);
}

std::vector<task::Part> images_of(const DelegateResult& result) {
  std::vector<task::Part> images;
  if (!result.task || result.task->status.state != task::State::completed) return images;
  std::size_t room = protocol::models::kResultImageBytesMax;
  const auto add = [&](const std::vector<task::Part>& parts) {
    for (const task::Part& part : parts) {
      const bool is_shown = part.kind == task::Part::Kind::raw && protocol::models::is_common_image(part);
      const bool has_room = part.content.size() <= room && images.size() < protocol::models::kResultImagesMax;
      // Many agents give their result both as a message and as an artifact.
      if (!is_shown || part.content.empty() || !has_room || std::ranges::count(images, part) > 0) continue;
      room -= part.content.size();
      images.push_back(part);
    }
  };
  if (const auto own = task::own_message(result.task->status)) add(own->parts);
  for (const task::Artifact& artifact : result.task->artifacts) add(artifact.parts);
  return images;
}

bool drop_old_images(Messages& messages, std::size_t bytes_max) {
  std::size_t bytes = 0, dropped = 0;
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if (message->role != Role::tool) continue;
    for (const task::Part& part : message->parts) {
      if (protocol::models::is_image(part)) bytes += part.content.size();
    }
    if (bytes > bytes_max) dropped += std::erase_if(message->parts, protocol::models::is_image);
  }
  return dropped > 0;
}

}  // namespace baton::agents

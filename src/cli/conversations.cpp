#include "cli/conversations.h"

#include <algorithm>
#include <variant>

#include "base/text.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::cli {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using json::Value;

const std::vector<std::string> kTurnMembers{"say",      "parts", "state", "text",
                                            "contains", "lacks", "data",  "files"};

// A value's position in a file, for error messages.
class Place {
 public:
  Place(std::string_view text, Value value, std::string pointer)
      : text_(text), value_(value), pointer_(std::move(pointer)) {}

  Value value() const { return value_; }
  Place at(const std::string& member) const {
    const Value child = value_[member];
    return {text_, child.missing() ? value_ : child, pointer_ + "/" + member};
  }
  Place item(Value value, std::size_t number) const {
    return {text_, value, pointer_ + "/" + std::to_string(number)};
  }
  auto wrong(const std::string& reason) const {
    const auto place = json::place_at(text_, value_.offset());
    return fail(ErrorCode::invalid_argument, std::to_string(place.line) + ":" + std::to_string(place.column) +
                                                 ": " + (pointer_.empty() ? "" : pointer_ + ": ") + reason);
  }

 private:
  std::string_view text_;
  Value value_;
  std::string pointer_;
};

Result<void> check_members(const Place& place, const std::vector<std::string>& known) {
  if (!place.value().is_object()) return place.wrong("must be an object");
  const Value object = place.value();
  for (auto member = object.begin(); member != object.end(); ++member) {
    const std::string name((*member).key());
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string near = base::nearest_name(name, known);
    return place.at(name).wrong(near.empty() ? "is unknown" : "is unknown; did you mean \"" + near + "\"?");
  }
  return {};
}

// A string, or a list of strings.
Result<std::vector<std::string>> read_strings(const Place& place) {
  const Value value = place.value();
  if (value.is_string()) return std::vector{value.str()};
  std::vector<std::string> all;
  for (const Value item : value) {
    if (value.is_array() && item.is_string()) all.push_back(item.str());
  }
  if (!value.is_array() || all.size() != value.size())
    return place.wrong("must be a string or a list of strings");
  return all;
}

Result<std::vector<task::Part>> read_parts(const Place& turn) {
  const Value say = turn.value()["say"], parts = turn.value()["parts"];
  if (say.missing() == parts.missing()) return turn.wrong("must have one of \"say\" and \"parts\"");
  if (say.is_string()) return std::vector{task::Part::of_text(say.str())};
  if (!say.missing()) return turn.at("say").wrong("must be a string");
  auto read = protocol::v1::read_parts(parts);
  if (!read) return turn.at("parts").wrong(read.error().for_caller);
  return read;
}

Result<ExpectedTurn> read_turn(const Place& place) {
  if (auto known = check_members(place, kTurnMembers); !known) return fail(known.error());
  const Value turn = place.value();
  ExpectedTurn expected;
  auto parts = read_parts(place);
  if (!parts) return fail(parts.error());
  expected.parts = std::move(*parts);
  expected.says = turn["say"].is_string() ? turn["say"].str() : "parts";
  if (const Value state = turn["state"]; !state.missing()) {
    expected.state = task::state_named(state.string());
    if (!expected.state) return place.at("state").wrong("is not a state, such as \"input-required\"");
  }
  if (const Value text = turn["text"]; !text.missing()) {
    if (!text.is_string()) return place.at("text").wrong("must be a string");
    expected.text = text.str();
  }
  for (auto [member, list] : {std::pair("contains", &expected.contains), {"lacks", &expected.lacks}}) {
    if (turn[member].missing()) continue;
    auto read = read_strings(place.at(member));
    if (!read) return fail(read.error());
    *list = std::move(*read);
  }
  if (const Value data = turn["data"]; !data.missing()) expected.data = std::string(data.raw());
  if (!turn["files"].missing()) {
    auto files = read_strings(place.at("files"));
    if (!files) return fail(files.error());
    expected.files = std::move(*files);
  }
  return expected;
}

Result<Conversation> read_conversation(const Place& place) {
  if (auto known = check_members(place, {"name", "turns"}); !known) return fail(known.error());
  const Value name = place.value()["name"], turns = place.value()["turns"];
  if (!name.is_string() || name.string().empty()) return place.at("name").wrong("must be a string");
  if (!turns.is_array() || turns.size() == 0) return place.at("turns").wrong("must be a list of turns");
  Conversation conversation{name.str(), {}};
  const Place list = place.at("turns");
  for (const Value turn : turns) {
    auto read = read_turn(list.item(turn, conversation.turns.size()));
    if (!read) return fail(read.error());
    conversation.turns.push_back(std::move(*read));
  }
  return conversation;
}

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string listed(const std::vector<std::string>& texts) {
  return texts.empty() ? "none" : base::comma_separated(texts);
}

bool has_data(const Reply& reply, const std::string& wanted) {
  const auto expected = json::Document::view_of(wanted);
  return std::ranges::any_of(reply.data, [&](const std::string& text) {
    return json::same_value(json::Document::view_of(text).root(), expected.root());
  });
}

}  // namespace

void ReplyReader::add(const task::Artifact& artifact, bool append) {
  const std::string& id = artifact.id.value;
  if (known_.contains(id)) return;
  auto found = std::ranges::find(artifacts_, id, &decltype(artifacts_)::value_type::first);
  if (found == artifacts_.end()) found = artifacts_.insert(found, {id, {}});
  if (!append) found->second.clear();
  found->second.insert(found->second.end(), artifact.parts.begin(), artifact.parts.end());
}

void ReplyReader::read(const protocol::a2a::Update& update) {
  if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&update)) {
    state_ = status->status.state;
    if (status->status.message) message_ = status->status.message->parts;
  } else if (const auto* artifact = std::get_if<protocol::a2a::ArtifactUpdate>(&update)) {
    add(artifact->artifact, artifact->append);
  } else if (const auto* whole = std::get_if<task::Task>(&update)) {
    state_ = whole->status.state;
    for (const task::Artifact& one : whole->artifacts) add(one, false);
    if (whole->status.message) message_ = whole->status.message->parts;
  } else if (const auto* reply = std::get_if<protocol::a2a::MessageReply>(&update)) {
    // Some servers send an answer as several messages.
    if (state_ != task::State::completed) message_.clear();
    state_ = task::State::completed;
    message_.insert(message_.end(), reply->message.parts.begin(), reply->message.parts.end());
  }
}

Reply ReplyReader::end() {
  Reply reply;
  reply.state = state_.value_or(task::State::working);
  std::vector<task::Part> parts;
  for (const auto& [id, said] : artifacts_) parts.insert(parts.end(), said.begin(), said.end());
  // The status message counts as part of the reply if the artifacts have no text, and always in a question.
  const auto is_text = [](const task::Part& part) { return part.kind == task::Part::Kind::text; };
  if (std::ranges::none_of(parts, is_text) || task::is_waiting(reply.state))
    parts.insert(parts.end(), message_.begin(), message_.end());
  for (const task::Part& part : parts) {
    if (is_text(part)) reply.text += part.content;
    if (part.kind == task::Part::Kind::data) reply.data.push_back(part.content);
    if (!part.filename.empty()) reply.files.push_back(part.filename);
  }
  for (const auto& [id, said] : artifacts_) known_.insert(id);
  artifacts_.clear();
  message_.clear();
  state_.reset();
  return reply;
}

Result<std::vector<Conversation>> read_conversations(std::string_view text) {
  const auto document = json::Document::parse_view(text, {.comments = true, .lines = true});
  if (!document) return fail(ErrorCode::invalid_argument, document.error().for_caller);
  const Place whole(text, document->root(), "");
  if (auto known = check_members(whole, {"conversations"}); !known) return fail(known.error());
  const Place list = whole.at("conversations");
  if (!list.value().is_array()) return list.wrong("must be a list");
  std::vector<Conversation> all;
  for (const Value one : list.value()) {
    auto read = read_conversation(list.item(one, all.size()));
    if (!read) return fail(read.error());
    all.push_back(std::move(*read));
  }
  return all;
}

std::vector<std::string> differences(const ExpectedTurn& expected, const Reply& reply) {
  std::vector<std::string> found;
  const auto differs = [&](const std::string& what, const std::string& wanted, const std::string& is) {
    found.push_back(what + ": expected " + wanted);
    found.push_back(std::string(what.size(), ' ') + "  but got  " + is);
  };
  // If the file names no state, the turn must complete or wait for the next message.
  const bool is_well = reply.state == task::State::completed || task::is_waiting(reply.state);
  if (expected.state ? reply.state != *expected.state : !is_well)
    differs(
        "state", std::string(task::name_of(expected.state.value_or(task::State::completed))),
        std::string(task::name_of(reply.state)) + (reply.text.empty() ? "" : " " + in_quotes(reply.text)));
  if (expected.text && reply.text != *expected.text)
    differs("text", in_quotes(*expected.text), in_quotes(reply.text));
  for (const std::string& part : expected.contains) {
    if (reply.text.find(part) == std::string::npos)
      differs("text", "to contain " + in_quotes(part), in_quotes(reply.text));
  }
  for (const std::string& part : expected.lacks) {
    if (reply.text.find(part) != std::string::npos)
      differs("text", "to lack " + in_quotes(part), in_quotes(reply.text));
  }
  if (expected.data && !has_data(reply, *expected.data)) differs("data", *expected.data, listed(reply.data));
  if (expected.files && reply.files != *expected.files)
    differs("files", listed(*expected.files), listed(reply.files));
  return found;
}

}  // namespace baton::cli

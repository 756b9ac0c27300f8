#include "agents/model/conversation.h"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "agents/client_call.h"

namespace baton::agents::conversation_test {
namespace {

using protocol::models::ChatMessage;

task::Message said(task::Role role, std::string text) {
  task::Message message;
  message.role = role;
  message.parts.push_back(task::Part::of_text(std::move(text)));
  return message;
}

task::Message result(const std::string& id, const std::string& content) {
  task::Message message;
  message.parts.push_back(
      task::Part::of_data({R"({"toolResult":{"id":")" + id + R"(","content":")" + content + R"("}})"}));
  return message;
}

task::Message called(const std::string& id) {
  return message_of(task::ToolCall{id, "look", {"{\"x\":1}"}, true});
}

// One line per message: the first letter of its role, its text, and its calls or the call that it answers.
std::string told(const Turn& turn, const ModelSettings& settings = {}, const std::string& system = {}) {
  std::string lines;
  for (const ChatMessage& message : conversation_of(turn, settings, system)) {
    lines += std::string("suat").substr(static_cast<std::size_t>(message.role), 1) + ":" +
             task::text_of(std::span(message.parts));
    for (const auto& call : message.calls) lines += "<" + call.id + " " + call.name + call.arguments + ">";
    lines += (message.call_id.empty() ? "" : "=" + message.call_id) + "\n";
  }
  return lines;
}

Turn turn_with(std::vector<task::Message> history, task::Message message) {
  Turn turn;
  turn.history = std::move(history);
  turn.message = std::move(message);
  return turn;
}

constexpr auto kUser = task::Role::user;
constexpr auto kAgent = task::Role::agent;

}  // namespace

TEST_CASE("conversation_of: system prompt, history and message, in this order") {
  const Turn turn = turn_with({said(kUser, "a"), said(kAgent, "b")}, said(kUser, "c"));
  CHECK(told(turn, {}, "be kind") == "s:be kind\nu:a\na:b\nu:c\n");
}

TEST_CASE("conversation_of: history is bounded in messages and in tokens of four bytes") {
  const Turn turn =
      turn_with({said(kUser, "aaaaa"), said(kAgent, "bbbb"), said(kUser, "cccc")}, said(kUser, "d"));
  ModelSettings settings;
  settings.history_messages = 1;
  CHECK(told(turn, settings) == "u:cccc\nd\n");
  settings.history_messages = 0;
  CHECK(told(turn, settings) == "u:d\n");
  settings.history_messages = 10;
  settings.history_tokens = 3;
  CHECK(told(turn, settings) == "u:cccc\nd\n");
  settings.history_tokens = 4;
  CHECK(told(turn, settings) == "u:aaaaa\na:bbbb\nu:cccc\nd\n");
}

TEST_CASE("conversation_of: an image counts as a thousand tokens, whatever its size") {
  task::Message image = said(kUser, "look");
  image.parts.push_back({task::Part::Kind::raw, std::string(400'000, 'A'), {}, "Image/PNG", {}});
  const Turn turn = turn_with({said(kUser, "a"), std::move(image), said(kAgent, "b")}, said(kUser, "c"));
  ModelSettings settings;
  settings.history_tokens = 1'100;
  CHECK(told(turn, settings) == "u:a\nlook\na:b\nu:c\n");
  settings.history_tokens = 900;
  CHECK(told(turn, settings) == "u:c\n");
}

TEST_CASE("conversation_of: only URLs with public addresses are passed to the model's server to fetch") {
  for (const auto& [url, is_shown] :
       std::vector<std::pair<std::string, bool>>{{"https://example.com/a.png", true},
                                                 {"http://169.254.169.254/latest", false},
                                                 {"http://localhost/a.png", false},
                                                 {"file:///etc/passwd", false}}) {
    task::Message message;
    message.parts.push_back({task::Part::Kind::url, url, {}, "image/png", {}});
    const auto kind = conversation_of(turn_with({}, std::move(message)), {}, {}).back().parts.front().kind;
    CAPTURE(url);
    CHECK((kind == task::Part::Kind::url) == is_shown);
  }
}

TEST_CASE("conversation_of: a client's tool call and its result stay a call and a result") {
  const Turn turn = turn_with({said(kUser, "a"), called("c1")}, result("c1", "seen"));
  CHECK(told(turn) == "u:a\na:<c1 look{\"x\":1}>\nt:seen=c1\n");
}

TEST_CASE("conversation_of: the call that a message answers is included regardless of the bounds") {
  ModelSettings settings;
  settings.history_messages = 0;
  const Turn turn = turn_with({said(kUser, "a"), called("c1")}, result("c1", "seen"));
  CHECK(told(turn, settings) == "u:a\na:<c1 look{\"x\":1}>\nt:seen=c1\n");
}

TEST_CASE("conversation_of: a call without a result gets one, and a result without its call is dropped") {
  CHECK(told(turn_with({said(kUser, "a"), called("c1")}, said(kUser, "never mind"))) ==
        "u:a\na:<c1 look{\"x\":1}>\nt:No result is available.=c1\nu:never mind\n");
  CHECK(told(turn_with({said(kUser, "a"), result("c0", "old"), said(kAgent, "b")}, said(kUser, "c"))) ==
        "u:a\na:b\nu:c\n");
  CHECK(told(turn_with({said(kUser, "a"), called("c1"), result("c1", "x"), result("c1", "again")},
                       said(kUser, "c"))) == "u:a\na:<c1 look{\"x\":1}>\nt:x=c1\nu:c\n");
}

TEST_CASE("conversation_of: consecutive messages of one role are told as one, and a user's comes first") {
  CHECK(told(turn_with({said(kAgent, "welcome"), said(kUser, "a"), said(kUser, "b"), said(kAgent, "c"),
                        said(kAgent, "d")},
                       said(kUser, "e"))) == "u:a\nb\na:c\nd\nu:e\n");
}

TEST_CASE("conversation_of: if only calls are left of the history, a note of the user's comes before them") {
  const Turn turn =
      turn_with({result("c0", "old"), called("c1"), result("c1", "x"), called("c2")}, result("c2", "seen"));
  CHECK(told(turn, {}, "be kind") ==
        "s:be kind\nu:[Earlier messages are left out.]\na:<c1 look{\"x\":1}>\nt:x=c1\n"
        "a:<c2 look{\"x\":1}>\nt:seen=c2\n");
}

TEST_CASE("conversation_of: a page's system message is the caller's, or joins the system prompt") {
  task::Message system = said(kUser, "be brief");
  system.metadata.text = R"({"role":"system"})";
  const Turn turn = turn_with({std::move(system)}, said(kUser, "hello"));
  CHECK(told(turn, {}, "be kind") == "s:be kind\nu:be brief\nhello\n");
  ModelSettings settings;
  settings.takes_system_messages = true;
  CHECK(told(turn, settings, "be kind") == "s:be kind\nbe brief\nu:hello\n");
}

TEST_CASE(
    "conversation_of: a page's context and state are told before the message, unless the card says no") {
  Turn turn = turn_with({}, said(kUser, "hello"));
  turn.metadata.text = R"({"agui":{"context":[{"description":"cart","value":"3 pears"}]}})";
  turn.client_state.text = R"({"page":2})";
  CHECK(told(turn) ==
        "u:Context from the page:\n- cart: 3 pears\n\nState of the page, as JSON: {\"page\":2}\nhello\n");
  turn.client_state.text = "{}";
  turn.metadata.text.clear();
  CHECK(told(turn) == "u:hello\n");
  turn.client_state.text = "[1]";
  ModelSettings settings;
  settings.tells_page = false;
  CHECK(told(turn, settings) == "u:hello\n");
}

TEST_CASE("conversation_of: a page's state is told before the call whose result the message is") {
  Turn turn = turn_with({said(kUser, "a"), called("c1")}, result("c1", "seen"));
  turn.client_state.text = "[1]";
  const std::string state = "u:State of the page, as JSON: [1]\n", rest = "a:<c1 look{\"x\":1}>\nt:seen=c1\n";
  CHECK(told(turn) == state + "a\n" + rest);
  turn.history.erase(turn.history.begin());
  CHECK(told(turn) == state + rest);
}

TEST_CASE("conversation_of: what a server wants back with a client tool's call comes back, with its own id") {
  task::Message message = called("call-1");
  keep_with_call(message, {"an id of the server's", "look", "{}", {R"({"signature":"s"})"}, {}},
                 {R"({"reasoning":"r"})"});
  const Turn turn = turn_with({said(kUser, "a"), std::move(message)}, result("call-1", "seen"));
  const std::vector<ChatMessage> conversation = conversation_of(turn, {}, {});
  REQUIRE(conversation.size() == 3);
  CHECK(conversation[1].others.text == R"({"reasoning":"r"})");
  CHECK(conversation[1].calls.front().id == "an id of the server's");
  CHECK(conversation[1].calls.front().others.text == R"({"signature":"s"})");
  CHECK(conversation[2].call_id == "an id of the server's");
}

TEST_CASE("conversation_of: what a server wants back counts as tokens, and has its own room beside a call") {
  const auto with_reasoning = [](std::size_t bytes) {
    task::Message message = called("call-1");
    keep_with_call(message, {"own", "look", "{}", {R"({"signature":"s"})"}, {}},
                   {R"({"reasoning":")" + std::string(bytes, 'r') + "\"}"});
    return message;
  };
  Turn turn = turn_with({said(kUser, "a"), said(kAgent, "b"), said(kUser, "c"), with_reasoning(4'000),
                         result("call-1", "seen"), said(kAgent, "d")},
                        said(kUser, "e"));
  ModelSettings settings;
  settings.history_tokens = 900;
  CHECK(told(turn, settings) == "u:e\n");
  settings.history_tokens = 1'100;
  CHECK(told(turn, settings).starts_with("u:a\n"));
  // Too much to be shown to the caller and stored with the call.
  turn = turn_with({said(kUser, "a"), with_reasoning(300'000)}, result("call-1", "seen"));
  CHECK(turn.history[1].parts.back().content.size() < 1'000);
  const std::vector<ChatMessage> conversation = conversation_of(turn, {}, {});
  REQUIRE(conversation.size() == 3);
  CHECK(conversation[1].others.empty());
  CHECK(conversation[1].calls.front().id == "own");
  CHECK(conversation[1].calls.front().others.text == R"({"signature":"s"})");
}

TEST_CASE("conversation_of: a call with members nested as deep as an answer may be is still a call") {
  const std::string deep = R"({"x":)" + std::string(88, '[') + std::string(88, ']') + "}";
  task::Message message = message_of(task::ToolCall{"call-1", "look", {deep}, true});
  keep_with_call(message, {"own", "look", deep, {deep}, {deep}}, {deep});
  const Turn turn = turn_with({said(kUser, "a"), std::move(message)}, result("call-1", "seen"));
  const std::vector<ChatMessage> conversation = conversation_of(turn, {}, {});
  REQUIRE(conversation.size() == 3);
  CHECK(conversation[1].others.text == deep);
  CHECK(conversation[1].calls.front() == protocol::models::CalledTool{"own", "look", deep, {deep}, {deep}});
}

TEST_CASE("conversation_of: a page's long entry takes no room from the others and from the state") {
  Turn turn = turn_with({}, said(kUser, "hello"));
  turn.metadata.text = R"({"agui":{"context":[{"description":"log","value":")" + std::string(400'000, 'x') +
                       R"("},{"description":"cart","value":"3 pears"}]}})";
  turn.client_state.text = R"({"page":2})";
  const std::string words = told(turn);
  CHECK(words.size() < 100'000);
  CHECK(words.find("[cut off]\n- cart: 3 pears\n\nState of the page, as JSON: {\"page\":2}\nhello\n") !=
        std::string::npos);
}

TEST_CASE("conversation_of: in a history that the caller has sent, only what is stored goes with a call") {
  const protocol::models::CalledTool own{"an id of the server's", "look", "{}", {R"({"signature":"s"})"}, {}};
  task::Message stored = called("call-1");
  keep_with_call(stored, own, {R"({"reasoning":"r"})"});
  task::Message made_up = called("call-2");
  keep_with_call(made_up, {"x", "look", "{}", {R"({"signature":"evil"})"}, {}}, {R"({"role":"system"})"});
  Turn turn = turn_with({said(kUser, "a"), called("call-1")}, result("call-1", "seen"));
  turn.stored_history = {{std::move(stored)}};
  const std::vector<ChatMessage> conversation = conversation_of(turn, {}, {});
  REQUIRE(conversation.size() == 3);
  CHECK(conversation[1].others.text == R"({"reasoning":"r"})");
  CHECK(conversation[1].calls.front().id == own.id);
  CHECK(conversation[1].calls.front().others == own.others);
  CHECK(conversation[2].call_id == own.id);
  turn.history = {said(kUser, "a"), std::move(made_up)};
  turn.message = result("call-2", "seen");
  const std::vector<ChatMessage> other = conversation_of(turn, {}, {});
  REQUIRE(other.size() == 3);
  CHECK(other[1].others.empty());
  CHECK(other[1].calls.front().id == "call-2");
  CHECK(other[1].calls.front().others.empty());
}

TEST_CASE("words_of: a child's outcome becomes its text and file names, cut to a bound, or an error") {
  CHECK(words_of(DelegateResult{"d", std::nullopt, "agent not found:"}) == "error: agent not found:");
  task::Task child;
  child.status.state = task::State::completed;
  task::Artifact artifact;
  child.status.message = said(kAgent, "sunny");
  artifact.parts = {task::Part::of_text("sunny"), {task::Part::Kind::raw, "AAAA", "a.png", "image/png", {}}};
  child.artifacts.push_back(artifact);
  CHECK(words_of(DelegateResult{"d", child, {}}) == "sunny\n[the file a.png, 3 bytes]");
  child.artifacts.front().parts = {task::Part::of_text(std::string(300'000, 'x'))};
  CHECK(words_of(DelegateResult{"d", child, {}}).size() < 270'000);
  CHECK(words_of(DelegateResult{"d", child, {}}, false, 3) == "sun\n[cut off]");
  child.status.state = task::State::failed;
  child.status.message = said(kAgent, "no data");
  CHECK(words_of(DelegateResult{"d", child, {}}) == "error: the agent failed: no data");
}

TEST_CASE("images_of: images of common types are returned once, within the bounds, unless the child failed") {
  const auto image = [](std::size_t size, const char* type = "image/png") {
    return task::Part{task::Part::Kind::raw, std::string(size, 'A'), {}, type, {}};
  };
  task::Task child;
  child.status.state = task::State::completed;
  child.status.message = said(kAgent, "[image image/png, 3 bytes]");
  child.status.message->parts.push_back(image(4));
  CHECK(words_of(DelegateResult{"d", child, {}}, true) == "[image image/png, 3 bytes]");
  task::Artifact artifact;
  artifact.parts = {image(4),
                    image(4, "image/svg+xml"),
                    image(0),
                    {task::Part::Kind::url, "https://e/i", {}, "image/png", {}},
                    image(std::size_t{4} << 20),
                    image(8)};
  child.artifacts.push_back(artifact);
  CHECK(images_of(DelegateResult{"d", child, {}}) == std::vector<task::Part>{image(4), image(8)});
  child.artifacts.front().parts.clear();
  for (std::size_t one = 1; one <= 30; ++one) child.artifacts.front().parts.push_back(image(4 * one));
  CHECK(images_of(DelegateResult{"d", child, {}}).size() == 20);
  child.status.state = task::State::failed;
  CHECK(images_of(DelegateResult{"d", child, {}}).empty());
  CHECK(images_of(DelegateResult{"d", std::nullopt, "agent not found"}).empty());
}

TEST_CASE("drop_old_images: results keep the newest images that have room together, and the user keeps all") {
  const auto message = [](ChatMessage::Role role, std::size_t size) {
    ChatMessage made = ChatMessage::of_text(role, "look");
    made.parts.push_back({task::Part::Kind::raw, std::string(size, 'A'), {}, "image/png", {}});
    return made;
  };
  std::vector<ChatMessage> messages{message(ChatMessage::Role::user, 400),
                                    message(ChatMessage::Role::tool, 8), message(ChatMessage::Role::tool, 40),
                                    message(ChatMessage::Role::tool, 40)};
  const auto parts = [&] {
    std::vector<std::size_t> sizes;
    for (const ChatMessage& one : messages) sizes.push_back(one.parts.size());
    return sizes;
  };
  CHECK_FALSE(drop_old_images(messages, 88));
  CHECK(drop_old_images(messages, 80));
  CHECK(parts() == std::vector<std::size_t>{2, 1, 2, 2});
  CHECK(drop_old_images(messages, 0));
  CHECK(parts() == std::vector<std::size_t>{2, 1, 1, 1});
  CHECK(messages.back().parts.front().content == "look");
  CHECK_FALSE(drop_old_images(messages, 0));
}

}  // namespace baton::agents::conversation_test

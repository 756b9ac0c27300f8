#include "cli/terminal_view.h"

#include <doctest/doctest.h>

#include <string>

#include "json/document.h"
#include "protocol/a2a/client/client_dialect.h"

namespace baton::cli::terminal_view_test {
namespace {

protocol::a2a::Update update(std::string_view json) {
  const auto document = json::Document::parse_view(json);
  REQUIRE(document.has_value());
  static const auto dialect =
      protocol::a2a::client_dialect(task::ProtocolVersion::v0_1, protocol::Binding::json_rpc);
  auto read = dialect->read_update(document->root());
  REQUIRE(read.has_value());
  return *read;
}

std::string chunk(std::string_view text, bool append, bool last = false, int index = 0) {
  return R"({"id":"t","artifact":{"index":)" + std::to_string(index) +
         R"(,"parts":[{"type":"text","text":")" + std::string(text) + R"("}],"append":)" +
         (append ? "true" : "false") + R"(,"lastChunk":)" + (last ? "true" : "false") + "}}";
}

std::string status(std::string_view state, std::string_view message = "", std::string_view metadata = "") {
  std::string json = R"({"id":"t","status":{"state":")" + std::string(state) + R"(")";
  if (!message.empty()) {
    json +=
        R"(,"message":{"role":"agent","parts":[{"type":"text","text":")" + std::string(message) + R"("}]})";
  }
  json += "}";
  if (!metadata.empty()) json += R"(,"metadata":)" + std::string(metadata);
  return json + "}";
}

TEST_CASE("TerminalView: streamed text joins up and ends with its line") {
  TerminalView view(false);
  CHECK(view.show(update(status("working"))) == "working\n");
  CHECK(view.show(update(chunk("Hello ", false))) == "Hello ");
  CHECK(view.show(update(chunk("world", true))) == "world");
  CHECK(view.show(update(chunk("!", true, true))) == "!\n");
  CHECK(view.show(update(status("completed"))) == "completed\n");
  CHECK(view.end().empty());
}

TEST_CASE("TerminalView: output after unfinished text begins on its own line") {
  TerminalView view(false);
  view.show(update(chunk("half", false)));
  CHECK(view.show(update(status("failed", "no luck"))) == "\nfailed\nno luck\n");
}

TEST_CASE("TerminalView: a question of a child's says which agent asks") {
  const std::string asked =
      R"({"id":"t","status":{"state":"input-required","message":{"role":"agent",)"
      R"("parts":[{"type":"text","text":"Go?"}],"metadata":{"urn:baton:a2a:1":{"ask":"c.3",)"
      R"("askedBy":[{"agent":"plan","task":"c"},{"agent":"deploy","task":"d"}]}}}}})";
  TerminalView view(false);
  CHECK(view.show(update(asked)) == "input-required\ndeploy asks:\nGo?\n");
}

TEST_CASE("TerminalView: a state is shown once, and again with another text") {
  TerminalView view(false);
  CHECK(view.show(update(status("working", "step 1"))) == "working\nstep 1\n");
  CHECK(view.show(update(status("working", "step 1"))).empty());
  CHECK(view.show(update(status("working", "step 2"))) == "working\nstep 2\n");
}

TEST_CASE("TerminalView: progress is a bar that later output erases") {
  TerminalView view(false);
  CHECK(view.show(update(status("working", "reading", R"({"progress":0.5})"))) ==
        "\r\x1b[K[############------------] 50% reading");
  CHECK(view.show(update(status("working", "", R"({"progress":7})"))) ==
        "\r\x1b[K[########################] 100%");
  CHECK(view.show(update(status("completed"))) == "\r\x1b[Kcompleted\n");
  CHECK(view.show(update(status("working", "", R"({"progress":"x"})"))) == "working\n");
}

TEST_CASE("TerminalView: without a terminal, progress is a line for each text") {
  TerminalView view(false, 1000, false);
  CHECK(view.show(update(status("working", "reading", R"({"progress":0.5})"))) == "50% reading\n");
  CHECK(view.show(update(status("completed"))) == "completed\n");
}

TEST_CASE("TerminalView: a question's schema is shown as its fields") {
  TerminalView view(false);
  CHECK(view.show(update(R"({"id":"t","status":{"state":"input-required","message":{"role":"agent","parts":[
      {"type":"text","text":"Shall I?"},
      {"type":"data","data":{"schema":{"required":["go"],"properties":{"go":{"type":"boolean"}}}}}]}}})")) ==
        "input-required\nShall I?\n  go: yes or no\n");
}

TEST_CASE("TerminalView: a note that is too long for the bar's line is cut at a word") {
  TerminalView view(false, 60);
  const std::string shown =
      view.show(update(status("working", "reading the third of nine large files", R"({"progress":0.5})")));
  CHECK(shown == "\r\x1b[K[############------------] 50% reading the third of nine…");
}

TEST_CASE("TerminalView: a file's size is that of its content") {
  for (const auto& [base64, size] :
       {std::pair{"aA==", "1"}, std::pair{"aGk=", "2"}, std::pair{"aGkh", "3"}, std::pair{"", "0"}}) {
    TerminalView view(false);
    const std::string shown =
        view.show(update(R"({"id":"t","artifact":{"parts":[{"type":"file","file":{"name":"a","bytes":")" +
                         std::string(base64) + R"("}}],"lastChunk":true}})"));
    CHECK(shown.find(", " + std::string(size) + " bytes]") != std::string::npos);
  }
}

TEST_CASE("TerminalView: states have colours only on request") {
  TerminalView colour(true);
  CHECK(colour.show(update(status("completed"))) == "\x1b[32mcompleted\x1b[0m\n");
  CHECK(colour.show(update(status("failed"))) == "\x1b[31mfailed\x1b[0m\n");
  CHECK(colour.show(update(status("input-required", "which?"))) == "\x1b[33minput-required\x1b[0m\nwhich?\n");
}

TEST_CASE("TerminalView: files are named and data is shown") {
  TerminalView view(false);
  CHECK(view.show(update(R"({"id":"t","artifact":{"name":"report","parts":[
      {"type":"file","file":{"name":"a.svg","mimeType":"image/svg+xml","bytes":"aGkhaGkh"}},
      {"type":"file","file":{"uri":"https://x.example/y"}},
      {"type":"data","data":{"a":1,"b":[1,2]}}],"lastChunk":true}})")) ==
        "[report]\n[file a.svg, image/svg+xml, 6 bytes]\n[file, at https://x.example/y]\n{\"a\": 1, \"b\": "
        "[1, 2]}\n");
}

TEST_CASE("TerminalView: a restarted artifact is marked") {
  TerminalView view(false);
  view.show(update(chunk("first try", false)));
  CHECK(view.show(update(chunk("second try", false))) == "\n(starts again)\nsecond try");
}

TEST_CASE("TerminalView: text of another artifact begins on its own line") {
  TerminalView view(false);
  view.show(update(chunk("a", false, false, 0)));
  view.show(update(chunk("b", false, false, 1)));
  CHECK(view.show(update(chunk("c", true, false, 0))) == "\nc");
}

TEST_CASE("TerminalView: artifacts are distinguished by their ids") {
  const auto piece = [](const std::string& id, const std::string& text, bool append) {
    protocol::a2a::ArtifactUpdate update;
    update.artifact.id.value = id;
    update.artifact.parts = {task::Part::of_text(text)};
    update.append = append;
    return update;
  };
  TerminalView view(false);
  CHECK(view.show(piece("a", "one", false)) == "one");
  CHECK(view.show(piece("b", "two", false)) == "two");
  CHECK(view.show(piece("a", "three", true)) == "\nthree");
}

TEST_CASE("TerminalView: a reply without a task is shown as its text") {
  protocol::a2a::MessageReply reply;
  reply.message.id.value = "m";
  reply.message.parts = {task::Part::of_text("just so")};
  TerminalView view(false);
  CHECK(view.show(reply) == "just so");
  reply.message.parts = {task::Part::of_text(", in pieces")};
  CHECK(view.show(reply) == ", in pieces");
  reply.message.id.value = "n";
  reply.message.parts.push_back(task::Part::of_text("and parts"));
  CHECK(view.show(reply) == "\n, in pieces\nand parts");
  CHECK(view.end() == "\n");
}

TEST_CASE("TerminalView: a task is shown whole") {
  TerminalView view(false);
  CHECK(view.show(update(R"({"id":"t1","sessionId":"s","status":{"state":"completed"},
      "history":[{"role":"user","parts":[{"type":"text","text":"do it"}]}],
      "artifacts":[{"parts":[{"type":"text","text":"done"}]}]})")) ==
        "task t1\nuser\ndo it\ndone\ncompleted\n");
}

TEST_CASE("TerminalView: an agent's text cannot control the terminal") {
  TerminalView view(false);
  const std::string evil = R"(\u001b]0;owned\u0007\u009b2J\r\u202Eabc)";
  const std::string all =
      view.show(update(chunk(evil, false, true))) + view.show(update(status("working", evil))) +
      view.show(update(status("working", evil, R"({"progress":0.1})"))) +
      view.show(update(R"({"id":"t","artifact":{"index":3,"name":")" + evil +
                       R"(","parts":[{"type":"file","file":{"name":")" + evil + R"(","mimeType":")" + evil +
                       R"(","uri":")" + evil + R"("}},{"type":"data","data":")" + evil + R"("}]}})"));
  CHECK(all.find("\x1b]") == std::string::npos);
  CHECK(all.find('\x07') == std::string::npos);
  CHECK(all.find("\xC2\x9B") == std::string::npos);
  CHECK(all.find("\xE2\x80\xAE") == std::string::npos);
  // The only escape sequence is the one that erases the bar.
  std::string rest = all;
  for (std::size_t at; (at = rest.find("\r\x1b[K")) != std::string::npos;) rest.erase(at, 4);
  CHECK(rest.find('\x1b') == std::string::npos);
  CHECK(rest.find('\r') == std::string::npos);
}

}  // namespace
}  // namespace baton::cli::terminal_view_test

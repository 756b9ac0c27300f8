// `test`: runs conversations with an agent on the real engine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "app/check_cards.h"
#include "app/files.h"
#include "base/id.h"
#include "cli/agent_commands.h"
#include "cli/conversations.h"
#include "cli/exit_code.h"
#include "cli/local_server.h"
#include "cli/printable.h"
#include "cli/session.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFileMax = 16 << 20;
constexpr char kFile[] = "conversations.json";

struct Outcome {
  std::string name;
  std::vector<std::string> failure;  // lines; empty: the conversation went as expected
  std::chrono::duration<double> time{};
};

// Runs conversations against a server.
class Runner {
 public:
  Runner(const LocalServer& server, const std::string& agent) {
    server.let_in(client_);
    client_.agent = agent;
    client_.json = true;
  }

  Outcome run(const Conversation& conversation) {
    const auto begun = Clock::now();
    Session session(client_, {}, {});
    ReplyReader reader;
    session.watch_instead([&](const protocol::a2a::Update& update) { reader.take(update); });
    Outcome outcome{conversation.name, {}, {}};
    int ignored = kExitDone;
    const auto remotes = session.find(ignored);
    if (remotes.empty()) outcome.failure = {"the agent cannot be reached"};
    task::TaskId waiting;
    for (std::size_t i = 0; i < conversation.turns.size() && outcome.failure.empty(); ++i) {
      const ExpectedTurn& turn = conversation.turns[i];
      protocol::a2a::SendRequest send;
      send.submission.message.parts = turn.parts;
      send.submission.message.id.value = base::make_uuid();
      send.submission.task = waiting;
      send.submission.context = session.context();
      const client::FollowEnd end = session.send(remotes, send);
      const Reply reply = reader.end();
      if (end.stopped) outcome.failure = {"interrupted"};
      if (end.error) outcome.failure = {describe(*end.error, client_.url)};
      if (outcome.failure.empty()) outcome.failure = differences(turn, reply);
      waiting = task::is_waiting(reply.state) ? end.task : task::TaskId();
      if (outcome.failure.empty()) continue;
      outcome.failure.insert(outcome.failure.begin(),
                             "turn " + std::to_string(i + 1) + ", to \"" + turn.says + "\":");
    }
    outcome.time = Clock::now() - begun;
    return outcome;
  }

 private:
  ClientOptions client_;
};

void print(const std::string& agent, const Outcome& outcome) {
  std::printf("%s %s: %s (%.2f s)\n", outcome.failure.empty() ? "ok    " : "FAILED", agent.c_str(),
              printable_line(outcome.name).c_str(), outcome.time.count());
  for (const std::string& line : outcome.failure) std::printf("       %s\n", printable(line).c_str());
  std::fflush(stdout);
}

std::string xml_escaped(std::string_view text) {
  std::string all;
  for (const char c : printable(text)) {
    if (c == '&') all += "&amp;";
    if (c == '<') all += "&lt;";
    if (c == '"') all += "&quot;";
    if (c != '&' && c != '<' && c != '"') all += c;
  }
  return all;
}

bool write_junit(const std::string& file, const std::string& agent, const std::vector<Outcome>& outcomes) {
  std::ofstream out(file);
  const auto failures =
      std::ranges::count_if(outcomes, [](const Outcome& one) { return !one.failure.empty(); });
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" << xml_escaped(agent)
      << "\" tests=\"" << outcomes.size() << "\" failures=\"" << failures << "\">\n";
  for (const Outcome& one : outcomes) {
    out << "  <testcase classname=\"" << xml_escaped(agent) << "\" name=\"" << xml_escaped(one.name)
        << "\" time=\"" << one.time.count() << "\"";
    if (one.failure.empty()) {
      out << "/>\n";
      continue;
    }
    out << ">\n    <failure message=\"" << xml_escaped(one.failure.front()) << "\">";
    for (const std::string& line : one.failure) out << xml_escaped(line) << "\n";
    out << "</failure>\n  </testcase>\n";
  }
  out << "</testsuite>\n";
  return static_cast<bool>(out.flush());
}

int wrong(const std::string& what) {
  std::fprintf(stderr, "baton: %s\n", printable(what).c_str());
  return kExitUsage;
}

}  // namespace

int test_command(const TestOptions& options) {
  const auto [agents, agent] = app::agent_folder(options.folder);
  const std::string file = options.file.empty() ? (fs::path(options.folder) / kFile).string() : options.file;
  if (agent.empty()) return wrong(options.folder + ": has no card.json");
  const auto text = app::read_text_file(file, kFileMax);
  if (!text) return wrong(text.error().for_caller);
  const auto conversations = read_conversations(*text);
  if (!conversations) return wrong(file + ":" + conversations.error().for_caller);
  const auto server = LocalServer::start(agents);
  if (!server) return wrong(server.error().for_caller);
  Runner runner(**server, agent);
  std::vector<Outcome> outcomes;
  for (const Conversation& conversation : *conversations) {
    outcomes.push_back(runner.run(conversation));
    print(agent, outcomes.back());
  }
  const auto failed =
      std::ranges::count_if(outcomes, [](const Outcome& one) { return !one.failure.empty(); });
  std::printf("%zu passed, %td failed\n", outcomes.size() - static_cast<std::size_t>(failed), failed);
  if (!options.junit.empty() && !write_junit(options.junit, agent, outcomes)) {
    std::fprintf(stderr, "baton: %s: cannot be written\n", options.junit.c_str());
    return kExitNotSaved;
  }
  return failed == 0 ? kExitDone : kExitFailed;
}

}  // namespace baton::cli

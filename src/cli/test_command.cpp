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

constexpr std::size_t kConversationsMax = 16 << 20;
constexpr char kFile[] = "conversations.json";

struct Outcome {
  std::string name;
  std::vector<std::string> failure;  // lines; empty: the conversation went as expected
  std::chrono::duration<double> time{};
};

// An agent, what it is told, and what came of it.
struct Suite {
  std::string agent;
  std::vector<Conversation> conversations;
  std::vector<Outcome> outcomes;
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
    session.replace_display([&](const protocol::a2a::Update& update) { reader.read(update); });
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

std::ptrdiff_t failures_in(const std::vector<Outcome>& outcomes) {
  return std::ranges::count_if(outcomes, [](const Outcome& one) { return !one.failure.empty(); });
}

void write_suite(std::ostream& out, const Suite& suite) {
  out << "<testsuite name=\"" << xml_escaped(suite.agent) << "\" tests=\"" << suite.outcomes.size()
      << "\" failures=\"" << failures_in(suite.outcomes) << "\">\n";
  for (const Outcome& one : suite.outcomes) {
    out << "  <testcase classname=\"" << xml_escaped(suite.agent) << "\" name=\"" << xml_escaped(one.name)
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
}

bool write_junit(const std::string& file, const std::vector<Suite>& suites) {
  std::ofstream out(file);
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const Suite& suite : suites) write_suite(out, suite);
  out << "</testsuites>\n";
  return static_cast<bool>(out.flush());
}

base::Result<std::vector<Conversation>> conversations_in(const std::string& file) {
  const auto text = app::read_text_file(file, kConversationsMax);
  if (!text) return base::fail(text.error());
  auto conversations = read_conversations(*text);
  if (!conversations)
    return base::fail(base::ErrorCode::invalid_argument, file + ":" + conversations.error().for_caller);
  return conversations;
}

// Finds the conversations of the agent, or of every agent of the folder that has some.
base::Result<std::vector<Suite>> suites_in(const TestOptions& options, const app::AgentFolder& place) {
  std::vector<Suite> suites;
  std::error_code error;
  if (!place.name.empty()) {
    const std::string own = (fs::path(options.folder) / kFile).string();
    if (options.file.empty() && !fs::exists(own, error))
      return base::fail(base::ErrorCode::invalid_argument,
                        options.folder + ": has no " + kFile + ", the file with an agent's tests");
    auto conversations = conversations_in(options.file.empty() ? own : options.file);
    if (!conversations) return base::fail(conversations.error());
    suites.push_back({place.name, std::move(*conversations), {}});
    return suites;
  }
  if (!options.file.empty())
    return base::fail(base::ErrorCode::invalid_argument,
                      options.folder + ": has no card.json; --conversations requires one agent's folder");
  const fs::directory_iterator entries(place.agents, error);
  if (error)
    return base::fail(base::ErrorCode::invalid_argument,
                      options.folder + ": cannot be read: " + error.message());
  for (const auto& entry : entries) {
    std::error_code unknown;
    if (!fs::exists(entry.path() / "card.json", unknown) || !fs::exists(entry.path() / kFile, unknown))
      continue;
    auto conversations = conversations_in((entry.path() / kFile).string());
    if (!conversations) return base::fail(conversations.error());
    suites.push_back({entry.path().filename().string(), std::move(*conversations), {}});
  }
  if (suites.empty())
    return base::fail(base::ErrorCode::invalid_argument,
                      options.folder + ": no agent here has a " + std::string(kFile) +
                          "; it may be an agent's folder or one with agents");
  std::ranges::sort(suites, {}, &Suite::agent);
  return suites;
}

int refuse(const std::string& what) {
  std::fprintf(stderr, "baton: %s\n", printable(what).c_str());
  return kExitUsage;
}

}  // namespace

int test_command(const TestOptions& options) {
  const auto place = app::agent_folder(options.folder);
  const auto found = suites_in(options, place);
  if (!found) return refuse(found.error().for_caller);
  const auto server = LocalServer::start(place.agents);
  if (!server) return refuse(server.error().for_caller);
  std::vector<Suite> suites = *found;
  std::ptrdiff_t failed = 0, all = 0;
  for (Suite& suite : suites) {
    Runner runner(**server, suite.agent);
    for (const Conversation& conversation : suite.conversations) {
      suite.outcomes.push_back(runner.run(conversation));
      print(suite.agent, suite.outcomes.back());
    }
    failed += failures_in(suite.outcomes);
    all += std::ssize(suite.outcomes);
  }
  std::printf("%td passed, %td failed\n", all - failed, failed);
  if (!options.junit.empty() && !write_junit(options.junit, suites)) {
    std::fprintf(stderr, "baton: %s: cannot be written\n", options.junit.c_str());
    return kExitNotSaved;
  }
  return failed == 0 ? kExitDone : kExitFailed;
}

}  // namespace baton::cli

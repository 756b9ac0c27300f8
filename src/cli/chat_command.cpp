// `chat`: a conversation with an agent, of any A2A version, in the terminal.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "base/id.h"
#include "cli/agent_commands.h"
#include "cli/answer_form.h"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "cli/session.h"
#include "json/document.h"
#include "protocol/card/remote_card.h"

namespace baton::cli {
namespace {

constexpr std::array<std::string_view, 5> kChatHelp{
    "/1           sends the agent's first example, /2 its second",
    "/file NAME   sends a file with your next message",
    "/new         starts a new conversation",
    "/task        shows the last task",
    "/quit        ends the chat, like Ctrl-D; Ctrl-C also ends it during an answer",
};

// Lines of standard input, until Ctrl-C. They may have the line ends of Windows.
class Lines {
 public:
  explicit Lines(int interrupt) : interrupt_(interrupt) {}

  // Returns nullopt at the end of the input and after Ctrl-C.
  std::optional<std::string> next() {
    while (true) {
      if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
        std::string line = read_.substr(0, end);
        read_.erase(0, end + 1);
        if (line.ends_with('\r')) line.pop_back();
        return line;
      }
      if (!read_more()) return read_.empty() ? std::nullopt : std::optional(std::exchange(read_, {}));
    }
  }

 private:
  bool read_more() {
    std::array<pollfd, 2> watched{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{interrupt_, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0) return errno == EINTR;
    if (watched[1].revents != 0) return read_.clear(), false;
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got > 0) read_.append(bytes.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  const int interrupt_;
  std::string read_;
};

class Chat {
 public:
  explicit Chat(const ChatOptions& options)
      : session_(options.client, options.save, {}),
        lines_(session_.interrupt().fd()),
        context_{options.context},
        server_ends_(options.server_ends),
        prompts_(session_.console().for_people() && ::isatty(STDIN_FILENO) == 1) {
    if (options.on_update) session_.watch(options.on_update);
  }

  int run() {
    int exit_code = kExitDone;
    remotes_ = session_.find(exit_code);
    if (remotes_.empty()) return exit_code;
    if (prompts_) greet();
    while (!is_over_) {
      if (prompts_ && form_) {
        if (!fill_in(exit_code)) break;
        continue;
      }
      if (prompts_) session_.console().text(waiting_.empty() ? "> " : "answer> ");
      const auto line = lines_.next();
      if (!line) break;
      if (const std::string* example = example_of(*line)) {
        exit_code = say({.text = {*example}});
      } else if (line->starts_with('/')) {
        command(*line);
      } else if (line->find_first_not_of(" \t\r") != std::string::npos) {
        exit_code = say(parts_of(*line));
      }
    }
    if (prompts_) session_.console().end();
    if (session_.interrupt().pending()) return kExitInterrupted;
    return exit_code;
  }

 private:
  // Matches only the known commands: a field's value may also begin with a slash.
  static bool is_command(const std::string& line) {
    constexpr std::array<std::string_view, 5> kWords{"/file", "/new", "/task", "/quit", "/help"};
    return std::ranges::find(kWords, line.substr(0, line.find(' '))) != kWords.end();
  }

  // Says whom one is talking with, and offers the examples of the agent's card.
  void greet() {
    constexpr std::size_t kExamplesMax = 4, kLead = 6;
    Console& console = session_.console();
    const auto read = protocol::read_remote_card(session_.card());
    if (read && !read->card.name.empty() && !server_ends_)
      console.print_note(read->card.name +
                         (read->card.description.empty() ? "" : ": " + read->card.description));
    if (read) {
      for (const task::Skill& skill : read->card.skills)
        std::ranges::copy(skill.examples, std::back_inserter(examples_));
    }
    if (examples_.size() > kExamplesMax) examples_.resize(kExamplesMax);
    for (std::size_t i = 0; i < examples_.size(); ++i)
      console.text("  /" + std::to_string(i + 1) + "  " +
                   shortened(printable_line(examples_[i]), console.columns() - kLead) + "\n");
    console.print_note(examples_.empty() ? "Type a message, or /help."
                                         : "Type a message, /1 for an example, or /help.");
  }

  // The example that "/1" and the like mean; null: the line is something else.
  const std::string* example_of(const std::string& line) const {
    for (std::size_t i = 0; i < examples_.size(); ++i) {
      if (line == "/" + std::to_string(i + 1)) return &examples_[i];
    }
    return nullptr;
  }

  void command(const std::string& line) {
    Console& console = session_.console();
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    if (word == "/quit") {
      is_over_ = true;
    } else if (word == "/new") {
      context_ = {};
      waiting_ = {};
      form_.reset();
      console.print_note("a new conversation");
    } else if (word == "/task") {
      console.print_note(last_.empty() ? "there is none yet" : last_.value);
    } else if (word == "/file" && space != std::string::npos) {
      files_.push_back(line.substr(space + 1));
    } else {
      for (const std::string_view help : kChatHelp) console.print_note(help);
    }
  }

  // Programs may answer a question that has a form with JSON, which is sent as data. Plain words, such as
  // true and 3, are sent as text: the server reads them by the question's schema.
  OutgoingParts parts_of(const std::string& line) const {
    const auto json = form_ ? json::Document::view_of(line) : json::Document::view_of({});
    if (json.root().is_object() || json.root().is_array() || json.root().is_string()) return {.data = {line}};
    return {.text = {line == "-" ? " -" : line}};
  }

  // Asks for the answer field by field, and sends it. Commands may come in between; /new and /quit drop the
  // answer. Returns false if the input has ended.
  bool fill_in(int& exit_code) {
    Console& console = session_.console();
    std::vector<std::string> values;
    while (values.size() < form_->fields().size()) {
      const AnswerForm::Field& field = form_->fields()[values.size()];
      console.text(AnswerForm::prompt(field));
      const auto line = lines_.next();
      if (!line) return false;
      if (is_command(*line)) {
        command(*line);
        if (is_over_ || !form_) return true;
        continue;
      }
      auto value = AnswerForm::value(field, *line);
      if (value) {
        values.push_back(std::move(*value));
      } else {
        console.print_note(field.title + " " + value.error().for_caller);
      }
    }
    exit_code = say({.data = {form_->answer(values)}});
    return true;
  }

  // Sends a message and follows it. Returns the exit code to use if no other message follows.
  int say(OutgoingParts parts) {
    parts.files = std::exchange(files_, {});
    const auto message = make_message(parts);
    if (!message) {
      session_.console().error(message.error().for_caller);
      return kExitUsage;
    }
    protocol::a2a::SendRequest send;
    send.submission.message = *message;
    send.submission.message.id.value = base::make_uuid();
    const task::TaskId answered = std::exchange(waiting_, {});
    send.submission.task = answered;
    const auto form = std::exchange(form_, std::nullopt);
    send.submission.context = context_;
    const client::FollowEnd end = session_.send(remotes_, send);
    context_ = session_.context();
    if (!end.task.empty()) last_ = end.task;
    // A refused answer can be given again.
    if (end.error && !end.state && !end.unknown) {
      waiting_ = answered;
      form_ = form;
    }
    is_over_ = end.stopped;
    const bool goes_on_elsewhere = end.error || (end.stopped && !server_ends_);
    if (goes_on_elsewhere) return session_.report(end);
    session_.console().end();
    if (end.stopped) return kExitInterrupted;
    const task::State state = end.state.value_or(task::State::completed);
    if (task::is_waiting(state)) {
      waiting_ = end.task;
      if (session_.status_message()) form_ = AnswerForm::of(*session_.status_message());
    }
    return exit_code_for(state);
  }

  Session session_;
  Lines lines_;
  std::vector<client::Remote> remotes_;
  task::ContextId context_;
  task::TaskId waiting_, last_;     // `waiting_` waits for an answer; empty: no task does
  std::optional<AnswerForm> form_;  // of the question of `waiting_`
  std::vector<std::string> files_, examples_;
  const bool server_ends_, prompts_;
  bool is_over_ = false;
};

}  // namespace

int chat_command(const ChatOptions& options) {
  return Chat(options).run();
}

}  // namespace baton::cli

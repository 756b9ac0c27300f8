// TextTurn: a turn done by a program that knows nothing of Baton: text in, text out.
//
// The program reads the message's text from standard input, up to the end of input; the text ends with a
// newline. The message's data and files become files, whose paths are appended to its arguments; a file given
// only by URL is rejected. The program's output is the reply. Exit code 0 completes the turn, anything else
// fails it. Cancel is SIGTERM.
#pragma once

#include <optional>

#include "agents/command/agent_output.h"
#include "agents/command/command_turn.h"
#include "agents/command/launch_facts.h"
#include "agents/command/part_files.h"
#include "agents/command/text.h"
#include "base/log.h"

namespace baton::agents {

class TextTurn final : public CommandTurn,
                       public ProcessHandler,
                       public std::enable_shared_from_this<TextTurn> {
 public:
  TextTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<TurnSink> sink);

  void begin() override;
  void cancel() override;
  void deliver(const DelegateResult&) override {}  // such a program cannot delegate
  void abandon() override;

  void on_output(std::string_view bytes) override;
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override;

 private:
  void expect_output();

  const std::shared_ptr<const LaunchFacts> facts_;  // shared with the executor and its other turns
  const base::LogMembers log_members_;
  const task::TaskId task_;
  Command command_;
  std::string input_;             // until it is written
  PartFiles files_;               // kept while the program may read them
  std::optional<Outcome> wrong_;  // a problem with the files: the program is not started
  AgentOutput output_;
  Utf8Stream text_;
  std::shared_ptr<Process> process_;  // shared with the host; null before the launch and after the exit
  bool abandoned_ = false;
  bool canceling_ = false;
};

}  // namespace baton::agents

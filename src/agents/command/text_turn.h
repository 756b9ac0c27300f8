// TextTurn: a turn done by a program that knows nothing of Baton: text in, text out.
//
// It gets the text of the message on standard input, ended by a line end, then the end of input; and the
// message's data and files as files whose paths stand behind its own arguments. A file that is only named by
// a URL is rejected. What it prints is the reply. Exit code 0 completes the turn, anything else fails it.
// Cancel is SIGTERM.
#pragma once

#include <optional>

#include "agents/command/launch_facts.h"
#include "agents/command/part_files.h"
#include "agents/command/text.h"
#include "agents/command/turn_output.h"
#include "agents/command/turn_session.h"

namespace baton::agents {

class TextTurn final : public TurnSession,
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
  const std::string label_;
  const task::TaskId task_;
  std::string input_;             // until it is written
  PartFiles files_;               // while the program may read them
  std::optional<Outcome> wrong_;  // with the files: the program is not started
  TurnOutput output_;
  Utf8Stream text_;
  std::shared_ptr<Process> process_;  // shared with the host; null before the begin and after the end
  bool abandoned_ = false;
  bool canceling_ = false;
};

}  // namespace baton::agents

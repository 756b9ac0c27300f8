// TextTurn: a turn done by a program that knows nothing of Baton: text in, text out.
//
// The program reads the message's text from standard input, up to the end of input; the text ends with a
// newline. The message's data and files become files, whose paths are appended to its arguments; a file given
// only by URL is rejected. The program's output is the reply. Exit code 0 completes the turn, anything else
// fails it. Cancel is SIGTERM.
#pragma once

#include <optional>

#include "agents/command/part_files.h"
#include "agents/command/process_turn.h"
#include "agents/command/text.h"

namespace baton::agents {

class TextTurn final : public ProcessTurn {
 public:
  TextTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<SinkGate> gate);

  void begin() override;
  void cancel() override;
  void deliver(const DelegateResult&) override {}  // such a program cannot delegate
  void abandon() override;

  void on_output(std::string_view bytes) override;
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override;

 private:
  void on_launch() override;
  void on_adoption() override;

  std::string input_;             // until it is written
  PartFiles files_;               // kept while the program may read them
  std::optional<Outcome> wrong_;  // a problem with the files: the program is not started
  Utf8Stream text_;
  bool canceling_ = false;
};

}  // namespace baton::agents

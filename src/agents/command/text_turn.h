// TextTurn: a turn done by a program that knows nothing of Baton: text in, text out.
//
// The program reads the message's text from standard input, up to the end of input; the text ends with a
// newline. The message's data and files become files, whose paths are appended to its arguments; a file given
// only by URL is rejected. The program's output is the reply. Exit code 0 completes the turn, anything else
// fails it. Cancel is SIGTERM. The host's slow_work writes the files and removes them.
//
// Threads, ownership: as CommandTurn.
#pragma once

#include <memory>

#include "agents/command/part_files.h"
#include "agents/command/process_turn.h"
#include "agents/text.h"

namespace baton::agents {

class TextTurn final : public ProcessTurn {
 public:
  TextTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<SinkGate> gate);
  ~TextTurn() override;

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
  void write_files();
  void on_files(const base::Result<void>& written);

  std::string input_;  // until it is written
  // Kept while the program may read them; shared with the function that writes them. Null if there are
  // none.
  std::shared_ptr<PartFiles> files_;
  bool has_files_ = false;  // the files are written
  Utf8Stream text_;
  bool canceling_ = false;
};

}  // namespace baton::agents

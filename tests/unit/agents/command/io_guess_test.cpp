#include "agents/command/io_guess.h"

#include <doctest/doctest.h>

#include "support/temp_folder.h"

namespace io_guess_test {

using namespace baton;
using Io = agents::AgentSettings::Io;

TEST_CASE("IoGuess: the first complete line that is not blank decides") {
  CHECK(agents::spoken_in("", false) == std::nullopt);
  CHECK(agents::spoken_in(" \r\n\n", true) == std::nullopt);
  CHECK(agents::spoken_in("\n{\"type\":\"do", false) == std::nullopt);
  CHECK(agents::spoken_in("\n{\"type\":\"done\"}\nmore", false) == Io::lines);
  CHECK(agents::spoken_in("{\"type\":\"done\"}", true) == Io::lines);
  CHECK(agents::spoken_in("{\"type\":\"do", true) == Io::text);
}

TEST_CASE("IoGuess: output that cannot become a protocol line is text at once") {
  CHECK(agents::spoken_in("Hel", false) == Io::text);
  CHECK(agents::spoken_in("[1]", false) == Io::text);
  CHECK(agents::spoken_in("{\"type\":\"number\"}\n", false) == Io::text);
  CHECK(agents::spoken_in("{\"answer\":42}\n{\"type\":\"done\"}\n", false) == Io::text);
}

TEST_CASE("IoGuess: the first turn that decides counts") {
  agents::IoGuess guess({"no-such-file"}, "/");
  CHECK(guess.io() == Io::text);
  CHECK(guess.is_open());
  CHECK(guess.learn(Io::lines));
  CHECK_FALSE(guess.learn(Io::text));
  CHECK(guess.io() == Io::lines);
  CHECK_FALSE(guess.is_open());
}

TEST_CASE("IoGuess: a source of any bytes is searched, a million spaces included") {
  const test::TempFolder folder;
  folder.write("lines.py", "\xff\nprint(json.dumps({'type':   'done'}))\n");
  folder.write("spaces.py", "{'type'" + std::string(1 << 20, ' ') + "\n");
  CHECK(agents::IoGuess({"python3", "lines.py"}, folder.path()).io() == Io::lines);
  CHECK(agents::IoGuess({"python3", "spaces.py"}, folder.path()).io() == Io::text);
}

}  // namespace io_guess_test

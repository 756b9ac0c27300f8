// The program `baton`: its command line, and what stands behind each command.
#pragma once

namespace baton::cli {

// Answers the exit code.
int run(int argc, char** argv);

}  // namespace baton::cli

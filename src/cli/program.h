// The program `baton`: its command line and its commands.
#pragma once

namespace baton::cli {

// Returns the exit code.
int run(int argc, char** argv);

}  // namespace baton::cli

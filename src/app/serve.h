// Builds and runs the server.
#pragma once

#include <functional>

#include "app/load_config.h"

namespace baton::app {

// Builds every long-lived object in order, prints "listening on http://HOST:PORT" to standard output once it
// is ready, serves until SIGTERM or SIGINT, drains and takes everything down in reverse. A second such signal
// ends the drain. Returns the exit code: 0 after a drain, 1 if it could not start (the reason is then on
// standard error).
//
// At SIGHUP the tokens and the agents' cards are read again, by `read_again` and from the agents' folder.
// Problems are logged, and what was there before stays. Other settings need a restart.
int serve(const Config& config, const std::function<LoadedConfig()>& read_again);

}  // namespace baton::app

// Builds and runs the server.
#pragma once

#include <functional>

#include "app/load_config.h"

namespace baton::app {

// Builds every long-lived object in order, prints "listening on http://HOST:PORT" to standard output when it
// is ready, serves until SIGTERM or SIGINT, drains, and destroys the objects in reverse order. A second such
// signal ends the drain. Returns the exit code: 0 after a drain, 1 if it could not start (with the reason on
// standard error).
//
// SIGHUP reloads the tokens and the signing keys with `read_again`, and the agents' cards from the agents'
// folder. On a problem, logs it and keeps the old ones. Other settings need a restart.
int serve(const Config& config, const std::function<LoadedConfig()>& read_again);

}  // namespace baton::app

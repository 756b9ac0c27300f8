// The server, put together and run.
#pragma once

#include "cli/config.h"

namespace baton::cli {

// Builds every long-lived object in order, says "listening on http://HOST:PORT" on standard output once it is
// ready, serves until SIGTERM or SIGINT, drains and takes everything down in reverse. Returns the exit code:
// 0 after a drain, 1 if it could not start (the reason is then on standard error).
int serve(const Config& config);

}  // namespace baton::cli

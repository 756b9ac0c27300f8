// The program's limit on file descriptors, and how they are shared.
#pragma once

#include <cstddef>

#include "agents/catalogue.h"
#include "app/config.h"
#include "http/http_server.h"

namespace baton::app {

// Raises the limit on open files as far as the system allows, and returns it.
std::size_t raise_descriptor_limit();

// The limits of the connection layer, with no more connections than there are descriptors for. Logs a warning
// if that is fewer than configured.
http::Limits http_limits(const Config& config, const agents::Catalogue& catalogue, std::size_t descriptors);

}  // namespace baton::app

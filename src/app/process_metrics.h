// Metrics of the process, under the names that every Prometheus client library has for them, and of its
// database's files.
//
// Threads: any. What the system does not tell is left out.
#pragma once

#include <string>

#include "base/metrics_text.h"

namespace baton::app {

// `baton_build_info` too.
void add_process_metrics(base::MetricsText& out);

// `path`: of a SQLite database; its log counts as well.
void add_database_size(base::MetricsText& out, const std::string& path);

}  // namespace baton::app

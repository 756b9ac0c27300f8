// Metrics of the process, under the standard names of Prometheus client libraries, and of the database's
// files.
//
// Threads: any. Metrics that the system does not provide are left out.
#pragma once

#include <string>

#include "base/metrics_text.h"

namespace baton::app {

// Also adds `baton_build_info`.
void add_process_metrics(base::MetricsText& out);

// `path` is a SQLite database. Adds its size and that of its write-ahead log.
void add_database_size(base::MetricsText& out, const std::string& path);

}  // namespace baton::app

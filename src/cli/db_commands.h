// The commands of `baton db`. Each prints its results and returns an exit code (exit_code.h): 0, 1 if a fault
// was found, 2 for a wrong command line, 4 if a database or file cannot be used, 6 if a file cannot be
// written.
#pragma once

#include <string>
#include <vector>

#include "app/database.h"

namespace baton::cli {

struct DbOptions {
  std::string database = "baton.db";
  std::string file;   // the copy, the database to check, or the export; empty: the command's default
  bool json = false;  // stats
  app::TaskChoice choice;
};

struct DbCopyOptions {
  std::string first, second;  // the source and the target, except those whose addresses are in files
  std::string from_file, to_file;
  std::vector<std::string> postgres_allows;
  bool json = false;
};

int db_backup_command(const DbOptions& options);
int db_check_command(const DbOptions& options);
int db_stats_command(const DbOptions& options);
int db_export_command(const DbOptions& options);
int db_import_command(const DbOptions& options);
int db_copy_command(const DbCopyOptions& options);

}  // namespace baton::cli

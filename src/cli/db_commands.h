// The commands of `baton db`. Each prints its results and returns an exit code: 0, 1 for a fault that was
// found, 2 for a wrong command line, 4 for a database or file that cannot be used, 6 for a file that cannot
// be written (exit_code.h).
#pragma once

#include <string>
#include <vector>

#include "app/database.h"

namespace baton::cli {

struct DbOptions {
  std::string database = "baton.db";
  std::string file;   // the copy, the database to check, the export; empty: as the command says
  bool json = false;  // stats
  app::TaskChoice choice;
};

struct DbCopyOptions {
  std::string first, second;  // from and to, but for those that are in files
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

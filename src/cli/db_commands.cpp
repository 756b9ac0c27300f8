#include "cli/db_commands.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "json/writer.h"

namespace baton::cli {
namespace {

int db_failed(const base::Error& error) {
  const std::string& what = error.for_log.empty() ? error.for_caller : error.for_log;
  std::fprintf(stderr, "baton: %s\n", printable(what).c_str());
  return kExitNoAnswer;
}

// Writes lines to standard output, or to a new file that only its owner may read, because webhooks contain
// credentials. Removes the file unless it was finished: part of an export looks like a smaller one.
class LineWriter {
 public:
  static std::unique_ptr<LineWriter> open(const std::string& file) {
    std::FILE* stream = stdout;
    if (!file.empty()) {
      const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      stream = made < 0 ? nullptr : ::fdopen(made, "w");
    }
    return stream == nullptr ? nullptr : std::unique_ptr<LineWriter>(new LineWriter(stream, file));
  }
  ~LineWriter() {
    if (stream_ == stdout) return;
    std::fclose(stream_);
    if (!is_finished_) ::unlink(file_.c_str());
  }
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  bool write(const std::string& line) {
    return std::fwrite(line.data(), 1, line.size(), stream_) == line.size() &&
           std::fputc('\n', stream_) != EOF;
  }
  bool finish() {
    is_finished_ = std::fflush(stream_) == 0 && (stream_ == stdout || ::fsync(::fileno(stream_)) == 0);
    return is_finished_;
  }

 private:
  LineWriter(std::FILE* stream, const std::string& file) : stream_(stream), file_(file) {}
  std::FILE* stream_;
  const std::string file_;
  bool is_finished_ = false;
};

// Prints one line for a table: text for people, JSON otherwise.
void print_copied(const app::CopiedTable& table, bool for_people) {
  if (for_people) {
    std::printf("%-16s %12lld rows  %s\n", table.name.c_str(), static_cast<long long>(table.rows),
                table.is_equal ? "equal" : "NOT EQUAL");
  } else {
    std::string line;
    json::Writer out(line);
    out.object([&] {
      out.member("table", table.name);
      out.member("rows", table.rows);
      out.member("equal", table.is_equal);
    });
    std::printf("%s\n", line.c_str());
  }
  std::fflush(stdout);
}

}  // namespace

int db_backup_command(const DbOptions& options) {
  const auto bytes = app::back_up_database(options.database, options.file);
  if (!bytes) return db_failed(bytes.error());
  std::printf("%s: %lld bytes\n", options.file.c_str(), static_cast<long long>(*bytes));
  return kExitDone;
}

int db_check_command(const DbOptions& options) {
  const std::string& database = options.file.empty() ? options.database : options.file;
  const auto faults = app::check_database(database);
  if (!faults) return db_failed(faults.error());
  for (const std::string& fault : *faults) std::printf("%s\n", printable(fault).c_str());
  if (faults->empty()) std::printf("%s: no faults\n", database.c_str());
  return faults->empty() ? kExitDone : kExitFailed;
}

int db_stats_command(const DbOptions& options) {
  const auto figures = app::measure_database(options.database);
  if (!figures) return db_failed(figures.error());
  if (options.json) {
    std::string line;
    json::Writer out(line);
    out.object([&] {
      for (const auto& [name, number] : *figures) out.member(name, number);
    });
    std::printf("%s\n", line.c_str());
    return kExitDone;
  }
  for (const auto& [name, number] : *figures) {
    std::printf("%-24s %lld\n", name.c_str(), static_cast<long long>(number));
  }
  return kExitDone;
}

int db_export_command(const DbOptions& options) {
  const auto lines = LineWriter::open(options.file);
  if (!lines) {
    std::fprintf(stderr, "baton: %s cannot be created, or already exists\n", options.file.c_str());
    return kExitNotSaved;
  }
  const auto moved = app::export_tasks(options.database, options.choice,
                                       [&](const std::string& line) { return lines->write(line); });
  if (options.file.empty()) (void)written(kExitDone);
  if (!moved) return db_failed(moved.error());
  if (!lines->finish()) {
    std::fprintf(stderr, "baton: not everything could be written\n");
    return kExitNotSaved;
  }
  std::fprintf(stderr, "%s exported\n", task_count(moved->tasks).c_str());
  if (moved->left_out > 0) {
    std::fprintf(stderr, "%s not come to rest and %s left out\n",
                 (task_count(moved->left_out) + (moved->left_out == 1 ? " has" : " have")).c_str(),
                 moved->left_out == 1 ? "is" : "are");
  }
  return kExitDone;
}

int db_import_command(const DbOptions& options) {
  std::ifstream file;
  const bool is_input = options.file == "-";
  if (!is_input) file.open(options.file, std::ios::binary);
  if (!is_input && !file) {
    std::fprintf(stderr, "baton: %s cannot be read\n", options.file.c_str());
    return kExitNoAnswer;
  }
  std::istream& lines = is_input ? std::cin : file;
  const auto moved = app::import_tasks(options.database, [&]() -> std::optional<std::string> {
    std::string line;
    if (!std::getline(lines, line)) return std::nullopt;
    return line;
  });
  if (!moved) return db_failed(moved.error());
  std::printf("%s imported\n", task_count(moved->tasks).c_str());
  return kExitDone;
}

int db_copy_command(const DbCopyOptions& options) {
  std::string words[] = {options.first, options.second};
  const auto named = [&](const std::string& file) {
    if (!file.empty()) return app::NamedDatabase{{}, file};
    return app::NamedDatabase{std::exchange(words[0], std::exchange(words[1], {})), {}};
  };
  app::DatabaseCopy copy;
  copy.from = named(options.from_file);
  copy.to = named(options.to_file);
  copy.postgres_allows = options.postgres_allows;
  if (!words[0].empty() || (copy.from.database + copy.from.file).empty() ||
      (copy.to.database + copy.to.file).empty()) {
    std::fprintf(stderr, "baton: name the database to copy and the copy: baton db copy FROM TO\n");
    return kExitUsage;
  }
  const bool for_people = !options.json;
  bool is_equal = true;
  const auto copied = app::copy_database(copy, [&](const app::CopiedTable& table) {
    is_equal = is_equal && table.is_equal;
    print_copied(table, for_people);
  });
  if (copied) return kExitDone;
  const int code = db_failed(copied.error());
  if (copied.error().code == base::ErrorCode::invalid_request) return kExitUsage;
  return is_equal ? code : kExitFailed;
}

}  // namespace baton::cli

/* Loaded before the C library. Keeps a second file beside each database file and each write-ahead log, with the content
 * that a disk would have after a power cut: only writes that were flushed. To cut the power, kill the program and
 * replace the first files with the second ones.
 *
 *   POWER_CUT_FOLDER  where the second files and the list of violations go
 *   POWER_CUT_KEEP    percentage of writes that reach the disk before they are flushed (a disk may write at any time)
 *   POWER_CUT_LIE     if set, flushes flush nothing, which a test must notice
 *
 * Violations of the order of a checkpoint: a thread writes the database without having flushed the log since it last
 * flushed the database (other threads may write the log meanwhile; the copied part was there before); the log restarts
 * while the database has unflushed writes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 64, DIRTY = 1 << 16 };
struct range { off_t begin; size_t size; };
struct file {
  dev_t device;
  ino_t inode;
  int kind; /* 1: a database, 2: a log */
  int copy;
  int unflushed; /* written or truncated since the last flush */
  int dirty;
  struct range ranges[DIRTY];
};

static struct file *files[FILES];
static int file_count, checkpoints, violations;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned random_state = 1;
static __thread int flushed_log; /* by this thread, since it last flushed the database */

#define REAL(name, type) ((type)real(#name, &real_##name))
static void *real_pwrite64, *real_pwrite, *real_ftruncate64, *real_ftruncate, *real_fdatasync, *real_fsync;
static void *real(const char *name, void **kept) {
  if (*kept == NULL) *kept = dlsym(RTLD_NEXT, name);
  return *kept;
}
typedef ssize_t (*pwrite_type)(int, const void *, size_t, off_t);
typedef int (*ftruncate_type)(int, off_t);
typedef int (*sync_type)(int);

static void note(const char *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s/notes", getenv("POWER_CUT_FOLDER"));
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (write(fd, text, strlen(text)) < 0) abort();
  close(fd);
}

static int ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), wanted = strlen(end);
  return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static void copy_range(int from, int to, off_t begin, size_t size) {
  char buffer[1 << 16];
  while (size > 0) {
    const ssize_t got = pread(from, buffer, size < sizeof buffer ? size : sizeof buffer, begin);
    if (got <= 0) return; /* truncated meanwhile */
    if (REAL(pwrite64, pwrite_type)(to, buffer, (size_t)got, begin) != got) abort();
    begin += got;
    size -= (size_t)got;
  }
}

/* Call under the mutex. The content of a file that is first seen counts as flushed. */
static struct file *file_of(int fd) {
  struct stat status;
  const char *folder = getenv("POWER_CUT_FOLDER");
  if (folder == NULL || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return NULL;
  for (int i = 0; i < file_count; ++i) {
    if (files[i]->inode == status.st_ino && files[i]->device == status.st_dev) return files[i];
  }
  char link[64], name[4096], path[8192];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 0) return NULL;
  name[length] = 0;
  /* Ignores other files: they may be gone soon, and their inodes reused. */
  const int kind = ends_with(name, ".db") ? 1 : ends_with(name, ".db-wal") ? 2 : 0;
  if (kind == 0) return NULL;
  if (file_count == FILES) abort();
  struct file *file = calloc(1, sizeof *file);
  file->kind = kind;
  file->device = status.st_dev;
  file->inode = status.st_ino;
  files[file_count++] = file;
  snprintf(path, sizeof path, "%s/%s", folder, strrchr(name, '/') + 1);
  file->copy = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int whole = open(name, O_RDONLY | O_CLOEXEC); /* `fd` may not be for reading */
  if (file->copy < 0 || whole < 0) abort();
  copy_range(whole, file->copy, 0, (size_t)status.st_size);
  close(whole);
  return file;
}

static int any_unflushed(int kind) {
  for (int i = 0; i < file_count; ++i) {
    if (files[i]->kind == kind && files[i]->unflushed) return 1;
  }
  return 0;
}

static void check_order(const struct file *file, int begins_anew) {
  if (file->kind == 1 && any_unflushed(2) && !flushed_log) {
    if (violations++ == 0) note("violation: the database is written before the log is flushed\n");
  }
  if (file->kind == 2 && begins_anew) {
    if (any_unflushed(1) && violations++ == 0) note("violation: the log begins anew before the database is flushed\n");
    if (checkpoints++ > 0) note("log begins anew\n");
  }
}

static ssize_t write_at(int fd, const void *data, size_t size, off_t begin, pwrite_type write_it) {
  pthread_mutex_lock(&mutex);
  struct file *file = file_of(fd);
  if (file) check_order(file, begin == 0);
  const ssize_t written = write_it(fd, data, size, begin);
  if (file && written > 0) {
    const char *keep = getenv("POWER_CUT_KEEP");
    file->unflushed = 1;
    if (file->dirty == DIRTY) abort(); /* more than any test writes */
    file->ranges[file->dirty++] = (struct range){begin, (size_t)written};
    random_state = random_state * 1103515245u + 12345u;
    if (keep && (int)(random_state >> 16) % 100 < atoi(keep)) {
      if (REAL(pwrite64, pwrite_type)(file->copy, data, (size_t)written, begin) != written) abort();
    }
  }
  pthread_mutex_unlock(&mutex);
  return written;
}

static int cut(int fd, off_t size, ftruncate_type cut_it) {
  pthread_mutex_lock(&mutex);
  struct file *file = file_of(fd);
  if (file) check_order(file, size == 0);
  const int result = cut_it(fd, size);
  if (file && result == 0) file->unflushed = 1;
  pthread_mutex_unlock(&mutex);
  return result;
}

static int flush(int fd, sync_type flush_it) {
  pthread_mutex_lock(&mutex);
  struct file *file = file_of(fd);
  const int result = flush_it(fd);
  if (file && result == 0 && getenv("POWER_CUT_LIE") == NULL) {
    struct stat status;
    fstat(fd, &status);
    for (int i = 0; i < file->dirty; ++i) copy_range(fd, file->copy, file->ranges[i].begin, file->ranges[i].size);
    if (REAL(ftruncate64, ftruncate_type)(file->copy, status.st_size) != 0) abort();
    file->dirty = file->unflushed = 0;
    flushed_log = file->kind == 2;
  }
  pthread_mutex_unlock(&mutex);
  return result;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t begin) {
  return write_at(fd, data, size, begin, REAL(pwrite64, pwrite_type));
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t begin) {
  return write_at(fd, data, size, begin, REAL(pwrite, pwrite_type));
}
int ftruncate64(int fd, off_t size) { return cut(fd, size, REAL(ftruncate64, ftruncate_type)); }
int ftruncate(int fd, off_t size) { return cut(fd, size, REAL(ftruncate, ftruncate_type)); }
int fdatasync(int fd) { return flush(fd, REAL(fdatasync, sync_type)); }
int fsync(int fd) { return flush(fd, REAL(fsync, sync_type)); }

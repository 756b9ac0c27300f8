// The VFS of the writing connection: the system's own, except for the write-ahead log. SQLite writes each
// page of a commit to the log with two calls, a small one and one of 4 KiB, and flushes at the end of the
// commit. This VFS gathers contiguous writes into one call and leaves a commit's flush to WalFile::flush.
//
// Set these on a connection before its first use: `synchronous=FULL`, so that SQLite signals the end of a
// commit, and `checkpoint_fullfsync=ON`, which distinguishes a checkpoint's flushes, done at once, from a
// commit's.
#pragma once

namespace baton::store::sqlite {

// The name to open a connection with. The first call registers the VFS; throws SQLite::Exception.
const char* wal_vfs();

}  // namespace baton::store::sqlite

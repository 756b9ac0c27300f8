// The file system that the writing connection sees: the system's own, but for the write-ahead log. SQLite
// writes each page of a commit to it with two calls, a small one and one of 4 KiB, and flushes at the end of
// each; here what is contiguous is gathered and written with one call, and the flush of a commit is left to
// WalFile::flush.
//
// A connection that uses it must have, from its first moment on, `synchronous=FULL`, so that SQLite says
// where a commit ends, and `checkpoint_fullfsync=ON`, by which the flushes of a checkpoint, which are done at
// once, are told from those of a commit.
#pragma once

namespace baton::store::sqlite {

// Its name, to open a connection with. Made by the first call; throws SQLite::Exception.
const char* wal_vfs();

}  // namespace baton::store::sqlite

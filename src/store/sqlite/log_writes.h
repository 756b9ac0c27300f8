// log_writes: how a writing connection writes SQLite's write-ahead log. SQLite makes two system calls for
// each page of a commit, one of them for the 24 bytes of the page's header; here there is one for each 64
// KiB of a commit.
//
// The pages of a commit wait in memory until SQLite has passed its last page. Only then does SQLite tell
// other connections of the commit, so none of them reads pages that are not in the file.
//
// Only one connection of all programs may commit to a database (file_lock.h); others may copy its log into
// it. Pages of a large transaction that was rolled back wait until its connection uses the log again, and
// would then overwrite what another connection has committed meanwhile.
//
// Threads: any. The connections of a program share nothing here.
#pragma once

namespace baton::store::sqlite {

// The name of the virtual file system for writing connections. All but the log's writes is left to SQLite's
// default one. Registers it when first called.
const char* log_writes_vfs();

}  // namespace baton::store::sqlite

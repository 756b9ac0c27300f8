// load_libpq: loads PostgreSQL's client library. The program is not linked with it: most installations have
// no PostgreSQL, and with the libraries that libpq needs the program would start more slowly.
//
// Threads: any. The functions of <libpq-fe.h> that Baton calls are defined in libpq.cpp and forward to the
// loaded library. They may be called after load_libpq has succeeded, which Address::read sees to.
#pragma once

#include "base/error.h"

namespace baton::store::postgres {

// Fails with unsupported if the library is missing or too old.
base::Result<void> load_libpq();

}  // namespace baton::store::postgres

// Identity: the certificates that the server presents now, as listeners and gRPC use them. They are replaced
// while the server runs, all together, and only after they have been read and checked. Connections keep those
// that they began with.
//
// Threads: `reload` and `look` one at a time; the rest from any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"
#include "http/tls/certificate.h"
#include "http/tls/contexts.h"
#include "http/tls/files.h"
#include "http/tls/ticket_keys.h"

namespace baton::http::tls {

class Identity {
 public:
  // Takes a certificate that has expired, or is not valid yet: a server with one can still be reached by
  // those who accept it.
  static base::Result<std::unique_ptr<Identity>> open(IdentityFiles files);

  std::shared_ptr<const Contexts> contexts() const {
    return now_.with([](const Now& now) { return now.contexts; });
  }

  // Reads these files. Keeps what it has if a file cannot be used, or if a certificate is not valid now and
  // is not served already. `look` then tries the files again.
  base::Result<void> reload(IdentityFiles files);

  // Does the same if a file has changed since they were read. Returns nullopt if none has.
  std::optional<base::Result<void>> look();

 private:
  struct Now {
    std::shared_ptr<const Contexts> contexts;
  };
  Identity() = default;
  base::Result<void> load(const IdentityFiles& files, bool only_valid);
  bool is_served(const Certificate& certificate) const;
  static std::string stamp_of(const IdentityFiles& files);

  base::Guarded<Now> now_;
  IdentityFiles files_;
  std::string stamp_;                          // of the files when they were read
  std::string ticket_secret_;                  // that `tickets_` was made from; empty: a random one
  std::shared_ptr<const TicketKeys> tickets_;  // shared with the contexts
};

}  // namespace baton::http::tls

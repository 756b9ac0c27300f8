// SignInProvider: the authorization server at which people sign in.
//
// Its discovery document is kept for an hour. Threads: any.
#pragma once

#include <string>

#include "app/config.h"
#include "app/issuer_calls.h"
#include "base/guarded.h"
#include "base/unique_fd.h"
#include "server/sign_in/provider.h"

namespace baton::app {

class SignInProvider final : public server::sign_in::Provider {
 public:
  // `steady`: for the age of the document. `counts`: for the metrics of calls. Both must outlive it.
  SignInProvider(const base::Clock& steady, outbound::Proxy proxy, outbound::CallCounts& counts);

  void set(const SignInOptions& options);
  // Ends calls that are under way, and later ones at once.
  void stop();

  base::Result<std::string> authorization_url() override;
  base::Result<std::string> redeem(const server::sign_in::Redemption& redemption) override;

 private:
  struct Known {
    SignInOptions options;
    std::string document;  // empty: not fetched yet
    base::Timestamp until{};
  };
  // With a document that is not too old.
  base::Result<Known> known();

  const base::Clock& steady_;
  const base::UniqueFd stop_fd_;
  const IssuerCalls calls_;
  base::Guarded<Known> known_;
};

}  // namespace baton::app

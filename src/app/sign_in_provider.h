// SignInProvider: the authorization server where people sign in.
//
// Its discovery document is kept for an hour, and a failure to fetch it for five seconds. It is fetched once
// at a time. Threads: any.
#pragma once

#include <mutex>
#include <optional>
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

  base::Result<server::sign_in::Endpoint> endpoint() override;
  std::optional<base::Result<server::sign_in::Endpoint>> known_endpoint() override;
  base::Result<std::string> redeem(const server::sign_in::Redemption& redemption) override;

 private:
  struct Known {
    SignInOptions options;
    std::string document;                // empty: not fetched yet
    std::optional<base::Error> failure;  // of the last fetch
    base::Timestamp until{};             // of the document or the failure
  };
  // Does not fetch. Nullopt: there is no document, or it is too old.
  std::optional<base::Result<Known>> kept() const;
  // Fetches the document if it is too old.
  base::Result<Known> known();

  const base::Clock& steady_;
  const base::UniqueFd stop_fd_;
  const IssuerCalls calls_;
  std::mutex fetching_;  // held by the thread that fetches
  base::Guarded<Known> known_;
};

}  // namespace baton::app

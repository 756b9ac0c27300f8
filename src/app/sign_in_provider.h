// SignInProvider: the authorization server where people sign in.
//
// Its discovery document is fetched anew after an hour, once at a time. If that fails, the last one serves
// for a day, and the next attempt comes a minute later. Without one a failure is kept for five seconds.
// Threads: any.
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
    base::Timestamp fetched{};           // when the document was
    base::Timestamp until{};             // when it is fetched again
  };
  // Does not fetch. Nullopt: it is time to fetch the document.
  std::optional<base::Result<Known>> kept() const;
  // Fetches the document if it is time to.
  base::Result<Known> known();

  const base::Clock& steady_;
  const base::UniqueFd stop_fd_;
  const IssuerCalls calls_;
  std::mutex fetching_;  // held by the thread that fetches
  base::Guarded<Known> known_;
};

}  // namespace baton::app

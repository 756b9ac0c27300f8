#include "outbound/outcome.h"

namespace baton::outbound {

Outcome outcome_of(int status) {
  if (status >= 200 && status <= 299) return Outcome::done;
  if (status == 425 || status == 429 || status == 503 || status == 529) return Outcome::busy;
  if (status == 408 || (status >= 500 && status <= 599)) return Outcome::lost;
  return Outcome::final;
}

}  // namespace baton::outbound

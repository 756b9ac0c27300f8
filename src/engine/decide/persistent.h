// Persistent: posts decisions that must succeed, such as the beginning of a turn. A decision that the store
// refuses for the moment is retried after a pause, until it is written or no longer needed.
//
// Threads: any. Lifetime: must outlive the work of the inbox and of the background.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/decide/inbox.h"
#include "engine/shared/background.h"

namespace baton::engine {

class Persistent {
 public:
  // Returns true if the decision is not needed any more. Must not block.
  using IsNeedless = std::function<bool()>;

  Persistent(Inbox& inbox, Background& background) : inbox_(inbox), background_(background) {}

  // Posts `decision` until it is written, or refused with not_found or task_not_found, which mean that
  // nothing is left to do. Only these results reach `done`, which may be empty. A refusal with conflict means
  // that it is too early. `is_needless` is called before each try and after a conflict; may be empty. `what`:
  // what failed for now, for the log.
  void post(Decision decision, std::string what, IsNeedless is_needless = {});

 private:
  struct Kept;
  void post(const std::shared_ptr<Kept>& kept);
  void refused(const std::shared_ptr<Kept>& kept, const base::Error& error);

  Inbox& inbox_;
  Background& background_;
};

}  // namespace baton::engine

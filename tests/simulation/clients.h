// Client: sends, repeats sends, answers, cancels, lists, reads, and follows tasks on streams that are cut and
// resumed. It remembers what it sent and what it was answered.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "call.h"
#include "world.h"

namespace baton::simulation {

class Client {
 public:
  Client(World& world, int number);

  // Acts until the world is calm, then finishes the call under way. Runs on a fiber of its own.
  void run();

 private:
  // A message that the client sent, and what it knows of the answer.
  struct Sent {
    task::Submission submission;
    std::optional<engine::Accepted> accepted;
    int process = 0;          // the one that accepted it
    bool unknown = false;     // an answer was lost
    bool may_reopen = false;  // by tasks-era rules
    int under_way = 0;
  };
  using Accepted = base::Result<engine::Accepted>;

  void act();
  task::Submission fresh(const std::string& agent);
  void send_new();
  void send_plan();
  void answer_plan(const Sent& known);
  void send_again();
  void send_to_known();
  void submit(std::size_t which);
  void accept(Sent& sent, const engine::Accepted& accepted, int process);
  void repeat_beside(std::size_t which);
  void wait(const Sent& sent);
  bool is_gone(task::TaskKey key) const;
  void cancel(const Sent& sent);
  void follow(const Sent& sent);
  void read(const Sent& sent);
  void list();
  void set_webhook(const Sent& sent);
  const Sent* one_accepted();

  World& world_;
  Random& random_;
  const std::string name_;
  int messages_ = 0, plans_ = 0;
  std::deque<Sent> book_;  // stays in place while calls are under way
  std::vector<task::ContextId> contexts_;
};

}  // namespace baton::simulation

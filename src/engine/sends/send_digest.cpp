#include "engine/sends/send_digest.h"

#include <limits>

#include "base/sha256.h"

namespace baton::engine {
namespace {

void add_part(base::Sha256& sha, const task::Part& part) {
  sha.add(static_cast<std::uint64_t>(part.kind));
  sha.add(part.content);
  sha.add(part.filename);
  sha.add(part.media_type);
  sha.add(part.metadata.text);
}

// Each list is preceded by its length, so that it cannot run into what follows.
void add_message(base::Sha256& sha, const task::Message& message) {
  sha.add(message.id.value);
  sha.add(message.parts.size());
  for (const task::Part& part : message.parts) add_part(sha, part);
  sha.add(message.metadata.text);
  sha.add(message.extensions.size());
  for (const std::string& extension : message.extensions) sha.add(extension);
  sha.add(message.reference_tasks.size());
  for (const task::TaskId& task : message.reference_tasks) sha.add(task.value);
}

task::SendDigest result_of(base::Sha256& sha) {
  const auto [high, low] = sha.first_128_bits();
  return {high, low};
}

}  // namespace

task::SendDigest digest_of(const task::Submission& submission) {
  base::Sha256 sha;
  sha.add(submission.caller.value);
  sha.add(submission.agent.value);
  sha.add(submission.task.value);
  sha.add(submission.context.value);
  add_message(sha, submission.message);
  return result_of(sha);
}

task::SendDigest digest_of_name(const task::Caller& caller, const task::AgentName& agent,
                                const task::ContextId& context, const std::string& name) {
  base::Sha256 sha;
  // A message's digest has the length of the caller's name here, which is never this large.
  sha.add(std::numeric_limits<std::uint64_t>::max());
  sha.add(caller.value);
  sha.add(agent.value);
  sha.add(context.value);
  sha.add(name);
  return result_of(sha);
}

task::SendDigest digest_of_call(const task::TaskHead& parent, const std::string& call, int nth,
                                const task::Submission& submission) {
  base::Sha256 sha;
  // Never the length of a caller's name either.
  sha.add(std::numeric_limits<std::uint64_t>::max() - 1);
  sha.add(parent.id.value);
  sha.add(static_cast<std::uint64_t>(parent.key.value));
  sha.add(static_cast<std::uint64_t>(parent.turn.value));
  sha.add(call);
  sha.add(static_cast<std::uint64_t>(nth));
  sha.add(submission.agent.value);
  sha.add(submission.task.value);
  add_message(sha, submission.message);
  return result_of(sha);
}

task::SendDigest digest_of_answer(const task::TaskHead& parent, const std::string& ask) {
  base::Sha256 sha;
  // Never the length of a caller's name either.
  sha.add(std::numeric_limits<std::uint64_t>::max() - 2);
  sha.add(parent.id.value);
  sha.add(static_cast<std::uint64_t>(parent.key.value));
  sha.add(ask);
  return result_of(sha);
}

}  // namespace baton::engine

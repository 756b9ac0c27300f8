// The objects of A2A 0.1, 0.2 and 0.3 in their JSON-RPC form, which differ by a few tags and names: 0.1 has
// `type`, `sessionId`, `index`; 0.2 and 0.3 have `kind`, `contextId`, `artifactId`. With both sets an object
// is valid in all of them at once (README.md, 9).
//
// For clients of 0.1 the states it lacks are renamed: rejected shows as failed, auth-required as
// input-required, and the status has a message whose metadata.state is the state's own name. Where all
// generations are meant, that is done for the tasks that a client of 0.1 made: others are read by newer
// clients. Threads: none shared. The names must outlive it.
#pragma once

#include "task/task.h"
#include "wire/a2a/dialect.h"
#include "wire/json/writer.h"

namespace baton::wire::a2a {

// The generations an object is to be valid in.
enum class Tags { v0_1, v0_2_and_v0_3, all };

class TaggedObjects {
 public:
  TaggedObjects(Writer& out, Tags tags, const task::TaskId& task, const task::ContextId& context,
                task::Generation origin = task::Generation::v1_0)
      : out_(out), tags_(tags), task_(task), context_(context), origin_(origin) {}

  // With `final` where it is given: to 0.1 a Task at the head of a stream is a status event.
  void write_task(const task::Task& task, std::optional<bool> final = {});
  void write_status_event(const task::Status& status, const task::Json& metadata, bool final);
  void write_artifact_event(const task::ArtifactChunk& chunk, const task::Json& metadata);
  void write_push(const task::PushConfig& config);
  // With the ids of the task and the context, where they are not empty.
  void write_message(const task::Message& message);

 private:
  bool has_v0_1() const { return tags_ != Tags::v0_2_and_v0_3; }
  bool has_v0_3() const { return tags_ != Tags::v0_1; }
  bool renames_states() const {
    return tags_ == Tags::v0_1 || (tags_ == Tags::all && origin_ == task::Generation::v0_1);
  }

  void write_kind(std::string_view kind);
  void write_context();
  void write_event_names(std::string_view kind);
  void write_part(const task::Part& part);
  void write_parts(const std::vector<task::Part>& parts);
  void write_status(const task::Status& status);
  // `chunk`: the event that the artifact is in, if any.
  void write_artifact(const task::Artifact& artifact, const task::ArtifactChunk* chunk);

  Writer& out_;
  const Tags tags_;
  const task::TaskId& task_;
  const task::ContextId& context_;
  const task::Generation origin_;
};

}  // namespace baton::wire::a2a

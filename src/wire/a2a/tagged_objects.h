// TaggedObjects: writes the objects of A2A 0.1, 0.2 and 0.3 in their JSON-RPC form. They differ by a few tags
// and names: 0.1 has `type`, `sessionId`, `index`; 0.2 and 0.3 have `kind`, `contextId`, `artifactId`. An
// object with both sets is valid in all of them (README.md, 9).
//
// States that 0.1 lacks are renamed for its clients: rejected shows as failed, auth-required as
// input-required, and the status has a message whose metadata.state is the real state. Tags::all renames only
// for tasks that a client of 0.1 made: newer clients read the others. Threads: none shared. The Writer and
// the ids must outlive it.
#pragma once

#include "task/task.h"
#include "wire/a2a/dialect.h"
#include "wire/json/writer.h"

namespace baton::wire::a2a {

// The generations in which an object must be valid.
enum class Tags { v0_1, v0_2_and_v0_3, all };

class TaggedObjects {
 public:
  TaggedObjects(Writer& out, Tags tags, const task::TaskId& task, const task::ContextId& context,
                task::Generation origin = task::Generation::v1_0)
      : out_(out), tags_(tags), task_(task), context_(context), origin_(origin) {}

  // `final` is written if given: in 0.1, a Task at the head of a stream is a status event.
  void write_task(const task::Task& task, std::optional<bool> final = {});
  void write_status_event(const task::Status& status, const task::Json& metadata, bool final);
  void write_artifact_event(const task::ArtifactChunk& chunk, const task::Json& metadata);
  void write_push(const task::PushConfig& config);
  // Includes the ids of the task and the context, unless empty.
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
  // `chunk`: the event that holds the artifact, or null.
  void write_artifact(const task::Artifact& artifact, const task::ArtifactChunk* chunk);

  Writer& out_;
  const Tags tags_;
  const task::TaskId& task_;
  const task::ContextId& context_;
  const task::Generation origin_;
};

}  // namespace baton::wire::a2a

// TaggedObjects: writes the objects of A2A 0.1, 0.2 and 0.3 in their JSON-RPC form. They differ by a few tags
// and names: 0.1 has `type`, `sessionId`, `index`; 0.2 and 0.3 have `kind`, `contextId`, `artifactId`. An
// object with both sets is valid in all of them (README.md, 9).
//
// States that 0.1 lacks are renamed for its clients: rejected is shown as failed, auth-required as
// input-required, and the status has a message whose metadata.state is the real state. In objects for several
// versions, states are renamed only if a client of 0.1 created the task; newer clients read other tasks.
// Threads: one at a time. Lifetime: the Writer and the ids must outlive it.
#pragma once

#include "json/writer.h"
#include "protocol/a2a/dialect.h"
#include "task/task.h"

namespace baton::protocol::a2a {

class TaggedObjects {
 public:
  // `versions`: those in which an object must be valid, one of the ranges of rules.h before 1.0.
  TaggedObjects(json::Writer& out, task::VersionRange versions, const task::TaskId& task,
                const task::ContextId& context, task::ProtocolVersion origin = task::ProtocolVersion::v1_0)
      : out_(out), versions_(versions), task_(task), context_(context), origin_(origin) {}

  // `final` is written if given: in 0.1, a Task at the head of a stream is a status event.
  void write_task(const task::Task& task, std::optional<bool> final = {});
  void write_status_event(const task::Status& status, const task::Json& metadata, bool final);
  void write_artifact_event(const task::ArtifactChunk& chunk, const task::Json& metadata);
  void write_push(const task::PushConfig& config);
  // Includes the ids of the task and the context, unless empty.
  void write_message(const task::Message& message);

 private:
  bool has_v0_1() const { return versions_.contains(task::ProtocolVersion::v0_1); }
  bool has_v0_3() const { return versions_.contains(task::ProtocolVersion::v0_3); }
  bool renames_states() const {
    return has_v0_1() && (!has_v0_3() || origin_ == task::ProtocolVersion::v0_1);
  }

  void write_kind(std::string_view kind);
  void write_context();
  void write_event_names(std::string_view kind);
  void write_part(const task::Part& part);
  void write_parts(const std::vector<task::Part>& parts);
  void write_status(const task::Status& status);
  // `chunk`: the event that holds the artifact, or null.
  void write_artifact(const task::Artifact& artifact, const task::ArtifactChunk* chunk);

  json::Writer& out_;
  const task::VersionRange versions_;
  const task::TaskId& task_;
  const task::ContextId& context_;
  const task::ProtocolVersion origin_;
};

}  // namespace baton::protocol::a2a

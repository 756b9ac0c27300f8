// Reads the objects of A2A in answers of remote agents. Names, tags and enum values of any version are
// accepted. The version matters only for the form of parts, for push configs, and to distinguish a Task from
// an event.
//
// Threads: any; stateless.
#pragma once

#include <cstddef>
#include <limits>

#include "base/error.h"
#include "json/document.h"
#include "protocol/a2a/client/updates.h"
#include "protocol/a2a/dialect.h"

namespace baton::protocol::a2a {

enum class PartShape {
  tagged,      // before 1.0: text, file, data
  proto_v0_3,  // the same in ProtoJSON, with data wrapped once more
  v1_0,        // text, raw, url, data
};

class ObjectReader {
 public:
  ObjectReader(PartShape shape, task::ProtocolVersion version) : shape_(shape), version_(version) {}

  task::ProtocolVersion version() const { return version_; }
  // The most artifacts, messages and parts of one answer, counted together; an answer with more is refused
  // before any of them is read. By default there is no limit. Call before the reader is shared.
  void set_items_max(std::size_t items) { items_max_ = items; }

  // An item of a stream, or the answer to a send.
  base::Result<Update> read_update(json::Value item) const;
  base::Result<task::Task> read_task(json::Value task) const;
  base::Result<TaskPage> read_list(json::Value page) const;
  base::Result<PushRequest> read_push(json::Value push) const;
  // A list, or an object with the list as `configs`.
  base::Result<std::vector<PushRequest>> read_pushes(json::Value list) const;

 private:
  base::Result<void> check_items(json::Value task) const;
  base::Result<std::vector<task::Part>> read_parts(json::Value owner) const;
  base::Result<MessageReply> read_message(json::Value message) const;
  base::Result<task::Status> read_status(json::Value status) const;
  base::Result<ArtifactUpdate> read_artifact(json::Value artifact) const;
  base::Result<Update> read_status_update(json::Value event) const;
  base::Result<Update> read_artifact_update(json::Value event) const;
  base::Result<Update> read_bare(json::Value item) const;

  const PartShape shape_;
  const task::ProtocolVersion version_;
  std::size_t items_max_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace baton::protocol::a2a

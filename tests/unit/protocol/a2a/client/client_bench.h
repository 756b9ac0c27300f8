// For tests of client dialects: pairs of a client dialect and the server dialect of the same version and
// binding, and the members of a task that each pair can transmit.
#pragma once

#include <string>
#include <vector>

#include "protocol/a2a/client/client_dialect.h"
#include "unit/protocol/a2a/dialect_bench.h"

namespace baton::test {

struct Pair {
  const char* name;
  const protocol::a2a::Dialect& server;
  protocol::a2a::ClientDialectPtr client;
  bool is_v0_1 = false, is_rest = false, is_v1_0 = false;
};

inline std::vector<Pair> pairs() {
  using namespace protocol::a2a;
  using protocol::Binding;
  using task::ProtocolVersion;
  return {
      {"0.1", v0_1(), client_dialect(ProtocolVersion::v0_1, Binding::json_rpc), true},
      {"0.2", v0_3(), client_dialect(ProtocolVersion::v0_2, Binding::json_rpc)},
      {"0.3", v0_3(), client_dialect(ProtocolVersion::v0_3, Binding::json_rpc)},
      {"0.3 of all at once", dual(), client_dialect(ProtocolVersion::v0_3, Binding::json_rpc)},
      {"0.3 REST", v0_3_rest(), client_dialect(ProtocolVersion::v0_3, Binding::rest), false, true},
      {"1.0", v1_0(), client_dialect(ProtocolVersion::v1_0, Binding::json_rpc), false, false, true},
      {"1.0 REST", v1_0(), client_dialect(ProtocolVersion::v1_0, Binding::rest), false, true, true},
  };
}

// The message with only the members that the pair can transmit.
inline task::Message carried(task::Message message, const Pair& pair) {
  for (task::Part& part : message.parts) {
    const bool is_file = part.kind == task::Part::Kind::raw || part.kind == task::Part::Kind::url;
    if (!pair.is_v1_0 && !is_file) part.filename = part.media_type = "";
    // Data in 0.1 is always an object. Other values are wrapped without a mark.
    if (pair.is_v0_1 && part.content == "[1, 2]") part.content = R"({"value":[1, 2]})";
  }
  if (!pair.is_v1_0 && pair.is_rest) message.reference_tasks.clear();
  if (!pair.is_v0_1) return message;
  message.id = {};
  message.extensions.clear();
  message.reference_tasks.clear();
  return message;
}

// The message as a client reads it back: empty metadata counts as absent.
inline task::Message read_back(task::Message message, const Pair& pair) {
  for (task::Part& part : message.parts) {
    if (part.metadata.text == "{}") part.metadata = {};
  }
  return carried(std::move(message), pair);
}
inline task::Artifact read_back(task::Artifact artifact, const Pair& pair) {
  artifact.parts = read_back(task::Message{{}, {}, artifact.parts, {}, {}, {}}, pair).parts;
  const bool is_dual = &pair.server == &protocol::a2a::dual();
  if (!pair.is_v0_1 && !is_dual) artifact.ordinal = 0;
  if (!pair.is_v0_1) return artifact;
  artifact.id = {};
  artifact.extensions.clear();
  return artifact;
}

// A task with all members that the pair can transmit. Before 1.0 text and data parts have no names and media
// types; dialects would move them into the metadata.
inline task::Task task_for(const Pair& pair, task::State state) {
  task::Task task = rich_task(state);
  const auto plain = [&](std::vector<task::Part>& parts) {
    for (task::Part& part : parts) {
      const bool is_file = part.kind == task::Part::Kind::raw || part.kind == task::Part::Kind::url;
      if (!pair.is_v1_0 && !is_file) part.filename = part.media_type = "";
    }
  };
  plain(task.status.message->parts);
  for (task::Artifact& artifact : task.artifacts) plain(artifact.parts);
  for (task::Message& message : task.history) plain(message.parts);
  return task;
}

inline void check_same(const task::Task& read, const task::Task& sent, const Pair& pair) {
  CHECK(read.id == sent.id);
  CHECK(read.context == sent.context);
  CHECK(read.status.state == sent.status.state);
  CHECK(read.status.at == sent.status.at);
  REQUIRE(read.status.message.has_value() == sent.status.message.has_value());
  if (sent.status.message) CHECK(*read.status.message == read_back(*sent.status.message, pair));
  REQUIRE(read.artifacts.size() == sent.artifacts.size());
  for (std::size_t i = 0; i < sent.artifacts.size(); ++i) {
    CHECK(read.artifacts[i] == read_back(sent.artifacts[i], pair));
  }
  REQUIRE(read.history.size() == sent.history.size());
  for (std::size_t i = 0; i < sent.history.size(); ++i) {
    CHECK(read.history[i] == read_back(sent.history[i], pair));
  }
  CHECK(read.metadata == sent.metadata);
}

// Writes with the server's dialect and reads the result with the client's.
template <class T, class F>
T update_as(const Pair& pair, F&& write) {
  const auto document = parsed(written(write));
  auto update = value_of(pair.client->read_update(document.root()));
  REQUIRE(std::holds_alternative<T>(update));
  return std::get<T>(std::move(update));
}

}  // namespace baton::test

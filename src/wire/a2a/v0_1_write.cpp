#include <algorithm>

#include "wire/a2a/v0_1.h"

namespace baton::wire::v0_1 {
namespace {

using task::Part;
using task::State;

// The generation has no rejected and no auth-required (VERSIONS.md 3.3).
std::string_view wire_name(State state) {
  if (state == State::rejected) return task::name_of(State::failed);
  if (state == State::auth_required) return task::name_of(State::input_required);
  return task::name_of(state);
}

bool is_renamed(State state) {
  return state == State::rejected || state == State::auth_required;
}

// An object with one more member, where it does not have it yet.
task::Json with_member(const task::Json& object, std::string_view name, std::string_view text) {
  const auto document = Document::parse_view(object.text);
  if (document && !document->root()[name].missing()) return object;
  task::Json extended{"{"};
  Writer writer(extended.text);
  writer.key(name).string(text);
  const std::size_t inside = document ? object.text.find('{') + 1 : std::string::npos;
  if (!document) {
    extended.text += '}';
  } else {
    if (document->root().size() > 0) extended.text += ',';
    extended.text.append(object.text, inside);
  }
  return extended;
}

void write_part(Writer& out, const Part& part) {
  out.object([&] {
    task::Json metadata = part.metadata;
    if (part.kind == Part::Kind::text) {
      out.member("type", "text").member("text", part.content);
    } else if (part.kind == Part::Kind::data) {
      out.member("type", "data").key("data");
      // The schema wants an object; anything else is wrapped as the SDKs do (VERSIONS.md, trap 46).
      const auto first = part.content.find_first_not_of(" \t\r\n");
      if (first != std::string::npos && part.content[first] == '{') {
        out.raw(part.content);
      } else {
        out.object([&] { out.key("value").raw(part.content); });
      }
    } else {
      out.member("type", "file").key("file").object([&] {
        out.optional("name", part.filename).optional("mimeType", part.media_type);
        out.member(part.kind == Part::Kind::raw ? "bytes" : "uri", part.content);
      });
    }
    const bool homeless = part.kind == Part::Kind::text || part.kind == Part::Kind::data;
    if (homeless && !part.media_type.empty()) metadata = with_member(metadata, "mediaType", part.media_type);
    if (homeless && !part.filename.empty()) metadata = with_member(metadata, "filename", part.filename);
    out.optional("metadata", metadata);
  });
}

void write_parts(Writer& out, const std::vector<Part>& parts) {
  out.key("parts").array([&] {
    for (const Part& part : parts) write_part(out, part);
  });
}

void write_message(Writer& out, const task::Message& message) {
  out.object([&] {
    out.member("role", message.role == task::Role::user ? "user" : "agent");
    write_parts(out, message.parts);
    out.optional("metadata", message.metadata);
  });
}

void write_status(Writer& out, const task::Status& status) {
  out.object([&] {
    out.member("state", wire_name(status.state));
    if (is_renamed(status.state)) {
      task::Message message = status.message.value_or(task::Message{});
      message.role = task::Role::agent;
      if (message.parts.empty())
        message.parts.push_back(Part::of_text(std::string(task::name_of(status.state))));
      message.metadata = with_member(message.metadata, "state", task::name_of(status.state));
      out.key("message");
      write_message(out, message);
    } else if (status.message) {
      out.key("message");
      write_message(out, *status.message);
    }
    out.member("timestamp", base::to_rfc3339(status.at));
  });
}

struct ChunkFlags {
  bool append = false;
  bool last = false;
};

void write_artifact(Writer& out, const task::Artifact& artifact, const ChunkFlags* flags) {
  out.object([&] {
    out.optional("name", artifact.name).optional("description", artifact.description);
    write_parts(out, artifact.parts);
    out.member("index", artifact.ordinal);
    if (flags) out.member("append", flags->append).member("lastChunk", flags->last);
    out.optional("metadata", artifact.metadata);
  });
}

void write_task_members(Writer& out, const task::Task& task) {
  out.member("id", task.id.value);
  out.optional("sessionId", task.context.value);
  out.key("status");
  write_status(out, task.status);
  if (!task.artifacts.empty()) {
    out.key("artifacts").array([&] {
      for (const task::Artifact& artifact : task.artifacts) write_artifact(out, artifact, nullptr);
    });
  }
  if (!task.history.empty()) {
    out.key("history").array([&] {
      for (const task::Message& message : task.history) write_message(out, message);
    });
  }
  out.optional("metadata", task.metadata);
}

void write_status_event(Writer& out, const task::TaskId& id, const task::Status& status,
                        const task::Json& metadata) {
  out.object([&] {
    out.member("id", id.value).key("status");
    write_status(out, status);
    out.member("final", task::is_stopped(status.state));
    out.optional("metadata", metadata);
  });
}

void write_artifact_event(Writer& out, const task::TaskId& id, const task::Artifact& artifact,
                          ChunkFlags flags) {
  out.object([&] {
    out.member("id", id.value).key("artifact");
    write_artifact(out, artifact, &flags);
  });
}

void write_text_event(Writer& out, const task::TaskId& id, const task::TextDelta& delta) {
  task::Artifact piece;
  piece.ordinal = delta.ordinal;
  piece.parts.push_back(Part::of_text(delta.text));
  write_artifact_event(out, id, piece, {!delta.first, delta.last});
}

// Tool use has no place of its own: it shows as work under way, with the facts as data.
void write_tool_event(Writer& out, const task::TaskId& id, base::Timestamp at, std::string facts) {
  task::Message message;
  message.role = task::Role::agent;
  message.parts.push_back(Part::of_data(task::Json{std::move(facts)}));
  write_status_event(out, id, {State::working, std::move(message), at}, {});
}

std::string facts_of(const task::ToolCall& call) {
  std::string facts;
  Writer writer(facts);
  writer.object([&] {
    writer.key("toolCall").object([&] {
      writer.member("id", call.id).member("name", call.name);
      writer.key("arguments").raw(call.arguments.empty() ? "{}" : call.arguments.text);
    });
  });
  return facts;
}

std::string facts_of(const task::ToolResult& result) {
  std::string facts;
  Writer writer(facts);
  writer.object([&] {
    writer.key("toolResult").object([&] {
      writer.member("id", result.id).optional("content", result.content).optional("error", result.error);
    });
  });
  return facts;
}

void write_strings(Writer& out, std::string_view name, const std::vector<std::string>& strings) {
  if (strings.empty()) return;
  out.key(name).array([&] {
    for (const std::string& text : strings) out.string(text);
  });
}

void write_skill(Writer& out, const task::Skill& skill) {
  out.object([&] {
    out.member("id", skill.id).member("name", skill.name).optional("description", skill.description);
    write_strings(out, "tags", skill.tags);
    write_strings(out, "examples", skill.examples);
    write_strings(out, "inputModes", skill.input_modes);
    write_strings(out, "outputModes", skill.output_modes);
  });
}

}  // namespace

void write_task(Writer& out, const task::Task& task) {
  out.object([&] { write_task_members(out, task); });
}

void write_snapshot(Writer& out, const task::Task& task) {
  out.object([&] {
    write_task_members(out, task);
    out.member("final", task::is_terminal(task.status.state));
  });
}

void write_push(Writer& out, const task::TaskId& id, const task::PushConfig& config) {
  out.object([&] {
    out.member("id", id.value).key("pushNotificationConfig").object([&] {
      out.member("url", config.url).optional("token", config.token);
      if (config.schemes.empty() && config.credentials.empty() && config.authentication_extra.empty()) return;
      out.key("authentication").object([&] {
        out.key("schemes").array([&] {
          for (const std::string& scheme : config.schemes) out.string(scheme);
        });
        out.optional("credentials", config.credentials);
        // Members beyond the two known ones come back as they were given.
        const auto document = Document::parse_view(config.authentication_extra.text);
        if (!document) return;
        for (const Value member : document->root()) {
          if (member.key() != "schemes" && member.key() != "credentials")
            out.key(member.key()).raw(member.raw());
        }
      });
    });
  });
}

bool write_event(Writer& out, const task::TaskId& id, const task::Event& event) {
  if (const auto* status = std::get_if<task::StatusChanged>(&event.body)) {
    write_status_event(out, id, status->status, status->metadata);
  } else if (const auto* text = std::get_if<task::TextDelta>(&event.body)) {
    write_text_event(out, id, *text);
  } else if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event.body)) {
    write_artifact_event(out, id, chunk->artifact, {chunk->append, chunk->last_chunk});
  } else if (const auto* call = std::get_if<task::ToolCall>(&event.body)) {
    write_tool_event(out, id, event.at, facts_of(*call));
  } else if (const auto* result = std::get_if<task::ToolResult>(&event.body)) {
    write_tool_event(out, id, event.at, facts_of(*result));
  } else {
    return false;
  }
  return true;
}

void write_card(Writer& out, const task::AgentCard& card, const Served& served) {
  out.object([&] {
    out.member("name", card.name).optional("description", card.description);
    out.member("url", served.url);
    if (card.provider) {
      out.key("provider").object([&] {
        out.member("organization", card.provider->organization).optional("url", card.provider->url);
      });
    }
    out.member("version", card.version).optional("documentationUrl", card.documentation_url);
    out.key("capabilities").object([&] {
      out.member("streaming", true)
          .member("pushNotifications", served.push)
          .member("stateTransitionHistory", false);
    });
    if (served.bearer) {
      out.key("authentication").object([&] { out.key("schemes").array([&] { out.string("bearer"); }); });
    }
    write_strings(out, "defaultInputModes", card.default_input_modes);
    write_strings(out, "defaultOutputModes", card.default_output_modes);
    out.key("skills").array([&] {
      for (const task::Skill& skill : card.skills) write_skill(out, skill);
    });
  });
}

}  // namespace baton::wire::v0_1

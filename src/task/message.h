// Message, Part and Artifact: the content that callers and agents exchange (A2A 1.0, a2a.proto).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "task/ids.h"
#include "task/json.h"

namespace baton::task {

enum class Role { user, agent };

struct Part {
  enum class Kind {
    text,  // content is UTF-8 text
    raw,   // content is a file's bytes in standard base64 with padding
    url,   // content is the URL of a file
    data,  // content is the text of any JSON value
  };

  Kind kind = Kind::text;
  std::string content;
  std::string filename;
  std::string media_type;
  Json metadata;

  static Part of_text(std::string text) { return Part{Kind::text, std::move(text), {}, {}, {}}; }
  static Part of_data(Json data) { return Part{Kind::data, std::move(data.text), {}, {}, {}}; }

  friend bool operator==(const Part&, const Part&) = default;
};

struct Message {
  MessageId id;
  Role role = Role::user;
  std::vector<Part> parts;
  Json metadata;
  std::vector<std::string> extensions;
  std::vector<TaskId> reference_tasks;

  friend bool operator==(const Message&, const Message&) = default;
};

struct Artifact {
  ArtifactId id;
  int ordinal = 0;  // its place among the task's artifacts, from 0; the `index` of A2A 0.1
  std::string name;
  std::string description;
  std::vector<Part> parts;
  Json metadata;
  std::vector<std::string> extensions;
  // A streamed reply that A2A shows in the final status, not as an artifact.
  bool in_status = false;

  friend bool operator==(const Artifact&, const Artifact&) = default;
};

// The size of a part's content; for raw parts the size of the file, not of its base64 text.
std::size_t content_size(const Part& part);

// The URL of a file: its own, or one that holds its bytes ("data:").
std::string file_url(const Part& part);

// The texts of all text parts, separated by newlines.
std::string text_of(std::span<const Part> parts);
std::string text_of(const Message& message);

// The approximate memory of the message or artifact in bytes: all texts that its sender chooses count.
std::size_t weight_of(const Message& message);
std::size_t weight_of(const Artifact& artifact);
// The same of a list of texts.
std::size_t weight_of(const std::vector<std::string>& texts);

}  // namespace baton::task

// The line protocol of Baton for one agent: reads turns, writes lines. Needs RapidJSON (Debian:
// rapidjson-dev).
#pragma once

#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace lines {

using Value = rapidjson::Value;

// All texts of a message's or an artifact's parts, joined by line ends.
inline std::string text_of(const Value& holder) {
  std::string text;
  if (!holder.HasMember("parts")) return text;
  for (const Value& part : holder["parts"].GetArray()) {
    if (part.HasMember("text")) text += (text.empty() ? "" : "\n") + std::string(part["text"].GetString());
  }
  return text;
}

// One run of the agent. Any thread may write its lines.
class Turn {
 public:
  explicit Turn(rapidjson::Document line) : line_(std::move(line)) {}

  const Value& line() const { return line_; }
  std::string id() const { return line_["turn"].GetString(); }
  std::string text() const { return text_of(line_["message"]); }
  bool answers_question() const { return line_.HasMember("resume") && line_["resume"].HasMember("ask"); }

  // A line of this type with these members; `json`: members that are JSON already.
  using Members = std::vector<std::pair<const char*, std::string>>;
  void say(const char* type, const Members& texts = {}, const Members& json = {}) const {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> out(buffer);
    out.StartObject();
    out.Key("type");
    out.String(type);
    out.Key("turn");
    out.String(id().c_str());
    for (const auto& [name, text] : texts) {
      out.Key(name);
      out.String(text.c_str(), static_cast<unsigned>(text.size()));
    }
    for (const auto& [name, value] : json) {
      out.Key(name);
      out.RawValue(value.c_str(), value.size(), rapidjson::kObjectType);
    }
    out.EndObject();
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    std::cout << buffer.GetString() << std::endl;
  }

 private:
  rapidjson::Document line_;
};

inline std::string quoted(const std::string& text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> out(buffer);
  out.String(text.c_str(), static_cast<unsigned>(text.size()));
  return buffer.GetString();
}

// Answers turns, each on a thread of its own, until there are no more. A turn that cannot be read ends the
// program: Baton runs the others again.
inline int serve(const std::function<void(const Turn&)>& answer) {
  std::vector<std::thread> threads;
  for (std::string line; std::getline(std::cin, line);) {
    rapidjson::Document read;
    read.Parse<rapidjson::kParseIterativeFlag>(line.c_str(), line.size());
    if (read.HasParseError() || !read.IsObject()) return EXIT_FAILURE;
    if (read["type"] != "turn") continue;  // such as a cancel
    auto turn = std::make_shared<Turn>(std::move(read));
    threads.emplace_back([turn, answer] { answer(*turn); });
  }
  for (std::thread& thread : threads) thread.join();
  return EXIT_SUCCESS;
}

}  // namespace lines

// Baton's line protocol for one agent: reads turns, writes lines. Needs RapidJSON (Debian: rapidjson-dev).
#pragma once

#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <mutex>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace lines {

using Value = rapidjson::Value;

// Returns all texts of the parts of a message or an artifact, joined by line ends.
inline std::string text_of(const Value& holder) {
  std::string text;
  if (!holder.HasMember("parts")) return text;
  bool is_first = true;
  for (const Value& part : holder["parts"].GetArray()) {
    if (!part.HasMember("text")) continue;
    if (!std::exchange(is_first, false)) text += '\n';
    text.append(part["text"].GetString(), part["text"].GetStringLength());
  }
  return text;
}

// Returns the first data of the parts; null if there is none.
inline const Value& data_of(const Value& holder) {
  static const Value none;
  for (const Value& part : holder["parts"].GetArray()) {
    if (part.HasMember("data")) return part["data"];
  }
  return none;
}

// One run of the agent. Any thread may write its lines.
class Turn {
 public:
  explicit Turn(rapidjson::Document line) : line_(std::move(line)) {}

  const Value& line() const { return line_; }
  std::string id() const { return line_["turn"].GetString(); }
  std::string text() const { return text_of(line_["message"]); }
  const Value& data() const { return data_of(line_["message"]); }
  // The message that began the task. It is the turn's own message, unless that came later, as an answer does.
  const Value& request() const { return line_.HasMember("request") ? line_["request"] : line_["message"]; }
  bool answers_question() const { return line_.HasMember("resume") && line_["resume"].HasMember("ask"); }

  // Writes a line of this type with these members. The values of `json` are JSON already.
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

inline std::string base64(const std::string& bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = bytes.size() - at;
    unsigned value = 0;
    for (std::size_t i = 0; i < 3; ++i)
      value = value << 8 | (i < left ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (unsigned i = 0; i < 4; ++i) text += i <= left ? digits[value >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

// Returns the JSON of an artifact that is a file. Plans take a text in its place for a part of the reply.
inline std::string file(const std::string& name, const std::string& media_type, const std::string& content) {
  return "{\"name\": " + quoted(name) + ", \"parts\": [{\"filename\": " + quoted(name) +
         ", \"mediaType\": " + quoted(media_type) + ", \"raw\": " + quoted(base64(content)) + "}]}";
}

// Returns JSON without its line ends, so that it fits into a line.
inline std::string one_line(std::string json) {
  for (char& c : json) {
    if (c == '\n') c = ' ';
  }
  return json;
}

// Fails the turn of a line that cannot be read, because Baton waits until every turn has ended. JSON from a
// caller may exceed the parser's limits; an integer of 5,000 digits does. Baton's own members come before it.
inline void refuse(const std::string& line) {
  static const std::regex begin(R"re(\{"type": ?"turn", ?"protocol": ?[0-9]+, ?"turn": ?("[^"\\]*"))re");
  const std::string head = line.substr(0, 1'000);
  std::smatch found;
  if (!std::regex_search(head, found, begin, std::regex_constants::match_continuous)) return;
  rapidjson::Document named;
  named.Parse(("{\"turn\": " + found.str(1) + "}").c_str());
  Turn(std::move(named)).say("fail", {{"error", "This agent cannot read the message."}});
}

// Answers turns, each on a thread of its own, until Baton closes the input and all turns are over.
inline int serve(const std::function<void(const Turn&)>& answer) {
  std::mutex mutex;
  std::condition_variable over;
  std::size_t running = 0;
  for (std::string line; std::getline(std::cin, line);) {
    rapidjson::Document read;
    read.Parse<rapidjson::kParseIterativeFlag>(line.c_str(), line.size());
    if (read.HasParseError() || !read.IsObject()) {
      refuse(line);
      continue;
    }
    if (read["type"] != "turn") continue;  // such as a cancel
    const std::lock_guard lock(mutex);
    ++running;
    // Detached, because the stack of a thread that nobody joins stays for as long as the worker lives.
    std::thread([&, turn = Turn(std::move(read))] {
      answer(turn);
      const std::lock_guard ended(mutex);
      if (--running == 0) over.notify_all();
    }).detach();
  }
  std::unique_lock lock(mutex);
  over.wait(lock, [&] { return running == 0; });
  return EXIT_SUCCESS;
}

}  // namespace lines

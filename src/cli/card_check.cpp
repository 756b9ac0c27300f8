#include "cli/card_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/printable.h"

namespace baton::cli {
namespace {

using wire::Value;
using Type = Value::Type;

struct Member {
  std::string_view name;
  Type type;
  bool required = false;
};
constexpr std::array kCardMembers{
    Member{"name", Type::string, true},        Member{"url", Type::string, true},
    Member{"version", Type::string, true},     Member{"capabilities", Type::object, true},
    Member{"skills", Type::array, true},       Member{"description", Type::string},
    Member{"provider", Type::object},          Member{"documentationUrl", Type::string},
    Member{"authentication", Type::object},    Member{"defaultInputModes", Type::array},
    Member{"defaultOutputModes", Type::array},
};
constexpr std::array kCapabilityMembers{
    Member{"streaming", Type::boolean},
    Member{"pushNotifications", Type::boolean},
    Member{"stateTransitionHistory", Type::boolean},
};
constexpr std::array kProviderMembers{Member{"organization", Type::string, true},
                                      Member{"url", Type::string}};
constexpr std::array kAuthenticationMembers{Member{"schemes", Type::array, true},
                                            Member{"credentials", Type::string}};
constexpr std::array kSkillMembers{
    Member{"id", Type::string, true},    Member{"name", Type::string, true},
    Member{"description", Type::string}, Member{"tags", Type::array},
    Member{"examples", Type::array},     Member{"inputModes", Type::array},
    Member{"outputModes", Type::array},
};

std::string_view name_of(Type type) {
  switch (type) {
    case Type::string:
      return "a text";
    case Type::object:
      return "an object";
    case Type::array:
      return "a list of texts";
    case Type::boolean:
      return "true or false";
    default:
      return "something else";
  }
}

class CardCheck {
 public:
  std::vector<std::string> run(Value card) {
    if (!card.is_object()) {
      wrong("", "must be an object");
      return problems_;
    }
    check_members(card, "", kCardMembers);
    const std::string_view url = card["url"].string();
    if (card["url"].is_string() && !url.starts_with("http://") && !url.starts_with("https://")) {
      wrong("/url", "must be an absolute http or https URL");
    }
    check_members(card["capabilities"], "/capabilities", kCapabilityMembers);
    check_members(card["provider"], "/provider", kProviderMembers);
    check_members(card["authentication"], "/authentication", kAuthenticationMembers);
    int index = 0;
    for (const Value skill : card["skills"]) {
      const std::string pointer = "/skills/" + std::to_string(index++);
      if (!skill.is_object()) wrong(pointer, "must be an object");
      check_members(skill, pointer, kSkillMembers);
    }
    return problems_;
  }

 private:
  void wrong(const std::string& pointer, std::string_view what) {
    problems_.push_back((pointer.empty() ? "the card" : pointer) + ": " + std::string(what));
  }

  template <std::size_t Count>
  void check_members(Value object, const std::string& pointer, const std::array<Member, Count>& members) {
    if (!object.is_object()) return;
    for (const Member& member : members) {
      const Value value = object[member.name];
      const std::string where = pointer + "/" + std::string(member.name);
      if (value.absent()) {
        if (member.required) wrong(where, "is missing");
      } else if (value.type() != member.type) {
        wrong(where, "must be " + std::string(name_of(member.type)));
      } else if (value.is_array() && member.name != "skills") {
        check_texts(value, where);
      } else if (member.required && value.is_string() && value.string().empty()) {
        wrong(where, "is empty");
      }
    }
  }

  void check_texts(Value list, const std::string& pointer) {
    int index = 0;
    for (const Value item : list) {
      if (!item.is_string()) wrong(pointer + "/" + std::to_string(index), "must be a text");
      ++index;
    }
  }

  std::vector<std::string> problems_;
};

void append_line(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  std::string line = printable_line(name);
  line.append(line.size() < 15 ? 15 - line.size() : 1, ' ');
  out += line + printable_line(value) + '\n';
}

std::string joined(Value list) {
  std::string text;
  for (const Value item : list) text += (text.empty() ? "" : ", ") + item.str();
  return text;
}

std::string capabilities_of(Value card) {
  std::string text;
  for (const Member& member : kCapabilityMembers) {
    if (card["capabilities"][member.name].boolean())
      text += (text.empty() ? "" : ", ") + std::string(member.name);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<std::string> check_card(Value card) {
  return CardCheck().run(card);
}

std::string show_card(Value card) {
  std::string out;
  append_line(out, "name", card["name"].string());
  append_line(out, "description", card["description"].string());
  append_line(out, "version", card["version"].string());
  append_line(out, "url", card["url"].string());
  append_line(out, "provider", card["provider"]["organization"].string());
  append_line(out, "documentation", card["documentationUrl"].string());
  append_line(out, "capabilities", capabilities_of(card));
  append_line(out, "authentication", joined(card["authentication"]["schemes"]));
  append_line(out, "input", joined(card["defaultInputModes"]));
  append_line(out, "output", joined(card["defaultOutputModes"]));
  for (const Value skill : card["skills"]) {
    std::string text = skill["name"].str();
    if (!skill["description"].string().empty()) text += ": " + skill["description"].str();
    append_line(out, "skill " + skill["id"].str(), text);
    append_line(out, "  tags", joined(skill["tags"]));
    append_line(out, "  examples", joined(skill["examples"]));
  }
  return out;
}

}  // namespace baton::cli

// `ops keys`: API keys, which a server shows once, when they are made.
#include <utility>

#include "base/api_key_text.h"
#include "cli/exit_code.h"
#include "cli/ops_session.h"
#include "cli/ops_table.h"
#include "cli/printable.h"
#include "json/writer.h"

namespace baton::cli {
namespace {

template <char const* Member>
std::string key_member(json::Value row) {
  return text_in(row, Member);
}
constexpr char kIdMember[] = "id", kOwnerMember[] = "caller", kRoleMember[] = "role", kStateOfKey[] = "state",
               kMakerMember[] = "createdBy";

std::string words_in(json::Value list, const char* none) {
  std::string words;
  for (const json::Value word : list) words.append(words.empty() ? "" : ",").append(word.string());
  return words.empty() ? none : words;
}

std::vector<OpsTable::Column> key_columns() {
  return {
      {"ID", key_member<kIdMember>},
      {"CALLER", key_member<kOwnerMember>},
      {"ROLE", key_member<kRoleMember>},
      {"STATE", key_member<kStateOfKey>},
      {"AGE", [](json::Value row) { return age_text(row["createdAt"]); }},
      {"USED", [](json::Value row) { return row["usedAt"].absent() ? "never" : age_text(row["usedAt"]); }},
      {"EXPIRES",
       [](json::Value row) { return row["expiresAt"].absent() ? "never" : row["expiresAt"].str(); }},
      {"BY", key_member<kMakerMember>},
      {"SCOPES", [](json::Value row) { return words_in(row["scopes"], ""); }},
      {"AGENTS", [](json::Value row) { return words_in(row["agents"], "all"); }},
      {"CHILDREN", [](json::Value row) { return row["children"].absent() ? "any" : row["children"].str(); }}};
}

// Prints a key after an action, and the key itself if it was made.
int show_key(OpsSession& session, const std::optional<json::Document>& answer) {
  if (!answer) return session.code();
  Console& console = session.console();
  const json::Value root = answer->root();
  if (!console.for_people()) {
    console.json(root.raw());
    return kExitDone;
  }
  const json::Value key = root["key"];
  console.text(printable_line("key " + text_in(key, "id") + " of " + text_in(key, "caller") + ": " +
                              text_in(key, "state")) +
               "\n");
  if (root["apiKey"].absent()) return kExitDone;
  console.text(printable_line(root["apiKey"].str()) + "\n");
  console.print_note("the key is shown only now: store it where its caller finds it");
  return kExitDone;
}

void write_list(json::Writer& out, std::string_view name, const std::vector<std::string>& words) {
  if (!words.empty()) out.key(name).strings(words);
}

// Posts an action on a key. If the user gave a whole key, or a part of one, only its id leaves this program.
// Any other text may be a secret and is not sent.
int act_on_key(const OpsKeyOptions& options, const char* action, std::string body) {
  const std::string_view in_key = base::id_in_api_key(options.id);
  const std::string id(in_key.empty() ? options.id : in_key);
  OpsSession session(options.target);
  if (!base::is_api_key_id(id)) {
    session.console().error("the id of a key is 8 letters and digits: baton_<id>_...");
    return kExitUsage;
  }
  return show_key(session, session.post("/keys/" + id + "/" + action, std::move(body)));
}

}  // namespace

int ops_keys(const OpsListOptions& options) {
  OpsSession session(options.target);
  const auto answer = session.get(with_query("/keys", options.filter));
  if (!answer) return session.code();
  OpsTable table(session.console(), key_columns());
  for (const json::Value row : answer->root()["keys"]) table.add(row);
  table.flush();
  if (session.console().for_people() && table.count() == 0) session.console().print_note("none");
  return kExitDone;
}

int ops_create_key(const OpsKeyOptions& options) {
  OpsSession session(options.target);
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("caller", options.caller).optional("role", options.role).member("reason", options.reason);
    write_list(out, "scopes", options.scopes);
    write_list(out, "agents", options.agents);
    if (options.own_children) out.member("children", "own");
    if (options.seconds) out.member("seconds", *options.seconds);
  });
  return show_key(session, session.post("/keys", std::move(body)));
}

int ops_rotate_key(const OpsKeyOptions& options) {
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("reason", options.reason);
    if (options.seconds) out.member("seconds", *options.seconds);
    if (options.overlap) out.member("overlapSeconds", *options.overlap);
  });
  return act_on_key(options, "rotate", std::move(body));
}

int ops_revoke_key(const OpsKeyOptions& options) {
  std::string body;
  json::Writer out(body);
  out.object([&] { out.member("reason", options.reason); });
  return act_on_key(options, "revoke", std::move(body));
}

}  // namespace baton::cli

#include "wire/a2a/members.h"
#include "wire/a2a/v0_1.h"

namespace baton::wire::v0_1 {
namespace {

using a2a::write_strings;
using base::fail;

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

base::Result<SendParams> read_send(Value params) {
  auto read = a2a::v0_1().read_send(params);
  if (!read) return fail(read.error());
  return SendParams{std::move(read->submission), read->history_length.value_or(0)};
}

base::Result<QueryParams> read_query(Value params) {
  auto read = a2a::v0_1().read_task_request(params);
  if (!read) return fail(read.error());
  return QueryParams{std::move(read->id), read->history_length.value_or(0), read->last_event};
}

base::Result<PushParams> read_push(Value params) {
  auto read = a2a::v0_1().read_push(params);
  if (!read) return fail(read.error());
  return PushParams{std::move(read->task), std::move(read->config)};
}

void write_task(Writer& out, const task::Task& task) {
  a2a::v0_1().write_task(out, task);
}

void write_snapshot(Writer& out, const task::Task& task) {
  a2a::v0_1().write_first(out, task, task::is_terminal(task.status.state));
}

void write_push(Writer& out, const task::TaskId& id, const task::PushConfig& config) {
  a2a::v0_1().write_push(out, id, config);
}

bool write_event(Writer& out, const task::TaskId& id, const task::Event& event) {
  const auto* status = task::status_in(event);
  return a2a::v0_1().write_event(out, {id, {}}, event, status && task::is_stopped(status->status.state));
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

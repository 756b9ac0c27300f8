// The client dialect must read what the server's dialect of the same version writes, and vice versa.
#include <doctest/doctest.h>

#include "protocol/a2a/errors.h"
#include "protocol/rpc/json_rpc.h"
#include "unit/protocol/a2a/client/client_bench.h"

namespace baton::test::round_trip_test {
namespace {

using namespace protocol::a2a;
using json::Writer;
using task::State;

constexpr State kStates[] = {State::submitted, State::working,  State::input_required, State::auth_required,
                             State::completed, State::canceled, State::failed,         State::rejected};

bool renames(const Pair& pair, State state) {
  const bool has_v0_1 = pair.is_v0_1 || &pair.server == &dual();
  return has_v0_1 && (state == State::rejected || state == State::auth_required);
}

task::PushConfig rich_config(const Pair& pair) {
  task::PushConfig config;
  config.id.value = pair.is_v0_1 ? "t1" : "p1";
  config.url = "https://x.example/hook";
  config.token = "secret";
  config.schemes = {"Bearer"};
  config.credentials = "abc";
  config.version = pair.client->version();
  return config;
}

void check_same(const task::PushConfig& read, const task::PushConfig& sent) {
  CHECK(read.id == sent.id);
  CHECK(read.url == sent.url);
  CHECK(read.token == sent.token);
  CHECK(read.schemes == sent.schemes);
  CHECK(read.credentials == sent.credentials);
}

TEST_CASE("Client dialects: a task is read back unchanged in every state") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    for (const State state : kStates) {
      if (renames(pair, state)) continue;
      const task::Task task = task_for(pair, state);
      const auto document = parsed(task_shown(pair.server, task));
      check_same(value_of(pair.client->read_task(document.root())), task, pair);
      const task::Task bare = bare_task(state);
      const auto little = parsed(task_shown(pair.server, bare));
      check_same(value_of(pair.client->read_task(little.root())), bare, pair);
    }
  }
}

TEST_CASE("Client dialects: an answer to a send and the head of a stream are the task") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    const task::Task task = task_for(pair, State::working);
    check_same(update_as<task::Task>(pair, [&](Writer& out) { pair.server.write_sent(out, task); }), task,
               pair);
    // In 0.1 the first item of a stream is a status event.
    if (pair.is_v0_1) {
      const auto status =
          update_as<StatusUpdate>(pair, [&](Writer& out) { pair.server.write_first(out, task, true); });
      CHECK(status.status.state == State::working);
      CHECK(status.final);
      continue;
    }
    check_same(update_as<task::Task>(pair, [&](Writer& out) { pair.server.write_first(out, task, false); }),
               task, pair);
  }
}

TEST_CASE("Client dialects: a status event reads back with message, metadata and end") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    const task::Status status = task_for(pair, State::input_required).status;
    const task::Event event{{5}, {}, task::StatusChanged{status, {R"({"progress":0.5})"}}};
    const auto read = update_as<StatusUpdate>(pair, [&](Writer& out) {
      pair.server.write_event(out, {{"t1"}, {"c1"}}, event, {true});
    });
    CHECK(read.task.value == "t1");
    CHECK(read.context.value == (pair.is_v0_1 ? "" : "c1"));
    CHECK(read.status.state == State::input_required);
    CHECK(read.status.at == status.at);
    REQUIRE(read.status.message.has_value());
    CHECK(*read.status.message == read_back(*status.message, pair));
    CHECK(read.metadata.text == R"({"progress":0.5})");
    CHECK(read.final == !pair.is_v1_0);
  }
}

TEST_CASE("Client dialects: artifacts and streamed text read back with their flags") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    const task::Artifact artifact = task_for(pair, State::working).artifacts[0];
    for (const bool flag : {false, true}) {
      const task::Event event{{5}, {}, task::ArtifactChunk{artifact, flag, !flag}};
      const auto read = update_as<ArtifactUpdate>(pair, [&](Writer& out) {
        pair.server.write_event(out, {{"t1"}, {"c1"}}, event, {});
      });
      CHECK(read.task.value == "t1");
      CHECK(read.artifact == read_back(artifact, pair));
      CHECK(read.append == flag);
      CHECK(read.last_chunk == !flag);
    }
    const task::Event text{{6}, {}, task::TextDelta{{"r1"}, 2, "hel", false, true}};
    const auto read = update_as<ArtifactUpdate>(pair, [&](Writer& out) {
      pair.server.write_event(out, {{"t1"}, {"c1"}}, text, {});
    });
    REQUIRE(read.artifact.parts.size() == 1);
    CHECK(read.artifact.parts[0].content == "hel");
    CHECK(read.artifact.id.value == (pair.is_v0_1 ? "" : "r1"));
    CHECK(read.append);
    CHECK(read.last_chunk);
  }
}

TEST_CASE("Client dialects: webhook configs read back, one and several") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    const task::PushConfig config = rich_config(pair);
    const auto one = parsed(written([&](Writer& out) { pair.server.write_push(out, {"t1"}, config); }));
    const PushRequest read = value_of(pair.client->read_push(one.root()));
    CHECK(read.task.value == "t1");
    CHECK(read.config.version == pair.client->version());
    check_same(read.config, config);

    const auto none = parsed(written([&](Writer& out) { pair.server.write_pushes(out, {"t1"}, {}); }));
    CHECK(value_of(pair.client->read_pushes(none.root())).empty());
    const auto two = parsed(written([&](Writer& out) {
      pair.server.write_pushes(out, {"t1"}, {config, config});
    }));
    const auto all = value_of(pair.client->read_pushes(two.root()));
    REQUIRE(all.size() == 2);
    check_same(all[1].config, config);
  }
}

// The params of a request as the server's dialect gets them: the member params of JSON-RPC, or the REST body.
json::Document params_of(const ClientRequest& request, const Pair& pair) {
  const auto document = parsed(request.body);
  return parsed(pair.is_rest ? request.body : std::string(document.root()["params"].raw()));
}

TEST_CASE("Client dialects: the server's dialect reads a send as the client meant it") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    SendRequest send;
    send.submission.task.value = "t1";
    send.submission.context.value = "c1";
    send.submission.message = task_for(pair, State::working).history[0];
    send.submission.metadata.text = R"({"m":1})";
    send.submission.accepted_output_modes = {"text/plain"};
    send.submission.push = rich_config(pair);
    for (const auto history : {std::optional<int>(3), std::optional<int>(), std::optional<int>(0)}) {
      send.history_length = history;
      send.waits = history.has_value();
      const auto params = params_of(pair.client->write_send(send, false), pair);
      const SendRequest read = value_of(pair.server.read_send(params.root()));
      CHECK(read.submission.task == send.submission.task);
      CHECK(read.submission.context == send.submission.context);
      CHECK(read.submission.message == carried(send.submission.message, pair));
      CHECK(read.submission.metadata == send.submission.metadata);
      CHECK(read.submission.accepted_output_modes == send.submission.accepted_output_modes);
      REQUIRE(read.submission.push.has_value());
      check_same(*read.submission.push, *send.submission.push);
      if (!pair.is_v0_1) CHECK(read.waits == send.waits);
      // 0.1 cannot express "all history", and REST of 0.3 cannot express "none".
      const bool cannot_say_none = pair.is_rest && !pair.is_v1_0 && history == 0;
      if (pair.is_v0_1 && !history) {
        CHECK(read.history_length == 1'000'000);
      } else if (!cannot_say_none) {
        CHECK(read.history_length == history);
      }
    }
  }
}

TEST_CASE("Client dialects: requests about tasks and webhooks are read as the client meant them") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    const PushRequest push{{"t1"}, rich_config(pair)};
    const auto set = params_of(pair.client->write_set_push(push), pair);
    const PushRequest read = value_of(pair.server.read_push(set.root()));
    CHECK(read.task.value == "t1");
    check_same(read.config, push.config);
    if (pair.is_rest) continue;
    for (const ClientRequest& request :
         {pair.client->write_get({{"t1"}, 2, true, {}, {}}), pair.client->write_cancel({"t1"}),
          pair.client->write_subscribe({"t1"})}) {
      const auto params = params_of(request, pair);
      CHECK(value_of(pair.server.read_task_request(params.root())).id.value == "t1");
    }
    const auto get = params_of(pair.client->write_get({{"t1"}, 2, true, {}, {}}), pair);
    CHECK(value_of(pair.server.read_task_request(get.root())).history_length == 2);
    const auto ref = params_of(pair.client->write_get_push({{"t1"}, {"p1"}}), pair);
    CHECK(value_of(pair.server.read_push_ref(ref.root())).task.value == "t1");
    const auto removal = pair.client->write_delete_push({{"t1"}, {"p1"}});
    CHECK(removal.has_value() == !pair.is_v0_1);
    if (!removal) continue;
    const auto named = params_of(*removal, pair);
    CHECK(value_of(pair.server.read_push_ref(named.root())).config.value == "p1");
  }
}

TEST_CASE("Client dialects: lists are requested and read in 1.0 only") {
  ListQuery query;
  query.context.value = "c1";
  query.state = State::auth_required;
  query.status_since = base::from_ms(1'500);
  query.page_size = 7;
  query.history_length = 2;
  query.artifacts = true;
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    const auto request = pair.client->write_list(query);
    CHECK(request.has_value() == pair.is_v1_0);
    if (!request) {
      CHECK(request.error().code == base::ErrorCode::unsupported);
      continue;
    }
    if (pair.is_rest) continue;
    const auto params = params_of(*request, pair);
    const ListRequest read = value_of(pair.server.read_list(params.root()));
    CHECK(read.filter.context == query.context);
    CHECK(read.filter.state == query.state);
    CHECK(read.filter.status_since == query.status_since);
    CHECK(read.filter.limit == 7);
    CHECK(read.depth.history == 2);
    CHECK(read.depth.artifacts);

    const std::vector<task::Task> tasks{rich_task(State::completed), bare_task(State::working)};
    const task::ListPosition next{base::from_ms(1'000), {"t1"}};
    const auto page =
        parsed(written([&](Writer& out) { pair.server.write_list(out, read, tasks, next, 12); }));
    const TaskPage listed = value_of(pair.client->read_list(page.root()));
    REQUIRE(listed.tasks.size() == 2);
    check_same(listed.tasks[0], tasks[0], pair);
    CHECK(listed.total == 12);
    query.page_token = listed.next_page_token;
    const auto second = params_of(*pair.client->write_list(query), pair);
    CHECK(value_of(pair.server.read_list(second.root())).filter.after->id.value == "t1");
    query.page_token.clear();
  }
}

TEST_CASE("Client dialects: errors are read back with their number and the exact problem") {
  using base::ErrorCode;
  const base::Error missing{ErrorCode::task_not_found, "no such task", {}};
  const base::Error wrong{ErrorCode::invalid_argument, "params.message.parts: must not be empty", {}};
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    const auto shown = [&](const base::Error& error) {
      std::string body;
      if (pair.is_rest && pair.is_v1_0) {
        write_rest_error_v1(body, error, {"t1"}, rest_status(error));
      } else if (pair.is_rest) {
        write_rest_error_v0_3(body, error);
      } else if (pair.is_v1_0) {
        write_rpc_error_v1(body, "1", error, {"t1"});
      } else {
        protocol::write_rpc_error(body, "1", error);
      }
      const auto document = parsed(body);
      const auto answer = value_of(pair.client->read_answer(document.root(), !pair.is_rest));
      REQUIRE(answer.error.has_value());
      return *answer.error;
    };
    CHECK(shown(missing).code == kTaskNotFound);
    CHECK(has(shown(missing).message, "Task not found"));
    CHECK(shown(wrong).code == kInvalidParams);
    CHECK(has(shown(wrong).detail, "message.parts: must not be empty"));
    CHECK(shown({ErrorCode::not_cancelable, "", {}}).code == kTaskNotCancelable);
    CHECK(shown({ErrorCode::unsupported, "", {}}).code == kUnsupportedOperation);
    CHECK(shown({ErrorCode::version_not_supported, "", {}}).code == -32009);
    CHECK(shown({ErrorCode::extension_required, "", {}}).code == -32008);
    CHECK(shown({ErrorCode::internal, "", {}}).code == -32603);
    CHECK(shown({ErrorCode::overloaded, "", {}}).code == 429);
    CHECK(shown({ErrorCode::unavailable, "", {}}).code == 503);
    CHECK(shown({ErrorCode::unauthenticated, "", {}}).code == 401);
  }
}

}  // namespace
}  // namespace baton::test::round_trip_test

"""The agents as models of OpenAI's API: models, chat completions and responses."""
import json
import unittest
import urllib.parse

import harness
from openai_events import Events

ASK = {"name": "ask", "description": "Asks the user.", "parameters": {"type": "object"}}
LOOK = {"name": "look", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}


class ApiCase(harness.ServerCase):
    AGENTS = ["chat", "mirror"]
    CONFIG = {"engine": {"drain_grace_s": 0.2}}
    TOKEN = None

    def head(self, token=None, **more):
        token = token or self.TOKEN
        return {**({"Authorization": f"Bearer {token}"} if token else {}), **more}

    def ask(self, method, path, body=None, token=None, **headers):
        data = None if body is None else json.dumps(body).encode()
        head = self.head(token, **({"Content-Type": "application/json"} if data else {}), **headers)
        return self.server.http(method, "/v1" + path, data, head)

    def good(self, *request, **how):
        answer = self.ask(*request, **how)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.body

    def open(self, method, path, body=None, token=None):
        connection = self.server.connect()
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, "/v1" + path, data, self.head(token, **{"Content-Type": "application/json"}))
        response = connection.getresponse()
        self.assertEqual(response.headers.get_content_type(), "text/event-stream")
        return Events(connection, response)

    def respond(self, text, **more):
        """Creates a response and returns it whole."""
        return self.good("POST", "/responses", {"model": "chat", "input": text, **more})

    def complete(self, messages, **more):
        """Creates a chat completion and returns its choice."""
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        return self.good("POST", "/chat/completions", {"model": "chat", "messages": messages, **more})["choices"][0]

    def failure(self, answer):
        self.assertEqual(set(answer.body["error"]), {"message", "type", "param", "code"}, answer.raw)
        return answer.status, answer.body["error"]["code"]

    def text_of(self, response):
        return "".join(part["text"] for item in response["output"] if item["type"] == "message"
                       for part in item["content"])

    def call_in(self, response):
        return next(item for item in response["output"] if item["type"] == "function_call")

    def task_of(self, response):
        return response["id"].removeprefix("resp_").partition("_")[0]

    def state_of(self, task, agent="chat"):
        found = self.server.http("GET", f"/agents/{agent}/tasks/{task}", headers={"A2A-Version": "1.0"})
        return found.body["status"]["state"] if found.status == 200 else found.status


class Models(ApiCase):
    def test_the_agents_are_the_models_and_an_unknown_one_is_never_another(self):
        listed = self.good("GET", "/models")
        self.assertEqual([(one["id"], one["object"], one["owned_by"]) for one in listed["data"]],
                         [("chat", "model", "baton"), ("mirror", "model", "baton")])
        self.assertEqual(self.good("GET", "/models/chat"), listed["data"][0])
        for body in ({"messages": [{"role": "user", "content": "x"}]}, {"input": "x"}):
            path = "/responses" if "input" in body else "/chat/completions"
            for model in ("nobody", "", "../chat", "default"):
                self.assertEqual(self.failure(self.ask("POST", path, {**body, "model": model})), (404, "model_not_found"))
            self.assertEqual(self.failure(self.ask("POST", path, body)), (400, None))
        for name in ("nobody", "chat/small", "chat%2Fsmall", "chat/%ff"):
            self.assertEqual(self.failure(self.ask("GET", "/models/" + name)), (404, "model_not_found"))

    def test_errors_have_the_form_of_the_api(self):
        head = {"Content-Type": "application/json"}
        for body in (b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff"):
            self.assertEqual(self.failure(self.server.http("POST", "/v1/responses", body, head))[0], 400)
        self.assertEqual(self.failure(self.server.http("POST", "/v1/responses", b"{}", {"Content-Type": "text/plain"}))[0], 415)
        wrong = self.ask("PUT", "/responses", {})
        self.assertEqual((self.failure(wrong)[0], wrong.headers["Allow"]), (405, "POST"))
        self.assertEqual(self.ask("POST", "/responses", {"model": "chat", "input": [{"role": "user", "content": [7]}]})
                         .body["error"]["param"], "input[0].content[0].type")

    def test_paths_that_are_not_offered_say_what_is(self):
        for method, path in (("POST", "/completions"), ("POST", "/embeddings"), ("POST", "/conversations"),
                             ("GET", "/conversations/c1/items"), ("POST", "/audio/transcriptions")):
            answer = self.server.http(method, "/v1" + path, b"x" if method == "POST" else None, {"Content-Type": "text/plain"})
            self.assertEqual(self.failure(answer), (404, "unknown_url"))
            self.assertIn("/v1/chat/completions and /v1/responses", answer.body["error"]["message"])
        for method, path in (("POST", "/chat/completions"), ("POST", "/responses"), ("GET", "/models")):
            answer = self.server.http(method, path, b"{}" if method == "POST" else None, {"Content-Type": "application/json"})
            self.assertEqual(self.failure(answer), (404, "unknown_url"))
            self.assertIn("must end with /v1", answer.body["error"]["message"])

    def test_the_paths_of_a2a_below_v1_are_as_before(self):
        answer = self.server.http("GET", "/v1/card", headers={"A2A-Version": "0.3"})
        self.assertEqual((answer.status, answer.body["name"]), (200, "Chat"))
        sent = {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "say hi"}]}}
        answer = self.server.http("POST", "/v1/message:send", json.dumps(sent).encode(), {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 200, answer.raw)


class Completions(ApiCase):
    def test_an_answer_is_whole_or_a_stream_of_chunks(self):
        choice = self.complete("say hello there")
        self.assertEqual((choice["message"]["content"].strip(), choice["finish_reason"]), ("hello there", "stop"))
        stream = self.open("POST", "/chat/completions", {"model": "chat", "stream": True, "messages": [
            {"role": "user", "content": "say hello there"}], "stream_options": {"include_usage": True}})
        chunks = stream.rest()
        self.assertTrue(stream.ended)
        self.assertEqual({chunk["object"] for chunk in chunks}, {"chat.completion.chunk"})
        self.assertEqual("".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks[:-1]).strip(),
                         "hello there")
        self.assertEqual(chunks[-2]["choices"][0]["finish_reason"], "stop")
        self.assertEqual((chunks[-1]["choices"], chunks[-1]["usage"]["total_tokens"]), ([], 0))

    def test_the_agent_gets_the_client_s_history(self):
        told = json.loads(self.complete([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "one"},
                                         {"role": "assistant", "content": "two"}, {"role": "user", "content": "told"}],
                                        tools=[{"type": "function", "function": LOOK}])["message"]["content"])
        self.assertEqual(told["history"], [["ROLE_USER", "Be kind."], ["ROLE_USER", "one"], ["ROLE_AGENT", "two"]])
        self.assertEqual([tool["name"] for tool in told["tools"]], ["look"])

    def test_words_answer_the_question_that_was_asked_in_words(self):
        messages = [{"role": "user", "content": "ask which colour?"}]
        asked = self.complete(messages)["message"]["content"]
        self.assertTrue(asked.endswith("which colour?"))
        other = self.complete([{"role": "user", "content": "say other"}, {"role": "assistant", "content": asked},
                               {"role": "user", "content": "say blue"}])
        self.assertEqual(other["message"]["content"].strip(), "blue", "another conversation with the same question")
        messages += [{"role": "assistant", "content": asked}, {"role": "user", "content": "blue"}]
        tools = [{"type": "function", "function": LOOK}]
        self.assertNotIn("answered", self.complete([*messages[:-1], {"role": "user", "content": "say sum"}],
                                                   tools=tools)["message"]["content"], "a client's side job")
        self.assertIn("answered: blue", self.complete(messages)["message"]["content"])
        asked = self.complete([{"role": "user", "content": "ask again?"}])["message"]["content"]
        told = json.loads(self.complete([{"role": "user", "content": "ask again?"}, {"role": "assistant", "content": asked},
                                         {"role": "user", "content": "told"}])["message"]["content"])
        self.assertEqual("".join(text for _, text in told["history"]).count("again?"), 2, told["history"])

    def test_a_named_conversation_is_the_task_s_context(self):
        how = {"X-Conversation-Id": "c1"}
        body = {"model": "chat", "messages": [{"role": "user", "content": "ask which?"}]}
        self.good("POST", "/chat/completions", body, **how)
        body["messages"][0]["content"] = "red"
        answered = self.good("POST", "/chat/completions", body, **how)["choices"][0]["message"]["content"]
        self.assertIn("answered: red", answered)
        listed = self.server.http("GET", "/agents/chat/tasks?contextId=c1", headers={"A2A-Version": "1.0"}).body
        self.assertEqual(len(listed["tasks"]), 1)

    def test_the_client_s_tools_are_called_and_a_question_is_one(self):
        for text, tool, name in (("tool look", LOOK, "look"), ("ask sure?", ASK, "ask")):
            with self.subTest(text):
                tools = [{"type": "function", "function": tool}]
                messages = [{"role": "user", "content": text}]
                choice = self.complete(messages, tools=tools)
                call = choice["message"]["tool_calls"][0]
                self.assertEqual((choice["finish_reason"], call["function"]["name"]), ("tool_calls", name))
                json.loads(call["function"]["arguments"])
                messages += [choice["message"], {"role": "tool", "tool_call_id": call["id"], "content": "yes"}]
                self.assertIn("yes", self.complete(messages, tools=tools)["message"]["content"])
                again = self.ask("POST", "/chat/completions", {"model": "chat", "messages": messages, "tools": tools})
                self.assertEqual(self.failure(again), (409, "conflict"))

    def test_a_failed_agent_is_an_error_that_clients_do_not_repeat(self):
        failed = self.ask("POST", "/chat/completions", {"model": "chat", "messages": [{"role": "user", "content": "fail no luck"}]})
        self.assertEqual((self.failure(failed), failed.body["error"]["message"]), ((400, "agent_failed"), "no luck"))

    def test_an_answer_that_is_not_there_in_time_is_an_error_that_clients_do_not_repeat(self):
        with harness.Server(["chat"], {"engine": {"reply_wait_s": 0.1, "drain_grace_s": 0.2}}) as self.server:
            late = self.ask("POST", "/chat/completions", {"model": "chat", "messages": [{"role": "user", "content": "wait"}]})
            self.assertEqual((self.failure(late), late.headers["Retry-After"]), ((400, "no_answer"), None))
            response = self.respond("wait")
            self.assertIn(response["status"], ("queued", "in_progress"))
        self.server = type(self).server


class Responses(ApiCase):
    def test_a_response_is_read_again_and_its_stream_has_every_event(self):
        created = self.respond("say hello there", metadata={"a": "b"}, instructions="Be kind.")
        self.assertEqual((created["status"], self.text_of(created).strip()), ("completed", "hello there"))
        self.assertEqual((created["metadata"], created["instructions"]), ({"a": "b"}, "Be kind."))
        path = "/responses/" + created["id"]
        self.assertEqual(self.good("GET", path), created)
        stream = self.open("GET", path + "?stream=true")
        events = stream.rest()
        self.assertTrue(stream.ended)
        self.assertEqual([event["sequence_number"] for event in events], list(range(len(events))))
        self.assertEqual((events[0]["type"], events[-1]["type"], events[-1]["response"]),
                         ("response.created", "response.completed", created))
        for after in (0, 3, len(events) - 1, len(events) + 5):
            rest = self.open("GET", f"{path}?stream=true&starting_after={after}").rest()
            self.assertEqual(rest, events[after + 1:])
        self.assertEqual(self.failure(self.ask("GET", path + "?stream=true&starting_after=x"))[0], 400)
        items = self.good("GET", path + "/input_items")
        self.assertEqual([item["content"] for item in items["data"]], [[{"type": "input_text", "text": "say hello there"}]])

    def test_a_stream_is_taken_up_after_a_kill_in_its_middle(self):
        stream = self.open("POST", "/responses", {"model": "chat", "input": "wait", "stream": True, "background": True})
        stream.until(lambda event: event["type"] == "response.output_text.delta")
        response, last = stream.seen[0]["response"], stream.seen[-1]["sequence_number"]
        self.server.kill()
        stream.close()
        self.server.start()
        path = "/responses/" + response["id"]
        self.server.gate("chat", self.task_of(response))
        rest = self.open("GET", f"{path}?stream=true&starting_after={last}").rest()
        self.assertEqual([event["sequence_number"] for event in stream.seen + rest], list(range(last + 1 + len(rest))))
        self.assertEqual(rest[-1]["response"], self.good("GET", path))
        self.assertIn("waited", self.text_of(rest[-1]["response"]))
        self.assertEqual(self.open("GET", path + "?stream=true").rest()[:last + 1], stream.seen)

    def test_a_background_response_is_polled_canceled_and_deleted(self):
        created = self.respond("wait", background=True)
        self.assertIn(created["status"], ("queued", "in_progress"))
        path = "/responses/" + created["id"]
        harness.wait_for(lambda: self.good("GET", path)["status"] == "in_progress")
        busy = self.ask("POST", "/responses", {"model": "chat", "input": "say x", "previous_response_id": created["id"]})
        self.assertEqual((self.failure(busy), busy.headers["Retry-After"]), ((409, "conflict"), "1"))
        canceled = self.good("POST", path + "/cancel")
        self.assertEqual((canceled["status"], canceled["id"]), ("cancelled", created["id"]))
        self.assertEqual(self.good("POST", path + "/cancel"), canceled)
        self.assertEqual(self.good("DELETE", path), {"id": created["id"], "object": "response", "deleted": True})
        self.assertEqual(self.failure(self.ask("GET", path)), (404, "not_found"))
        self.assertEqual(self.state_of(self.task_of(created)), 404)

    def test_a_client_that_leaves_cancels_its_response_but_not_one_in_the_background(self):
        with harness.Server(["chat"], {"chat": {"hang_up_grace_s": 0.1}}) as self.server:
            streams = [self.open("POST", "/responses", {"model": "chat", "input": "wait", "stream": True, "background": background})
                       for background in (False, True)]
            ids = []
            for stream in streams:
                stream.until(lambda event: event["type"] == "response.output_text.delta")
                ids.append(stream.seen[0]["response"]["id"])
                stream.close()
            harness.wait_for(lambda: self.good("GET", "/responses/" + ids[0])["status"] == "cancelled")
            self.assertEqual(self.good("GET", "/responses/" + ids[1])["status"], "in_progress")
        self.server = type(self).server

    def test_a_response_continues_the_one_before_and_answers_its_question(self):
        asked = self.respond("ask which colour?")
        self.assertEqual((asked["status"], self.text_of(asked)[-13:]), ("completed", "which colour?"))
        answered = self.respond("blue", previous_response_id=asked["id"])
        self.assertIn("answered: blue", self.text_of(answered))
        self.assertEqual(self.task_of(answered), self.task_of(asked))
        self.assertNotEqual(answered["id"], asked["id"])
        self.assertEqual(self.good("GET", "/responses/" + asked["id"]), asked)
        told = self.respond("told", previous_response_id=answered["id"])
        self.assertNotEqual(self.task_of(told), self.task_of(asked))
        self.assertEqual(told["conversation"], asked["conversation"])
        self.assertIn("which colour?", self.text_of(told))
        lost = self.ask("POST", "/responses", {"model": "chat", "input": "x", "previous_response_id": "resp_nothere"})
        self.assertEqual(self.failure(lost), (404, "previous_response_not_found"))
        other = self.ask("POST", "/responses", {"model": "mirror", "input": "x", "previous_response_id": asked["id"]})
        self.assertEqual(self.failure(other), (404, "previous_response_not_found"))

    def test_an_answer_that_does_not_fit_its_question_is_an_error_that_clients_do_not_repeat(self):
        asked = self.respond("form sure?")
        answer = {"model": "chat", "previous_response_id": asked["id"]}
        said = [("user", "form sure?"), ("assistant", "sure?"), ("user", "maybe")]
        messages = [{"role": role, "content": text} for role, text in said]
        self.complete(messages[:1])
        for path, body in (("/responses", {**answer, "input": "maybe"}),
                           ("/chat/completions", {"model": "chat", "messages": messages})):
            refused = self.ask("POST", path, body)
            self.assertEqual((self.failure(refused)[0], refused.headers["Retry-After"]), (400, None))
        self.assertIn('answered: {"approved": true}', self.text_of(self.good("POST", "/responses", {**answer, "input": "yes"})))

    def test_items_that_the_server_has_lead_to_the_conversation(self):
        asked = self.respond("ask which?")
        reference = {"type": "item_reference", "id": asked["output"][-1]["id"]}
        answered = self.respond([{"role": "user", "content": "ask which?"}, reference, {"role": "user", "content": "red"}])
        self.assertIn("answered: red", self.text_of(answered))
        named = self.respond("told", conversation=asked["conversation"])
        self.assertEqual(named["conversation"], asked["conversation"])
        lost = {"type": "item_reference", "id": "msg_nothere_3"}
        self.assertEqual(self.failure(self.ask("POST", "/responses", {"model": "chat", "input": [lost, {"role": "user", "content": "x"}]})),
                         (404, "item_not_found"))

    def test_words_answer_a_question_also_if_no_item_names_the_conversation(self):
        user, agent = ([{"role": "user", "content": "ask which one?"}],
                       [{"role": "assistant", "content": [{"type": "output_text", "text": "which one?"}]}])
        self.respond(user, store=False)
        answered = self.respond([*user, *agent, {"role": "user", "content": "red"}], store=False)
        self.assertIn("answered: red", self.text_of(answered))

    def test_the_client_s_tools_are_called_and_a_question_is_one(self):
        for text, tool in (("tool look", LOOK), ("ask sure?", ASK)):
            with self.subTest(text):
                tools = [{"type": "function", **tool}]
                called = self.respond(text, tools=tools)
                call = self.call_in(called)
                self.assertEqual((call["name"], called["status"], called["tools"]), (tool["name"], "completed", tools))
                output = {"type": "function_call_output", "call_id": call["call_id"], "output": "yes"}
                given = self.respond([output], tools=tools, previous_response_id=called["id"])
                self.assertIn("yes", self.text_of(given))
                items = self.good("GET", f"/responses/{given['id']}/input_items")["data"]
                if tool is LOOK:
                    self.assertEqual((items[0]["call_id"], items[0]["output"]), (call["call_id"], "yes"))

    def test_a_response_that_is_not_to_be_stored_cannot_be_read_again(self):
        created = self.respond("say x", store=False)
        self.assertEqual(created["status"], "completed")
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("GET", "/input_items")):
            self.assertEqual(self.failure(self.ask(method, f"/responses/{created['id']}{path}"))[0], 404)

    def test_a_task_of_a2a_is_a_response_too(self):
        task = self.server.send("say hi", agent="chat")["id"]
        found = self.good("GET", f"/responses/resp_{urllib.parse.quote(task)}")
        self.assertEqual((found["status"], self.text_of(found).strip()), ("completed", "hi"))

    def test_a_response_is_a_task_of_every_protocol(self):
        asked = self.respond("ask which colour?")
        task = self.task_of(asked)
        self.assertEqual(self.state_of(task), "TASK_STATE_INPUT_REQUIRED")
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "chat", "arguments": {"message": "blue", "taskId": task}}}
        answered = self.server.http("POST", "/mcp", json.dumps(call).encode(), {"Content-Type": "application/json"})
        self.assertIn("answered: blue", answered.body["result"]["structuredContent"]["text"])
        self.assertEqual(self.state_of(task), "TASK_STATE_COMPLETED")
        self.assertEqual(self.good("GET", "/responses/" + asked["id"]), asked)
        told = self.respond("told", previous_response_id=asked["id"])
        self.assertIn("answered: blue", self.text_of(told))

    def test_a_failed_response_says_why_and_not_to_try_again(self):
        failed = self.respond("fail no luck")
        self.assertEqual((failed["status"], failed["error"]["message"], failed["error"]["code"]),
                         ("failed", "no luck", "invalid_prompt"))


class Access(ApiCase):
    CONFIG = {**ApiCase.CONFIG, "tokens": [{"token": "ann-" + "a" * 20, "caller": "ann"},
                                           {"token": "bob-" + "b" * 20, "caller": "bob", "agents": ["mirror"]}]}
    TOKEN = "ann-" + "a" * 20
    BOB = "bob-" + "b" * 20

    def test_a_caller_sees_and_calls_only_what_the_token_allows(self):
        for path in ("/models", "/responses/resp_x"):
            nobody = self.server.http("GET", "/v1" + path)
            self.assertEqual((self.failure(nobody), "Bearer" in nobody.headers["WWW-Authenticate"]), ((401, "invalid_api_key"), True))
        self.assertEqual([one["id"] for one in self.good("GET", "/models", token=self.BOB)["data"]], ["mirror"])
        for method, path, body in (("GET", "/models/{}", None), ("POST", "/responses", {"input": "x"}),
                                   ("POST", "/chat/completions", {"messages": [{"role": "user", "content": "x"}]})):
            refused, unknown = (self.ask(method, path.format(name), body and {**body, "model": name}, token=self.BOB)
                                for name in ("chat", "gone"))
            self.assertEqual(refused.raw.replace(b"chat", b"gone"), unknown.raw)
            self.assertEqual(self.failure(refused), (404, "model_not_found"))

    def test_another_caller_s_response_is_none(self):
        created = self.respond("ask which?", background=True)
        path = f"/responses/{created['id']}"
        harness.wait_for(lambda: self.good("GET", path)["status"] == "completed")
        mirrors = self.good("POST", "/responses", {"model": "mirror", "input": "x"})
        for own in (created, mirrors):  # at an agent that Bob may not use, and at one that he may
            path, item = f"/responses/{own['id']}", own["id"].replace("resp_", "msg_") + "_3"
            for method, behind in (("GET", ""), ("GET", "?stream=true"), ("POST", "/cancel"), ("DELETE", ""), ("GET", "/input_items")):
                with self.subTest((own["model"], method, behind)):
                    self.assertEqual(self.failure(self.ask(method, path + behind, token=self.BOB)), (404, "not_found"))
            for body in ({"previous_response_id": own["id"], "input": "x"},
                         {"input": [{"type": "item_reference", "id": item}, {"role": "user", "content": "x"}]}):
                answer = self.ask("POST", "/responses", {"model": "mirror", **body}, token=self.BOB)
                self.assertEqual(self.failure(answer)[0], 404)
        self.assertEqual(self.good("GET", f"/responses/{created['id']}")["status"], "completed")

    def test_pages_of_other_origins_may_not_call(self):
        for origin, status in (("http://evil.example", 403), ("http://localhost:3000", 200)):
            self.assertEqual(self.ask("GET", "/models", Origin=origin).status, status)


if __name__ == "__main__":
    unittest.main()

"""Language models over OpenAI's Responses and Anthropic's Messages, against scripted servers. How single servers
differ: unit/protocol/models/servers_test.cpp."""
import json
import os

import client
import harness
from chat_doors import AgUi
from model_case import ModelCase
from model_server import plain

KEY = "sk-not-for-everybody"


def streamed(*events, ends=True):
    """Answers with these events; unless it ends, the connection is cut."""
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        if not ends:
            handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(frames(events))
    return answer


def frames(events):
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events).encode()


def says(api, text):
    return streamed(*api.text(text), *api.end())


class Responses:
    """OpenAI's Responses API."""
    name, path, provider, auth = "responses", "/v1/responses", "openai", {"type": "bearer", "secret_env": "MODEL_KEY"}
    reasoning = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}],
                 "encrypted_content": "gAAA"}

    @staticmethod
    def text(text):
        return [{"type": "response.output_text.delta", "output_index": 0, "delta": text}]

    @staticmethod
    def end(**more):
        return [{"type": "response.completed", "response": {
            "status": "completed", "model": "tiny-1", "output": [],
            "usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}, **more}}]

    def calls(self, name, arguments):
        call = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": name, "arguments": json.dumps(arguments)}
        return [{"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": "Hm"},
                {"type": "response.output_item.done", "output_index": 0, "item": self.reasoning},
                {"type": "response.output_item.done", "output_index": 1, "item": call}, *self.end()]

    def given_back(self, request):
        """The parts of the request that come from the answer with the call, and what they are to be."""
        kept = [one for one in request["input"] if one.get("type") in ("reasoning", "function_call")]
        return [(one["type"], one.get("encrypted_content", one.get("call_id"))) for one in kept], \
            [("reasoning", "gAAA"), ("function_call", "call_1")]

    def result(self, request):
        last = request["input"][-1]
        return last["type"], last["call_id"], last["output"]


class Anthropic:
    """Anthropic's Messages API."""
    name, path, provider, auth = "anthropic", "/v1/messages", "anthropic", {"type": "api_key", "secret_env": "MODEL_KEY"}

    @staticmethod
    def block(index, block, *deltas):
        return [{"type": "content_block_start", "index": index, "content_block": block},
                *({"type": "content_block_delta", "index": index, "delta": one} for one in deltas),
                {"type": "content_block_stop", "index": index}]

    def text(self, text):
        return self.block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})

    @staticmethod
    def end(reason="end_turn"):
        return [{"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}},
                {"type": "message_stop"}]

    def calls(self, name, arguments):
        return [{"type": "message_start", "message": {"model": "tiny-1", "content": [], "usage": {"input_tokens": 7}}},
                *self.block(0, {"type": "thinking", "thinking": "", "signature": ""},
                            {"type": "thinking_delta", "thinking": "Hm"}, {"type": "signature_delta", "signature": "EqQB"}),
                *self.block(1, {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}},
                            {"type": "input_json_delta", "partial_json": json.dumps(arguments)}),
                *self.end("tool_use")]

    def given_back(self, request):
        said = [one for one in request["messages"] if one["role"] == "assistant"][0]["content"]
        return [(one["type"], one.get("signature", one.get("id"))) for one in said], \
            [("thinking", "EqQB"), ("tool_use", "toolu_1")]

    def result(self, request):
        last = request["messages"][-1]["content"][-1]
        return last["type"].replace("tool_result", "function_call_output"), last["tool_use_id"], last["content"]


APIS = [Responses(), Anthropic()]


class Apis(ModelCase):
    """The same agent over each API."""
    MODELS = {one.name: {"auth": one.auth, "model": {"api": one.name, "tools": ["echo"], "headers": {"X-Team": "red"}}}
              for one in APIS}

    @classmethod
    def prepare(cls):
        os.environ["MODEL_KEY"] = KEY
        cls.addClassCleanup(os.environ.pop, "MODEL_KEY")


    def test_an_agent_s_answer_and_the_reasoning_before_go_back_to_the_model(self):
        for api in APIS:
            with self.subTest(api.name):
                self.model.script(streamed(*api.calls("echo", {"message": "ping"})), says(api, "it said ping"))
                door = AgUi(self.server, agent=api.name)
                run = door.run(door.say("hi"))
                self.assertEqual((run.ending, run.text), ("completed", "it said ping"))
                self.assertEqual(run.frames[-1].body["usage"][0]["provider"], api.provider)
                self.assertEqual(run.frames[-1].body["usage"][0]["model"], "tiny-1")
                self.assertEqual(self.model.paths, [api.path] * 2)
                given, wanted = api.given_back(self.model.requests[1])
                self.assertEqual(given, wanted)
                self.assertEqual(api.result(self.model.requests[1]), ("function_call_output", wanted[1][1], "ping"))
                headers = {name.lower(): value for name, value in self.model.headers[0].items()}
                key = headers["x-api-key"] if api.name == "anthropic" else headers["authorization"].removeprefix("Bearer ")
                self.assertEqual((key, headers["x-team"]), (KEY, "red"))
                self.assertEqual(headers.get("anthropic-version"), "2023-06-01" if api.name == "anthropic" else None)

    def test_reasoning_goes_back_after_a_crash(self):
        for api in APIS:
            with self.subTest(api.name):
                quiet, _ = self.model.silent_after(*(frames([one]).decode() for one in api.text("wrong")))
                self.model.script(streamed(*api.calls("echo", {"message": "ping"})), quiet, says(api, "right"))
                task = client.new_id()
                self.server.stream("hi", task, agent=api.name).close()
                harness.wait_for(lambda: "wrong" in self.reply(self.server.get(task, agent=api.name)), what="the second answer")
                self.server.kill()
                self.server.start()
                self.assertEqual(self.reply(self.stopped(task, agent=api.name)), "right")
                self.assertEqual(len(self.model.requests), 3)
                self.assertEqual(*api.given_back(self.model.requests[2]))

    def test_reasoning_goes_back_with_the_result_of_a_client_s_tool(self):
        for api in APIS:
            with self.subTest(api.name):
                self.model.script(streamed(*api.calls("point_at", {"x": 1})), says(api, "you see it"))
                door, context = AgUi(self.server, agent=api.name), client.new_id()
                run = door.run(door.say("where?", context, tools=["point_at"]))
                self.assertEqual((run.ending, json.loads(run.calls[0].arguments)), ("tool", {"x": 1}))
                after = door.run(door.give(run, "pointed", context, tools=["point_at"]))
                self.assertEqual((after.ending, after.text), ("completed", "you see it"))
                given, wanted = api.given_back(self.model.requests[1])
                self.assertEqual(given, wanted)
                self.assertEqual(api.result(self.model.requests[1])[1:], (wanted[1][1], "pointed"))

    def test_a_stream_that_breaks_off_or_fails_begins_again(self):
        for api in APIS:
            with self.subTest(api.name):
                failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
                self.model.script(plain({"error": {"message": "later"}}, 529), streamed(failed),
                                  streamed(*api.text("wrong"), ends=False), streamed(*api.text("wrong"), failed),
                                  says(api, "right"))
                self.assertEqual(self.reply(self.run_task(agent=api.name)), "right")
                self.assertEqual(len(self.model.requests), 5)

    def test_a_model_that_does_not_encrypt_its_reasoning_is_asked_without(self):
        api = APIS[0]
        self.model.script(plain({"error": {"message": "Encrypted content is not supported with this model."}}, 400),
                          says(api, "yes"))
        self.assertEqual(self.reply(self.run_task(agent=api.name)), "yes")
        self.assertEqual(["include" in one for one in self.model.requests], [True, False])

    def test_an_answer_of_another_api_fails_the_task_and_the_error_names_the_setting(self):
        self.model.script(plain({"object": "chat.completion", "choices": [{"message": {"content": "x"}}]}))
        self.assertIn("model.api", self.reason(self.run_task(agent="anthropic", state="failed")))

    def test_an_answer_that_pauses_is_asked_to_go_on(self):
        api = APIS[1]
        self.model.script(streamed(*api.text("First. "), *api.end("pause_turn")), says(api, "Then."))
        self.assertEqual(self.reply(self.run_task(agent=api.name)), "First. Then.")
        self.assertEqual(self.model.messages()[-1]["role"], "assistant")


if __name__ == "__main__":
    harness.unittest.main()

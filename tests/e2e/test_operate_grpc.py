"""The playground over gRPC: the server makes the call to its own port, with the identity of the user."""
import json

import client
import harness
import operate_case
from operate_case import OPERATOR, PREFIX, VIEWER

PATH = "/playground/grpc"


def check(event):
    operate_case.check_event(event, "GrpcEvent")


def body_of(text, agent="joke", **more):
    message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": text}]}
    return {"agent": agent, "message": message, **more}


@client.only_if(client.has_grpc())
class Playground(operate_case.OperateCase):
    OPTIONS = [*operate_case.OperateCase.OPTIONS, "--grpc-port", "0"]

    def events(self, body, token=OPERATOR):
        return [block.frame for block in self.open(body, token).rest()]

    def open(self, body, token=OPERATOR):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        return self.server.open_http("POST", PREFIX + PATH, json.dumps(body).encode(), headers, check)

    def test_stream_shows_what_goes_over_the_wire(self):
        self.assertTrue(self.read("/me", OPERATOR)["grpc"])
        sent, *received, ended = self.events(body_of("x"))
        self.assertEqual((sent["way"], sent["method"]), ("sent", "/lf.a2a.v1.A2AService/SendStreamingMessage"))
        self.assertEqual(sent["message"]["message"]["parts"], [{"text": "x"}])
        self.assertIn(b"x", bytes.fromhex(sent["hex"]))
        self.assertGreaterEqual(len(received), 2)
        self.assertIn("task", received[0]["message"])
        for event in (sent, *received):
            self.assertEqual(event["bytes"], len(event["hex"]) // 2)
        self.assertEqual((ended["way"], ended["status"]), ("ended", {"status": "OK"}))
        task = received[0]["message"]["task"]["id"]
        row = self.read(f"/tasks/{self.key_of(task)}")["task"]
        self.assertEqual((row["caller"], row["agent"]), ("otto", "joke"))

    def test_unary_call_has_one_answer(self):
        sent, received, ended = self.events(body_of("x", stream=False))
        self.assertEqual(sent["method"], "/lf.a2a.v1.A2AService/SendMessage")
        self.assertEqual(received["message"]["task"]["status"]["state"], "TASK_STATE_COMPLETED")
        self.assertEqual(ended["status"]["status"], "OK")

    def test_refusal_is_the_status_of_the_call(self):
        body = body_of("x")
        body["message"]["taskId"] = client.new_id()
        _, ended = self.events(body)
        self.assertEqual((ended["way"], ended["status"]["status"]), ("ended", "NOT_FOUND"))

    def test_nothing_but_this_server_s_agents_is_reached(self):
        for agent in ("nobody", "http://127.0.0.1:1/", "127.0.0.1:1", ""):
            with self.subTest(agent):
                self.assert_api_error(self.ask("POST", PATH, body_of("x", agent)), 404, "not_found")
        for wrong in ({}, [], {"agent": "joke"}, body_of("x", stream="no")):
            with self.subTest(wrong):
                self.assert_api_error(self.ask("POST", PATH, wrong), 400, "invalid_argument")

    def test_viewers_are_refused_and_not_offered_it(self):
        self.assert_api_error(self.ask("POST", PATH, body_of("x"), token=VIEWER), 403, "permission_denied")
        self.assertNotIn("grpc", self.read("/me", VIEWER))

    def test_page_that_goes_ends_the_call(self):
        for _ in range(10):  # more than may run at once
            stream = self.open(body_of("x", "slow"))
            stream.until(lambda block: block.frame["way"] == "received")
            stream.close()
            self.wait_streams(0)

    def wait_streams(self, number):
        harness.wait_for(lambda: self.read("/overview")["streams"] == number, what="the stream to end")


class WithoutGrpc(operate_case.OperateCase):
    AGENTS = ["joke"]

    def test_it_is_not_offered(self):
        self.assertNotIn("grpc", self.read("/me", OPERATOR))
        self.assert_api_error(self.ask("POST", PATH, body_of("x")), 409, "conflict")

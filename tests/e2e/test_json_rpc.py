"""The envelope: JSON-RPC 2.0 as specified, and the leniency that the first A2A clients need."""
import json

import client
import harness
import rings


class JsonRpc(harness.ServerCase):
    AGENTS = ["joke"]

    def send_params(self):
        return {"id": client.new_id(), "message": client.text_message("x")}

    @rings.everything("unit/protocol/rpc/json_rpc_test.cpp")
    def test_ids_of_any_legal_type_come_back(self):
        for request_id in (0, 1, -7, 2**53 - 1, 12345678901234567890, 1.5, None, "", "a", "0", "ünï", "x" * 200):
            with self.subTest(request_id):
                answer = self.server.rpc("tasks/send", self.send_params(), request_id=request_id)
                self.assertEqual(answer.body["id"], request_id)
                self.assertIs(type(answer.body["id"]), type(request_id))
                self.assertEqual(answer.body["result"]["status"]["state"], "completed")

    @rings.everything("unit/protocol/rpc/json_rpc_test.cpp; one case of it is in test_a2a_cards")
    def test_request_without_id_is_answered_with_null(self):
        answer = self.server.post({"jsonrpc": "2.0", "method": "tasks/send", "params": self.send_params()},
                                  method="tasks/send")
        self.assertEqual(answer.status, 200)
        self.assertIsNone(answer.body["id"])
        self.assertEqual(answer.body["result"]["status"]["state"], "completed")

    @rings.everything("unit/protocol/rpc/json_rpc_test.cpp; one case of it is in test_a2a_errors")
    def test_request_without_jsonrpc_is_accepted(self):
        answer = self.server.post({"id": 4, "method": "tasks/send", "params": self.send_params()})
        self.assertEqual(answer.body["result"]["status"]["state"], "completed")
        self.assertEqual((answer.body["jsonrpc"], answer.body["id"]), ("2.0", 4))

    @rings.everything("unit/protocol/rpc/json_rpc_test.cpp")
    def test_batches_are_refused_clearly(self):
        one = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": "x"}}
        for batch in ([], [one], [one, one], [1]):
            with self.subTest(len(batch)):
                answer = self.server.post(batch)
                self.assert_error(answer, -32600)
                self.assertIsNone(answer.body["id"])

    @rings.everything("every row of test_bad_input that is no JSON")
    def test_parse_error(self):
        for body in (b"", b"{", b'{"jsonrpc":"2.0",}', b"\xff\xfe"):
            with self.subTest(body):
                answer = self.server.post(body)
                self.assert_error(answer, -32700, status=400)
                self.assertIsNone(answer.body["id"])

    def test_unknown_method(self):
        answer = self.server.rpc("tasks/dance", {}, request_id="q")
        self.assert_error(answer, -32601)
        self.assertEqual(answer.body["id"], "q")

    def test_invalid_params_say_where(self):
        answer = self.server.rpc("tasks/send", {"id": "x"})
        error = self.assert_error(answer, -32602)
        self.assertIn("message", json.dumps(error["data"]))

    def test_members_in_any_order_and_unknown_members(self):
        body = json.dumps({"params": {**self.send_params(), "later": [1]}, "x": {}, "method": "tasks/send",
                           "id": 3, "jsonrpc": "2.0"})
        answer = self.server.post(body.encode())
        self.assertEqual(answer.body["result"]["status"]["state"], "completed")

    def test_both_forms_of_the_endpoint_url(self):
        body = self.server.envelope("tasks/get", {"id": "nobody"}, 1)
        for path in ("/", "/agents/joke", "/agents/joke/"):
            with self.subTest(path):
                answer = self.server.http("POST", path, body, {"Content-Type": "application/json"})
                self.assert_error(answer, -32001)

    def test_unknown_agent_is_not_found(self):
        body = self.server.envelope("tasks/get", {"id": "nobody"}, 1)
        answer = self.server.http("POST", "/agents/nobody", body, {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 404)

    def test_other_http_methods_are_refused(self):
        for method in ("PUT", "DELETE", "PATCH"):
            with self.subTest(method):
                self.assertIn(self.server.http(method, "/", b"{}").status, (404, 405))

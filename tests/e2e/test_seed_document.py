"""Replays the requests and answers of the document that introduced the protocol. Where its examples break the
protocol's own schema (`data` for `parts`, an artifact as a list, ids as numbers, no jsonrpc), the request is sent as
printed and the answer must fit the schema."""
import base64
import datetime
import json

import client
import harness

# Members an answer may have in addition to the document's.
MAY_ADD = {"timestamp", "index"}
PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n picture").decode()
REPORT = base64.b64encode(b"%PDF-1.4 report").decode()
JOKE = "为什么鸡要过马路?因为想到另一边去!"


class SeedCase(harness.ServerCase):
    def assert_like(self, expected, actual, where="$"):
        if isinstance(expected, dict):
            self.assertIsInstance(actual, dict, where)
            self.assertLessEqual(set(actual) - set(expected), MAY_ADD, where)
            for key, value in expected.items():
                self.assertIn(key, actual, where)
                self.assert_like(value, actual[key], f"{where}.{key}")
        elif isinstance(expected, list):
            self.assertIsInstance(actual, list, where)
            self.assertEqual(len(expected), len(actual), where)
            for place, (mine, theirs) in enumerate(zip(expected, actual)):
                self.assert_like(mine, theirs, f"{where}[{place}]")
        else:
            self.assertIs(type(actual), type(expected), where)
            self.assertEqual(actual, expected, where)

    def ask(self, agent, method, params, request_id=1):
        """Returns the whole JSON-RPC answer."""
        answer = self.server.rpc(method, params, agent=agent, request_id=request_id)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.body

    def assert_time(self, status):
        stamp = datetime.datetime.fromisoformat(status["timestamp"].replace("Z", "+00:00"))
        self.assertIsNotNone(stamp.tzinfo)


class SeedDocument(SeedCase):
    AGENTS = ["joke", "phone", "pdf", "tickets", "slow", "maps"]

    def tell_joke(self):
        task = client.new_id()
        answer = self.ask("joke", "tasks/send", {
            "id": task,
            "message": {"role": "user", "data": [{"type": "text", "text": "告诉我一个笑话"}]},
            "metadata": {}})
        return task, answer

    def test_send_task(self):
        task, answer = self.tell_joke()
        self.assertEqual(answer["jsonrpc"], "2.0")
        self.assert_like({"jsonrpc": "2.0", "id": 1, "result": {
            "id": task, "sessionId": answer["result"]["sessionId"], "status": {"state": "completed"},
            "artifacts": [{"name": "joke", "parts": [{"type": "text", "text": JOKE}]}],
            "metadata": {}}}, answer)
        self.assertTrue(answer["result"]["sessionId"])
        self.assert_time(answer["result"]["status"])

    def test_get_task_with_history(self):
        task, sent = self.tell_joke()
        answer = self.ask("joke", "tasks/get", {"id": task, "historyLength": 10, "metadata": {}})
        self.assert_like({"jsonrpc": "2.0", "id": 1, "result": {
            "id": task, "sessionId": sent["result"]["sessionId"], "status": {"state": "completed"},
            "artifacts": [{"name": "joke", "parts": [{"type": "text", "text": JOKE}]}],
            "history": [{"role": "user", "parts": [{"type": "text", "text": "告诉我一个笑话"}]}],
            "metadata": {}}}, answer)

    def test_cancel_task(self):
        task = client.new_id()
        with self.subTest("a running task"):
            stream = self.server.open("tasks/sendSubscribe", {
                "id": task, "message": client.text_message("wait"), "metadata": {}}, agent="slow")
            stream.until(lambda block: block.status and block.status.get("message"))
            answer = self.ask("slow", "tasks/cancel", {"id": task, "metadata": {}})
            session = answer["result"]["sessionId"]
            self.assertEqual(answer["result"]["status"]["state"], "canceled")
            self.assertEqual((answer["id"], answer["result"]["id"], answer["result"]["metadata"]), (1, task, {}))
            self.assertTrue(session)
            self.assertEqual(stream.rest()[-1].status["state"], "canceled")
        with self.subTest("a waiting task"):
            task = client.new_id()
            asked = self.ask("phone", "tasks/send", {
                "id": task, "message": client.text_message("为我购买一部新手机"), "metadata": {}})
            answer = self.ask("phone", "tasks/cancel", {"id": task, "metadata": {}})
            self.assert_like({"jsonrpc": "2.0", "id": 1, "result": {
                "id": task, "sessionId": asked["result"]["sessionId"], "status": {"state": "canceled"},
                "metadata": {}}}, answer)

    def test_set_and_get_push_notification(self):
        task, _ = self.tell_joke()
        config = {"url": "https://example.com/callback", "authentication": {"schemes": ["jwt"]}}
        expected = {"jsonrpc": "2.0", "id": 1, "result": {"id": task, "pushNotificationConfig": config}}
        answer = self.ask("joke", "tasks/pushNotification/set", {"id": task, "pushNotificationConfig": config})
        self.assertEqual(answer, expected)
        self.assertEqual(self.ask("joke", "tasks/pushNotification/get", {"id": task}), expected)

    def test_multi_turn_conversation(self):
        task = client.new_id()
        first = self.ask("phone", "tasks/send", {
            "id": task, "message": client.text_message("为我购买一部新手机"), "metadata": {}})
        session = first["result"]["sessionId"]
        self.assert_like({"jsonrpc": "2.0", "id": 1, "result": {
            "id": task, "sessionId": session,
            "status": {"state": "input-required", "message": {
                "role": "agent", "parts": [{"type": "text", "text": "选择手机类型(iPhone/Android)"}]}},
            "metadata": {}}}, first)
        second = self.ask("phone", "tasks/send", {
            "id": task, "sessionId": session, "message": client.text_message("Android"), "metadata": {}}, 2)
        self.assert_like({"jsonrpc": "2.0", "id": 2, "result": {
            "id": task, "sessionId": session, "status": {"state": "completed"},
            "artifacts": [{"name": "order-confirmation", "metadata": {}, "parts": [
                {"type": "text", "text": "我已经为您订购了一台新的 Android 设备。您的请求编号是 R12443"}]}],
            "metadata": {}}}, second)

    def test_non_textual_media(self):
        task, session = client.new_id(), client.new_id()
        sent = self.ask("pdf", "tasks/send", {
            "id": task, "sessionId": session, "metadata": {},
            "message": {"role": "user", "parts": [
                {"type": "text", "text": "分析附带的报告并生成高级概述"},
                {"type": "file", "file": {"mimeType": "application/pdf", "data": REPORT}}]}}, 9)
        self.assertEqual((sent["id"], sent["result"]["id"], sent["result"]["sessionId"]), (9, task, session))
        self.assertIn(sent["result"]["status"]["state"], ("submitted", "working"))

        def at_work():
            polled = self.ask("pdf", "tasks/get", {"id": task, "metadata": {}}, 10)
            return polled if "message" in polled["result"]["status"] else None
        self.assert_like({"jsonrpc": "2.0", "id": 10, "result": {
            "id": task, "sessionId": session,
            "status": {"state": "working", "message": {
                "role": "agent", "parts": [{"type": "text", "text": "分析进行中,请稍候"}]}},
            "metadata": {}}}, harness.wait_for(at_work, what="the message of the working state"))

        self.server.gate("pdf", task)
        self.wait_state(task, "completed", agent="pdf")
        self.assert_like({"jsonrpc": "2.0", "id": 10, "result": {
            "id": task, "sessionId": session, "status": {"state": "completed"},
            "artifacts": [{"metadata": {}, "parts": [{"type": "text", "text": "<生成分析内容>"}]}],
            "metadata": {}}}, self.ask("pdf", "tasks/get", {"id": task, "metadata": {}}, 10))

    def test_structured_output(self):
        task, session = client.new_id(), client.new_id()
        wanted = {"mimeType": "application/json", "schema": {"type": "array", "items": {
            "type": "object", "properties": {"ticketNumber": {"type": "string"},
                                             "description": {"type": "string"}}}}}
        message = {"role": "user", "parts": [
            {"type": "text", "text": "显示我未关闭的 IT 工单列表", "metadata": wanted}]}
        sent = self.ask("tickets", "tasks/send", {
            "id": task, "sessionId": session, "message": message, "metadata": {}}, 9)
        self.assertEqual(sent["id"], 9)

        def listed():
            polled = self.ask("tickets", "tasks/get", {"id": task, "metadata": {}}, 9)
            return polled if "message" in polled["result"]["status"] else None
        answer = harness.wait_for(listed, what="the list of tickets")
        text = ('[{"ticketNumber":"REQ12312","description":"请求 VPN 访问权限"},'
                '{"ticketNumber":"REQ23422","description":"添加到 DL - team-gcp-onboarding"}]')
        self.assert_like({"jsonrpc": "2.0", "id": 9, "result": {
            "id": task, "sessionId": session,
            "status": {"state": "working", "message": {"role": "agent", "parts": [{"type": "text", "text": text}]}},
            "metadata": {}}}, answer)
        self.server.gate("tickets", task)
        self.wait_state(task, "completed", agent="tickets")
        asked = self.server.get(task, agent="tickets", historyLength=10)["history"][0]
        self.assert_like(message, asked)

    def test_agent_card(self):
        card = self.server.http("GET", "/agents/maps/.well-known/agent.json").body
        self.assertEqual(card["name"], "谷歌地图代理")
        self.assertEqual(card["description"], "规划路线、记住地点并生成导航")
        self.assertEqual(card["url"].rstrip("/"), f"http://127.0.0.1:{self.server.port}/agents/maps")
        self.assertEqual(card["provider"], {"organization": "Google", "url": "https://google.com"})
        self.assertEqual(card["version"], "1.0.0")
        self.assertEqual(card["defaultInputModes"], ["text/plain"])
        self.assertEqual(card["defaultOutputModes"], ["text/plain", "application/html"])
        self.assertIs(card["capabilities"]["streaming"], True)
        self.assertEqual([skill["id"] for skill in card["skills"]], ["route-planner", "custom-map"])
        self.assertEqual(card["skills"][0]["tags"], ["地图", "路线", "导航"])
        self.assertEqual(len(card["skills"][0]["examples"]), 3)
        self.assertEqual(card["skills"][0]["outputModes"], ["application/html", "video/mp4"])

    def test_error_format(self):
        answer = self.ask("joke", "tasks/get", {"id": client.new_id()})
        self.assertEqual((answer["jsonrpc"], answer["id"]), ("2.0", 1))
        self.assertEqual(answer["error"]["code"], -32001)
        self.assertEqual(answer["error"]["message"], "Task not found")


class SeedStreams(SeedCase):
    AGENTS = ["long-text"]

    def params(self, task):
        return {"id": task, "sessionId": client.new_id(), "metadata": {}, "message": {"role": "user", "parts": [
            {"type": "text", "text": "写一篇长文描述附带的图片"},
            {"type": "file", "file": {"mimeType": "image/png", "data": PICTURE}}]}}

    def section(self, task, number):
        return {"id": task, "artifact": {
            "parts": [{"type": "text", "text": f"<section {number}...>"}],
            "index": 0, "append": number > 1, "lastChunk": number == 3}}

    def frames(self, blocks):
        """Returns the frames as the client sees them, without the step from `submitted` to `working`, which is not in
        the document."""
        shown = [block.frame for block in blocks if block.frame]
        return [frame for frame in shown if frame["result"].get("status", {}).get("state") != "submitted"]

    def is_section(self, number):
        return lambda block: block.result and "artifact" in block.result and \
            client.text_of(block.result["artifact"]) == f"<section {number}...>"

    def test_streaming(self):
        # As printed: neither jsonrpc nor id. The answers carry "id": null.
        task = client.new_id()
        body = json.dumps({"method": "tasks/sendSubscribe", "params": self.params(task)}).encode()
        self.server.gate("long-text", f"{task}-2")
        self.server.gate("long-text", f"{task}-3")
        frames = self.frames(self.server.open("tasks/sendSubscribe", None, body=body).rest())
        expected = [{"id": task, "status": {"state": "working"}, "final": False},
                    *(self.section(task, number) for number in (1, 2, 3)),
                    {"id": task, "status": {"state": "completed"}, "final": True}]
        self.assert_like([{"jsonrpc": "2.0", "id": None, "result": result} for result in expected], frames)
        for frame in (frames[0], frames[-1]):
            self.assert_time(frame["result"]["status"])
        whole = self.server.get(task)["artifacts"]
        self.assertEqual("".join(client.text_of(artifact) for artifact in whole),
                         "<section 1...><section 2...><section 3...>")

    def test_resubscribe_in_the_middle(self):
        task = client.new_id()
        # Only clients that ask for numbers get them.
        first = self.server.open("tasks/sendSubscribe", self.params(task), headers={"Last-Event-ID": "0"})
        seen = first.until(self.is_section(1))
        first.close()
        again = self.server.open("tasks/resubscribe", {"id": task, "metadata": {}},
                                 headers={"Last-Event-ID": str(seen.number)})
        plain = self.server.open("tasks/resubscribe", {"id": task, "metadata": {}}, request_id="r-7")
        snapshot = next(iter(plain))
        self.server.gate("long-text", f"{task}-2")
        self.server.gate("long-text", f"{task}-3")
        expected = [self.section(task, 2), self.section(task, 3),
                    {"id": task, "status": {"state": "completed"}, "final": True}]
        with self.subTest("after the last event seen"):
            self.assert_like([{"jsonrpc": "2.0", "id": 1, "result": result} for result in expected],
                             self.frames(again.rest()))
        with self.subTest("without a number: the current state, then what follows"):
            self.assertEqual(snapshot.status["state"], "working")
            self.assertIsNone(snapshot.number)
            self.assertEqual(snapshot.result["id"], task)
            self.assert_like([{"jsonrpc": "2.0", "id": "r-7", "result": result} for result in expected],
                             self.frames(plain.rest())[1:])

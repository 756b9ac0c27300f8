"""The shipped agents through the server."""
import base64
import json

import client
import harness
import rings

CSV = "city,people,area\nOslo,709037,454\nBerlin,3677472,891.7\nLyon,522250,47.87\n"


class ShippedAgents(harness.ServerCase):
    def test_echo_streams_the_text_back_word_by_word(self):
        text = "Hello,  Baton!\n\tünï 线路 𝄞 end "
        task = client.new_id()
        blocks = self.server.open("tasks/sendSubscribe", {
            "id": task, "message": client.text_message(text, metadata={"delay_ms": 15})}).rest()
        chunks = [block.result["artifact"] for block in blocks if block.result and "artifact" in block.result]
        self.assertGreater(len(chunks), 1)
        self.assertEqual("".join(client.text_of(chunk) for chunk in chunks), text)
        self.assertEqual(self.server.get(task)["artifacts"][0]["parts"], [{"type": "text", "text": text}])

    def test_echo_gives_files_and_data_back(self):
        parts = [{"type": "file", "file": {"name": "a", "mimeType": "x/y", "bytes": "aGk="}},
                 {"type": "data", "data": {"a": [1]}}]
        done = self.server.call("tasks/send", {"id": client.new_id(), "message": {"role": "user", "parts": parts}})
        self.assertEqual([artifact["parts"][0] for artifact in done["artifacts"]], parts)

    def test_echo_fails_a_message_that_it_cannot_read(self):
        # Python cannot parse an integer of more than 4,300 digits.
        task = client.new_id()
        body = self.server.envelope("tasks/send", {
            "id": task, "message": {"role": "user", "parts": [{"type": "data", "data": {"n": "@"}}]}}, 1)
        answer = self.server.http("POST", "/", body.replace(b'"@"', b"7" * 5000),
                                  {"Content-Type": "application/json"})
        self.assertEqual(answer.body["result"]["status"]["state"], "failed")
        self.assertIn("cannot read", client.text_of(answer.body["result"]["status"]["message"]))
        self.assertEqual(self.server.send("still here")["status"]["state"], "completed")

    def test_echo_of_a_long_text(self):
        text = "word " * 20000
        done = self.server.send(text)
        self.assertEqual(client.text_of(done["artifacts"][0]), text)

    def test_echo_can_be_cancelled(self):
        task = client.new_id()
        stream = self.server.open("tasks/sendSubscribe", {
            "id": task, "message": client.text_message("a b c d e f g h", metadata={"delay_ms": 5000})})
        stream.until(lambda block: block.result and "artifact" in block.result)
        self.assertEqual(self.server.call("tasks/cancel", {"id": task})["status"]["state"], "canceled")
        self.assertEqual(stream.rest()[-1].status["state"], "canceled")

    def test_tools_looks_the_weather_up(self):
        task = client.new_id()
        blocks = self.server.stream("What is the weather in Berlin?", task, agent="tools").rest()
        said = json.dumps([block.frame for block in blocks])
        self.assertIn("get_weather", said)
        done = self.server.get(task, agent="tools")
        self.assertEqual(done["status"]["state"], "completed")
        self.assertIn("Berlin", client.text_of(done["artifacts"][0]))

    def test_approval_acts_after_a_yes(self):
        task = client.new_id()
        asked = self.server.send("Delete the old logs", task, agent="approval")
        self.assertEqual(asked["status"]["state"], "input-required")
        self.assertIn("Delete the old logs", json.dumps(asked["status"]["message"]))
        done = self.server.send("yes", task, agent="approval")
        self.assertEqual(done["status"]["state"], "completed")
        self.assertTrue(done["artifacts"])

    def test_approval_does_not_act_after_a_no(self):
        task = client.new_id()
        self.server.send("Delete the old logs", task, agent="approval")
        done = self.server.send("no", task, agent="approval")
        self.assertEqual(done["status"]["state"], "failed", "this protocol has no word for rejected")
        self.assertEqual(done["status"]["message"]["metadata"]["state"], "rejected")
        self.assertNotIn("artifacts", done)

    def test_approval_by_data(self):
        task = client.new_id()
        self.server.send("订一张去上海的票", task, agent="approval")
        done = self.server.call("tasks/send", {"id": task, "message": {
            "role": "user", "parts": [{"type": "data", "data": {"approved": True}}]}}, agent="approval")
        self.assertEqual(done["status"]["state"], "completed")

    def check_report(self, parts):
        task = client.new_id()
        blocks = self.server.open("tasks/sendSubscribe", {
            "id": task, "message": {"role": "user", "parts": parts}}, agent="table-report").rest()
        self.assertEqual(blocks[-1].status["state"], "completed", blocks[-1])
        progress = [block.result["metadata"]["progress"] for block in blocks
                    if block.result and "progress" in block.result.get("metadata", {})]
        self.assertTrue(progress)
        self.assertEqual(progress, sorted(progress))
        artifacts = {a["name"]: a for a in self.server.get(task, agent="table-report")["artifacts"]}
        columns = {column["name"]: column for column in
                   artifacts["statistics"]["parts"][0]["data"]["columns"]}
        chart = artifacts["chart"]["parts"][0]["file"]
        self.assertEqual(chart["mimeType"], "image/svg+xml")
        self.assertIn(b"<svg", base64.b64decode(chart["bytes"]))
        return columns

    def test_table_report_of_text(self):
        columns = self.check_report([{"type": "text", "text": CSV}])
        self.assertEqual(set(columns), {"city", "people", "area"})
        self.assertEqual(columns["people"]["max"], 3677472)
        self.assertAlmostEqual(columns["area"]["mean"], (454 + 891.7 + 47.87) / 3, 3)

    def test_table_report_of_a_file(self):
        columns = self.check_report([{"type": "file", "file": {
            "name": "cities.csv", "mimeType": "text/csv", "bytes": base64.b64encode(CSV.encode()).decode()}}])
        self.assertEqual(columns["city"]["count"], 3)

    def test_table_report_of_a_broken_table(self):
        done = self.server.send("a,b\n1,2\n3\n", agent="table-report")
        self.assertEqual(done["status"]["state"], "failed")
        self.assertIn("3", client.text_of(done["status"]["message"]), "names the row")

    def test_table_report_of_files_elsewhere(self):
        for uri in ("file:///etc/passwd", "file:../agent.py", "https://example.com/a.csv"):
            with self.subTest(uri):
                done = self.server.call("tasks/send", {"id": client.new_id(), "message": {
                    "role": "user", "parts": [{"type": "file", "file": {"uri": uri}}]}}, agent="table-report")
                self.assertEqual(done["status"]["state"], "failed")
                self.assertNotIn("root:", json.dumps(done))


@rings.everything("tests/agents/test_table_report.py: a large file needs little memory")
class LargeTable(harness.ServerCase):
    def test_a_hundred_megabytes_by_uri(self):
        folder = self.server.agents_folder / "table-report" / "data"
        row = b"north,12345,678.9,some text that fills the row up a little\n"
        rows = 100 * 2**20 // len(row) + 1
        with open(folder / "big.csv", "wb") as file:
            file.write(b"region,units,price,remark\n")
            for _ in range(rows // 10000):
                file.write(row * 10000)
            file.write(row * (rows % 10000))
        before = self.server.resident_kib()
        task = client.new_id()
        self.server.open("tasks/sendSubscribe", {"id": task, "message": {"role": "user", "parts": [
            {"type": "file", "file": {"uri": "file:big.csv"}}]}}, agent="table-report").rest()
        done = self.server.get(task, agent="table-report")
        self.assertEqual(done["status"]["state"], "completed", done["status"])
        self.assertIn(f'"count": {rows}', json.dumps(done))
        self.assertLess(self.server.resident_kib() - before, 64 * 1024 * client.scaled(1))

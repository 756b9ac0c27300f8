"""/metrics by Prometheus' conventions, and the dashboard and alert rules in scripts/monitoring, which use only existing
metrics."""
import json
import re
import signal
import subprocess

import client
import databases
import harness
import test_tls
import webhooks

MONITORING = harness.ROOT / "scripts" / "monitoring"
SAMPLE = re.compile(r'([a-z_]+)(?:\{(.*)\})? (\S+)\Z')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
# In an expression: a metric, and the content of its braces.
USED = re.compile(r'\b((?:baton|process)_[a-z_]+)\b(?:\{([^}]*)\})?')
MATCHER = re.compile(r'([a-z_]+)\s*(?:=~|!~|!=|=)\s*"')
GROUPED = re.compile(r'\bby \(([^)]*)\)')
# Labels that Prometheus adds when it scrapes.
ADDED = {"instance", "job"}


def promtool(*arguments, text=None):
    return subprocess.run([harness.ROOT / "scripts" / "promtool", *arguments], input=text, capture_output=True,
                          text=True, timeout=300, check=False)


def families(text):
    """Returns for each sample's name the sets of its label names, and all label values."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, _ = SAMPLE.match(line).groups()
        found.setdefault(name, []).append(dict(LABEL.findall(labels or "")))
    return found


class Metrics(harness.ServerCase):
    """The server has done some of everything: tasks that end well and badly, a webhook, a failed call."""

    AGENTS = ["echo", "bad", "hand"]
    CONFIG = {"webhooks": {"allow_private": True}, "outbound": {"origins": ["http://127.0.0.1:1"]},
              "traces": {"endpoint": "http://127.0.0.1:9/v1/traces"}}

    @staticmethod
    def of_tls():
        authority = test_tls.Authority().issue("a", "a.test")
        with test_tls.Server(authority) as server:
            found = families(server.http("GET", "/metrics").raw.decode())
        authority.remove()
        return found

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.call_far_away()
        with webhooks.Receiver() as receiver:
            cls.send("echo", "hello", {"taskPushNotificationConfig": {"url": receiver.url()}})
            receiver.wait(lambda got: got.deliveries)
        cls.send("bad", "exit 3")
        cls.send("hand", "use 25")
        cls.server.http("POST", "/agents/nobody", body=b"{}")
        # A turn, and the attempt of a webhook, are measured a little later than their outcome is seen.
        harness.wait_for(cls.is_measured, what="the durations of all turns and of the webhook")
        cls.found = {**cls.of_tls(), **families(cls.text)}

    @classmethod
    def is_measured(cls):
        cls.text = cls.server.http("GET", "/metrics").raw.decode()
        turns = {labels["agent"] for labels in families(cls.text).get("baton_turn_duration_seconds_count", [])}
        return {*cls.AGENTS, "far"} <= turns and cls.server.metric("baton_webhook_attempt_duration_seconds_count") > 0

    @classmethod
    def send(cls, agent, text, configuration=None):
        message = {"messageId": client.new_id(), "role": "ROLE_USER", "parts": [{"text": text}]}
        return cls.server.call("SendMessage", {"message": message, "configuration": configuration or {}}, agent=agent,
                               headers={"A2A-Version": "1.0"})

    @classmethod
    def call_far_away(cls):
        """Calls an agent elsewhere that is down, so that there is a breaker to report."""
        folder = cls.server.agents_folder / "far"
        folder.mkdir()
        card = {"name": "far", "version": "1", "description": "A remote agent.",
                "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
                "skills": [{"id": "all", "name": "All", "description": "What it does there.", "tags": ["remote"]}],
                "baton": {"executor": "ag-ui", "url": "http://127.0.0.1:1/", "turn_timeout_s": 1}}
        (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
        cls.server.process.send_signal(signal.SIGHUP)
        harness.wait_for(lambda: "far" in cls.server.http("GET", "/agents").raw.decode())
        cls.send("far", "hello")

    def of(self, name, **labels):
        return [one for one in self.found.get(name, []) if labels.items() <= one.items()]

    def test_promtool_finds_no_fault(self):
        checked = promtool("check", "metrics", text=self.text)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    def test_each_family_is_described_once(self):
        for word in ("HELP", "TYPE"):
            names = re.findall(rf"^# {word} (\S+)", self.text, re.M)
            self.assertEqual(sorted(names), sorted(set(names)))

    def test_labels_say_agent_protocol_state_and_code(self):
        self.assertTrue(self.of("baton_tasks_total", agent="echo", state="completed"))
        self.assertTrue(self.of("baton_tasks_total", agent="bad", state="failed"))
        self.assertTrue(self.of("baton_requests_total", agent="echo", protocol="a2a-jsonrpc", code="200"))
        self.assertTrue(self.of("baton_requests_total", agent="", code="404"))
        self.assertTrue(self.of("baton_turn_duration_seconds_count", agent="bad"))
        self.assertTrue(self.of("baton_request_duration_seconds_bucket", protocol="a2a-jsonrpc", le="+Inf"))

    def test_what_callers_choose_is_no_label(self):
        for name, samples in self.found.items():
            for labels in samples:
                self.assertNotIn("nobody", labels.values(), name)
                self.assertLessEqual(set(labels), {"agent", "protocol", "state", "code", "le", "outcome", "origin",
                                                   "version", "file", "thread", "place", "name"}, name)

    @databases.needs_sqlite("baton_database_bytes is the size of the file")
    def test_every_part_is_measured(self):
        for name in ("baton_turn_queue_duration_seconds_count", "baton_flush_duration_seconds_count",
                     "baton_webhook_attempt_duration_seconds_count", "baton_database_bytes", "baton_build_info",
                     "baton_turns_oldest_queued_seconds", "process_cpu_seconds_total", "process_open_fds",
                     "process_resident_memory_bytes", "process_start_time_seconds", "baton_spans_total", "baton_outbound_bytes",
                     "baton_outbound_waiting"):
            self.assertIn(name, self.found)
        threads = {labels["thread"] for labels in self.found["baton_thread_busy_seconds"]}
        self.assertLessEqual({"engine", "engine-flush", "engine-time", "http-loop", "notify"}, threads)

    def assert_uses_what_is_there(self, expression):
        used = USED.findall(expression)
        self.assertTrue(used, expression)
        known = set(ADDED)
        for name, braces in used:
            self.assertIn(name, self.found, expression)
            labels = set().union(*self.found[name]) | ADDED
            known |= labels
            self.assertLessEqual(set(MATCHER.findall(braces)), labels, expression)
        for group in GROUPED.findall(expression):
            self.assertLessEqual({word.strip() for word in group.split(",")}, known, expression)

    @databases.needs_sqlite("baton_database_bytes is the size of the file")
    def test_the_dashboard_uses_only_what_is_there(self):
        dashboard = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
        expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        expressions += [one["query"] for one in dashboard["templating"]["list"] if one["type"] == "query"]
        self.assertGreater(len(expressions), 20)
        for expression in expressions:
            with self.subTest(expression):
                self.assert_uses_what_is_there(expression)

    def test_the_alerts_use_only_what_is_there(self):
        path = MONITORING / "alerts.yaml"
        checked = promtool("check", "rules", str(path))
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        text = path.read_text(encoding="utf-8")
        rules = re.findall(r"expr: (?:>-\n((?: {10,}.*\n)+)|(.*)\n)", text)
        self.assertEqual(len(rules), text.count("alert:"))
        for folded, plain in rules:
            with self.subTest(folded or plain):
                self.assert_uses_what_is_there(folded or plain)

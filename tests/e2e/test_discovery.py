"""How clients and registries find the agents of a server: its catalog, MCP server cards, and cards beside each endpoint."""
import http.server
import json
import subprocess
import threading
import unittest

import client
import harness

PUBLIC = "https://agents.example.com"
URN = "urn:air:agents.example.com:"


class DiscoveryCase(harness.ServerCase):
    AGENTS = ["player", "mirror", "cat"]
    CONFIG = {"public_url": PUBLIC + "/"}

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(cls.AGENTS, cls.CONFIG)
        cls.change_card("player", default=True, listed=True)
        cls.change_card("mirror", tool=False)
        cls.change_card("cat", listed=False)
        cls.server.start()

    @classmethod
    def change_card(cls, agent, **settings):
        path = cls.server.agents_folder / agent / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["baton"].update(settings)
        path.write_text(json.dumps(card), encoding="utf-8")

    def get(self, url, **headers):
        """Gets a URL of the public address from the server."""
        return self.server.http("GET", url.removeprefix(PUBLIC), headers=headers)

    def entries(self):
        return self.get("/.well-known/ard.json").body["entries"]


class Published(DiscoveryCase):
    def test_the_catalog_leads_to_the_cards_of_the_agents_that_may_be_shown(self):
        old, new = self.get("/.well-known/ai-catalog.json"), self.get("/.well-known/ard.json", Origin="https://x.example")
        self.assertEqual(old.raw, new.raw)
        self.assertEqual(old.headers["Content-Type"], "application/ai-catalog+json")
        self.assertEqual(new.headers["Access-Control-Allow-Origin"], "*")
        self.assertEqual(self.get("/.well-known/ard.json", **{"If-None-Match": new.headers["ETag"]}).status, 304)
        self.assertEqual(self.server.http("HEAD", "/.well-known/ard.json").status, 200)
        self.assertEqual([entry["identifier"].removeprefix(URN) for entry in new.body["entries"]],
                         ["agents:mirror", "agents:player", "mcp:player"])
        for entry in new.body["entries"]:
            found = self.get(entry["url"])
            self.assertEqual((found.status, found.body["description"]), (200, entry["description"]), entry)
        self.assertIn(f'<{PUBLIC}/.well-known/ard.json>; rel="ard"', ", ".join(self.get("/").headers.get_all("Link")))

    def test_mcp_server_cards_lie_beside_their_servers(self):
        card = self.get("/agents/player/mcp/server-card")
        self.assertEqual(card.headers["Content-Type"], "application/mcp-server-card+json")
        self.assertEqual((card.body["name"], card.body["remotes"][0]["url"]),
                         ("com.example.agents/player", PUBLIC + "/agents/player/mcp"))
        self.assertEqual(self.get("/mcp/server-card").body["remotes"][0]["url"], PUBLIC + "/mcp")
        self.assertEqual(self.get("/agents/mirror/mcp/server-card").status, 404)
        self.assertEqual(self.get("/agents/nobody/mcp/server-card").status, 404)

    def test_each_endpoint_that_a_card_names_has_the_card_under_both_names(self):
        for path in ("/agents/mirror", "/agents/player", ""):
            card = self.get(path + "/.well-known/agent-card.json").body
            urls = {card["url"], *(one["url"] for one in card["additionalInterfaces"] + card["supportedInterfaces"])}
            for url in urls:
                for name in ("agent.json", "agent-card.json"):
                    found = self.get(url.rstrip("/") + "/.well-known/" + name)
                    self.assertEqual((found.status, found.body), (200, card), url)

    def test_what_gemini_enterprise_demands_of_an_agent_of_0_3(self):
        """It posts to the URL of the card, streams, and lets nobody in before it has seen the page."""
        card = self.get("/.well-known/agent-card.json").body
        self.assertTrue(card["protocolVersion"].startswith("0.3"))
        self.assertEqual((card["preferredTransport"], card["capabilities"]["streaming"]), ("JSONRPC", True))
        self.assertTrue(all("tags" in skill for skill in card["skills"]))
        self.assertEqual([name for name in card if "_" in name], [])
        self.assertEqual(card["url"], PUBLIC + "/")
        self.assertEqual(self.get("/").status, 200)
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": {
            "kind": "message", "role": "user", "messageId": client.new_id(), "parts": [{"kind": "text", "text": "end well"}]}}}
        answer = self.server.http("POST", "/", json.dumps(body), {"Content-Type": "application/json"})
        self.assertEqual(answer.headers["Content-Type"], "text/event-stream")
        events = [json.loads(line[6:])["result"] for line in answer.raw.decode().splitlines() if line.startswith("data: ")]
        kinds = [event["kind"] for event in events]
        self.assertEqual((kinds[0], kinds[-1], events[-1]["final"]), ("task", "status-update", True))
        self.assertIn("artifact-update", kinds[1:-1])


class Secured(DiscoveryCase):
    CONFIG = {**DiscoveryCase.CONFIG, "tokens": [{"token": "ann-" + "a" * 20, "caller": "ann"}]}

    def test_only_agents_that_say_so_are_listed_if_callers_need_a_token(self):
        self.assertEqual([entry["identifier"].removeprefix(URN) for entry in self.entries()], ["agents:player", "mcp:player"])
        card = self.get("/.well-known/agent-card.json").body
        self.assertTrue(card["securitySchemes"] and card["security"])


class Unpublished(DiscoveryCase):
    CONFIG = {"public_url": "http://localhost:8080"}

    def test_without_a_domain_name_nothing_is_published(self):
        for path in ("/.well-known/ard.json", "/.well-known/ai-catalog.json", "/mcp/server-card",
                     "/agents/player/mcp/server-card"):
            self.assertEqual(self.get(path).status, 404, path)
        self.assertNotIn("ard", ", ".join(self.get("/").headers.get_all("Link")))


class Checked(DiscoveryCase):
    """The command that reads a catalog as a registry does; a small server stands in for the public address."""

    def setUp(self):
        self.base = f"http://127.0.0.1:{self.server.port}"
        self.catalog = json.dumps(self.get("/.well-known/ard.json").body).replace(PUBLIC, self.base)
        case = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                found = case.catalog if self.path == "/list.json" else "x" if self.path == "/" else None
                self.send_response(404 if found is None else 200)
                if self.path == "/":
                    self.send_header("Link", '</list.json>; rel="ard"')
                self.end_headers()
                self.wfile.write((found or "").encode())

            def log_message(self, *_):
                pass

        served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(served.server_close)
        self.addCleanup(served.shutdown)
        self.url = f"http://127.0.0.1:{served.server_port}"

    def check(self, url=None):
        return subprocess.run([harness.PROGRAM, "discover", "--check", url or self.url], capture_output=True, text=True,
                              check=False, timeout=client.scaled(60), env=harness.program_environment())

    def test_the_command_reads_each_card_and_tells_what_is_wrong(self):
        good = self.check()
        self.assertEqual((good.returncode, good.stderr), (0, ""), good.stdout)
        self.assertIn("/list.json (the header Link)", good.stdout)
        self.assertIn("agents:mirror: " + self.base, good.stdout)
        self.assertIn("\n0 errors, ", good.stdout)
        self.catalog = self.catalog.replace("mcp:player", "agents:player").replace("/agents/mirror/", "/agents/nobody/")
        wrong = self.check()
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("/entries/2/identifier: another entry has the same", wrong.stdout)
        self.assertIn("agent not found", wrong.stdout)
        none = self.check(self.base + "/agents/player")
        self.assertEqual((none.returncode, none.stdout), (4, ""))
        self.assertIn("publishes no catalog", none.stderr)
        nobody = self.check("http://127.0.0.1:1")
        self.assertEqual((nobody.returncode, nobody.stdout), (4, ""))
        self.assertIn("/.well-known/ard.json: the connection failed", nobody.stderr)


if __name__ == "__main__":
    unittest.main()

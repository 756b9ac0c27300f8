"""Baton's card of an agent elsewhere: the author's own members, completed from the remote card, which is fetched in the
background and cached as its HTTP headers say."""
import json
import threading

import client
import harness
import relay
import rings
from test_remote_agents import Front
from test_remote_failures import DONE, Elsewhere


class CardSite(relay.Site):
    """Serves `card` (bytes) with `headers` and keeps the requests. `hold`: an event that answers wait for."""

    def __init__(self, **headers):
        outer, self.asked, self.hold, self.status, self.unchanged = self, [], None, 200, 0
        self.there = Elsewhere([DONE])
        self.there.site.http.server_close()
        self.fields = {name.replace("_", "-"): value for name, value in headers.items()}

        class Handler(self.there.site.http.RequestHandlerClass):
            def do_GET(self):
                outer.asked.append(dict(self.headers))
                if outer.hold:
                    outer.hold.wait(client.scaled())
                etag = outer.fields.get("ETag")
                status = 304 if etag and self.headers.get("If-None-Match") == etag else outer.status
                outer.unchanged += status == 304
                self.send_response(status)
                for name, value in outer.fields.items():
                    self.send_header(name, value)
                content = b"" if status == 304 else outer.card
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                try:
                    self.wfile.write(content)
                except ConnectionError:
                    pass  # it was too large, or nobody waits for it any more

        super().__init__(Handler)
        card = relay.card_for(self.url, name="Theirs", streaming=True)
        card.update(description="What they do.", version="7", iconUrl="https://them.example/icon",
                    provider={"organization": "Them", "url": "https://them.example"},
                    securitySchemes={"theirs": {"type": "http", "scheme": "basic"}}, security=[{"theirs": []}],
                    defaultOutputModes=["text/csv"])
        card["capabilities"]["extensions"] = [{"uri": "urn:theirs", "required": True}]
        self.set(card)

    def set(self, card):
        self.card = json.dumps(card).encode()


class RemoteCards(harness.unittest.TestCase):
    def front(self, site, **members):
        """Returns a Baton whose agent `far` has a card with only a name and these members."""
        front = Front({}, [site.url.rstrip("/")])
        self.addCleanup(front.discard)
        folder = front.agents_folder / "far"
        folder.mkdir()
        card = {"name": "Ours", "baton": {"executor": "a2a", "url": site.url}, **members}
        (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
        return front.start()

    def card(self, front):
        return front.http("GET", "/agents/far/.well-known/agent-card.json").body

    def wait_card(self, front, found, what):
        return harness.wait_for(lambda: found(self.card(front)) and self.card(front), what=what)

    def test_a_card_of_a_name_alone_is_completed_from_the_remote_one(self):
        with CardSite() as site:
            front = self.front(site)
            card = self.wait_card(front, lambda one: one["version"] == "7", "the remote card")
            self.assertEqual((card["name"], card["description"]), ("Ours", "What they do."))
            self.assertEqual(card["defaultOutputModes"], ["text/csv"])
            self.assertEqual([skill["id"] for skill in card["skills"]], ["s"])
            text = json.dumps(card)
            for theirs in ("them.example", "urn:theirs", "basic", str(site.port)):
                self.assertNotIn(theirs, text)
            self.assertTrue(card["capabilities"]["streaming"] and card["capabilities"]["pushNotifications"])
            listed = front.http("GET", "/agents").body["agents"][0]
            self.assertEqual((listed["title"], listed["description"]), ("Ours", "What they do."))
            ended = front.send("hello", client.new_id(), agent="far")
            self.assertEqual(ended["status"]["state"], "completed")

    def test_what_the_author_says_stands(self):
        with CardSite() as site:
            skill = {"id": "own", "name": "Own", "description": "", "tags": []}
            front = self.front(site, description="Mine.", skills=[skill])
            card = self.wait_card(front, lambda one: one["version"] == "7", "the remote card")
            self.assertEqual(card["description"], "Mine.")
            self.assertEqual([one["id"] for one in card["skills"]], ["own"])

    def test_a_remote_that_does_not_answer_holds_up_neither_cards_nor_the_end(self):
        with CardSite() as site:
            site.hold = threading.Event()
            self.addCleanup(site.hold.set)
            front = self.front(site)
            harness.wait_for(lambda: site.asked, what="the remote to be asked")
            for _ in range(20):
                card = self.card(front)
            self.assertEqual((card["name"], card["skills"], card["defaultInputModes"]), ("Ours", [], ["text/plain"]))
            self.assertEqual(len(site.asked), 1)
            self.assertEqual(front.stop(seconds=10), 0)

    def test_a_remote_card_that_makes_no_sense_shows_nothing(self):
        # unit/protocol/card/remote_card_test.cpp has more nonsense.
        for nonsense in rings.some((b"{", b'"' + b"x" * (2 << 20) + b'"', b"[]", b'{"description": 7}'), 2):
            with self.subTest(nonsense=nonsense[:20]), CardSite() as site:
                site.card = nonsense
                front = self.front(site)
                harness.wait_for(lambda: site.asked, what="the remote to be asked")
                self.assertEqual(front.send("hello", client.new_id(), agent="far")["status"]["state"], "failed")
                self.assertEqual(self.card(front)["description"], "")

    def test_a_card_is_fetched_again_when_its_headers_say_and_not_before(self):
        with CardSite(Cache_Control="public, max-age=1", ETag='"one"') as brief, \
                CardSite(Cache_Control="max-age=3600") as long:
            fronts = [self.front(brief), self.front(long)]
            for front in fronts:
                self.wait_card(front, lambda one: one["version"] == "7", "the remote card")
            # Each time takes at least 5 s: a card is never cached for less.
            if not rings.WHOLE:
                harness.wait_for(lambda: self.card(fronts[0]) and brief.unchanged, what="the card to be asked for")
                self.assertEqual(self.card(fronts[0])["version"], "7", "304 leaves it as it is")
            card = json.loads(brief.card)
            brief.set({**card, "version": "8"})
            brief.fields["ETag"] = '"two"'  # last: with the card from before it would keep that for ever
            self.wait_card(fronts[0], lambda one: one["version"] == "8", "the card as it is now")
            if not rings.WHOLE:  # a card that can no longer be fetched stays as it was
                brief.status = 500
                asked = len(brief.asked)
                harness.wait_for(lambda: self.card(fronts[0]) and len(brief.asked) > asked, what="another try")
                self.assertEqual(self.card(fronts[0])["version"], "8")
            self.card(fronts[1])
            self.assertEqual(len(long.asked), 1)

    def test_only_agents_elsewhere_may_leave_members_out(self):
        with CardSite() as site:
            front = self.front(site)
            folder = front.agents_folder / "plain"
            folder.mkdir()
            (folder / "card.json").write_text(json.dumps(
                {"name": "Plain", "baton": {"executor": "command", "command": ["true"]}}), encoding="utf-8")
            front.stop()
            front.start()
            self.assertIn('\\"skills\\" is missing', front.log_text())
            self.assertEqual(front.http("GET", "/agents/plain/.well-known/agent-card.json").status, 404)


if __name__ == "__main__":
    harness.unittest.main()

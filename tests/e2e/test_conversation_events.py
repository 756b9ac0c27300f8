"""Streams that follow a conversation over its runs: GET /agents/<name>/conversations/<id>/events."""
import json
import urllib.parse

import chat_client
import client
import harness
from chat_case import ChatCase
from chat_doors import AgUi10

ENDS = ("RUN_FINISHED", "RUN_ERROR")


class Page:
    """What AG-UI's client makes of a stream of frames: its messages, each word as often as it came."""

    def __init__(self):
        self.messages, self.runs, self.last = {}, [], None

    def take(self, frame):
        event, kind = frame.body, frame.body["type"]
        if kind == "MESSAGES_SNAPSHOT":
            self.messages = {message["id"]: message.get("content", "") for message in event["messages"]}
        elif kind == "RUN_STARTED":
            self.runs.append(event["runId"])
            for message in event.get("input", {}).get("messages", []):
                self.messages.setdefault(message["id"], message["content"])
        elif kind == "TEXT_MESSAGE_START":
            self.messages.setdefault(event["messageId"], "")
        elif kind == "TEXT_MESSAGE_CONTENT":
            self.messages[event["messageId"]] += event["delta"]
        self.last = frame.place or self.last
        return kind

    @property
    def texts(self):
        return list(self.messages.values())


class FollowingCase(ChatCase):
    def follow(self, context, last=None, server=None, token=None, agent="chat"):
        path = f"/agents/{agent}/conversations/{urllib.parse.quote(context, safe='')}/events?protocolVersion=1.0"
        headers = {"Content-Type": None} | ({"Authorization": f"Bearer {token}"} if token else {})
        return chat_client.post(server or self.server, path, b"", headers, last, method="GET")

    def take(self, page, stream, runs=1):
        """Lets the page read until this many further runs have ended."""
        for frame in stream:
            if page.take(frame) in ENDS:
                runs -= 1
                if runs == 0:
                    return page
        raise AssertionError(f"the stream ended: {stream.seen}")

    def begun(self, text="say hello"):
        """Begins a conversation. Returns its id and a client of it."""
        context, door = client.new_id(), AgUi10(self.server)
        door.run(door.say(text, context))
        return context, door


class Follows(FollowingCase):
    def test_a_stream_shows_the_messages_and_then_each_run_as_it_comes(self):
        context, door = self.begun("say hello")
        page, stream = Page(), self.follow(context)
        self.take(page, stream)
        self.assertEqual(page.texts, ["say hello", "hello"])
        door.run(door.say("say again", context))
        self.take(page, stream)
        self.assertEqual(page.texts, ["say hello", "hello", "say again", "again"])
        asked = door.run(door.say("ask which one?", context))
        self.take(page, stream)
        door.run(door.answer(asked, "this one", context))
        self.take(page, stream)
        self.assertIn("answered: this one", page.texts)
        self.assertIn("this one", " ".join(page.texts[5:]))
        # Another protocol's run is one of the conversation, too.
        self.a2a.send("say from A2A", context=context)
        self.take(page, stream)
        self.assertEqual(page.texts[-2:], ["say from A2A", "from A2A"])
        self.assertEqual(len(set(page.runs)), len(page.runs))
        stream.leave()

    def test_a_run_that_is_under_way_is_shown_from_its_beginning_and_once(self):
        context, door = self.begun()
        waits = door.open(door.say("wait", context))
        waits.until(lambda frame: "begun" in frame.data)
        page, stream = Page(), self.follow(context)
        self.take(page, stream)  # the snapshot
        self.assertEqual(page.texts, ["say hello", "hello"])
        other = door.run(door.say("say beside", context))
        self.server.gate("chat", context)
        waits.rest()
        self.take(page, stream, runs=2)
        self.assertEqual(page.texts[2:], ["wait", "begun waited", "say beside", "beside"])
        self.assertEqual(other.ending, "completed")
        stream.leave()

    def test_a_question_that_is_open_is_in_the_first_frames(self):
        context, _ = self.begun("ask which one?")
        stream = self.follow(context)
        ended = stream.until(lambda frame: frame.body["type"] == "RUN_FINISHED")
        self.assertEqual(ended.body["outcome"]["interrupts"][0]["message"], "which one?")
        stream.leave()


class Cuts(FollowingCase):
    def test_a_stream_that_is_cut_after_each_frame_and_at_restarts_shows_each_word_once(self):
        context, door = self.begun()
        whole, stream = Page(), self.follow(context)
        self.take(whole, stream)
        first = whole.last
        asked = door.run(door.say("all which one?", context))
        door.run(door.answer(asked, "this one", context))
        door.run(door.say("say good bye", context))
        self.take(whole, stream, runs=3)
        frames = stream.seen
        stream.leave()
        page, last, kinds, cuts = Page(), None, [], 0
        shown = []
        while len(kinds) < 4:
            part = self.follow(context, last)
            for frame in part:
                if page.take(frame) in ENDS:
                    kinds.append(frame.body["type"])
                if frame.place:
                    shown.append(frame.shown)
                    last = frame.place
                    break
            part.leave()
            cuts += 1
            if cuts in (3, 9):
                self.server.stop()
                self.server.start()
            # Begun without an id, the stream has the later runs in its snapshot.
            if cuts == 1:
                page, last, kinds, shown = Page(), first, ["RUN_FINISHED"], []
                for frame in frames:
                    page.take(frame)
                    if frame.place == first:
                        break
        self.assertEqual(shown, [frame.shown for frame in frames if frame.place and frame.place != first])
        self.assertEqual(page.messages, whole.messages)

    def test_runs_that_a_page_has_missed_come_first(self):
        context, door = self.begun()
        page, stream = Page(), self.follow(context)
        self.take(page, stream)
        stream.leave()
        for number in range(12):
            door.run(door.say(f"say {number}", context))
        stream = self.follow(context, page.last)
        self.take(page, stream, runs=12)
        self.assertEqual(page.texts[2:], [text for number in range(12) for text in (f"say {number}", str(number))])
        stream.leave()

    def test_an_id_whose_task_is_gone_begins_anew_and_one_that_is_none_is_refused(self):
        context, _ = self.begun()
        page, stream = Page(), self.follow(context, f"5;{client.new_id()}:3")
        self.take(page, stream)
        self.assertEqual(page.texts, ["say hello", "hello"])
        stream.leave()
        for last in ("x", "5", "5;", ";:0", "5;x:", "5;a:0;:0", "-1;:0", f"5;{'a@1;' * 300}:0"):
            with self.subTest(last):
                self.assertEqual(self.follow(context, last).status, 400)


class Access(FollowingCase):
    OWN, OTHER = "the-shops-own-token-is-long-enough", "the-desks-own-token-is-long-enough"
    CONFIG = {"tokens": [{"caller": "shop", "token": OWN}, {"caller": "desk", "token": OTHER},
                         {"caller": "none", "token": "a-token-for-no-agent-at-all-long", "agents": ["echo"]}],
              "http": {"streams_max": 4}, "engine": {"queue_share": 0.5, "drain_grace_s": 0.2}}

    def begun(self, text="say hello"):
        context, door = client.new_id(), AgUi10(self.server, token=self.OWN)
        door.run(door.say(text, context))
        return context, door

    def test_only_the_conversations_own_caller_can_follow_it(self):
        context, _ = self.begun()
        for token, status in ((self.OTHER, 404), (None, 401), ("a-token-for-no-agent-at-all-long", 403)):
            with self.subTest(token):
                self.assertEqual(self.follow(context, token=token).status, status)
        self.assertEqual(self.follow(client.new_id(), token=self.OWN).status, 404)
        path = f"/agents/chat/conversations/{context}/events"
        for method in ("HEAD", "POST", "DELETE"):
            answer = self.server.http(method, path, headers={"Authorization": f"Bearer {self.OWN}"})
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, "GET"), method)

    def test_a_page_has_its_token_in_the_query_and_sees_its_own_alone(self):
        body = json.dumps({"user": "ann"}).encode()
        made = self.server.http("POST", "/tokens", body, {"Authorization": f"Bearer {self.OWN}"}).body["token"]
        context, door = client.new_id(), AgUi10(self.server, token=made)
        door.run(door.say("say mine", context))
        self.assertEqual(self.follow(context, token=self.OWN).status, 404)
        path = f"/agents/chat/conversations/{context}/events?access_token={made}"
        page, stream = Page(), chat_client.post(self.server, path, b"", {"Content-Type": None}, method="GET")
        self.take(page, stream)
        self.assertEqual(page.texts, ["say mine", "mine"])
        stream.leave()

    def test_streams_count_towards_the_callers_limit(self):
        context, _ = self.begun()
        # Streams of other tests may still be ending.
        streams = [harness.wait_for(lambda: self.opened(context), what="a place for a stream") for _ in range(2)]
        self.assertEqual(self.follow(context, token=self.OWN).status, 503)
        for stream in streams:
            stream.leave()
        again = harness.wait_for(lambda: self.opened(context), what="a place for a stream")
        again.leave()

    def opened(self, context):
        stream = self.follow(context, token=self.OWN)
        return stream if isinstance(stream, chat_client.RunStream) else None


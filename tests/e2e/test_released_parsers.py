"""Streams of every protocol, read by the parsers of released clients (released_parsers.py), also when they are idle for
several keep-alives and when they are resumed; which streams have numbers, and how the numbers of events are covered
that a view does not show."""
import json

import a2a_case
import client
from chat_case import ChatCase, for_each
from old_generations import Rpc01

IDLE_COMMENTS = 3
KEEP_AWAKE = {"http": {"keep_awake_s": 0.1}}


def read_idle(streams, release):
    """Reads streams of an agent that waits until release(): before it past some keep-alives, after it to the end.
    Returns the released parsers' results for each."""
    for stream in streams:
        before = stream.released.comments
        while stream.released.comments < before + IDLE_COMMENTS:
            line = stream.response.readline()
            if not line:
                raise AssertionError(f"the stream ended: {stream.released.events}")
            stream.released.line(line)
    release()
    for stream in streams:
        for line in iter(stream.response.readline, b""):
            stream.released.line(line)
        stream.close()
    return [stream.released for stream in streams]


def numbers_of(released):
    return [int(last_id) for _, _, last_id in released.events if last_id]


class A2aStreams(a2a_case.A2aCase):
    CONFIG = {**a2a_case.A2aCase.CONFIG, **KEEP_AWAKE}

    def begin(self, caller, **how):
        """Begins a stream whose agent waits. Returns the stream, its task, and its first items."""
        following = caller.stream("wait", **how)
        following.until("working")
        raw = following.items[0].raw
        return following, raw.get("id") or raw["taskId"]

    def gate(self, task):
        return lambda: self.server.gate("player", task)

    def assert_read(self, released):
        """Asserts that httpx-sse saw rising numbers, only JSON, and the end."""
        for _, data, _ in released.events:
            frame = json.loads(data)
            self.assertNotIn("error", frame)
        self.assertIn("ompleted", json.dumps(frame).replace("COMPLETED", "ompleted"), released.events)
        numbers = numbers_of(released)
        self.assertEqual(numbers, sorted(numbers))

    def test_an_idle_stream_is_read_by_httpx_sse(self):
        for caller in self.each():
            following, task = self.begin(caller)
            [released] = read_idle([following.stream], self.gate(task))
            self.assert_read(released)
            self.assertEqual(len(set(numbers_of(released))), len(released.events), "each has a number of its own")

    def test_an_idle_subscription_is_read_by_httpx_sse(self):
        """Subscribes to the present, where the snapshot has no number, and after a number, with everything that follows
        it."""
        for caller in self.each():
            following, task = self.begin(caller)
            cut = following.items[-1].number
            following.close()
            subscribed = caller.subscribe(task), caller.subscribe(task, after=cut), caller.subscribe(task, after=0)
            read = read_idle([one.stream for one in subscribed], self.gate(task))
            for released in read:
                self.assert_read(released)
            self.assertEqual(read[0].events[0][2], "", "the snapshot has no number")
            self.assertEqual(numbers_of(read[1]), [number for number in numbers_of(read[2]) if number > cut])

    def test_the_first_js_client_of_0_1_reads_every_event_of_an_idle_stream(self):
        task = client.new_id()
        streams = [self.g1.open("stream", self.g1.params("wait", task=task)).stream]
        streams[0].released.line(streams[0].response.readline())  # it is there
        streams.append(self.g1.open("subscribe", {"id": task}).stream)
        for released in read_idle(streams, self.gate(task)):
            self.assert_read(released)
            self.assertEqual(numbers_of(released), [])
            self.assertEqual(released.first_js.frames, [data for _, data, _ in released.events])
            self.assertLessEqual(set(released.first_js.dropped), {": keep-awake"})
            self.assertGreaterEqual(len(released.first_js.dropped), IDLE_COMMENTS)

    def test_a_0_1_stream_has_numbers_only_if_it_is_asked_for_them(self):
        wishes = ({"startAt": 1}, {"eventNumbers": True}, {})
        for headers, metadata, numbered in (
                ({}, {}, False), ({}, {"other": 1}, False), ({}, {client.EXTENSION: None}, False),
                ({"Last-Event-ID": "0"}, {}, True), ({}, {"lastEventId": 0}, True),
                *(({}, {client.EXTENSION: wish}, True) for wish in wishes)):
            with self.subTest(headers=headers, metadata=metadata):
                params = self.g1.params("end", metadata=metadata)
                sent = self.g1.open("stream", params, headers)
                self.assertEqual({item.number is not None for item in sent.rest()}, {numbered})
                for caller in (self.g1, Rpc01(self.server, version="0.1")):
                    again = caller.open("subscribe", {"id": params["id"], "metadata": metadata}, headers)
                    numbers = {item.number is not None for item in again.rest()}
                    # Without a number to start after, it is a snapshot, which never has one.
                    starts = headers or "lastEventId" in metadata or "startAt" in str(metadata)
                    self.assertEqual(numbers, {numbered} if starts else {False})

    def test_the_era_of_the_task_decides_where_no_version_is_said(self):
        old, new = self.g1.send("ask").id, self.g3.send("ask").id
        streams = [self.g1.open("subscribe", {"id": task}) for task in (old, new)]
        for stream, task, numbered in zip(streams, (old, new), (False, True)):
            stream.first()
            self.g3.answer(task, "done")
            self.assertEqual({item.number is not None for item in stream.rest()[1:]}, {numbered})


class Extension(a2a_case.A2aCase):
    """Clients that ask for it get every number."""

    HEADERS = ("A2A-Extensions", "X-A2A-Extensions")

    def covered(self, items):
        numbers = []
        for item in items:
            if item.number is not None:
                first = item.raw["metadata"][client.EXTENSION]["from"]
                numbers += range(first, item.number + 1)
        return numbers

    def test_every_number_is_covered_in_order(self):
        for caller in self.each():
            for header in self.HEADERS:
                following = caller.stream("count 3", metadata=client.EVERY_NUMBER,
                                          headers={header: f"urn:other, {client.EXTENSION}"})
                items = following.rest()
                self.assertEqual(following.stream.response.headers[header], client.EXTENSION)
                self.assertEqual(self.covered(items), list(range(1, items[-1].number + 1)))
                task = items[0].raw.get("id") or items[0].raw["taskId"]
                shown = json.dumps(caller.get(task).raw)
                self.assertNotIn(client.EXTENSION, shown, "it is said to Baton and is not the task's")

    def test_a_subscription_begins_at_any_number(self):
        items = self.g4.stream("count 3").rest()
        task, last = items[0].raw["id"], items[-1].number
        for caller in (self.g1, self.g2, self.g3, self.g4):
            with self.subTest(caller.name):
                for start in range(1, last + 1):
                    wish = {client.EXTENSION: {"eventNumbers": True, "startAt": start}}
                    seen = caller.subscribe(task, metadata=wish, headers={"A2A-Extensions": client.EXTENSION}).rest()
                    self.assertEqual(self.covered(seen), list(range(start, last + 1)))
                for start in (0, -1, 1.5, "1", last + 2):
                    wish = {client.EXTENSION: {"startAt": start}}
                    self.assert_refused(-32602, caller.subscribe, task, metadata=wish,
                                        headers={"A2A-Extensions": client.EXTENSION})

    def test_1_0_wants_it_asked_for_in_the_header(self):
        for caller in (self.g4, self.g4_rest):
            with self.subTest(caller.name):
                following = caller.stream("end", metadata=client.EVERY_NUMBER)
                self.assertNotIn(client.EXTENSION, json.dumps([item.raw for item in following.rest()]))
                self.assertIsNone(following.stream.response.headers["A2A-Extensions"])

    def test_cards_declare_it_and_do_not_require_it(self):
        for version in ("", "1.0"):
            card = self.server.http("GET", "/agents/player/.well-known/agent-card.json", headers={"A2A-Version": version})
            [declared] = [entry for entry in card.body["capabilities"]["extensions"] if entry["uri"] == client.EXTENSION]
            self.assertFalse(declared.get("required", False))


class ChatStreams(ChatCase):
    CONFIG = KEEP_AWAKE

    @for_each()
    def test_idle_and_resumed_streams_are_read_by_httpx_sse(self, door):
        context = client.new_id()
        body = door.say("wait", context)
        first = door.open(body)
        door.until_text(first, "begun")
        last = first.seen[-1].place
        again, whole = door.open(body, last=last), door.open(body, last=f"{first.seen[0].task}:0")
        read = read_idle((first, again, whole), lambda: self.server.gate("chat", context))
        for released in read:
            self.assertTrue(all(data for _, data, _ in released.events))
            self.assertEqual(len({place for _, _, place in released.events}), len(released.events))
        self.assertEqual(read[0].events, read[2].events)
        places = [place for _, _, place in read[2].events]
        self.assertEqual(read[1].events, read[2].events[places.index(last) + 1:])

    @for_each()
    def test_the_last_id_of_a_run_is_that_of_its_last_event(self, door):
        """However the run ends: later events belong to another run."""
        context = client.new_id()
        for text in ("say x", "fail", "ask which?"):
            run = door.run(door.say(text, context))
            log = self.a2a.subscribe(run.task, after=0)
            state = "input-required" if run.ending == "asked" or "ask" in text else None
            last = (log.until(state) if state else log.rest()[-1]).number
            log.close()
            self.assertEqual(run.frames[-1].number, last, text)

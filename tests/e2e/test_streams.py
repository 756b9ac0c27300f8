"""Streams: one numbered order for every subscriber, resumable after any number, even across a restart."""
import client
import harness

STEPS = 30


def numbers(blocks):
    """Returns all numbers that the events of a stream cover, in order."""
    return [number for block in blocks if block.number is not None for number in block.covers]


def frames(blocks):
    return [(block.number, block.result) for block in blocks if block.number is not None]


def begun(block):
    return block.status is not None and "begun" in str(block.status.get("message"))


class Streams(harness.ServerCase):
    AGENTS = ["counter", "slow", "phone", "joke", "cat"]

    def finished(self, steps=STEPS):
        """Returns a task that ended, and all blocks of its stream."""
        task = client.new_id()
        return task, self.server.stream(str(steps), task).rest()

    def test_numbers_are_consecutive_from_one(self):
        _, blocks = self.finished()
        self.assertEqual(numbers(blocks), list(range(1, blocks[-1].number + 1)))
        self.assertLess(len(blocks), blocks[-1].number, "some are not shown")

    def test_frames_are_updates_and_only_the_last_is_final(self):
        task, blocks = self.finished()
        shown = blocks
        for block in shown:
            self.assertEqual(block.frame["id"], 1)
            self.assertEqual(block.result["id"], task)
            self.assertEqual("status" in block.result, "artifact" not in block.result)
        self.assertEqual([block.final for block in shown], [False] * (len(shown) - 1) + [True])
        self.assertEqual(shown[-1].status["state"], "completed")
        steps = [client.text_of(b.status["message"]) for b in shown if b.status and "message" in b.status]
        self.assertEqual([s for s in steps if s.startswith("step")], [f"step {n}" for n in range(1, STEPS + 1)])

    def test_streamed_text_is_one_artifact(self):
        text = "streamed ünï text, word by word, " * 20 + "\n"
        task = client.new_id()
        blocks = self.server.stream(text, task, agent="cat").rest()
        chunks = [block.result["artifact"] for block in blocks if block.result and "artifact" in block.result]
        self.assertEqual("".join(client.text_of(chunk) for chunk in chunks), text)
        self.assertEqual({chunk.get("index", 0) for chunk in chunks}, {0})
        self.assertEqual([chunk.get("append", False) for chunk in chunks], [False] + [True] * (len(chunks) - 1))
        self.assertTrue(chunks[-1].get("lastChunk"))
        self.assertFalse(any(chunk.get("lastChunk") for chunk in chunks[:-1]))
        self.assertEqual(self.server.get(task, agent="cat")["artifacts"][0]["parts"], [{"type": "text", "text": text}])

    def test_stream_headers(self):
        stream = self.server.stream("1")
        self.assertIn("no-cache", stream.response.headers["Cache-Control"])
        self.assertEqual(stream.response.headers["X-Accel-Buffering"], "no")
        stream.rest()

    def test_two_subscribers_see_the_same(self):
        task = client.new_id()
        first = self.server.stream("progress 20", task, agent="slow")
        first.until(begun)
        others = [self.server.resubscribe(task, 0, agent="slow") for _ in range(3)]
        self.server.gate("slow", task)
        expected = frames(first.rest())
        self.assertEqual(expected[-1][1]["status"]["state"], "completed")
        for other in others:
            self.assertEqual(frames(other.rest()), expected)

    def test_resubscribe_after_the_end_resumes_after_every_number(self):
        task, blocks = self.finished(5)
        for after in range(blocks[-1].number + 1):
            with self.subTest(after):
                again = self.server.resubscribe(task, after).rest()
                self.assertEqual([(b.number, b.status, b.final) for b in again],
                                 [(b.number, b.status, b.final) for b in blocks if b.number > after])
                self.assertEqual(numbers(again), list(range(after + 1, blocks[-1].number + 1)))

    def test_resubscribe_by_metadata(self):
        task, blocks = self.finished(5)
        wanted = [(b.number, b.status) for b in blocks if b.number > 3]
        for metadata in ({"lastEventId": 3}, {client.EXTENSION: {"startAt": 4}}):
            stream = self.server.open("tasks/resubscribe", {"id": task, "metadata": metadata})
            self.assertEqual([(b.number, b.status) for b in stream.rest()], wanted)

    def test_resubscribe_without_number_shows_the_state_first(self):
        task, _ = self.finished(3)
        ended = self.server.resubscribe(task).rest()
        self.assertIsNone(ended[0].number)
        self.assertEqual(ended[0].result["id"], task)
        self.assertEqual(ended[0].status["state"], "completed")
        self.assertEqual(len(ended), 1)

        task = client.new_id()
        first = self.server.stream("x", task, agent="slow")
        seen = first.until(begun)
        second = self.server.resubscribe(task, agent="slow")
        snapshot = next(iter(second))
        self.assertIsNone(snapshot.number)
        self.assertEqual(snapshot.status["state"], "working")
        self.server.gate("slow", task)
        first.rest()
        second.rest()
        self.assertEqual([(b.number, b.status) for b in second.seen[1:]],
                         [(b.number, b.status) for b in first.seen if b.number > seen.number])

    def test_wrong_last_event_ids_are_refused(self):
        task, blocks = self.finished(2)
        for wrong in ("x", "-1", "1.5", str(2**80)):
            with self.subTest(wrong), self.assertRaises(client.RpcError) as caught:
                self.server.open("tasks/resubscribe", {"id": task}, headers={"Last-Event-ID": wrong})
            self.assertEqual(caught.exception.code, -32602)

    def test_send_stream_ends_at_input_required_and_a_subscription_goes_on(self):
        task = client.new_id()
        first = self.server.stream("为我购买一部新手机", task, agent="phone").rest()
        self.assertEqual((first[-1].status["state"], first[-1].final), ("input-required", True))
        subscription = self.server.resubscribe(task, 0, agent="phone")
        waiting = subscription.until(lambda block: block.status and block.status["state"] == "input-required")
        self.assertEqual(waiting.number, first[-1].number)
        second = self.server.stream("Android", task, agent="phone").rest()
        self.assertEqual(second[-1].status["state"], "completed")
        everything = subscription.rest()
        self.assertEqual(numbers(everything), list(range(1, second[-1].number + 1)))
        self.assertEqual(numbers(first + second), numbers(everything), "each stream begins where the last one ended")

    def test_reopened_task_goes_on_counting(self):
        task, first = self.finished(2)
        second = self.server.stream("3", task).rest()
        self.assertEqual(numbers(second), list(range(first[-1].number + 1, second[-1].number + 1)))
        self.assertEqual(second[-1].status["state"], "completed")

    def test_errors_before_the_stream_come_as_json(self):
        answer = self.server.rpc("tasks/sendSubscribe", {"id": "x"})
        self.assert_error(answer, -32602)

    def test_a_client_that_leaves_does_not_end_the_task(self):
        task = client.new_id()
        stream = self.server.stream("x", task, agent="slow")
        stream.until(begun)
        stream.close()
        self.server.gate("slow", task)
        self.wait_state(task, "completed", agent="slow")


class StreamsOverRestart(harness.ServerCase):
    AGENTS = ["counter", "slow"]

    def test_resume_after_the_number_over_a_restart(self):
        task, waiting = client.new_id(), client.new_id()
        whole = self.server.stream("12", task).rest()
        running = self.server.stream("progress 3", waiting, agent="slow")
        seen = running.until(lambda block: block.status and "step 2" in str(block.status.get("message")))
        self.server.kill()
        running.close()
        self.server.start()
        for shown in (0, 5, len(whole)):
            after = whole[shown - 1].number if shown else 0
            self.assertEqual(frames(self.server.resubscribe(task, after).rest()), frames(whole[shown:]))
        again = self.server.resubscribe(waiting, seen.number, agent="slow")
        self.server.gate("slow", waiting)
        rest = again.rest()
        self.assertEqual(numbers(rest), list(range(seen.number + 1, rest[-1].number + 1)))
        self.assertEqual(rest[-1].status["state"], "completed")
        everything = self.server.resubscribe(waiting, 0, agent="slow").rest()
        self.assertEqual(frames(everything), frames(running.seen) + frames(rest))
        ends = [block for block in everything if block.status and block.status["state"] in client.ENDED]
        self.assertEqual(len(ends), 1)


class KeepAwake(harness.ServerCase):
    AGENTS = ["slow"]
    CONFIG = {"http": {"keep_awake_s": 0.2}}

    def test_comments_keep_a_silent_stream_awake(self):
        task = client.new_id()
        stream = self.server.stream("x", task)
        stream.until(begun)
        lines = []
        while len([line for line in lines if line.startswith(b":")]) < 2:
            lines.append(stream.response.readline())
            self.assertTrue(lines[-1], "the stream ended")
        self.server.gate("slow", task)
        self.assertEqual(stream.rest()[-1].status["state"], "completed")

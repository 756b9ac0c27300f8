"""A broken stream resumes where it was: the frames before and after the cut are those of the uncut run."""
import urllib.parse

import client
import rings
from chat_case import ChatCase, for_each
from chat_doors import AgentApi, AgentServer, AgKit, AgUi, AgUi10

# The program is restarted for each. unit/server/chat/run_stream_test.cpp asserts what a resumed stream contains.
RESTARTING = rings.some((AgUi10, AgUi, AgKit, AgentApi, AgentServer))


class ResumeCase(ChatCase):
    def assert_cuts(self, door, body, whole, places):
        """Resumes after each of these frames of the whole run, with the body that began it."""
        for place in places:
            last = whole.frames[place].place
            rest = door.open(body, last=last).rest()
            self.assertEqual(self.shown(rest), self.shown(whole.frames[place + 1:]), f"after {last}")


class Cuts(ResumeCase):
    def assert_ids(self, whole):
        """Each frame has its own id; all belong to one task and rise. Frames that are not shown leave a gap."""
        places = [frame.place for frame in whole.frames]
        self.assertNotIn(None, places)
        self.assertEqual(len(places), len(set(places)))
        self.assertEqual(len({frame.task for frame in whole.frames}), 1)
        numbers = [frame.number for frame in whole.frames]
        self.assertEqual(numbers, sorted(numbers))

    def play(self, door):
        """Plays both runs of a task that asks. Returns pairs of body and run."""
        context = client.new_id()
        name = {"run": client.new_id()} if door.run_name else {}
        body = door.say("all which one?", context, **name)
        asked = door.run(body)
        self.assert_ids(asked)
        # Until the answer, nothing follows the question.
        self.assertEqual(self.shown(door.open(body, last=asked.last).rest()), [])
        name = {"run": client.new_id()} if door.run_name else {}
        answer = door.answer(asked, "this one", context, **name)
        answered = door.run(answer)
        self.assertEqual(answered.text, "answered: this one")
        self.assert_ids(answered)
        self.assertGreater(answered.frames[0].number, asked.frames[-1].number)
        return (body, asked), (answer, answered)

    @for_each()
    def test_every_cut(self, door):
        (body, asked), (answer, answered) = self.play(door)
        tasks = len(self.tasks_in(body[door.session]))
        self.assert_cuts(door, body, asked, range(len(asked.frames) - 1))
        self.assert_cuts(door, answer, answered, range(len(answered.frames)))
        whole = door.run(body, last=f"{asked.task}:0")
        self.assertEqual(self.shown(whole.frames), self.shown(asked.frames))
        # The end of a run is followed by the next run.
        following = door.run(answer, last=asked.last)
        self.assertEqual(self.shown(following.frames), self.shown(answered.frames))
        self.assertEqual(len(self.tasks_in(body[door.session])), tasks)
        self.assertEqual(len(self.a2a.get(asked.task, history=100).raw["history"]), 3)

    @for_each()
    def test_a_cut_while_it_runs(self, door):
        context = client.new_id()
        body = door.say("wait", context)
        first = door.open(body)
        door.until_text(first, "begun")
        last = first.seen[-1].place
        first.leave()
        again = door.open(body, last=last)
        watching = door.open(body, last=f"{first.seen[0].task}:0")
        self.server.gate("chat", context)
        after = again.rest()
        whole = door.finish(watching)
        self.assertEqual((whole.ending, whole.text), ("completed", "begun waited"))
        self.assertEqual(self.shown(first.seen) + self.shown(after), self.shown(whole.frames))
        self.assertEqual(len(self.tasks_in(context)), 1)

    @for_each()
    def test_ids_of_tasks_that_need_to_be_escaped(self, door):
        """Callers of A2A 0.1 name their tasks."""
        context = client.new_id()
        task = f"my: task/{context} 线"
        self.server.send("say hello", task, sessionId=context)
        body = door.say("follow", context)
        run = door.run(body, last=f"{urllib.parse.quote(task, safe='')}:0")
        self.assertEqual((run.text, run.task), ("hello", task))
        self.assert_cuts(door, body, run, range(len(run.frames)))


class Drain(ResumeCase):
    @for_each(*RESTARTING)
    def test_a_stream_ends_with_the_program_and_goes_on_with_the_next(self, door):
        context = client.new_id()
        body = door.say("wait", context)
        stream = door.open(body)
        door.until_text(stream, "begun")
        self.assertEqual(self.server.stop(), 0)
        seen = stream.rest()
        self.assertIsNone(door.read(seen).ending, seen)
        self.server.start()
        again = door.open(body, last=seen[-1].place)
        self.server.gate("chat", context)
        run = door.read(seen + again.rest())
        door.check(run.shown)
        self.assertEqual(run.ending, "completed")
        self.assertTrue(run.text.endswith("begun waited"), run.text)


class Restart(ResumeCase):
    def test_every_cut_after_a_crash(self):
        before = {}
        for door in self.clients():
            body = door.say("all which one?", client.new_id())
            before[door.name] = (body, door.run(body))
        self.server.kill()
        self.server.start()
        for door in self.clients():
            with self.subTest(door.name):
                body, whole = before[door.name]
                self.assert_cuts(door, body, whole, range(len(whole.frames)))
                answered = door.run(door.answer(whole, "this", body[door.session]))
                self.assertEqual((answered.ending, answered.text), ("completed", "answered: this"))

    @for_each(*RESTARTING)
    def test_a_run_that_is_under_way_goes_on_after_a_crash(self, door):
        """The turn runs again: the output of the first attempt is withdrawn, and strict clients still accept the
        stream."""
        context = client.new_id()
        body = door.say("wait", context)
        stream = door.open(body)
        door.until_text(stream, "begun")
        seen = list(stream.seen)
        self.server.kill()
        stream.close()
        self.server.start()
        again = door.open(body, last=seen[-1].place)
        self.server.gate("chat", context)
        after = again.rest()
        run = door.read(seen + after)
        door.check(run.shown)
        self.assertEqual(run.ending, "completed")
        self.assertTrue(run.text.endswith("begun waited"), run.text)
        self.assertEqual(len(self.tasks_in(context)), 1)

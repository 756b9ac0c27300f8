"""Tasks that begin at a time: by a send that names the time, and by a card's schedule."""
import datetime
import functools
import json
import time

import a2a_case
import client
import generations
import harness

EXTENSION = "urn:baton:a2a:1"
HOUR = 3600


def start_in(seconds):
    """Returns the metadata of a send whose task begins in so many seconds."""
    at = datetime.datetime.fromtimestamp(time.time() + seconds, datetime.timezone.utc)
    return {EXTENSION: {"startAt": at.isoformat(timespec="milliseconds")}}


def in_time(seconds, act):
    """Calls act(metadata), where tasks with that metadata begin so many seconds from now. Returns its result and that
    time. Calls it again if it took longer than that, because such tasks may have begun meanwhile."""
    def attempt():
        due = time.time() + seconds
        try:
            done = act(start_in(seconds))
        except generations.Refused:
            if time.time() < due:
                raise
            return None
        return (done, due) if time.time() < due else None
    return harness.wait_for(attempt, what=f"something done within {seconds} s")


def ended(caller, task):
    return harness.wait_for(lambda: (got := caller.get(task)).state == "completed" and got, what="the end")


class StartAt(a2a_case.A2aCase):
    @classmethod
    def setUpClass(cls):
        if client.has_grpc():
            cls.OPTIONS = [*a2a_case.A2aCase.OPTIONS, "--grpc-port", "0"]
        super().setUpClass()
        if client.has_grpc():
            import grpc_generations
            cls.all += (grpc_generations.Grpc03(cls.server), grpc_generations.Grpc10(cls.server))

    def test_a_send_answers_at_once_and_its_task_begins_at_the_time(self):
        waiting = []
        for caller in self.each():
            sent, due = in_time(0.5, lambda metadata, caller=caller: caller.send("end", metadata=metadata))
            self.assertEqual(sent.state, "submitted")
            waiting.append((caller, sent.id, due))
        for caller, task, due in waiting:
            with self.subTest(caller.name):
                at = ended(caller, task).raw["status"]["timestamp"].replace("Z", "+00:00")
                self.assertGreaterEqual(datetime.datetime.fromisoformat(at).timestamp(), due - 0.001)

    def test_a_stream_has_the_task_and_ends(self):
        for caller in self.each():
            items = caller.stream("end", metadata=start_in(HOUR)).rest()
            self.assertEqual([item.state for item in items], ["submitted"])
            self.assertEqual(caller.cancel(items[0].raw["id"]).state, "canceled")

    def test_a_task_that_waits_can_be_followed_to_its_end(self):
        def followed(caller, metadata):
            stream = caller.subscribe(caller.send("end", metadata=metadata).id)
            stream.first()
            return stream

        following = [(caller, in_time(1, functools.partial(followed, caller))[0]) for caller in self.all]
        for caller, stream in following:
            with self.subTest(caller.name):
                self.assertEqual(stream.rest()[-1].state, "completed")

    def test_a_task_that_waits_is_listed_and_can_be_canceled(self):
        for caller in self.each():
            sent = caller.send("end", metadata=start_in(HOUR))
            self.assertEqual(self.server.metric("baton_turns_waiting_for_time"), 1)
            self.assertEqual(self.server.metric("baton_turns_queued"), 0)
            listed = self.g4.list(status="TASK_STATE_SUBMITTED")["tasks"]
            self.assertEqual([task["id"] for task in listed], [sent.id])
            self.assertEqual(caller.cancel(sent.id).state, "canceled")
            self.assertEqual(self.server.metric("baton_turns_waiting_for_time"), 0)

    def test_a_repeated_send_is_the_same_task(self):
        metadata = start_in(HOUR)
        for caller in self.each(*self.all[1:]):  # in 0.1 messages have no id
            message = client.new_id()
            first, again = [caller.send("end", message_id=message, metadata=metadata) for _ in range(2)]
            self.assertEqual((again.id, again.state), (first.id, "submitted"))
            caller.cancel(first.id)

    def test_a_time_that_is_none_or_too_far_is_refused(self):
        for caller in self.each(self.g3, self.g3_rest, self.g4, self.g4_rest):
            for wrong in ("tomorrow", "", [], True):
                answer = self.assert_refused(-32602, caller.send, "end", metadata={EXTENSION: {"startAt": wrong}})
                self.assertIn("must be a time such as", answer.raw.decode())
            far = self.assert_refused(-32602, caller.send, "end", metadata=start_in(367 * 24 * HOUR))
            self.assertIn("at most 31536000 seconds from now", far.raw.decode())
            self.assertEqual(caller.send("end", metadata=start_in(-HOUR)).state, "completed")


class StartAtOverKill(a2a_case.A2aCase):
    def test_a_kill_changes_nothing(self):
        sent = [caller.send("end", metadata=start_in(1.5)) for caller in self.all]
        later = self.g4.send("end", metadata=start_in(HOUR))
        self.server.kill()
        self.server.start()
        for caller, task in zip(self.all, sent):
            with self.subTest(caller.name):
                texts = ended(caller, task.id).texts
                self.assertEqual(len(texts), len(set(texts)))
        self.assertEqual(self.g4.get(later.id).state, "submitted")
        self.assertEqual(self.g4.cancel(later.id).state, "canceled")


class CardSchedule(a2a_case.A2aCase):
    @classmethod
    def change_cards(cls):
        cls.change_card("player", baton={"schedule": [
            {"cron": "* * * * *", "timezone": "Europe/Berlin", "message": "end", "missed": "all"},
            {"cron": "0 0 29 2 *", "message": "never here"}]})

    def due_times(self):
        tasks = self.g4.list(pageSize=100, historyLength=1)["tasks"]
        return [task["history"][0]["metadata"][EXTENSION]["dueAt"] for task in tasks]

    def test_each_due_time_missed_has_one_task_over_restarts(self):
        self.assertEqual(self.server.metric("baton_schedules"), 2)
        self.assertEqual(self.server.stop(), 0)
        # As if the program had been down: the hidden tasks of both schedules were made five minutes ago.
        moved = self.server.database.change("UPDATE tasks SET status_ms = status_ms - 300000 WHERE hidden = 1")
        self.assertEqual(moved, 2)
        self.server.start()
        harness.wait_for(lambda: len(self.due_times()) >= 5, what="the tasks that were due")
        for _ in range(2):
            self.server.kill()
            self.server.start()
        due = self.due_times()
        self.assertEqual(len(due), len(set(due)))
        times = sorted(datetime.datetime.fromisoformat(one.replace("Z", "+00:00")) for one in due)
        gaps = {(after - before).total_seconds() for before, after in zip(times, times[1:])}
        self.assertEqual(gaps, {60.0})
        self.assertTrue(all(one.endswith(":00.000Z") for one in due))


class ReloadedSchedule(a2a_case.A2aCase):
    def test_a_reload_takes_up_other_schedules(self):
        self.assertEqual(self.server.metric("baton_schedules"), 0)
        self.change_card("player", baton={"schedule": {"cron": "@yearly", "message": "end"}})
        self.server.process.send_signal(harness.signal.SIGHUP)
        harness.wait_for(lambda: self.server.metric("baton_schedules") == 1, what="the reload")


class WrongSchedule(harness.ServerCase):
    AGENTS = ["player"]

    def test_a_wrong_schedule_makes_the_card_wrong_and_an_unknown_zone_only_the_schedule(self):
        server = self.server
        server.stop()
        path = server.agents_folder / "player" / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        card["baton"]["schedule"] = {"cron": "0 25 * * *", "timezone": "Europe/Bielefeld", "message": "end"}
        path.write_text(json.dumps(card), encoding="utf-8")
        with self.assertRaisesRegex(AssertionError, "did not start"):
            server.start()
        log = server.log_text()
        self.assertIn('/baton/schedule/cron: "25" is not a valid hour, range or step', log)
        card["baton"]["schedule"]["cron"] = "@daily"
        path.write_text(json.dumps(card), encoding="utf-8")
        server.start()
        self.assertIn("/baton/schedule/timezone: is not a known time zone; this schedule is disabled", server.log_text())
        self.assertEqual(server.metric("baton_schedules"), 0)


if __name__ == "__main__":
    harness.unittest.main()

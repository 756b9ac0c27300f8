"""The matrix: a client of each generation continues a task that a client of each other one began. In the ring "whole",
only of its neighbours in the list."""
import json
import os

import generation_list
import harness
import rings
import webhooks


class Pair:
    """One cell: `begins` (A) and `goes_on` (B). `marks` holds the steps that worked."""

    def __init__(self, case, number, begins, goes_on, receiver):
        self.case, self.number, self.receiver = case, number, receiver
        self.begins, self.goes_on = begins, goes_on
        self.marks, self.problems = {}, []

    def step(self, mark, act):
        """Does one step. If it fails, the rest of the cell continues without it."""
        try:
            act()
            self.marks[mark] = True
        except Exception as problem:  # any error is a finding about this cell
            self.problems.append(f"{mark}: {type(problem).__name__}: {problem}")

    def play(self):
        a, b, case = self.begins, self.goes_on, self.case
        path = f"/{self.number}"
        task = a.begin("ask which one?").id
        following = b.subscribe(task)

        def read():
            got = b.get(task)
            case.assertEqual((got.id, got.state, got.said), (task, "input-required", ["which one?"]))
            case.assertEqual(got.context, a.get(task).context)
            case.assertTrue(got.context)

        def answer():
            b.set_push(task, b.webhook(self.receiver.url(path), token=f"token {self.number}"))
            got = b.answer(task, "that one")
            case.assertEqual((got.id, got.state, got.texts), (task, "completed", ["answered: that one"]))
            seen = a.get(task)
            case.assertEqual((seen.state, seen.texts), ("completed", ["answered: that one"]))

        def follow():
            shown = following.rest()
            case.assertEqual((shown[0].kind, shown[0].state), ("task", "input-required"))
            case.assertEqual([item.kind for item in shown if item.kind == "artifact"], ["artifact"])
            case.assertEqual(shown[-1].state, "completed")
            if b.shows_final:
                case.assertEqual([bool(item.final) for item in shown if item.kind == "status"],
                                 [False] * (len([i for i in shown if i.kind == "status"]) - 1) + [True])

        self.step("r", read)
        self.step("a", answer)
        self.step("f", follow)
        self.step("w", lambda: self.webhook(task, path))
        self.step("c", self.cancel)

    def webhook(self, task, path):
        self.receiver.wait_state("completed", "TASK_STATE_COMPLETED", path=path)
        for delivery in self.receiver.of(path):
            self.goes_on.check_webhook(delivery.task)
            self.case.assertEqual(self.goes_on.webhook_task_id(delivery.task), task)
            self.case.assertEqual(delivery.headers["X-A2A-Notification-Token"], f"token {self.number}")

    def cancel(self):
        task = self.begins.begin_long().id
        self.case.assertEqual(self.goes_on.cancel(task).state, "canceled")
        self.case.assertEqual(self.begins.get(task).state, "canceled")


class Matrix(harness.ServerCase):
    maxDiff = None
    AGENTS = ["player"]
    CONFIG = {"engine": {"drain_grace_s": 0.2},
              "webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.2}}
    OPTIONS = ["--allow-private-webhooks", *generation_list.OPTIONS]

    def test_every_generation_goes_on_with_every_other(self):
        """Marks: r read, f followed to the end, w got its webhook in its shape, a answered, c canceled; - failed."""
        clients = [generation(self.server) for generation in generation_list.GENERATIONS]
        rows = {}
        with webhooks.Receiver() as receiver:
            for a, b in rings.pairs(clients):
                pair = Pair(self, len(rows), a, b, receiver)
                with self.subTest(f"{a.name} -> {b.name}"):
                    rows[a.name, b.name] = pair
                    pair.step("begun", pair.play)
                    self.assertEqual(pair.problems, [], f"begun by {a.name}, gone on with by {b.name}:\n"
                                     + "\n".join(pair.problems))
        self.show([client.name for client in clients], rows)
        self.record([client.name for client in clients], rows)

    def show(self, names, rows):
        width = max(len(name) for name in names) + 2
        print(f"\nbegun by \\ gone on with by\n{'':{width}}" + "".join(f"{name:{width}}" for name in names))
        for a in names:
            cells = ["".join(mark if mark in rows[a, b].marks else "-" for mark in "rfwac") if (a, b) in rows else ""
                     for b in names]
            print(f"{a:{width}}" + "".join(f"{cell:{width}}" for cell in cells).rstrip())
        print(self.test_every_generation_goes_on_with_every_other.__doc__)

    def record(self, names, rows):
        """Writes a report for scripts/versions_table: each generation with the marks that all its pairs earned; b means
        begun."""
        path = os.environ.get("MATRIX_REPORT")
        if not path:
            return
        marks = {name: "".join(mark for mark in "rfwac" if all(mark in pair.marks for (_, b), pair in rows.items()
                                                               if b == name))
                 + ("b" if all("begun" in pair.marks for (a, _), pair in rows.items() if a == name) else "")
                 for name in names}
        with open(path, "w", encoding="utf-8") as report:
            json.dump(marks, report)

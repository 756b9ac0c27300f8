#!/usr/bin/python3
"""A database for an operator to walk through: many tasks of all kinds, some of them broken in ten ways, made by a
program that has since ended. `Office` makes it and starts a new program on it; `WAYS` tells how to find each kind.

Run as a program, it makes such a database, serves it and prints one line of JSON with its address, its tokens and what
is broken. Each line on its standard input repairs that cause (see Office.repair) and is answered by a line; the end of
the input ends it.

usage: operator_walk.py [--walk] [HEALTHY [BROKEN OF EACH WAY]]     --walk: finds and mends all of it by `baton ops`
"""
import concurrent.futures
import datetime
import itertools
import json
import subprocess
import sys
import time
import urllib.parse

import client
import generation_list
import harness
import new_generations
import webhooks
from chat_doors import AgentApi, AgentServer, AgKit, AgUi, AgUi10
from plan_case import write_plan
from test_remote_agents import Front, free_port

EXTENSION = "urn:baton:a2a:1"
CALLERS = {"ann": "ann-secret", "ben": "ben-secret", "cleo": "cleo-secret"}
VIEWER, OPERATOR = "vera-secret", "otto-secret"
TOKENS = [*({"caller": name, "token": token} for name, token in CALLERS.items()),
          {"caller": "vera", "token": VIEWER, "role": "viewer"},
          {"caller": "otto", "token": OPERATOR, "role": "operator"}]
SOON = {"retry_first_s": 0.05, "retry_max_s": 0.1}
AGENTS = ["office", "night", "head", "courier"]  # four of a kind
SPEAKERS = 8

# Way -> the list that finds it, and the filter. The list finds tasks, or deliveries of tasks.
WAYS = {
    "wrong words": ("tasks", {"state": "failed", "error": "is not a number"}),
    "cause is gone": ("tasks", {"state": "failed", "agent": "office", "error": "archive does not answer", "roots": "1"}),
    "question": ("tasks", {"state": "input-required", "agent": "office", "roots": "1"}),
    "child's question": ("tasks", {"state": "input-required", "agent": "head"}),
    "stuck turn": ("tasks", {"turn": "running", "agent": "office", "attempts_min": "2"}),
    "retries used up": ("tasks", {"state": "failed", "agent": "report"}),
    "paused agent": ("tasks", {"turn": "queued", "agent": "night"}),
    "vanished remote": ("tasks", {"state": "unfinished", "agent": "courier"}),
    "webhook given up": ("deliveries", {"state": "given-up", "caller": "ann"}),
    "webhook in the way": ("deliveries", {"state": "waiting", "caller": "cleo"}),
}


class Hooks(webhooks.Receiver):
    """Refuses everything at /post until it is repaired, and for ever the first event of each path below /ledger."""

    def __init__(self):
        super().__init__()
        self.is_broken = True
        self.first = {}

    def take(self, path, headers, body):
        delivery = webhooks.Delivery(path, headers, body)
        with self.changed:
            refused = self.is_broken if path.startswith("/post") else self.first.setdefault(path, body) == body
            (self.refused if refused else self.deliveries).append(delivery)
            self.changed.notify_all()
        return (503 if refused else 200), {}


class Office:
    """The program with its database, its agents and the servers that they depend on."""

    def __init__(self, healthy=950, each=5):
        self.healthy, self.each = healthy, each
        self.broken = {}
        self.hooks = Hooks()
        self.far = harness.Server(["slow"])
        self.far.port = free_port()
        self.far_url = f"http://127.0.0.1:{self.far.port}/agents/slow"
        self.server = Front({"far": {"url": self.far_url}}, [f"http://127.0.0.1:{self.far.port}"],
                            agents=["office"], options=["--allow-private-webhooks", *generation_list.OPTIONS])
        self.server.config |= {"tokens": TOKENS, "engine": {"drain_grace_s": 0.2},
                               "webhooks": {**SOON, "give_up_after_s": 0.1}}
        self._hire()

    def _hire(self):
        folder = self.server.agents_folder
        source = folder / "office"
        for name in AGENTS[1:]:
            (folder / name).mkdir()
            for file in source.iterdir():
                (folder / name / file.name).write_bytes(file.read_bytes())
        for name in AGENTS:
            path = folder / name / "card.json"
            card = json.loads(path.read_text(encoding="utf-8"))
            card["name"] = name.capitalize()
            card["baton"]["default"] = name == "office"
            if name == "night":
                card["baton"]["schedule"] = {"cron": "0 2 * * *", "caller": "ann", "message": "look yesterday"}
            path.write_text(json.dumps(card), encoding="utf-8")
        step = {"id": "look", "agent": "office", "input": "look the figures", "retry": {"count": 2, "delay_s": 0.01}}
        write_plan(self.server, "report", {"sequence": [step, {"id": "write", "agent": "office",
                                                               "input": "write {{/steps/look/text}}"}]})

    def __enter__(self):
        try:
            self.far.start()
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.server.discard()
        self.far.discard()
        self.hooks.__exit__()

    # Breaks something, and repairs it outside of Baton.
    def break_(self, name):
        (self.server.agents_folder / "office" / name).touch()

    def repair(self, cause):
        if cause == "hooks":
            self.hooks.is_broken = False
        else:
            (self.server.agents_folder / "office" / cause).unlink(missing_ok=True)

    def make(self):
        self.server.start()
        self._live()
        self._fail_for_good()
        self.server.stop()
        self.server.config["webhooks"] = SOON  # from here on webhooks are retried for a day
        self.server.start()
        self._leave_unfinished()
        self.server.stop()
        self.far.stop()
        self.server.start()
        harness.wait_for(lambda: len(self.rows("tasks", WAYS["stuck turn"][1])) == self.each, what="the stuck turns")
        # A webhook holds up the later ones only once it has been tried.
        harness.wait_for(lambda: len({row["task"] for row in self.rows(*WAYS["webhook in the way"])
                                      if row["attempts"] > 0}) == self.each, what="webhooks in the way")

    def rows(self, kind, query):
        """Returns everything that the operator's list shows."""
        found, cursor = [], None
        while True:
            page = self._list(kind, {**query, "limit": 200, **({"cursor": cursor} if cursor else {})})
            found += page[kind]
            cursor = page.get("next")
            if not cursor:
                return found

    def count(self, query):
        return self._list("tasks", query)["count"]

    def _list(self, kind, query):
        answer = self.server.http("GET", f"/operate/v1/{kind}?{urllib.parse.urlencode(query)}",
                                  headers={"Authorization": f"Bearer {VIEWER}"})
        return answer.body

    def send(self, text, agent, caller="ann", **params):
        """Sends like a client of 0.1 and waits until the task stops. Returns its id."""
        task = client.new_id()
        self.server.call("tasks/send", {"id": task, "message": client.text_message(text), **params}, agent=agent,
                         token=CALLERS[caller])
        return task

    def leave(self, text, agent, caller="ann", **params):
        """Sends, and disconnects once the task exists. Returns its id."""
        task = client.new_id()
        self.server.open("tasks/sendSubscribe", {"id": task, "message": client.text_message(text), **params},
                         agent=agent, token=CALLERS[caller]).close()
        return task

    # Healthy tasks, of every protocol.
    def _live(self):
        works = ["write a letter to {0}", "echo good morning, {0}", "look invoice {0}", "book {0}", "refuse order {0}",
                 "give office echo {0} from a child"]
        ways = [*self._speakers(), self._answered, self._canceled, self._later, self._reported]
        deeds = ((way, works[turn % len(works)]) for turn in itertools.count() for way in ways)
        number, wanted = 0, self.healthy
        with concurrent.futures.ThreadPoolExecutor(SPEAKERS) as pool:
            while wanted > 0:
                batch = [next(deeds) for _ in range(min(wanted, 100))]
                list(pool.map(lambda each: each[1][0](each[1][1].format(each[0])), enumerate(batch, number)))
                number += len(batch)
                wanted = self.healthy - len(self.rows("tasks", {}))

    def _speakers(self):
        for token in CALLERS.values():
            for generation in generation_list.GENERATIONS:
                yield generation(self.server, "office", token=token).begin
            for door in (AgUi, AgUi10, AgKit, AgentApi, AgentServer):
                door = door(self.server, "office", token=token)
                yield lambda text, door=door: door.run(door.say(text))

    def _answered(self, _):
        asking = new_generations.Rpc10(self.server, "office", token=CALLERS["ben"])
        asking.answer(asking.begin("sign a small bill").id, "yes")

    def _canceled(self, _):
        asking = new_generations.Rest10(self.server, "office", token=CALLERS["cleo"])
        asking.cancel(asking.begin("enter the vault").id)

    def _later(self, text):
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=100)
        later = new_generations.Rpc10(self.server, "office", token=CALLERS["ben"])
        later.send(text, metadata={EXTENSION: {"startAt": at.isoformat(timespec="milliseconds")}}, wait=False)

    def _reported(self, _):
        self.send("the figures", "report", "cleo")

    # Broken tasks. Their ids are kept by the way in which they are broken.
    def _break(self, way, make):
        self.broken[way] = [make(number) for number in range(self.each)]

    def _fail_for_good(self):
        self._break("wrong words", lambda number: self.send(f"book {number} hundred", "office", "ben"))
        self.break_("archive-is-away")
        self._break("cause is gone", lambda number: self.send(f"look contract {number}", "office", "cleo"))
        self._break("retries used up", lambda number: self.send(f"report {number}", "report"))
        self._break("webhook given up", lambda number: self.send(
            "write an offer", "office", pushNotification={"url": self.hooks.url(f"/post/{number}")}))
        harness.wait_for(lambda: {row["task"] for row in self.rows("deliveries", {})} == {
            row["task"] for row in self.rows("deliveries", {"state": "given-up"})}, what="what is given up")

    def _leave_unfinished(self):
        self.server.http("POST", "/operate/v1/agents/night/pause", json.dumps({"reason": "move to another rack"}),
                         {"Authorization": f"Bearer {OPERATOR}"})
        self.break_("ledger-is-locked")
        self._break("question", lambda number: self.send(f"sign bill {number}", "office", "ben"))
        self._break("child's question", lambda number: self.send(f"give office sign order {number}", "head"))
        self._break("stuck turn", lambda number: self.leave(f"lock page {number}", "office", "cleo"))
        self._break("paused agent", lambda number: self.leave(f"echo night {number}", "night"))
        self._break("vanished remote", lambda number: self.leave(f"give far fetch {number}", "courier", "ben"))
        self._break("webhook in the way", lambda number: self.send(
            "write a bill", "office", "cleo", pushNotification={"url": self.hooks.url(f"/ledger/{number}")}))
        working = {"state": "working", "agent": "far"}
        harness.wait_for(lambda: len(self.rows("tasks", working)) == self.each, what="tasks elsewhere")
        harness.wait_for(lambda: len(self.rows("deliveries", {"state": "waiting"})) >= self.each, what="waiting webhooks")


FLAGS = {"attempts_min": "--attempts", "error": "--error", "state": "--state", "agent": "--agent", "turn": "--turn",
         "caller": "--caller"}


def flags(query):
    """Returns the filter as words for `baton ops`."""
    return [word for name, value in query.items()
            for word in ([FLAGS[name], value] if name in FLAGS else [f"--{name}"])]


class OpsWalk:
    """Finds and mends what is broken, by `baton ops` alone."""

    def __init__(self, office):
        self.office = office

    def ops(self, *words):
        """Runs a command. Returns the lines of JSON that it prints."""
        server = self.office.server
        environment = {**harness.program_environment(), "BATON_TOKEN": OPERATOR,
                       "BATON_URL": f"http://127.0.0.1:{server.port}"}
        done = subprocess.run([harness.PROGRAM, "ops", *words, "--json"], capture_output=True, text=True, check=False,
                              timeout=client.scaled(60), env=environment, cwd=server.folder)
        if done.returncode != 0:
            raise AssertionError(f"ops {' '.join(words)}: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def act(self, action, *words):
        return self.ops(action, *words, "--reason", "the walk")

    def find(self, way):
        """Returns rows of tasks, or of deliveries."""
        kind, query = WAYS[way]
        return self.ops(kind, *flags(query), "--all")

    def mend(self, way, rows):
        """Mends what was found. Returns once all of it has succeeded."""
        getattr(self, "_" + way.replace(" ", "_").replace("'", ""))([row["key"] for row in rows], rows)

    def bulk(self, action, query, expected):
        items = self.act("bulk", action, *flags(query), "--expected", str(expected))
        if [item["outcome"] for item in items] != ["done"] * expected:
            raise AssertionError(f"{action}: {items}")

    def wait(self, keys, state):
        def look():
            return all(self.ops("show", key, "--events", "0")[0]["task"]["state"] == state for key in keys)
        harness.wait_for(look, what=f"{keys} to be {state}")

    def made_from(self, keys):
        """Returns the tasks that retries of these have created, from the audit."""
        return [next(row["detail"] for row in self.ops("audit", "--task", key) if row["action"] == "retry")
                for key in keys]

    def _wrong_words(self, keys, _):
        made = [self.act("retry", key, "--text", "book 100")[0]["task"]["key"] for key in keys]
        self.wait(made, "completed")

    def _cause_is_gone(self, keys, _):
        self.office.repair("archive-is-away")
        self.bulk("retry", WAYS["cause is gone"][1], len(keys))
        self.wait(self.made_from(keys), "completed")

    def _question(self, keys, _):
        for key in keys:
            self.act("answer", key, "yes")
        self.wait(keys, "completed")

    _childs_question = _question

    def _stuck_turn(self, keys, _):
        self.office.repair("ledger-is-locked")
        self.bulk("requeue", WAYS["stuck turn"][1], len(keys))
        self.wait(keys, "completed")

    def _retries_used_up(self, keys, _):
        self.office.repair("archive-is-away")
        self.bulk("retry", WAYS["retries used up"][1], len(keys))
        self.wait(self.made_from(keys), "completed")

    def _paused_agent(self, keys, _):
        for row in self.ops("agents"):
            if row.get("paused"):
                self.act("resume", row["name"])
        self.wait(keys, "completed")

    def _vanished_remote(self, keys, _):
        self.bulk("cancel", WAYS["vanished remote"][1], len(keys))
        self.wait(keys, "canceled")

    def _webhook_given_up(self, _, rows):
        self.office.repair("hooks")
        query = {"undelivered": "1", "caller": rows[0]["caller"]}
        self.bulk("resend", query, len({row["task"] for row in rows}))
        harness.wait_for(lambda: not self.find("webhook given up"), what="what was given up to be delivered")

    def _webhook_in_the_way(self, _, rows):
        tasks = {row["task"] for row in rows}
        for row in rows:
            if row["attempts"] > 0:
                self.act("skip", row["key"])
        harness.wait_for(lambda: not self.find("webhook in the way"), what="what came behind to be delivered")
        left = {row["task"] for row in self.ops("deliveries", "--state", "given-up", "--caller", "cleo", "--all")}
        if left != tasks:
            raise AssertionError(f"skipped webhooks of {left}, not of {tasks}")


def walk(office):
    """Walks by `baton ops`, and prints how long each way took to find and to mend."""
    with_ops = OpsWalk(office)
    for way in WAYS:
        began = time.monotonic()
        rows = with_ops.find(way)
        found = time.monotonic()
        with_ops.mend(way, rows)
        print(f"{way:20} {len(rows):3} found in {1000 * (found - began):5.0f} ms, mended in "
              f"{1000 * (time.monotonic() - found):6.0f} ms")


def main():
    words = sys.argv[1:]
    walks = words[:1] == ["--walk"]
    began = time.monotonic()
    with Office(*(int(word) for word in words[walks:])) as office:
        print(json.dumps({"url": f"http://127.0.0.1:{office.server.port}", "operator": OPERATOR, "viewer": VIEWER,
                          "caller": CALLERS["ann"], "tasks": len(office.rows("tasks", {})),
                          "seconds": round(time.monotonic() - began, 1),
                          "folder": str(office.server.folder), "broken": office.broken}), flush=True)
        if walks:
            return walk(office)
        for line in sys.stdin:
            office.repair(line.strip())
            print("repaired", flush=True)


if __name__ == "__main__":
    main()

"""Kills the server while clients of A2A 1.0 over JSON-RPC, REST and gRPC and of AG-UI keep sending and repeat every
message without an answer. Each message that was answered, in whole or in part, is one task, completed, with the whole
reply.

BATON_DOOR_KILLS and BATON_DOOR_CLIENTS set the number of kills and of clients of each kind; scripts/soak sets both
high.
"""
import os
import pathlib
import random
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import client
import doors
import generation_list
import generations
import harness
import new_generations

KILLS = int(os.environ.get("BATON_DOOR_KILLS", "4"))
CLIENTS = int(os.environ.get("BATON_DOOR_CLIENTS", "4"))
SEED = int(os.environ.get("BATON_SEED", str(random.randrange(1 << 32))))


def say(text):
    print(f"   kill test of all doors: {text}", flush=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class KillDoorsTest(unittest.TestCase):
    def test_no_door_loses_an_acknowledged_task_by_kills(self):
        say(f"{CLIENTS} clients at each, {KILLS} kills, seed {SEED}")
        self.random = random.Random(SEED)
        has_grpc = bool(generation_list.OPTIONS)
        options = ["--grpc-port", str(free_port())] if has_grpc else []
        self.server = harness.Server(["echo"], {"log": {"level": "warn"}, "engine": {"quarantine": False}}, options)
        self.addCleanup(self.server.discard)
        self.server.start()
        spoken = [generation for generation in generation_list.GENERATIONS if generation.version == "1.0"]
        self.assertEqual(len(spoken), 3 if has_grpc else 2)
        all_doors = [*(doors.A2aDoor(self.server, generation) for generation in spoken), doors.AgUiDoor(self.server)]
        self.sends, self.broken, self.going = [], [], True
        clients = [threading.Thread(target=self.keep_sending, args=(door,), daemon=True)
                   for door in all_doors for _ in range(CLIENTS)]
        for one in clients:
            one.start()
        for _ in range(KILLS):
            time.sleep(client.scaled(self.random.uniform(0.3, 1.5)))
            # The harness also closes the clients' connections.
            self.server.kill()
            time.sleep(self.random.uniform(0, 0.3))
            self.server.start()
        time.sleep(client.scaled(1))
        self.going = False
        for one in clients:
            one.join(client.scaled(60))
        self.assertFalse([one for one in clients if one.is_alive()], "a client came to no end")
        self.assertEqual(self.broken, [])
        self.check(all_doors)

    def keep_sending(self, door):
        try:
            while self.going:
                message = doors.Send(door, f"message {client.new_id()} to be said again")
                self.sends.append(message)
                doors.send(door, message, streams=len(self.sends) % 2 == 0)
        except Exception as problem:  # otherwise nobody would see that the thread ended
            self.broken.append(f"{door.name}: {problem!r}")

    def check(self, all_doors):
        """Checks that each acknowledged message has one task, which is complete."""
        judge = new_generations.Rpc10(self.server, "echo")
        found = {}
        page = {"pageSize": 100, "includeArtifacts": True}
        while True:
            listed = judge.list(**page)
            for raw in listed.get("tasks", []):
                task = generations.Task(raw)
                found[task.id] = task
            if not listed.get("nextPageToken"):
                break
            page["pageToken"] = listed["nextPageToken"]
        texts = ["".join(task.texts) for task in found.values()]
        for message in (message for message in self.sends if message.task):
            label = f"{message.door.name}, {message.tries} tries, {message.task}"
            self.assertIn(message.task, found, f"{label}: acknowledged and not there")
            task = harness.wait_for(lambda: self.ended(judge, message.task), what=f"the end of {label}")
            self.assertEqual(task.state, "completed", f"{label}: {task}")
            self.assertEqual("".join(task.texts), message.text, label)
            self.assertEqual(texts.count(message.text), 1, f"{label}: more than one task")
        for door in all_doors:
            mine = [message for message in self.sends if message.door is door]
            again = sum(message.tries > 1 for message in mine)
            say(f"{door.name}: {len(mine)} messages, {again} sent again")
            self.assertGreaterEqual(len([m for m in mine if m.task]), CLIENTS * 2, f"{door.name}: too few got through")
            self.assertGreaterEqual(again, 1, f"{door.name}: the kills hit nothing")

    @staticmethod
    def ended(judge, name):
        task = judge.get(name)
        return task if task.state in generations.ENDED else None


if __name__ == "__main__":
    unittest.main()

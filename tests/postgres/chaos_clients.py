"""The clients of a chaos run, and the book they keep: subscribers of the tasks era with webhooks, and senders of the
other protocols. As soon as a task has ended, they compare its log with the answers they got."""
import asyncio
import collections
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fault"))

import aclient
import chaos
import client
import doors
import new_generations
import old_generations
from subscriber import Subscriber

AGENTS = ["echo", "counter", "joke", "phone", "cat"]
REFUSED = 0.03  # of the deliveries, by their receiver
WEBHOOKS_S = 90
WAITING_MAX = 100  # tasks with webhooks under way; at this number no more begin
PATIENCE_S = 90


class Subscribers:
    """`book` maps each acknowledged task to its state, or to None if that may still change."""

    def __init__(self, case, proxy, random, count):
        self.case, self.proxy, self.random, self.count = case, proxy, random, count
        self.done, self.wrong, self.book = collections.Counter(), chaos.Wrong(), {}
        self.waiting = []  # subscribers that wait for their webhooks
        self.going = True
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()))
        self.thread.start()

    async def run(self):
        self.receiver = await aclient.Receiver(lambda: self.random.random() < REFUSED).start()
        actors = [asyncio.create_task(self.keep_going()) for _ in range(self.count)]
        while not all(actor.done() for actor in actors):
            await asyncio.sleep(0.2)
            self.look_at_webhooks()
        deadline = time.monotonic() + client.scaled(WEBHOOKS_S)
        while self.waiting and time.monotonic() < deadline:
            await asyncio.sleep(0.2)
            self.look_at_webhooks()
        for one in self.waiting:
            self.wrong.append(f"webhook of {one.agent} {one.task}: heard {one.heard()}, not {one.statuses()}")
        self.done["refused deliveries"] = self.receiver.refused

    async def keep_going(self):
        while self.going:
            if len(self.waiting) > WAITING_MAX:
                await asyncio.sleep(0.1)
                continue
            one = Subscriber(self.proxy.port, self.random, self.receiver, may_be_late=True)
            try:
                await asyncio.wait_for(one.run(), client.scaled(PATIENCE_S))
                await self.check(one)
            except Exception as problem:  # recorded as a failure of the test
                what = {name: value for name, value in vars(one).items() if name not in ("log", "receiver", "random")}
                self.wrong.append(f"{one.agent} {one.task}: {problem!r} {what}"[:4000])

    async def check(self, one):
        deadline = time.monotonic() + client.scaled(PATIENCE_S)
        while True:
            try:
                state = await asyncio.wait_for(one.check(self.case), client.scaled(PATIENCE_S))
                break
            except aclient.Lost:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.05)
        self.book[one.task] = None if one.doubtful else state
        self.done["tasks"] += 1
        self.done["streams resumed"] += one.resumed
        if state == "failed":
            self.wrong.append(f"{one.agent} {one.task} failed: {one.statuses()[-1]}")
        if not one.doubtful:
            self.waiting.append(one)

    def look_at_webhooks(self):
        """Checks that each receiver gets every status change at least once, in order."""
        left = []
        for one in self.waiting:
            if one.heard() == one.statuses():
                self.done["deliveries"] += len(self.receiver.taken.pop(one.task, []))
            else:
                left.append(one)
        self.waiting = left

    def finish(self):
        self.going = False
        self.thread.join()


class Senders:
    """Runs `count` senders of each protocol."""

    def __init__(self, proxy, count):
        self.proxy = proxy
        self.doors = [doors.A2aDoor(proxy, new_generations.Rpc10, resumes=True),
                      doors.A2aDoor(proxy, new_generations.Rest10, resumes=True),
                      doors.A2aDoor(proxy, old_generations.Rpc03, resumes=True), doors.AgUiDoor(proxy)]
        self.judge = new_generations.Rpc10(proxy, "echo")
        self.done, self.wrong, self.book = collections.Counter(), chaos.Wrong(), {}
        self.lock = threading.Lock()
        self.going = True
        self.threads = [threading.Thread(target=self.keep_sending, args=(door,)) for door in self.doors
                        for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def keep_sending(self, door):
        number = 0
        while self.going:
            number += 1
            message = doors.Send(door, f"message {client.new_id()} to be said again", client.new_id())
            try:
                doors.send(door, message, streams=number % 2 == 0)
                self.patiently(lambda: self.check(door, message))
            except Exception as problem:  # otherwise nobody would see that the thread ended
                self.wrong.append(f"{door.name}: {problem!r} {vars(message)}"[:4000])

    @staticmethod
    def patiently(look):
        deadline = time.monotonic() + client.scaled(PATIENCE_S)
        while True:
            try:
                return look()
            except doors.LOST:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def check(self, door, message):
        try:
            task = self.judge.get(message.task)
        except doors.generations.Refused as refused:
            if refused.code in doors.AWAY or refused.answer.status in doors.AWAY:
                raise ConnectionError(str(refused)) from refused
            raise
        if task.state != "completed" or "".join(task.texts) != message.text:
            raise RuntimeError(f"another outcome: {task}")
        door.check(message)
        with self.lock:
            self.book[message.task] = "completed"
            self.done["tasks"] += 1
            self.done[f"{door.name} sent again"] += message.tries > 1
            self.done["streams resumed"] += message.resumed

    def finish(self):
        self.going = False
        for thread in self.threads:
            thread.join()

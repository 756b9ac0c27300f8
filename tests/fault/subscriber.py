"""One task and a client that keeps it going across lost connections: it sends, follows, answers questions, and
sometimes cancels or leaves a question open. At the end it compares everything it was shown with the log."""
import asyncio
import uuid

import aclient
import client

ENDED = ("completed", "canceled", "failed")
KINDS = ("echo", "echo", "counter", "joke", "phone", "cat")


def same_on_every_stream(number, result):
    """Drops `final` at a question: it depends on whether that stream ends there, as a send's does and a subscription
    does not."""
    if (result or {}).get("status", {}).get("state") == "input-required":
        result = {name: value for name, value in result.items() if name != "final"}
    return number, result


class Subscriber:
    """`may_be_late`: a message sent on a lost connection may arrive later, because the server lives on. Messages of
    this era have no ids, so then nothing is sent twice: a task that may still appear is abandoned."""

    def __init__(self, port, random, receiver, may_be_late=False):
        self.port, self.random, self.receiver, self.may_be_late = port, random, receiver, may_be_late
        self.agent = random.choice(KINDS)
        self.streaming = random.random() < 0.75
        # Not while a question is answered: an answer that arrives after the cancel would reopen the task.
        self.cancels = self.agent != "phone" and random.random() < 0.1
        self.leaves_open = random.random() < 0.2
        self.acknowledged = False
        self.answered = False
        self.doubtful = False  # its answer may arrive later, or not
        self.over = False
        self.resumed = 0
        self.seen = []        # (number, result) in order of arrival
        self.told_state = ""  # from an answer to a send
        self.log = []
        self.begin()

    def begin(self):
        self.task = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        self.hook = {"url": self.receiver.url(self.task)}
        self.sent = self.text()
        self.is_sent = False

    def text(self):
        if self.agent == "counter":
            return str(self.random.randint(1, 60))
        if self.agent == "phone":
            return "为我购买一部新手机"
        return " ".join(f"word{number}" for number in range(self.random.randint(1, 25)))

    def send_params(self, text):
        message = {"role": "user", "parts": [{"type": "text", "text": text}]}
        if self.agent == "echo":
            message["metadata"] = {"delay_ms": self.random.randint(5, 80)}
        params = {"id": self.task, "message": message}
        if not self.acknowledged:
            params["pushNotification"] = self.hook
        return params

    async def run(self):
        while not self.over:
            try:
                if not self.acknowledged and not await self.is_known():
                    if self.is_sent and self.may_be_late:
                        self.begin()
                    self.is_sent = True
                    await self.send(self.send_params(self.sent))
                elif self.streaming:
                    await self.follow()
                else:
                    await self.poll()
            except aclient.Lost:
                await asyncio.sleep(0.05)

    async def is_known(self):
        """Returns whether a send without an answer was accepted."""
        answer = await aclient.call(self.port, self.agent, "tasks/get", {"id": self.task})
        self.acknowledged = "result" in answer
        return self.acknowledged

    async def send(self, params):
        if self.streaming:
            await self.take(aclient.stream(self.port, self.agent, "tasks/sendSubscribe", params))
            return
        answer = await aclient.call(self.port, self.agent, "tasks/send", params)
        self.expect_result(answer)
        self.acknowledged = True
        await self.after_stop(answer["result"]["status"]["state"], told=True)

    @staticmethod
    def expect_result(answer):
        if "error" in answer:
            raise AssertionError(f"refused: {answer['error']}")

    async def take(self, blocks, resumed=0):
        """Reads a stream to its end and continues from the state in which it ended."""
        state = ""
        async for number, result in blocks:
            if number is None:
                self.expect_result(result)
                continue
            self.acknowledged = True
            self.resumed, resumed = self.resumed + resumed, 0
            self.seen.append((number, result))
            if result and "status" in result:
                state = result["status"]["state"]
            if self.cancels and number >= 3:
                self.cancels = False
                await aclient.call(self.port, self.agent, "tasks/cancel", {"id": self.task})
            if state == "input-required" and not self.answered:
                break  # a subscription would stay open; the stream of the answer follows
        if state in (*ENDED, "input-required"):
            await self.after_stop(state)

    async def follow(self):
        """Resumes after the last number seen."""
        after, last = self.seen[-1] if self.seen else (0, None)
        state = (last or {}).get("status", {}).get("state")
        if state in ENDED:  # the connection was lost between the end of the task and of the stream
            await self.after_stop(state)
            return
        await self.take(aclient.stream(self.port, self.agent, "tasks/resubscribe", {"id": self.task}, after), 1)

    async def poll(self):
        answer = await aclient.call(self.port, self.agent, "tasks/get", {"id": self.task})
        self.expect_result(answer)
        await self.after_stop(answer["result"]["status"]["state"])
        if not self.over:
            await asyncio.sleep(0.05)

    async def after_stop(self, state, told=False):
        if state in ENDED or (state == "input-required" and self.leaves_open):
            self.over = True
            self.told_state = state if told else ""
        elif state == "input-required":
            await self.answer()

    async def answer(self):
        """Answers the question. If the connection is lost, finds out whether the answer was accepted."""
        is_sent = False
        while True:
            try:
                known = await aclient.call(self.port, self.agent, "tasks/get", {"id": self.task})
                if known["result"]["status"]["state"] != "input-required":
                    self.answered = True
                    return  # an earlier try was accepted: follow it
                if is_sent and self.may_be_late:
                    self.over = self.doubtful = True
                    return
                is_sent = True
                params = self.send_params(self.random.choice(("iPhone", "Android")))
                if self.streaming:
                    await self.take_answer(params)
                else:
                    await self.send(params)
                return
            except aclient.Lost:
                await asyncio.sleep(0.05)

    async def take_answer(self, params):
        self.answered = True
        try:
            await self.take(aclient.stream(self.port, self.agent, "tasks/sendSubscribe", params))
        except aclient.Lost:
            last = self.seen[-1][1]
            self.answered = not (last and last.get("status", {}).get("state") == "input-required")
            raise

    async def whole_log(self, state):
        """Returns every block of the log; of a waiting task, up to the question it waits on."""
        log, last = [], self.seen[-1][0] if self.seen else 0
        blocks = aclient.stream(self.port, self.agent, "tasks/resubscribe", {"id": self.task}, 0)
        async for number, result in blocks:
            log.append((number, result))
            asked = result and result.get("status", {}).get("state") == "input-required"
            if state == "input-required" and asked and number >= last:
                break
        await blocks.aclose()
        if not log or log[-1][0] < last:
            raise aclient.Lost("the stream has ended too early")  # it could not continue
        return log

    def statuses(self):
        return [result["status"] for _, result in self.log if result and "status" in result]

    def heard(self):
        """Returns the statuses that its webhook got, each once, in the order of their first delivery."""
        first = []
        for task in self.receiver.taken.get(self.task, []):
            if task["status"] not in first:
                first.append(task["status"])
        return first

    async def check(self, case):
        """Asserts that the task is there, in one order, and that this client saw exactly that. Returns its state."""
        label = f"{self.agent} {self.task}"
        answer = await aclient.call(self.port, self.agent, "tasks/get", {"id": self.task})
        case.assertIn("result", answer, f"{label} was acknowledged and is not there")
        task = answer["result"]
        state = task["status"]["state"]
        case.assertIn(state, (*ENDED, "input-required", *(["submitted", "working"] if self.doubtful else [])), label)
        self.log = await self.whole_log(state)
        case.assertEqual(aclient.covered(self.log), list(range(1, self.log[-1][0] + 1)), label)
        terminal = [r for _, r in self.log if r and r.get("status", {}).get("state") in ENDED]
        if self.doubtful and terminal and state not in ENDED:  # it has continued meanwhile
            return await self.check(case)
        case.assertEqual(len(terminal), 1 if state in ENDED else 0, label)
        seen = self.seen
        last = seen[-1][0] if seen else 0
        case.assertEqual(aclient.covered(seen), list(range(1, last + 1)), f"{label}: a gap or a repeat")
        case.assertEqual([same_on_every_stream(*block) for block in seen],
                         [same_on_every_stream(*block) for block in self.log[:len(seen)]], label)
        if self.streaming and not self.doubtful:
            case.assertEqual(len(seen), len(self.log), f"{label}: did not see {self.log[len(seen):]}")
        if self.told_state:
            case.assertEqual(self.told_state, state, label)
        if state == "completed":
            self.check_output(case, task.get("artifacts", []), label)
        return state

    def check_output(self, case, artifacts, label):
        """Checks that a completed turn's output is there once."""
        case.assertEqual(len(artifacts), 1, label)
        if self.agent in ("echo", "cat"):
            case.assertEqual(client.text_of(artifacts[0]).rstrip("\n"), self.sent, label)
        elif self.agent == "counter":
            case.assertEqual([part["data"] for part in artifacts[0]["parts"]], [{"counted": int(self.sent)}], label)

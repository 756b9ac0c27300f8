"""One task and the client that keeps it going over lost connections: it sends, follows, answers when it is
asked, and now and then cancels or leaves a question open."""
import asyncio
import uuid

import aclient

ENDED = ("completed", "canceled", "failed")
KINDS = ("echo", "echo", "counter", "joke", "phone", "cat")


class Subscriber:
    def __init__(self, port, random, receiver):
        self.port, self.random = port, random
        self.task = str(uuid.UUID(int=random.getrandbits(128), version=4))
        self.agent = random.choice(KINDS)
        self.streaming = random.random() < 0.75
        # Not while a question is answered: an answer that comes after the cancel would reopen the task.
        self.cancels = self.agent != "phone" and random.random() < 0.1
        self.leaves_open = random.random() < 0.2
        self.hook = {"url": receiver.url(self.task)}
        self.acknowledged = False
        self.answered = False
        self.over = False
        self.resumed = 0
        self.seen = []        # (number, result) as they came
        self.told_state = ""  # by an answer to a send
        self.log = []

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
        message = self.send_params(self.text())
        while not self.over:
            try:
                if not self.acknowledged and not await self.is_known():
                    await self.send(message)
                elif self.streaming:
                    await self.follow()
                else:
                    await self.poll()
            except aclient.Lost:
                await asyncio.sleep(0.05)

    async def is_known(self):
        """Whether a send that was never answered was taken all the same."""
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
        """Reads a stream to its end and goes on from the state it ended in."""
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
                break  # a subscription would stay open; the answer's stream goes on
        if state in (*ENDED, "input-required"):
            await self.after_stop(state)

    async def follow(self):
        """Resumes after the last number seen."""
        after, last = self.seen[-1] if self.seen else (0, None)
        state = (last or {}).get("status", {}).get("state")
        if state in ENDED:  # the connection was lost between the task's end and that of the stream
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
        """Answers the question; when the connection is lost, finds out whether the answer was taken."""
        while True:
            try:
                known = await aclient.call(self.port, self.agent, "tasks/get", {"id": self.task})
                if known["result"]["status"]["state"] != "input-required":
                    self.answered = True
                    return  # an earlier try was taken: follow it
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
        """Every block of the log; of a waiting task, up to the question it waits on."""
        log, last = [], self.seen[-1][0] if self.seen else 0
        blocks = aclient.stream(self.port, self.agent, "tasks/resubscribe", {"id": self.task}, 0)
        async for number, result in blocks:
            log.append((number, result))
            asked = result and result.get("status", {}).get("state") == "input-required"
            if state == "input-required" and asked and number >= last:
                break
        await blocks.aclose()
        return log

    def statuses(self):
        return [result["status"] for _, result in self.log if result and "status" in result]

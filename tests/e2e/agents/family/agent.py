"""A worker whose tasks are parents and children. A message is JSON:
{"ask": QUESTION} asks, and returns the answer; {"all": [WORK...]} delegates these to this very agent and returns their
results in order, with "wait" in a turn that waits for them; {"mine": WORK} answers its child's questions itself;
{"detach": WORK} ends once its child is there, and returns the child's id; {"use": N} uses N tokens; {"hold": TEXT}
never ends by itself."""
import json
import queue
import sys
import threading

speaking = threading.Lock()
turns = {}


class Turn:
    def __init__(self, order):
        self.order, self.heard = order, queue.Queue()

    def say(self, **line):
        with speaking:
            print(json.dumps({"turn": self.order["turn"], **line}, ensure_ascii=False), flush=True)

    def delegate(self, name, work, **more):
        message = work if isinstance(work, str) else json.dumps(work)
        self.say(type="delegate", id=name, agent=self.order["agent"], message=message, **more)

    def next(self):
        line = self.heard.get()
        if line["type"] == "cancel":
            raise SystemExit
        return line

    def perform(self):
        text = self.order["message"]["parts"][0]["text"]
        if "ask" in self.order.get("resume", {}):
            return self.done(text)
        work = json.loads(text)
        if "ask" in work:
            self.say(type="ask", message=work["ask"])
        elif "all" in work:
            self.all(work)
        elif "use" in work:
            self.say(type="usage", usage={"totalTokens": work["use"]})
            self.done(f"used {work['use']}")
        elif "hold" in work:
            self.say(type="status", message=work["hold"])
            self.next()
        elif "mine" in work:
            self.mine(work["mine"])
        else:
            self.delegate("d0", work["detach"], detach=True)
            self.done(self.next()["task"]["id"])

    def all(self, work):
        results = {result["id"]: result for result in self.order.get("resume", {}).get("results", [])}
        names = [f"d{number}" for number in range(len(work["all"]))]
        missing = [name for name in names if name not in results]
        for name in missing:
            self.delegate(name, work["all"][names.index(name)])
        if missing and work.get("wait"):
            return self.say(type="wait")
        while any(name not in results for name in names):
            line = self.next()
            results[line["id"]] = line
        self.done("; ".join(said_in(results[name]) for name in names))

    def mine(self, work):
        self.delegate("d0", work, questions="mine")
        result = self.next()
        while result["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED":
            self.delegate("d0", "from its parent", task=result["task"]["id"])
            result = self.next()
        self.done(said_in(result))

    def done(self, text):
        self.say(type="text", delta=text)
        self.say(type="done")


def said_in(result):
    if result.get("error"):
        return "error: " + result["error"]
    return "".join(part["text"] for artifact in result["task"]["artifacts"] for part in artifact["parts"])


def begin(turn):
    try:
        turn.perform()
    except SystemExit:
        turn.say(type="fail", error="stopped")
    finally:
        del turns[turn.order["turn"]]


for line in sys.stdin:
    order = json.loads(line)
    if order["type"] == "turn":
        turns[order["turn"]] = Turn(order)
        threading.Thread(target=begin, args=(turns[order["turn"]],), daemon=True).start()
    elif order["turn"] in turns:
        turns[order["turn"]].heard.put(order)

"""Turns of a language model that streams at a steady pace: what a token and a running turn cost."""
import json
import subprocess

import a2a
from samples import Samples, number, table
from servers import Baton, Server, settled_kib

# Turns at the same time, and tokens a second of each.
CASES = [(1, 10), (100, 10), (500, 10), (1000, 10), (2000, 5)]


class PacedModel(Server):
    def __init__(self, places):
        super().__init__(places, "paced model")

    def command(self):
        return ["node", self.places.bench / "servers/model.mjs"]


class ModelBaton(Baton):
    """Baton with an agent that is the model, and room for all of its turns."""

    def __init__(self, places, model):
        super().__init__(places, agent="model")
        self.origin = model.url("")
        (self.agents / "model").mkdir()
        (self.agents / "model/card.json").write_text(json.dumps({
            "name": "Model", "description": "A paced model.", "version": "1",
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "say", "name": "Say", "description": "For measurements.", "tags": ["bench"]}],
            "baton": {"executor": "openai", "url": f"{self.origin}/v1", "model": {"name": "paced"},
                      "concurrency": 10000}}), encoding="utf-8")

    def environment(self):
        return super().environment() | {"BATON_OUTBOUND_ORIGINS": self.origin, "BATON_ENGINE_SLOTS": "4000"}


class Callers:
    """Callers over A2A or, with `completes`, over OpenAI's chat completions."""

    def __init__(self, server, count, words, completes=False):
        path, model = ("/v1/chat/completions", ["model"]) if completes else (None, [])
        places = server.places.load or server.places
        self.process = subprocess.Popen(
            ["node", places.bench / "client/model_callers.mjs", server.url(path), str(count), words, *model],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def ask(self, command):
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        if found["failures"]:
            raise RuntimeError(f"{found['failures']} turns failed")
        return found


def measure(context, turns, pace, completes=False, places=None):
    seconds = max(context.seconds, 2)
    with PacedModel(context.places) as model, ModelBaton(places or context.places, model) as server:
        with a2a.Caller(server, "1.0") as caller:
            caller.task(a2a.send("1.0", "1 token, 10 a second", message_id="warm"))
        before = settled_kib(server)
        words = f"{(seconds + 60) * pace} tokens, {pace} a second"
        with Callers(server, turns, words, completes) as callers:
            callers.ask("begun")
            callers.ask("measure 1000")
            cpu = server.cpu_seconds()
            found = callers.ask(f"measure {seconds * 1000}")
            cpu = server.cpu_seconds() - cpu
            resident, threads = server.resident_kib(), server.threads()
    return found | {"share": found["tokens"] / (turns * pace * seconds), "us": cpu / found["tokens"] * 1e6,
                    "threads": threads, "kib": (resident - before) / turns}


def run(context):
    rows = []
    for turns, pace in context.scaled(CASES, CASES[:2]):
        samples = Samples()
        for _ in range(context.rounds):
            context.say(f"models, {turns} turns")
            samples.append(measure(context, turns, pace))
        rows.append([turns, pace, f"{100 * samples.median('share'):.0f} %", number(samples.median("us")),
                     number(samples.median("p50_ms")), number(samples.median("p99_ms")),
                     f"{samples.median('threads'):.0f}", number(max(samples.median("kib"), 0.1))])
        if turns == 2000:
            threads, kib = samples.median("threads"), samples.median("kib")
            context.target("threads with 2,000 running turns of a model", "at most 32", f"{threads:.0f}", threads <= 32)
            context.target("resident memory of a running turn, at 2,000", "at most 70 KiB", f"{number(kib)} KiB",
                           kib <= 70)
    context.section("Turns of a language model", table(
        ["turns", "tokens a second of each", "of these in time", "us of CPU a token", "delay p50 ms", "p99 ms",
         "threads", "KiB a turn"], rows))


def run_completions(context):
    """Measures the same turns over chat completions, beside A2A."""
    turns, pace = context.scaled((500, 10), (50, 10))
    doors = {"A2A 1.0": Samples(), "chat completions": Samples()}
    for _ in range(context.rounds):
        for door, samples in doors.items():
            context.say(f"completions, {door}")
            samples.append(measure(context, turns, pace, door != "A2A 1.0"))
    context.section(f"Chat completions, {turns} turns of {pace} tokens a second", table(
        ["door", "us of CPU a token", "delay p50 ms", "p99 ms", "KiB a turn"],
        [[door, number(samples.median("us")), number(samples.median("p50_ms")), number(samples.median("p99_ms")),
          number(max(samples.median("kib"), 0.1))] for door, samples in doors.items()]))
    ratio = doors["chat completions"].median("us") / doors["A2A 1.0"].median("us")
    context.target("CPU of a token over chat completions, to A2A", "at most 1.1x", f"{ratio:.2f}x", ratio <= 1.1)

"""The cost of an agent on another server: Baton to Baton over loopback, compared with the same agent on one server."""
import json

import a2a
import load
from samples import Samples, number, rate_with_spread, table
from servers import Baton

WAYS = (("JSON-RPC", "jsonrpc"), ("REST", "rest"))
MOST_MS = 2.0  # the maximum that a hop may add to the median


class Near(Baton):
    """A Baton whose agents "far-..." are the echo of another Baton."""

    def __init__(self, places, far):
        super().__init__(places, name="near")
        self.origin = far.url("")
        for _, transport in WAYS:
            folder = self.agents / f"far-{transport}"
            folder.mkdir()
            card = json.loads((self.agents / "echo/card.json").read_text(encoding="utf-8"))
            card["baton"] = {"executor": "a2a", "url": far.url("/agents/echo"), "a2a": {"transport": transport},
                             "concurrency": 256}
            (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")

    def command(self):
        return [*super().command(), "--outbound-origins", self.origin]


def run(context):
    rows = []
    with Baton(context.places, name="far") as far, Near(context.places, far) as near:
        ways = [("at home", "/agents/echo/"), *((name, f"/agents/far-{transport}/") for name, transport in WAYS)]
        for connections in (1, 64):
            found = {name: Samples() for name, _ in ways}
            for _ in range(context.rounds):
                for name, path in ways:
                    context.say(f"an echo {name}, {connections} connections")
                    result = load.wrk(near, a2a.send("1.0", "Hello, world"), connections, context.seconds, path=path)
                    if result["failures"] or result["bytes"] < 300 * result["count"]:
                        raise RuntimeError(f"sends to the echo {name} fail: {result}")
                    found[name].append(result | {"rate": result.rate})
            rows += [[name, connections, rate_with_spread(samples), number(samples.median("p50_ms")),
                      number(samples.median("p99_ms"))] for name, samples in found.items()]
            if connections > 1:
                continue
            home = found["at home"].median("p50_ms")
            for name, _ in WAYS:
                added = found[name].median("p50_ms") - home
                context.target(f"an agent on another Baton, over {name}: added to the median",
                               f"at most {MOST_MS} ms", f"{number(added)} ms", added <= MOST_MS)
                context.figure("blocking sends to an agent on another Baton", f"its shipped echo, over {name}", 1,
                               f"p50 {number(found[name].median('p50_ms'))} ms, {number(added)} more than at home")
    context.section("An agent on another server", table(["echo", "connections", "per second", "p50 ms", "p99 ms"],
                                                        rows))

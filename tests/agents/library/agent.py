"""The test agent for Python's helper library; agent.js does the same for Node. The first word of the message names the
action, the rest is its argument."""

import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from baton import Canceled, ChildFailed, Fail, Reject, Turn, agent


@dataclass
class Facts:
    days: int


class Model:
    """Like a model of pydantic."""

    def __iter__(self) -> Iterator[tuple[str, object]]:
        yield "days", 3

    def model_dump(self, *, mode: str) -> dict[str, object]:
        return {"days": 3} if mode == "json" else {}


def rest(turn: Turn) -> str:
    return turn.prompt.partition(" ")[2]


def words(turn: Turn) -> Iterator[str]:
    for word in rest(turn).split():
        yield word + " "


def tell(turn: Turn) -> dict[str, object]:
    return {
        "id": turn.id, "attempt": turn.attempt, "agent": turn.agent, "task": turn.task, "history": turn.history,
        "artifacts": turn.artifacts, "references": turn.references, "tools": turn.tools, "state": turn.state,
        "metadata": turn.metadata, "extensions": turn.extensions, "traceparent": turn.traceparent, "answers": turn.answers,
        "results": {name: result.text for name, result in turn.results.items()},
        "toolResults": [[result.id, result.content, result.error] for result in turn.tool_results],
    }


def everything(turn: Turn) -> None:
    turn.reasoning("hm")
    turn.progress(0.5, "half")
    turn.progress(message={"parts": [{"text": "still"}]})
    turn.artifact("a.bin", b"\x00\xff", media_type="application/x-a", description="bytes", last_chunk=True)
    turn.artifact("log", "one\n")
    turn.artifact("log", "two\n", append=True)
    turn.artifact("facts", [1, None], metadata={"by": "hand"})
    turn.artifact("far", url="https://example.com/far", filename="far.txt")
    turn.artifact(parts=[{"text": "x"}, {"text": "y"}], id="own")
    turn.artifact(data="unnamed")
    turn.artifact(data="unnamed, too")
    turn.call_tool("look", {"at": "it"}).result({"seen": True})
    turn.call_tool("look").error("nothing there")
    turn.call_tool("look", id="own-call").result(None)
    turn.set_state({"days": 3})
    turn.patch_state([{"op": "replace", "path": "/days", "value": 4}])
    with turn.step("pack"):
        turn.say("packing ")
    turn.activity("plan", "PLAN", {"steps": []})
    turn.activity("plan", "PLAN", patch=[{"op": "add", "path": "/steps/-", "value": 1}])
    turn.custom("confetti", {"pieces": 100})
    turn.custom("nothing")
    turn.usage(provider="p", model="m", input_tokens=10, output_tokens=20, total_tokens=30, reasoning_tokens=1,
               cached_input_tokens=2)


def client_tool(turn: Turn) -> str:
    turn.call_tool("show_map", {"city": "Oslo"})
    return "this is not said"


def raise_fail(turn: Turn) -> None:
    raise Fail("no such city")


def raise_reject(turn: Turn) -> None:
    raise Reject("not that")


def crash(turn: Turn) -> None:
    turn.text("so far ")  # the older name of say
    raise ValueError("the secret path")  # crashes


def noted(turn: Turn) -> None:
    problem = ValueError("no city")
    problem.__notes__ = ["in the second order"]
    raise problem  # noted


def says_nothing(turn: Turn) -> None:
    piece: Any = None  # as in the last piece of many models
    turn.say(piece)  # says-nothing


def thinks_nothing(turn: Turn) -> None:
    piece: Any = None
    turn.reasoning(piece)  # thinks-nothing


def both(turn: Turn) -> Iterator[str]:
    yield "one "
    return {"days": 3}


def numbers(turn: Turn) -> Iterator[int]:
    yield 7  # yields 7


async def async_numbers(turn: Turn) -> AsyncIterator[int]:
    yield 8  # yields 8


def catches(turn: Turn) -> Iterator[object]:
    try:
        yield 7
    except TypeError:
        print("caught at the yield")
        yield "not said"


def catches_and_returns(turn: Turn) -> Iterator[object]:
    try:
        yield 7
    except TypeError:
        print("caught at the yield")


async def async_catches_and_returns(turn: Turn) -> AsyncIterator[object]:
    try:
        yield 7
    except TypeError:
        print("caught at the yield")


def read(turn: Turn) -> dict[str, object]:
    def of(message: Any) -> dict[str, object]:
        files = [[file.name, file.media_type, file.url] for file in message.files]
        return {"text": message.text, "data": message.data, "files": files}

    return {**of(turn), "prompt": turn.prompt, "answer": turn.answer, "request": of(turn.request)}


def file(turn: Turn) -> dict[str, object]:
    found = getattr(turn.files[0], turn.text.split()[1])()
    return {"found": list(found) if isinstance(found, bytes) else found}


def deep(turn: Turn) -> object:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    return {"deep": value}


def swallow(turn: Turn) -> str:
    try:
        turn.done("first")
    except Exception:
        pass
    return "second"


def late(turn: Turn) -> None:
    def speak() -> None:
        ended.wait()
        try:
            turn.say("too late")
        except BaseException as problem:
            print(f"late: {type(problem).__name__}")

    ended = threading.Event()
    speaker = threading.Thread(target=speak)
    speaker.start()
    try:
        turn.done("early")
    finally:
        ended.set()
        speaker.join()


def noise(turn: Turn) -> str:
    print("printed")
    subprocess.run(["sh", "-c", "echo printed by a process; cat"], check=True)
    return "quiet"


def children(turn: Turn) -> str:
    both = [turn.delegate("weather", city) for city in rest(turn).split()]
    return "; ".join(child.result().text for child in both)


def wait(turn: Turn) -> str:
    oslo, rome = turn.delegate("weather", "Oslo"), turn.delegate("weather", "Rome")
    turn.wait()
    return f"{oslo.result().text}; {rome.result().text}"


def caught(turn: Turn) -> str:
    try:
        return turn.delegate("weather", "Atlantis").result().text
    except ChildFailed as failure:
        return f"caught: {failure.result.error}"


def mine(turn: Turn) -> str:
    child = turn.delegate("weather", "How is it?", questions="mine")
    question = child.result().question
    assert question is not None
    return child.answer("Oslo").result().text + " to " + question["parts"][0]["text"]


def detach(turn: Turn) -> str:
    result = turn.delegate("archive", {"parts": [{"text": "Keep this."}]}, id="d4", detach=True).result()
    return result.state


def leave(turn: Turn) -> str:
    turn.delegate("weather", "kept", detach=True)
    turn.wait()  # does not wait for the detached child
    child = turn.delegate("weather", "Oslo")
    turn.wait()
    return child.result().text


def rest_then_ask(turn: Turn) -> str:
    turn.sleep(0.05)
    return turn.delegate("weather", "Oslo").result().text


def hurry(turn: Turn) -> str:
    try:
        turn.delegate("weather", "Oslo").result(timeout=0.01)
    except TimeoutError:
        return "too slow"
    return "in time"


def sleep(turn: Turn) -> None:
    turn.say("sleeping ")
    try:
        turn.sleep(3600)
    except Canceled:
        turn.say("woken up")
        raise


def nap(turn: Turn) -> str:
    turn.sleep(0.001)
    return "rested"


def endless(turn: Turn) -> Iterator[str]:
    try:
        while True:
            yield "on and on "
            turn.sleep(0.001)
    finally:
        print("endless: cleaned up")


def all_the_same(turn: Turn) -> str:
    turn.say("begun ")
    while not turn.canceled:
        try:
            turn.sleep(3600)
        except Canceled:
            pass
    return "done all the same"


async def coroutine(turn: Turn) -> str:
    child = turn.delegate("weather", "Oslo")
    return (await child).text


async def async_nested(turn: Turn) -> AsyncIterator[object]:
    yield pieces(turn)
    yield coroutine(turn)


async def async_hurry(turn: Turn) -> str:
    import asyncio

    try:
        await asyncio.wait_for(turn.delegate("weather", "Oslo"), 0.01)
    except asyncio.TimeoutError:
        return "too slow"
    return "in time"


async def async_first(turn: Turn) -> str:
    import asyncio

    children = [turn.delegate("weather", str(number)) for number in range(50)]
    done, _ = await asyncio.wait([asyncio.ensure_future(child) for child in children], return_when=asyncio.FIRST_COMPLETED)
    return done.pop().result().text


async def rest_then_work(turn: Turn) -> str:
    import asyncio

    turn.say("begun ")
    await asyncio.sleep(0.05)
    return await asyncio.to_thread(lambda: "worked")


async def pieces(turn: Turn) -> AsyncIterator[str]:
    for word in rest(turn).split():
        yield word + " "


async def async_sleep(turn: Turn) -> None:
    import asyncio

    turn.say("sleeping ")
    try:
        await asyncio.sleep(3600)
    finally:
        print("async: cleaned up")


async def async_ask(turn: Turn) -> None:
    turn.ask("Really?")


ACTIONS: dict[str, Callable[[Turn], object]] = {
    "hello": lambda turn: "Hello, " + rest(turn), "words": words, "facts": lambda turn: {"days": 3},
    "dataclass": lambda turn: Facts(3), "model": lambda turn: Model(), "mapping": lambda turn: MappingProxyType({"days": 3}),
    "mixed": lambda turn: ["one ", {"days": 3}, None, "two"], "nothing": lambda turn: None,
    "number": lambda turn: 5, "numbers": numbers, "async-numbers": async_numbers, "catches": catches,
    "catches-and-returns": catches_and_returns, "async-catches-and-returns": async_catches_and_returns, "both": both,
    "both-in-a-list": lambda turn: [both(turn)], "read": read, "file": file,
    "tell": tell, "everything": everything, "client-tool": client_tool,
    "ask": lambda turn: turn.ask("Delete?", schema={"type": "object"}, id="q1"),
    "auth": lambda turn: turn.auth("Sign in.", url="https://example.com/login"),
    "done": lambda turn: turn.done("That is all."), "fail": lambda turn: turn.fail("no"),
    "reject": lambda turn: turn.reject("not this"), "raise-fail": raise_fail, "raise-reject": raise_reject, "crash": crash,
    "noted": noted, "says-nothing": says_nothing, "thinks-nothing": thinks_nothing,
    "exit": lambda turn: exit(3), "nan": lambda turn: {"value": float("nan")}, "huge": lambda turn: turn.progress(float("inf")),
    "deep": deep, "half": lambda turn: 'half "\ud83d" pair \\ud83d, whole \U0001f600', "swallow": swallow, "late": late,
    "noise": noise, "long": lambda turn: "x" * (int(rest(turn))), "long-fail": lambda turn: turn.fail("x" * 9_000_000),
    "children": children, "wait": wait, "caught": caught, "mine": mine, "detach": detach, "leave": leave,
    "rest-then-ask": rest_then_ask, "hurry": hurry, "sleep": sleep,
    "nap": nap, "endless": endless, "all-the-same": all_the_same, "coroutine": coroutine, "pieces": pieces,
    "async-sleep": async_sleep, "async-ask": async_ask,
    "async-nested": lambda turn: [async_nested(turn)], "async-hurry": async_hurry, "async-first": async_first, "rest-then-work": rest_then_work,
    "uncaught": lambda turn: turn.delegate("weather", "Atlantis").result().text,
}


@agent
def answer(turn: Turn) -> object:
    return ACTIONS[turn.text.split(maxsplit=1)[0]](turn)  # returns


if __name__ == "__main__":
    answer.run()

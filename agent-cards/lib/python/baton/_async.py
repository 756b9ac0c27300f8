"""Agents that are `async def`: each turn has an event loop in its thread. Imported only when it is needed."""

from __future__ import annotations

import asyncio

from baton._agent import give
from baton._ends import Canceled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from baton._children import Child, Result
    from baton._turn import Turn


def give_async(turn: Turn, answer: Any) -> None:
    """Sends the awaited value, or each piece of an iterator. A cancel of the turn cancels the pending await."""
    asyncio.run(_give_until_canceled(turn, answer))


async def _give_until_canceled(turn: Turn, answer: Any) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    cancel_task = task.cancel

    def cancel() -> None:
        try:
            loop.call_soon_threadsafe(cancel_task)
        except RuntimeError:  # the turn is over and its loop is closed
            pass

    turn._when_canceled = cancel
    turn.check()
    try:
        await _give(turn, answer)
    except asyncio.CancelledError:
        turn.check()
        raise


async def _give(turn: Turn, answer: Any) -> None:
    if hasattr(answer, "__await__"):
        await _give(turn, await answer)
    elif hasattr(answer, "__aiter__"):
        async for piece in answer:
            turn.check()
            try:
                await _give(turn, piece)
            except Exception as problem:  # raise it at the `yield`
                if hasattr(answer, "athrow"):
                    try:
                        await answer.athrow(problem)
                    except StopAsyncIteration:  # it has caught the problem and returned
                        pass
                raise
    else:
        give(turn, answer)


async def heard(child: Child) -> Result:
    """Waits like Child.result, but without a thread: one would wait on after a timeout and delay the turn's end."""
    loop, news, turn = asyncio.get_running_loop(), asyncio.Event(), child._turn

    def wake() -> None:
        try:
            loop.call_soon_threadsafe(news.set)
        except RuntimeError:  # the loop is closed
            pass

    with turn._news:
        turn._wakers.add(wake)
    try:
        while not (child.done or turn.canceled):
            await news.wait()
            news.clear()
    finally:
        with turn._news:
            turn._wakers.discard(wake)
    return child.result()

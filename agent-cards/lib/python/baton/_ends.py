"""How a turn ends early."""


class Ended(BaseException):
    """The turn is over: nothing of it runs any more. Not an Exception, so that no `except Exception` keeps it."""


class Canceled(BaseException):
    """The turn is to stop. What is uncaught ends it; a function that catches this to clean up should raise it again."""


class Fail(Exception):
    """Fails the turn. Its text is shown to the caller: no paths, no stack traces."""


class Reject(Exception):
    """Rejects the turn: the agent does not do such a thing. Its text is shown to the caller."""

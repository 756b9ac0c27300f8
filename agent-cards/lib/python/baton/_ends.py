"""Exceptions that end a turn early."""


class Ended(BaseException):
    """The turn is over. It is not an Exception, so that `except Exception` does not catch it."""


class Canceled(BaseException):
    """The turn must stop. If uncaught, it ends the turn. A function that catches it to clean up should raise it again."""


class Fail(Exception):
    """Fails the turn. The caller sees the text, so leave out paths and stack traces."""


class Reject(Exception):
    """Rejects the task, because the agent does not do such work. The caller sees the text."""

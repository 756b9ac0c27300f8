"""The only kind of failure that callers see."""

from baton import Fail


class TableProblem(Fail):
    """The reason why there is no report, for the caller: without paths and stack traces."""
